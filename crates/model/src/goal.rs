//! A goal for latency: what is asked of a service, beside which its waits are judged.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A latency that must stay below a time: `p99<10ms`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Goal {
    /// Which latency.
    pub of: Latency,
    /// It must be below this, ns.
    pub below_ns: i64,
}

/// A latency over a window.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Latency {
    /// The mean.
    Mean,
    /// A quantile, above 0; 1 is the highest.
    Quantile(f64),
}

impl fmt::Display for Latency {
    /// `mean`, `p99.9`, `max`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Latency::Mean => f.write_str("mean"),
            Latency::Quantile(q) if q >= 1.0 => f.write_str("max"),
            // Of 0.999 times 100 a double keeps a little too much.
            Latency::Quantile(q) => write!(f, "p{}", (q * 1e6).round() / 1e4),
        }
    }
}

/// A goal, and whether it was met.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct GoalReport {
    /// What was asked for.
    pub goal: Goal,
    /// The latency over the judged window, ns; `None` where it was not measured.
    pub value: Option<f64>,
    /// Whether it was below; `None` where that is not known.
    pub met: Option<bool>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_have_the_fields_names() {
        let names = [
            Latency::Mean,
            Latency::Quantile(0.5),
            Latency::Quantile(0.999),
            Latency::Quantile(1.0),
        ];
        assert_eq!(
            names.map(|it| it.to_string()),
            ["mean", "p50", "p99.9", "max"]
        );
    }
}
