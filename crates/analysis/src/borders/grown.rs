//! The function that takes more CPU time for a request behind a border, as facts and causes have it.

use model::PhaseDifference;

/// What the column of a difference in a function's CPU time begins with; the function follows.
pub(super) const COLUMN: &str = "cpu_sample.cpu_ns: ";

/// A function of the target that takes more CPU time for a request than in the phase before.
#[derive(Clone, Copy)]
pub(crate) struct Grown<'a> {
    pub(crate) function: &'a str,
    /// CPU time for a request in the phase before, ns.
    pub(crate) before: f64,
    /// And in this one.
    pub(crate) after: f64,
}

impl<'a> Grown<'a> {
    /// `None` of a difference of something else, and of one that fell.
    pub(super) fn of(difference: &'a PhaseDifference) -> Option<Self> {
        let grown = Self {
            function: difference.column.strip_prefix(COLUMN)?,
            before: difference.before?,
            after: difference.after?,
        };
        (grown.after > grown.before).then_some(grown)
    }
}
