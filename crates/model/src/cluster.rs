//! Several nodes over one time: what limits each of them in each phase, what changed, and who is different.
//!
//! It is also the documented JSON: field names are a contract (`CLUSTER_SCHEMA`). Times are ns since 1970, UTC: nodes share
//! the clock on the wall and no other.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Confidence, Interval, PhaseVerdict, SpikeDifference, SpikeReport};

/// Name and version of the JSON form of `ClusterReport`. Fields are added within a version; none changes its meaning or goes
/// away.
pub const CLUSTER_SCHEMA: &str = "stallscope.cluster/1";

/// A part of the time that all nodes share.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Span {
    /// Where it begins, ns since 1970.
    pub from_ns: i64,
    /// Where it ends.
    pub to_ns: i64,
}

impl Span {
    /// Its length, s.
    pub fn seconds(self) -> f64 {
        (self.to_ns - self.from_ns) as f64 / 1e9
    }
}

/// Quantities by name, as `docs/cluster.md` lists them: `cpu_some` is a share of the time, `disk_read` bytes per second. What
/// is not known is not there.
pub type Quantities = BTreeMap<String, f64>;

/// What was found out about several nodes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ClusterReport {
    /// `CLUSTER_SCHEMA`.
    pub schema: String,
    /// Where the numbers are from: `http://db7:9090`.
    pub source: String,
    /// What was looked at.
    pub span: Span,
    /// How far readings lie apart, ns: nothing shorter shows.
    pub resolution_ns: i64,
    /// The answer in one to three sentences.
    pub sentence: String,
    /// The nodes, by name.
    pub nodes: Vec<ClusterNode>,
    /// The phases, in the order of time.
    pub phases: Vec<ClusterPhase>,
    /// What happened to single nodes, in the order of time.
    pub events: Vec<ClusterEvent>,
    /// Calls from one node to another, those with most time first; empty without recordings of the nodes themselves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<NodeCalls>,
    /// How far the nodes' clocks are apart, as recordings of the nodes show it; empty without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clocks: Vec<NodeClock>,
    /// Spikes of one node's requests, with what comes before them on all nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spikes: Option<ClusterSpikes>,
    /// What each configuration gave, best first; empty where there was one, or no throughput was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub configurations: Vec<ClusterConfiguration>,
    /// What is not known, and what would tell.
    pub not_collected: Vec<String>,
    /// The quantities over time.
    pub over_time: OverTime,
}

/// A node, over all of the time.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ClusterNode {
    /// What the source calls it.
    pub name: String,
    /// How many CPUs it had, or might use, at the end.
    pub cpus: Option<f64>,
    /// Its memory, bytes.
    pub memory_bytes: Option<f64>,
    /// The kernel's release.
    pub kernel: Option<String>,
    /// When it was there.
    pub present: Vec<Span>,
    /// Means over the time in which it was there.
    pub means: Quantities,
    /// What its own recording says, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<PhaseVerdict>,
}

/// Calls of a node's target to another node.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct NodeCalls {
    /// The node that calls.
    pub from: String,
    /// The node that is called.
    pub to: String,
    /// Where: `10.0.0.2:7100`.
    pub address: String,
    /// Calls that were answered, per second.
    pub per_second: f64,
    /// Their mean length, ns.
    pub mean_ns: f64,
    /// Calls under way, on average.
    pub under_way: f64,
    /// One or two full sentences, with the verdict at the other node.
    pub sentence: String,
}

/// How far a node's clock is off, as another node's shows it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct NodeClock {
    /// The node.
    pub node: String,
    /// The node whose clock times are told by, or the store.
    pub of: String,
    /// How far it is ahead of that, ns: what its times were corrected by. 0 where it may be right, and where times are the
    /// store's.
    pub ahead_ns: i64,
    /// The least that it can be ahead, ns; `None` where nothing shows it, and it was taken to be right.
    pub least_ns: Option<i64>,
    /// The most, ns.
    pub most_ns: Option<i64>,
    /// What shows it: `connections`, `ssh` or `scrapes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown_by: Option<String>,
    /// One full sentence.
    pub sentence: String,
}

/// Spikes of the requests of one node, and what is different then on all.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ClusterSpikes {
    /// The node whose requests spike.
    pub node: String,
    /// Each spike, in the order of time.
    pub spans: Vec<Span>,
    /// As the node's own report has them; triggers and chain are of all nodes, and their lags without what clocks are
    /// apart. Times and entities in it are those of the node's recording.
    pub report: SpikeReport,
    /// What is different in them on the other nodes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub elsewhere: Vec<NodeDifferences>,
    /// One or two full sentences.
    pub sentence: String,
}

