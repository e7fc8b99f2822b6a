//! Where throughput and latency come from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where the numbers of a workload metric come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Provenance {
    /// Measured by the tool at each operation, given as the mean of an interval.
    ToolMean,
    /// Counted by the tool.
    ToolCount,
    /// Request times measured in the kernel, at the sockets of the server: from a request's arrival to
    /// the last byte of its reply. What arrives in one piece and is answered in one piece is one
    /// request.
    Kernel,
    /// Calls that a log reports, by the lines that were written.
    Log,
    /// Threads of the target that work or wait, where nobody reports requests.
    Account,
    /// Worked out from other numbers (clients / tps): never evidence.
    Derived,
    /// The tool does not say.
    #[default]
    None,
}

impl Provenance {
    /// Whether it is about requests, and not about calls in a log or about threads.
    pub fn is_of_requests(self) -> bool {
        !matches!(self, Self::Log | Self::Account)
    }
}
