//! The answer for each cause, and what is doubted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A cause that was ruled out.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RuledOut {
    /// What: `steal`.
    pub what: String,
    /// The number, as a share of 1.
    pub value: f64,
    /// In words, with the number: `steal 0.1 %`.
    pub sentence: String,
}

/// Present, absent, or cannot tell.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// The cause is present.
    Present,
    /// The cause is absent.
    Absent,
    /// The data that would decide were not collected.
    CannotTell,
}

/// The answer for one cause.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Judged {
    /// The cause.
    pub cause: String,
    /// The answer.
    pub answer: Answer,
    /// Why, one sentence with the number.
    pub sentence: String,
    /// Whether it matters for where the time went: a cause about disks does not where no thread waited
    /// for one.
    #[serde(default)]
    pub concerns: bool,
}

/// A doubt about the measurement itself.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Caveat {
    /// The gate that raised it: `gate.short`.
    pub gate: String,
    /// One sentence.
    pub sentence: String,
}
