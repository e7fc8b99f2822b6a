//! The parts of a run as they are reported: each with its verdict, and with what changed where it began.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Confidence, DiskWork, Entity, Mark, Timestamp, Window};

/// The kinds of phases.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PhaseKind {
    /// Before the signal settled.
    WarmUp,
    /// Throughput and latency around one level; the verdict is about the longest.
    Steady,
    /// Throughput or latency rises or falls evenly.
    Ramp,
    /// One level, with far more latency than a steady phase beside it and no more throughput.
    Congested,
    /// After the last whole interval.
    End,
}

/// A phase of the run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Phase {
    /// Which.
    pub kind: PhaseKind,
    /// When.
    pub window: Window,
    /// Mean throughput, operations per second.
    pub throughput: Option<f64>,
    /// Mean latency, ns.
    pub latency_ns: Option<i64>,
    /// What this phase waited for; `None` for warm-up and end, and where the run has one phase, which
    /// `verdict` is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<PhaseVerdict>,
    /// What changed where it began; `None` for the first phase that has a verdict, and where there is no verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<PhaseChange>,
    /// What the busiest disks did in it, at most two; empty where `verdict` is, and where their requests were not recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disks: Vec<DiskWork>,
}

/// The border between two phases: what is different behind it, and how long it took until throughput held.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PhaseChange {
    /// Where the later phase begins.
    pub at: Timestamp,
    /// Mean throughput of the phase before, operations per second.
    pub throughput_before: Option<f64>,
    /// Mean throughput of the phase behind it, operations per second.
    pub throughput_after: Option<f64>,
    /// One full sentence of how throughput, or where that stayed latency, changed.
    pub sentence: String,
    /// What people marked within 10 s of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
    /// What else is different, at most three: what was set or came and went first, then what was measured, by the part
    /// of the time that it concerns. Empty where nothing differs by more than it varies within the phases.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<PhaseDifference>,
    /// From the border to where throughput stays near the level of this phase, ns; of a ramp its whole length. `None`
    /// where it never did.
    pub settled_after_ns: Option<i64>,
    /// The same as one full sentence.
    pub settled: String,
}

/// What is different behind a border.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PhaseDifference {
    /// What was compared: `limit.cpu`, `process`, `pressure.cpu`, `disk.read`, `wait.read_write`.
    pub what: String,
    /// Table and column that it was worked out from: `disk.read_bytes`.
    pub column: String,
    /// Whose.
    pub entity: Entity,
    /// `share` (of the time), `cpus`, `bytes_per_second`, `bytes_per_request`, `per_second`, `ns_per_request`.
    pub unit: String,
    /// Mean over the phase before; `None` for a limit: there was none.
    pub before: Option<f64>,
    /// Mean over the phase behind the border; `None` for a limit: there is none.
    pub after: Option<f64>,
    /// One full sentence with both numbers.
    pub sentence: String,
}

/// The headline of one phase of several.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PhaseVerdict {
    /// The cause: `cpu.saturated`.
    pub cause: String,
    /// The entity.
    pub entity: Entity,
    /// Share of the response time (or of busy time), 0 to 1.
    pub share: Option<f64>,
    /// How sure.
    pub confidence: Confidence,
    /// One full sentence with the number.
    pub sentence: String,
    /// Of a peer that was recorded as a dependency: the cause there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_peer: Option<String>,
}
