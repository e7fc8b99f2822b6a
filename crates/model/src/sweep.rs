//! What runs over a parameter return: the figures and the limit at each point, and the curve through them.
//!
//! It is also the documented JSON: field names are a contract (`SWEEP_SCHEMA`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    ComparedRun, CrossingReport, FigureFamily, FigureUnit, Goal, Interval, PhaseVerdict,
    ScalingReport, VoidedRun,
};

/// Name and version of the JSON form of `Sweep`. Fields are added within a version; none changes its meaning or goes away.
pub const SWEEP_SCHEMA: &str = "stallscope.sweep/1";

/// Runs of one command over the values of its parameters.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Sweep {
    /// `SWEEP_SCHEMA`.
    pub schema: String,
    /// The command with its parameters in braces, secrets replaced: `pgbench -c {clients} bench`.
    pub command: String,
    /// What was varied, in the order in which it was named.
    pub parameters: Vec<SweptParameter>,
    /// A few sentences: how far more brings more, what limits where, what keeps the goal.
    pub answers: Vec<String>,
    /// One for each configuration of which a run counts, in the order of the values.
    pub points: Vec<SweepPoint>,
    /// One for each combination of the parameters that are not on the axis.
    pub curves: Vec<SweptCurve>,
    /// Where curves cross, for each two whose order changes over the values that both have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub crossings: Vec<SweptCrossing>,
    /// The goal that was searched for, with what keeps it; `None` where none was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<SweptGoal>,
    /// Runs that do not count.
    pub voided: Vec<VoidedRun>,
    /// Doubts about the points.
    pub caveats: Vec<String>,
    /// What the order of the runs follows from.
    pub seed: u64,
    /// What the runs took together, s.
    pub spent_s: f64,
}

/// A parameter and its values.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SweptParameter {
    /// As it stands in braces in the command.
    pub name: String,
    /// What it was set to, as typed.
    pub values: Vec<String>,
}

/// A configuration and what its runs measured.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SweepPoint {
    /// The value of each parameter.
    pub values: Vec<String>,
    /// Its runs that count, at least one.
    pub runs: Vec<ComparedRun>,
    /// What most of its runs say that limits it.
    pub limit: Option<PhaseVerdict>,
    /// How many of its runs name that cause.
    pub agreeing: u32,
    /// Its figures.
    pub figures: Vec<PointFigure>,
    /// What its first run could use, and what was asked of it; `None` of sweeps that were made before this was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setting: Option<PointSetting>,
}

/// What a run could use, and what was asked of it.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct PointSetting {
    /// CPUs of the machine.
    pub machine_cpus: u32,
    /// CPUs that the server may use: by its affinity, cpuset or quota; not always whole.
    pub cpus: f64,
    /// Clients of a closed loop; `None` where nobody knows, or the rate was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clients: Option<u32>,
    /// The rate that was asked for, 1/s; `None` of a closed loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// The option of the load generator that sets the clients: `-c`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clients_option: Option<String>,
}

/// A figure of a point.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PointFigure {
    /// What it is called in programs: `throughput`, `wait.sync`.
    pub key: String,
    /// In words.
    pub label: String,
    /// What it is about.
    pub family: FigureFamily,
    /// Its unit.
    pub unit: FigureUnit,
    /// The mean over the runs.
    pub value: f64,
    /// The 95 % interval of the mean, by the scatter of all points together; `None` where no point has two runs.
    pub interval: Option<Interval>,
    /// Its value in each run, in their order, where every run has one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub of_runs: Vec<f64>,
}

/// The throughput over the parameter on the axis, all others fixed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SweptCurve {
    /// The parameter on the axis.
    pub parameter: String,
    /// The values of the others, as `scale=10`; empty where there are none.
    pub fixed: Vec<String>,
    /// Stretches of neighbouring points with the same limit, from the lowest value on.
    pub limits: Vec<LimitRange>,
    /// The models that describe how the throughput grows, where it bends, and how sure that is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scaling: Option<ScalingReport>,
    /// Why there is none, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_scaling: Option<String>,
}

/// Where two curves of a sweep cross.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SweptCrossing {
    /// What is fixed on the first curve, as in `SweptCurve`.
    pub first: Vec<String>,
    /// The same of the second.
    pub second: Vec<String>,
    /// Where they cross, and who is ahead.
    pub report: CrossingReport,
}

/// Points side by side that have the same limit.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LimitRange {
    /// The lowest value of the parameter, and the highest.
    pub from: f64,
    /// The highest.
    pub to: f64,
    /// The limit at the highest value of the stretch.
    pub limit: PhaseVerdict,
}

/// The highest load that keeps a goal.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SweptGoal {
    /// What was asked for.
    pub goal: Goal,
    /// The highest value that keeps it, below which none misses it; `None` where not even the lowest does.
    pub kept: Option<String>,
    /// The lowest value that misses it; `None` where none does.
    pub missed: Option<String>,
}

impl SweepPoint {
    /// The figure of this key.
    pub fn figure(&self, key: &str) -> Option<&PointFigure> {
        self.figures.iter().find(|it| it.key == key)
    }
}
