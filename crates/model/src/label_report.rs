//! What a report says of the operations of one label.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The operations of one label: a sampler, an endpoint, a kind of operation.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LabelReport {
    /// What the load generator calls them.
    pub name: String,
    /// Operations completed; `None` where it does not say.
    pub completed: Option<u64>,
    /// Operations failed; `None` where it does not say.
    pub failed: Option<u64>,
    /// Their mean latency, ns.
    pub latency_mean_ns: Option<f64>,
    /// The latency that 99 % of them do not exceed, ns; `None` where too few are known.
    pub latency_p99_ns: Option<f64>,
    /// Whether the load generator reported it at its end: it is of its whole run, and not of the window alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_whole_run: bool,
}
