//! What an experiment on a running target showed: a capacity was lowered on purpose, or processes were stopped, in turns
//! with leaving everything as it is.
//!
//! It is also the documented JSON: field names are a contract (`PROOF_SCHEMA`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::interval::Interval;
use crate::{Timestamp, Window};

/// Name and version of the JSON form of `Proof`. Fields are added within a version; none changes its meaning or goes
/// away.
pub const PROOF_SCHEMA: &str = "stallscope.proof/1";

/// A capacity that can be lowered for a while.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Capacity {
    /// CPU time, in CPUs.
    Cpu,
    /// Requests per second of the disk that the target uses most.
    Disk,
    /// Memory, bytes.
    Memory,
    /// Processes of the load generator.
    Clients,
}

impl Capacity {
    /// All, in the order in which they are tried.
    pub const ALL: [Capacity; 4] = [Self::Cpu, Self::Disk, Self::Memory, Self::Clients];

    /// The word for it on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Disk => "disk",
            Self::Memory => "memory",
            Self::Clients => "clients",
        }
    }

    /// That of a word.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.word() == word)
    }
}

/// What an experiment says about a capacity or a cause.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProofOutcome {
    /// It limits: throughput follows it.
    Proved,
    /// It does not limit: throughput stays the same within what was agreed on.
    RuledOut,
    /// Neither is sure.
    Inconclusive,
    /// It was not tried.
    NotTried,
}

impl ProofOutcome {
    /// The word, as printed.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Proved => "proved",
            Self::RuledOut => "ruled out",
            Self::Inconclusive => "inconclusive",
            Self::NotTried => "not tried",
        }
    }
}

/// A value with its 95 % interval.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ProofEstimate {
    /// The value.
    pub value: f64,
    /// Its 95 % interval.
    pub interval: Interval,
}

/// Two blocks as it is, with one between them in which something was changed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ProofPair {
    /// When it was changed.
    pub at: Timestamp,
    /// What the capacity was then, in its unit; of stopped processes how many were left.
    pub lowered_to: f64,
    /// What was available of it in the blocks around it, in the same unit.
    pub available: f64,
    /// Operations per second as it is: the mean of the blocks before and after.
    pub throughput: f64,
    /// While it was changed.
    pub throughput_changed: f64,
    /// Mean latency as it is, ns, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ns: Option<f64>,
    /// While it was changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_changed_ns: Option<f64>,
}

/// A capacity that was lowered.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CapacityTrial {
    /// Which.
    pub capacity: Capacity,
    /// Whose: the path of a cgroup, a disk, a pattern of processes; empty where it was not tried.
    pub of: String,
    /// What the target used of it as it is, in its unit: CPUs, requests per second, bytes, processes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<f64>,
    /// What it could have had: what it used and what was free, up to its limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub available: Option<f64>,
    /// What it was lowered to, over all pairs (the geometric mean).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lowered_to: Option<f64>,
    /// In the order of time.
    pub pairs: Vec<ProofPair>,
    /// By how much throughput changed meanwhile, over all pairs: -0.2 is a fifth less.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<f64>,
    /// Change of throughput by change of capacity, both as logarithms: 1 where throughput follows the capacity, 0 where it
    /// does not care.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elasticity: Option<ProofEstimate>,
    /// What that says.
    pub outcome: ProofOutcome,
    /// One sentence.
    pub sentence: String,
}

/// Processes that were stopped.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WithoutTrial {
    /// What names of programs were to match.
    pub pattern: String,
    /// The programs that did.
    pub programs: Vec<String>,
    /// How many processes were stopped at most at once.
    pub processes: u32,
    /// Blocks with and without them.
    pub pairs: Vec<ProofPair>,
    /// Change of throughput without them: 0.1 is a tenth more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throughput: Option<ProofEstimate>,
    /// Change of the mean latency without them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<ProofEstimate>,
    /// Whether they slow the target down.
    pub outcome: ProofOutcome,
    /// One sentence.
    pub sentence: String,
}

/// What was proved on a running target, and what was ruled out.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Proof {
    /// `PROOF_SCHEMA`.
    pub schema: String,
    /// The target's name.
    pub target: String,
    /// The recording that it was made with.
    pub recording: String,
    /// Latency was not to grow beyond so many times what it was.
    pub at_most: f64,
    /// The time before anything was changed.
    pub as_it_is: Window,
    /// The cause that the recording named before anything was changed.
    pub cause: String,
    /// Whose it is.
    pub cause_of: String,
    /// The capacity that this cause is about; `None` where it is about none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause_capacity: Option<Capacity>,
    /// What became of the cause: `ruled_out` is refuted.
    pub outcome: ProofOutcome,
    /// A few sentences, the most important first.
    pub answers: Vec<String>,
    /// The capacities, in the order in which they were tried.
    pub capacities: Vec<CapacityTrial>,
    /// Processes that were stopped to see what happens without them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub without: Option<WithoutTrial>,
    /// Doubts about the answer.
    pub caveats: Vec<String>,
}
