//! What a comparison of recordings returns, ready to be shown: what differs, by how much, and why.
//!
//! The first group is what every other is compared with. It is also the documented JSON: field names are a contract
//! (`COMPARISON_SCHEMA`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{DiskWork, Identity, Interval, PhaseVerdict, Remedy, Window};

/// Name and version of the JSON form of `Comparison`. Fields are added within a version; none changes its meaning or
/// goes away.
pub const COMPARISON_SCHEMA: &str = "stallscope.comparison/1";

/// Recordings side by side.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// `COMPARISON_SCHEMA`.
    pub schema: String,
    /// What is compared, in the order in which it was named; the first is the baseline.
    pub groups: Vec<ComparedGroup>,
    /// A few sentences for each group but the first: what changed, by how much, and why.
    pub answers: Vec<Vec<String>>,
    /// Facts about machines and runs that are not the same in all groups.
    pub environment: Vec<EnvironmentDifference>,
    /// The figures, in the order in which they are shown.
    pub figures: Vec<ComparedFigure>,
    /// Doubts about the comparison.
    pub caveats: Vec<String>,
    /// How its runs were made, where they were made for it; `None` of recordings that were there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experiment: Option<Experiment>,
}

/// Runs that were made to be compared: in rounds, each of which runs every command once in random order.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Experiment {
    /// What the order of the runs follows from.
    pub seed: u64,
    /// Rounds in which a run of every command counts.
    pub rounds: u32,
    /// Half of the width of the interval that was asked for, as a part of the baseline.
    pub precision: f64,
    /// Half of the width that was reached, of the widest; `None` without an interval.
    pub reached: Option<f64>,
    /// What the runs took together, s.
    pub spent_s: f64,
    /// Runs that do not count.
    pub voided: Vec<VoidedRun>,
}

/// A run that does not count.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct VoidedRun {
    /// What its recording is called.
    pub name: String,
    /// The group that it would belong to.
    pub group: String,
    /// Why it does not count: a clause.
    pub reason: String,
}

/// One recording, or several of the same configuration.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ComparedGroup {
    /// As it is called in sentences: the recording's name, or the pattern that was typed.
    pub name: String,
    /// The command that its recordings are of, secrets replaced; `None` of recordings that were there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Its recordings.
    pub runs: Vec<ComparedRun>,
}

/// One recording of a comparison.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ComparedRun {
    /// The file or folder, without what leads to it.
    pub name: String,
    /// The recording.
    pub identity: Identity,
    /// What was judged: the steady phase.
    pub window: Window,
    /// When that began, s after the workload's start.
    pub steady_s: f64,
    /// The word for one operation's rate: `tps`.
    pub rate_unit: String,
    /// Its bottleneck.
    pub verdict: Option<PhaseVerdict>,
    /// What would help, best first, with what that would bring.
    pub would_help: Vec<Remedy>,
    /// How it went, second by second.
    pub course: Vec<CoursePoint>,
    /// What people said happened in it, in the order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<ComparedMark>,
    /// The round of an experiment that it is of, from 1 on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<u32>,
    /// What others took of it; `None` where that was not asked, or is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken: Option<Taken>,
    /// What the busiest disks did, at most two; empty where their requests were not recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disks: Vec<DiskWork>,
}

/// What a person said happened in a run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ComparedMark {
    /// When, s after the workload's start.
    pub at_s: f64,
    /// What.
    pub text: String,
}

/// What neighbours, steal and the host took of a run, estimated from the account of its waits.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Taken {
    /// CPUs that others used, on average.
    pub others_cpus: f64,
    /// CPUs that the hypervisor took from the server and the load generator, on average.
    pub stolen_cpus: f64,
    /// CPUs that these two would have used besides, on average.
    pub displaced_cpus: f64,
    /// Throughput as if alone, as a multiple of what was measured; at least 1.
    pub alone: f64,
}

/// One second of a run, or several of a long one.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CoursePoint {
    /// Its start, s after the workload's.
    pub at_s: f64,
    /// Its length, s.
    pub length_s: f64,
    /// Operations per second.
    pub throughput: Option<f64>,
    /// Mean latency, ns.
    pub latency_ns: Option<f64>,
    /// Pressure of the machine, parts of the time: CPU some.
    pub cpu_some: Option<f64>,
    /// I/O some.
    pub io_some: Option<f64>,
    /// I/O full.
    pub io_full: Option<f64>,
    /// Memory some.
    pub memory_some: Option<f64>,
    /// Load average over a minute.
    pub load1: Option<f64>,
}

/// A fact that is not the same in all groups.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct EnvironmentDifference {
    /// Which: `kernel.release`.
    pub name: String,
    /// What it is in each group; several values of one group stand behind each other, and `None` is "not recorded".
    pub values: Vec<Option<String>>,
}

/// What a figure is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FigureFamily {
    /// Throughput and latency.
    Load,
    /// Where the response time goes, by wait class.
    Wait,
    /// Pressure, and load average beside it.
    Pressure,
    /// CPU, disk and network.
    Resource,
    /// CPU time of the target's functions.
    Code,
}

/// The unit of a figure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FigureUnit {
    /// Operations per second.
    Rate,
    /// Nanoseconds.
    Nanoseconds,
    /// Parts of 1.
    Share,
    /// Bytes.
    Bytes,
    /// A number.
    Number,
}

/// One figure of every group.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ComparedFigure {
    /// What it is called in conditions and programs: `throughput`, `wait.sync`.
    pub key: String,
    /// In words.
    pub label: String,
    /// What it is about.
    pub family: FigureFamily,
    /// Its unit.
    pub unit: FigureUnit,
    /// Whether more of it is better; `None` where neither is.
    pub more_is_better: Option<bool>,
    /// The median over the runs of each group; `None` where none of them has it.
    pub values: Vec<Option<f64>>,
    /// How far runs of one group are apart: their standard deviation as a part of their mean, all groups together; `None`
    /// without a group of several.
    pub noise: Option<f64>,
    /// Each group against the first, the first itself left out.
    pub differences: Vec<Option<Difference>>,
}

/// How far a figure is from the baseline's.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// In the figure's unit.
    pub absolute: f64,
    /// As a part of the baseline: -0.05 is 5 % less; `None` where the baseline is 0.
    pub relative: Option<f64>,
    /// The 95 % interval of `relative`; `None` where there is too little data for one.
    pub interval: Option<Interval>,
    /// What the interval accounts for.
    pub method: IntervalMethod,
}

/// What an interval accounts for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IntervalMethod {
    /// What varies from run to run: shift of two samples, by ranks, or Welch's of few.
    BetweenRuns,
    /// What varies from round to round: the differences within rounds, in which all ran one after the other.
    InTurns,
    /// Only what varies within the two runs: block bootstrap over seconds.
    WithinRuns,
    /// There is none.
    None,
}

impl Difference {
    /// Whether the interval leaves out zero.
    pub fn is_shown(&self) -> bool {
        self.interval
            .is_some_and(|it| it.low > 0.0 || it.high < 0.0)
    }
}

impl Comparison {
    /// The figure of this key.
    pub fn figure(&self, key: &str) -> Option<&ComparedFigure> {
        self.figures.iter().find(|it| it.key == key)
    }
}
