//! Two ends of what a number may be.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A 95 % interval, unless the field says otherwise.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}
