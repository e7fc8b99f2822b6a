//! The answer of a check, before it gets the check's name.

use model::{Availability, Capability, Fix};

pub(super) struct Answer(Capability);

impl Answer {
    fn new(availability: Availability, sentence: impl Into<String>) -> Self {
        Self(Capability {
            check: String::new(),
            availability,
            sentence: sentence.into(),
            costs: String::new(),
            fix: None,
        })
    }

    /// The answer for something that is available.
    pub(super) fn fine(sentence: impl Into<String>) -> Self {
        Self::new(Availability::Fine, sentence)
    }

    /// The answer for something that is missing.
    pub(super) fn missing(sentence: impl Into<String>) -> Self {
        Self::new(Availability::Missing, sentence)
    }

    /// The files do not tell.
    pub(super) fn unknown(sentence: impl Into<String>) -> Self {
        Self::new(Availability::CannotTell, sentence)
    }

    /// For what only the running kernel can tell, when the files are another machine's.
    pub(super) fn not_probed() -> Self {
        Self::unknown("Captured files do not tell: run `stallscope doctor` on that machine.")
    }

    /// Adds what the lack of it costs, or would cost.
    pub(super) fn costs(mut self, costs: impl Into<String>) -> Self {
        self.0.costs = costs.into();
        self
    }

    pub(super) fn fixed_by(mut self, fix: Fix) -> Self {
        self.0.fix = Some(fix);
        self
    }

    pub(super) fn named(self, check: &str) -> Capability {
        Capability {
            check: check.to_owned(),
            ..self.0
        }
    }
}

/// `1 group`, `3 groups`.
pub(super) fn counted(count: usize, one: &str, many: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        count => format!("{count} {many}"),
    }
}
