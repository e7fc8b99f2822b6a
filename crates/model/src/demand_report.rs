//! What a request needs of a resource, from runs at several loads, and which throughput that allows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ScalingEstimate;

/// The service demand of one resource: CPUs, or a disk.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DemandReport {
    /// What is known of it, in sentences.
    pub answer: String,
    /// What a request took at each load, in rising order.
    pub loads: Vec<DemandAtLoad>,
    /// How that depends on the throughput.
    pub course: DemandCourse,
    /// Busy time that one further request costs, s; `None` where it is not one number for all loads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub demand_s: Option<ScalingEstimate>,
    /// Units of the resource that are busy without requests, on average: CPUs; `None` where none are seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background: Option<ScalingEstimate>,
    /// The throughput at which the resource is full, 1/s. `None` where that is more than twice what was measured, and
    /// where the demand varies and the resource was never half full: then nothing is predicted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_at: Option<ScalingEstimate>,
}

/// What a request took at one load.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DemandAtLoad {
    /// Clients, instances or CPUs.
    pub load: f64,
    /// Throughput, 1/s: the geometric mean of the runs.
    pub throughput: f64,
    /// Part of the resource that was busy, 0 to 1.
    pub utilisation: f64,
    /// Busy time per request, s: utilisation law. What the resource does without requests is in it.
    pub per_request_s: ScalingEstimate,
}

/// How the busy time per request depends on the throughput.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DemandCourse {
    /// One number for all loads.
    Constant,
    /// The same for each further request, beside what is busy without requests.
    Background,
    /// Neither: a request takes less or more by the load.
    Varying,
}
