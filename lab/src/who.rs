//! Whom a finding is about, as far as the lab knows it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Whom a finding is about, by part and never by name: names are the verdict's own choice.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Who {
    /// A subject with the role of the target.
    Target,
    /// A subject with the role of the generator.
    Generator,
    /// The control group that the scenario limited.
    LimitedGroup,
    /// The control group of the culprit beside the server.
    NeighbourGroup,
    /// The process that holds what the others wait for.
    Holder,
    /// The one thread that everything goes through.
    Thread,
    /// The CPU that everything is pinned to.
    Cpu,
    /// The file system that is full.
    Filesystem,
    /// The disk that the server's files are on.
    Disk,
    /// The server that the target itself asks, by its process or its address.
    Peer,
    /// The whole machine, for what is counted for all of it.
    Machine,
    /// Whoever is named: the cause is what counts.
    Anyone,
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Who::Target => "the target",
            Who::Generator => "the generator",
            Who::LimitedGroup => "the limited group",
            Who::NeighbourGroup => "the neighbour's group",
            Who::Holder => "the holder",
            Who::Thread => "the one thread",
            Who::Cpu => "the one CPU",
            Who::Filesystem => "the full file system",
            Who::Disk => "the disk",
            Who::Peer => "the peer",
            Who::Machine => "the machine",
            Who::Anyone => "anyone",
        })
    }
}
