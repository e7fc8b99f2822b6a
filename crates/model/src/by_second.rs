//! How a run went second by second: what a mean over all of it hides.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Provenance, Role, Window};

/// Throughput and the longest response times second by second, and the stalls among them.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct BySecond {
    /// Where response times come from: `kernel` for requests at sockets, whatever the workload says of itself.
    pub provenance: Provenance,
    /// Whose sockets those are; `None` where the workload's own intervals are told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sockets: Option<Role>,
    /// The whole recording in intervals of a second; of a long one, of more.
    pub seconds: Vec<SecondReport>,
    /// Every stall of the whole recording, in the order of time.
    pub stalls: Vec<Stall>,
    /// Time of the judged window that lay in stalls, ns.
    pub stalled_ns: i64,
    /// What a closed loop left out because of stalls in the judged window; `None` where there were none, and where a
    /// rate was asked for: such a generator keeps to its schedule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub omitted: Option<Omitted>,
}

/// One interval.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SecondReport {
    /// When.
    pub window: Window,
    /// Completed per second.
    pub throughput: f64,
    /// What 99 of 100 did not exceed, ns; `None` where too few were timed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_ns: Option<f64>,
    /// The longest that was seen, ns; `None` where none was timed. Those of 33.6 ms and more were all timed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_ns: Option<f64>,
    /// Whether both may be too low: a longer one had no reply yet when the recording ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_least: bool,
}

/// A stretch in which nearly nothing was answered while requests were open.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Stall {
    /// When, to a tenth of a second or the workload's interval.
    pub window: Window,
    /// What was completed in it nevertheless.
    pub completed: f64,
    /// What would have been completed at the usual rate.
    pub expected: f64,
}

/// What a closed loop did not send, as its clients waited for answers: estimated.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Omitted {
    /// Requests that it would have sent at its usual rate.
    pub requests: f64,
    /// The p99 over the judged window if they had been sent and had waited too, ns (HdrHistogram's correction with the
    /// expected interval); `None` where too few requests were timed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_ns: Option<f64>,
}
