//! Where the runs lie on the common axis.

use std::str::FromStr;

use anyhow::{Result, bail};
use model::{ComparedRun, Comparison};

/// What is 0 s of each run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Align {
    /// The start of the workload, or of the recording.
    Start,
    /// The start of the steady phase.
    Steady,
    /// The first mark of this text.
    Mark(String),
}

impl FromStr for Align {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.strip_prefix("mark:")) {
            ("start", _) => Ok(Self::Start),
            ("steady", _) => Ok(Self::Steady),
            (_, Some(mark)) if !mark.trim().is_empty() => Ok(Self::Mark(mark.trim().to_owned())),
            _ => Err(
                "runs are aligned at start, at steady, or at a mark: 'mark:deploy began'"
                    .to_owned(),
            ),
        }
    }
}

impl Align {
    /// What the axis shows.
    pub(super) fn title(&self) -> String {
        match self {
            Self::Start => "All runs on one axis, from their starts".to_owned(),
            Self::Steady => "All runs on one axis, 0 s where the steady phase begins".to_owned(),
            Self::Mark(text) => format!("All runs on one axis, 0 s at the mark {text:?}"),
        }
    }

    /// What is 0 s of a run, s after its start; `None` where it has no such mark.
    pub(super) fn zero(&self, run: &ComparedRun) -> Option<f64> {
        match self {
            Self::Start => Some(0.0),
            Self::Steady => Some(run.steady_s),
            Self::Mark(text) => {
                let mark = run.marks.iter().find(|it| it.text == *text);
                mark.map(|it| it.at_s)
            }
        }
    }

    /// # Errors
    /// A run that lacks the mark, with those that it has.
    pub(crate) fn check(&self, comparison: &Comparison) -> Result<()> {
        let mut runs = comparison.groups.iter().flat_map(|it| &it.runs);
        let (Self::Mark(text), Some(run)) = (self, runs.find(|it| self.zero(it).is_none())) else {
            return Ok(());
        };
        let name = &run.name;
        let has: Vec<String> = run
            .marks
            .iter()
            .map(|it| format!("{:?}", it.text))
            .collect();
        let has = match has.is_empty() {
            true => "it has none".to_owned(),
            false => format!("it has {}", has.join(", ")),
        };
        bail!(
            "{name} has no mark {text:?}: {has}. Mark it with: stallscope mark TEXT REC --at TIME"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_aligned_at_start_steady_or_a_mark() {
        assert_eq!("start".parse(), Ok(Align::Start));
        assert_eq!("steady".parse(), Ok(Align::Steady));
        assert_eq!("mark:a b".parse(), Ok(Align::Mark("a b".to_owned())));
        for wrong in ["mark:", "mark: ", "end", ""] {
            assert!(wrong.parse::<Align>().is_err(), "{wrong}");
        }
    }
}
