//! What a comparison of recordings returns, ready to be shown: what differs, by how much, and why.
//!
//! The first group is what every other is compared with. It is also the documented JSON: field names are a contract
//! (`COMPARISON_SCHEMA`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Identity, Interval, PhaseVerdict, Remedy, Window};

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
}

/// One recording, or several of the same configuration.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ComparedGroup {
    /// As it is called in sentences: the recording's name, or the pattern that was typed.
    pub name: String,
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
