//! What a report says of the call stacks that were sampled.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{LedgerClass, Role};

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
    /// Where threads waited; `None` where no stack of a wait was taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<WaitReport>,
}

/// Where threads of target and generator waited, in which functions.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WaitReport {
    /// Waits whose stack was taken.
    pub waits: u64,
    /// The blocked time that they stand for, ns.
    pub blocked_ns: i64,
    /// The blocked time of all threads in the window is within this of `blocked_ns`, ns (95 %): some stand for others. 0
    /// where every wait was taken.
    pub error_ns: i64,
    /// The part of `blocked_ns` in which they waited for something that they needed to go on, ns; the others waited for
    /// work or for a time.
    pub needed_ns: i64,
    /// Share of the stacks in user space that lead to the outermost function; `None` without any.
    pub whole: Option<f64>,
    /// The paths in which most time passed: first those of what was needed, then those that waited for work.
    pub paths: Vec<WaitPath>,
}

/// Waits for the same, with the same functions from the outermost to the innermost.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WaitPath {
    /// What the process is called.
    pub process: String,
    /// Its role.
    pub role: Role,
    /// What it waited for.
    pub class: LedgerClass,
    /// Share of `needed_ns`; where it waited for work, of the rest.
    pub share: f64,
    /// Waits whose stack was taken.
    pub waits: u64,
    /// The functions, the innermost first; `FILE+0xADDRESS` for one without a name.
    pub frames: Vec<String>,
    /// How many of them, at the front, are the kernel's.
    #[serde(default)]
    pub kernel_frames: u64,
    /// Who ended most of them, if threads did.
    pub ended_by: Option<WaitEnd>,
}

/// Who ended waits.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WaitEnd {
    /// What the process is called.
    pub process: String,
    /// Share of the path's time in waits that it ended, in these functions.
    pub share: f64,
    /// Where it was, the innermost function first.
    pub frames: Vec<String>,
    /// How many of these, at the front, are the kernel's.
    #[serde(default)]
    pub kernel_frames: u64,
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
