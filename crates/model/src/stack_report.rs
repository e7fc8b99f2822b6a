//! What a report says of the call stacks that were sampled.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Role;

/// What ran on the CPUs, in which functions.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct StackReport {
    /// Samples in the window, those of the recorder left out.
    pub samples: u64,
    /// The CPU time that they stand for, ns.
    pub cpu_ns: i64,
    /// Share of the stacks in user space that lead to the outermost function; `None` without any.
    pub whole: Option<f64>,
    /// Share of the CPU time whose innermost frame has no name: only its file and an address.
    pub unnamed: f64,
    /// The paths that took most CPU time, most first.
    pub paths: Vec<HotPath>,
}

/// Samples with the same functions, from the outermost to the innermost.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct HotPath {
    /// What the process is called.
    pub process: String,
    /// Its role.
    pub role: Role,
    /// Share of the CPU time of all samples.
    pub share: f64,
    /// The functions, the innermost first; `FILE+0xADDRESS` for one without a name.
    pub frames: Vec<String>,
}
