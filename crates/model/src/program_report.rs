//! What a report says of the programs that were started.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Starts of programs whose command lines differ only in numbers, identifiers and temporary files.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct StartedProgram {
    /// What their command lines have in common: `N` stands for a number, `*` for an identifier, `..` for more of the
    /// same.
    pub command: String,
    /// One of them, without its secrets.
    pub example: String,
    /// Whether they are copies of a process with that command (forks) that started no program.
    pub is_fork: bool,
    /// The command of whoever started most of them, in the same form; empty where that is not known.
    pub started_by: String,
    /// How many began in the window.
    pub starts: u64,
    /// CPU time of those whose end was seen, ns.
    pub cpu_ns: i64,
    /// Mean time that they ran, ns; `None` where none ended.
    pub mean_ns: Option<i64>,
    /// The longest time that one ran, up to the end of the recording, ns.
    pub longest_ns: i64,
    /// How many ended with another exit status than 0.
    pub failed: u64,
    /// How many a signal ended.
    pub killed: u64,
}
