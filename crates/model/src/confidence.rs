//! How sure an answer is, by the evidence that it has.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How sure a finding is; each word is bound to a condition.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// Correlation only.
    Suspected,
    /// Proxies agree.
    Consistent,
    /// The lower bound of an exact ledger share passes the threshold and nothing contradicts.
    Measured,
    /// A capacity was changed on purpose and the interval of the effect excludes zero.
    Proved,
}

impl Confidence {
    /// The word, as printed.
    pub const fn word(self) -> &'static str {
        match self {
            Confidence::Suspected => "suspected",
            Confidence::Consistent => "consistent",
            Confidence::Measured => "measured",
            Confidence::Proved => "proved",
        }
    }
}