/// What is different on a node while another one's requests spike.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct NodeDifferences {
    /// The node.
    pub node: String,
    /// What is different, what explains most first.
    pub differences: Vec<SpikeDifference>,
}

/// A stretch of time in which the cluster did the same.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ClusterPhase {
    /// When.
    pub span: Span,
    /// How many nodes were there.
    pub nodes_present: u32,
    /// CPUs of each node, where all have the same.
    pub cpus_each: Option<f64>,
    /// Operations per second, where a query for them was given.
    pub throughput: Option<f64>,
    /// Shares as their mean over the nodes, amounts as their sum.
    pub means: Quantities,
    /// What limits the cluster, in one sentence.
    pub sentence: String,
    /// What limits it: `cpu`, `io`, `memory`, `cpu.quota`, `steal`, `none`; those of most nodes first.
    pub limits: Vec<String>,
    /// How sure; never more than *consistent*.
    pub confidence: Confidence,
    /// Each node that was there.
    pub nodes: Vec<NodePhase>,
    /// Nodes that differ from the others.
    pub skew: Vec<NodeSkew>,
    /// What is different from the phase before, most plainly different first; empty for the first.
    pub changes: Vec<ClusterChange>,
}

/// A node in a phase.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct NodePhase {
    /// Which node.
    pub node: String,
    /// Means over the phase.
    pub means: Quantities,
    /// What limits it, as in the phase, with how much.
    pub limits: Vec<NodeLimit>,
}

/// A resource that tasks of a node waited for.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct NodeLimit {
    /// `cpu`, `cpu.quota`, `steal`, `io`, `io.throttled`, `io.sync`, `memory`, `memory.limit`.
    pub limit: String,
    /// Part of the time in which tasks waited for it; without pressure, part of the time in which it was busy.
    pub share: f64,
    /// *consistent* where pressure says so; *suspected* where only its use is known.
    pub confidence: Confidence,
    /// One full sentence with the numbers.
    pub sentence: String,
}

/// A node that does more or less than the others.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct NodeSkew {
    /// Which node.
    pub node: String,
    /// In what: a name of `Quantities`.
    pub quantity: String,
    /// The node's mean.
    pub value: f64,
    /// The others' median.
    pub others: f64,
    /// One full sentence with both.
    pub sentence: String,
}

/// What is different from the phase before.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ClusterChange {
    /// A name of `Quantities`, or that of a metric that was asked for.
    pub quantity: String,
    /// Mean before.
    pub before: f64,
    /// Mean behind.
    pub after: f64,
    /// Cliff's delta of the values of both, -1 to 1.
    pub dominance: f64,
    /// One full sentence.
    pub sentence: String,
}

/// What happened to a node, or to several one after the other.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ClusterEvent {
    /// When it began, ns since 1970.
    pub at_ns: i64,
    /// Whom it concerns.
    pub nodes: Vec<String>,
    /// `left`, `joined`, `gap`, `restarted`, `replaced`, `cold_cache`, `rolling_restart`, `pressure_begins`, `runs_backwards`.
    pub kind: String,
    /// One full sentence.
    pub sentence: String,
}

/// A number of nodes of one size, and what they gave.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ClusterConfiguration {
    /// `3 x 2 CPUs`.
    pub name: String,
    /// Nodes.
    pub nodes: u32,
    /// CPUs of each.
    pub cpus_each: f64,
    /// For how long it ran under this load, s.
    pub seconds: f64,
    /// Operations per second.
    pub throughput: f64,
    /// 95 % interval of that, by means of batches; `None` of too short a time.
    pub interval: Option<Interval>,
    /// As of its phases.
    pub means: Quantities,
    /// What limited it.
    pub limits: Vec<String>,
    /// One full sentence.
    pub sentence: String,
}

/// Quantities of each node over time, for charts.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct OverTime {
    /// Where the first interval begins, ns since 1970.
    pub start_ns: i64,
    /// The length of each, ns.
    pub step_ns: i64,
    /// Nodes in the order of `ClusterReport::nodes`, each with a mean per interval by quantity; null where it is not known.
    pub nodes: Vec<BTreeMap<String, Vec<Option<f32>>>>,
    /// Throughput; empty where it was not asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub throughput: Vec<Option<f64>>,
}
