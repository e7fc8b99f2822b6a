//! What was not seen, and why. Missing is never zero: an absent row without a gap means "unchanged".

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Sentence, Window};

/// Why an interval, or a whole column, was not seen.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case", tag = "reason", content = "detail")]
pub enum GapReason {
    /// The kernel does not have it (ENOENT, EOPNOTSUPP); the text says what would enable it.
    Unsupported(Sentence),
    /// The source exists and may not be read (EACCES, EPERM); the text says what would allow it.
    Denied(Sentence),
    /// What was measured went away.
    Vanished,
    /// The sampler was late by more than a period.
    Overrun,
    /// The source was read and not understood; the text has what it held.
    Malformed(Sentence),
    /// Number of events or rows that were lost.
    Dropped(u64),
    /// The disk refused the rows; the text has the kernel's error and the number of rows.
    Unwritten(Sentence),
}

impl GapReason {
    /// What it says beyond its kind, if it says that in words.
    pub fn sentence_mut(&mut self) -> Option<&mut Sentence> {
        match self {
            GapReason::Unsupported(detail)
            | GapReason::Denied(detail)
            | GapReason::Malformed(detail)
            | GapReason::Unwritten(detail) => Some(detail),
            GapReason::Vanished | GapReason::Overrun | GapReason::Dropped(_) => None,
        }
    }
}

impl fmt::Display for GapReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GapReason::Unsupported(detail) => write!(f, "not supported here: {detail}"),
            GapReason::Denied(detail) => write!(f, "not allowed: {detail}"),
            GapReason::Vanished => f.write_str("what was measured went away"),
            GapReason::Overrun => f.write_str("the sampler was late"),
            GapReason::Malformed(detail) => write!(f, "not understood: {detail}"),
            GapReason::Dropped(count) => write!(f, "{count} dropped"),
            GapReason::Unwritten(detail) => write!(f, "could not be written: {detail}"),
        }
    }
}

/// An interval in which something was not seen.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Gap {
    /// The table concerned; `*` for all.
    pub table: String,
    /// The column, source or group concerned; empty for the whole table.
    #[serde(default, skip_serializing_if = "Sentence::is_empty")]
    pub what: Sentence,
    /// The interval; `None` for the whole recording.
    pub window: Option<Window>,
    /// Why.
    #[serde(flatten)]
    pub reason: GapReason,
}
