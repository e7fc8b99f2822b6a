//! What a machine or a cluster must have for a load: what a request needs, what each configuration gives, and the smallest
//! that is enough.
//!
//! It is also the documented JSON: field names are a contract (`SIZING_SCHEMA`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{FigureUnit, Goal, Interval, PhaseVerdict, SweptParameter};

/// Name and version of the JSON form of `SizingReport`. Fields are added within a version; none changes its meaning or goes
/// away.
pub const SIZING_SCHEMA: &str = "stallscope.sizing/1";

/// What configurations give, by their runs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SizingReport {
    /// `SIZING_SCHEMA`.
    pub schema: String,
    /// The command of the runs, with its parameters in braces and secrets replaced; empty where it is not known.
    pub command: String,
    /// What tells the configurations apart, in the order in which it was named.
    pub parameters: Vec<SweptParameter>,
    /// The parameter that is the load (clients, a rate) and no part of a size; `None` where none is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<String>,
    /// The word for one operation's rate: `tps`.
    pub rate_unit: String,
    /// What was asked for.
    pub asked: SizingAsk,
    /// A few sentences: the smallest that is enough, and what was not tested.
    pub answers: Vec<String>,
    /// What a request needs, by resource.
    pub demands: Vec<ResourceDemand>,
    /// Those that were measured, in their order, and then those that were asked for besides.
    pub configurations: Vec<SizedConfiguration>,
    /// The place among the configurations of the one that is named first; `None` where none is enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen: Option<usize>,
    /// What the price's numbers are in; `None` without prices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// Commands that would measure what is not known.
    pub next: Vec<String>,
    /// Doubts about the answer.
    pub caveats: Vec<String>,
}

/// What a configuration must do.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct SizingAsk {
    /// Operations per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// The latency at that rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<Goal>,
}

/// A value with its 95 % interval, where runs tell one.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SizingEstimate {
    /// The value.
    pub value: f64,
    /// Its 95 % interval, which holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
}

/// What a request needs of a resource.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ResourceDemand {
    /// What it is called in programs: `cpu.target`.
    pub key: String,
    /// In words.
    pub label: String,
    /// Its unit; of time, busy time.
    pub unit: FigureUnit,
    /// The least of all configurations, for a request.
    pub least: SizingEstimate,
    /// The values of that configuration.
    pub least_at: Vec<String>,
    /// The most of all configurations.
    pub most: SizingEstimate,
    /// The values of that one.
    pub most_at: Vec<String>,
    /// How it depends on the load, a sentence for each stretch of at least three loads with repeated runs.
    pub courses: Vec<String>,
}

/// What a configuration gives.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SizedConfiguration {
    /// The value of each parameter.
    pub values: Vec<String>,
    /// Its runs; 0 of one that was not measured.
    pub runs: u32,
    /// How large it is: the product of its parameters that are numbers and no load, else the CPUs that the server may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub units: Option<f64>,
    /// What it costs an hour, by the prices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_hour: Option<f64>,
    /// Throughput, 1/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throughput: Option<SizingEstimate>,
    /// Mean latency, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ns: Option<SizingEstimate>,
    /// The latency that the goal is about, ns, at this throughput.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal_latency_ns: Option<SizingEstimate>,
    /// The resource that is nearest to full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest: Option<NearestFull>,
    /// Threads of the server that wait for a CPU, on average: run-queue delay per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<SizingEstimate>,
    /// CPU pressure of the machine (some), part of the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_some: Option<f64>,
    /// I/O pressure (some).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_some: Option<f64>,
    /// Memory pressure (some).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_some: Option<f64>,
    /// Part of the machine's memory in use, at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_in_use: Option<f64>,
    /// How many times this throughput the nearest resource allows, if a request goes on to need as much of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headroom: Option<SizingEstimate>,
    /// Whether the load filled anything; `None` where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tested: Option<bool>,
    /// What limits it, as most of its runs say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<PhaseVerdict>,
    /// Whether it does what was asked for; `None` where that cannot be told, and where nothing was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meets: Option<bool>,
    /// By which model it is predicted; `None` of one that was measured, and of one that cannot be predicted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<SizingModel>,
    /// Why nothing is said of it: a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// The resource that is nearest to full.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct NearestFull {
    /// What it is called in programs: `busy.cpus`.
    pub key: String,
    /// In words: `CPUs`.
    pub label: String,
    /// The part of it that is busy, 0 to 1.
    pub busy: SizingEstimate,
}

/// What a throughput is predicted by.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SizingModel {
    /// In words: `the curve over cpus`.
    pub name: String,
    /// Configurations that it was tried on, each held back once and predicted from the others.
    pub held_back: u32,
    /// By how much it missed them, as a part of their throughput: root of the mean square of logarithms.
    pub missed_by: f64,
}
