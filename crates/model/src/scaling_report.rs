//! How throughput grows with load: what was measured at each load, the curves that describe it, and where it bends.
//!
//! A load is what is increased from run to run: clients, instances or CPUs. Throughput is operations per second.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Interval;

/// How throughput grows over the loads that were measured.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ScalingReport {
    /// What is known of it, in sentences.
    pub answer: String,
    /// The loads that were measured, in rising order.
    pub points: Vec<ScalingPoint>,
    /// Standard deviation of the throughput from run to run at one load, as a part of it.
    pub noise: f64,
    /// Where that is known from.
    pub noise_from: NoiseSource,
    /// Models that describe the points and cannot be told apart, the likeliest first; empty where none describes them.
    pub fits: Vec<ScalingFit>,
    /// All other models, with why not.
    pub rejected: Vec<RejectedModel>,
    /// Where no model describes the points, those that the nearest model misses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub straying: Vec<StrayingPoint>,
    /// The knee: the load from which on one more brings less than half of what the first one brought, by the likeliest
    /// model; the interval holds what the models say that cannot be told from it. An end at the smallest load or at
    /// twice the largest means *or beyond*. `None` where no model fits, or its curve does not bend so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub knee: Option<ScalingEstimate>,
    /// Loads between which the knee lies by the points alone, without any model: 95 %. `None` where the points have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub knee_between: Option<Interval>,
    /// Loads for which a throughput may be predicted: from half of the smallest to twice the largest.
    pub predictable: Interval,
}

/// What was measured at one load.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ScalingPoint {
    /// Clients, instances or CPUs.
    pub load: f64,
    /// Throughput, 1/s: the geometric mean of the runs.
    pub throughput: f64,
    /// Runs at this load.
    pub runs: u64,
    /// Standard error of the throughput, as a part of it; `None` where nothing says how runs scatter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relative_error: Option<f64>,
}

/// Where the noise of a run is known from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NoiseSource {
    /// From runs at the same load, of all loads together.
    Repeats,
    /// From the standard errors that came with the throughputs.
    StandardErrors,
    /// From how far the points lie off the curve: then nothing says whether the curve fits but its distance.
    Misfit,
}

/// How throughput X depends on load N.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ScalingModel {
    /// X = l N.
    Linear,
    /// X = l N / (1 + s (N - 1)) (Amdahl 1967).
    Amdahl,
    /// X = l N / (1 + s (N - 1) + k N (N - 1)) (Gunther 2007, Guerrilla Capacity Planning).
    Usl,
    /// X = ((l N)^-p + C^-p)^(-1/p): linear up to a capacity, with a knee as sharp as p (Churchill and Usagi 1972,
    /// AIChE Journal 18(6)).
    HardCap,
}

/// A model with what was found for it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ScalingFit {
    /// The model.
    pub model: ScalingModel,
    /// Its parameters.
    pub parameters: Vec<ScalingParameter>,
    /// By how much its AICc is above that of the likeliest; models within 2 cannot be told apart.
    pub aicc_above_best: f64,
    /// How likely it is among the models that cannot be told apart, 0 to 1: Akaike weight.
    pub weight: f64,
    /// Root of the mean squared distance of the points from the curve, as a part of the throughput.
    pub misfit: f64,
    /// How often points of this curve would lie at least so far off it by noise alone, 0 to 1; `None` where nothing but
    /// the distance says how noisy they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_value: Option<f64>,
    /// The curve at each load that was measured.
    pub curve: Vec<CurvePoint>,
    /// The knee, as in the report, by this model alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub knee: Option<ScalingEstimate>,
    /// The load at which throughput is highest and beyond which it falls; `None` where the curve has no such load up to
    /// twice the largest that was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak: Option<ScalingEstimate>,
    /// The highest throughput of the curve, 1/s: reached or approached. `None` where it is at least a tenth above what
    /// the curve has at twice the largest load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<ScalingEstimate>,
}

/// A parameter of a model.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ScalingParameter {
    /// Which.
    pub name: ParameterName,
    /// What was found, with its 95 % interval.
    pub estimate: ScalingEstimate,
}

/// A parameter's name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ParameterName {
    /// l: throughput of one alone, 1/s; of a hard cap the slope below the knee.
    Rate,
    /// s: the part of the work that cannot be done side by side (contention), 0 to 1.
    Contention,
    /// k: what each pair costs to agree (coherency), as a part of one's work.
    Coherency,
    /// C: the throughput at which growth ends, 1/s.
    Capacity,
    /// p: how sharp the knee is. At 1 the curve is Amdahl's; from about 20 on it is two lines.
    Sharpness,
}

/// A value with its 95 % interval.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ScalingEstimate {
    /// The value.
    pub value: f64,
    /// Its 95 % interval, which holds it.
    pub interval: Interval,
}

/// A curve at one load.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CurvePoint {
    /// Clients, instances or CPUs.
    pub load: f64,
    /// Throughput, 1/s.
    pub throughput: ScalingEstimate,
}

/// A model that is not among the fits.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RejectedModel {
    /// The model.
    pub model: ScalingModel,
    /// Why: a clause.
    pub reason: String,
}

/// A point that no model describes.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct StrayingPoint {
    /// Clients, instances or CPUs.
    pub load: f64,
    /// Its distance from the nearest model's curve, as a part of that: below 0 where the point lies below.
    pub off: f64,
}

/// Where two series of one load cross.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CrossingReport {
    /// The loads over which both were measured; nothing is said beyond them.
    pub compared: Interval,
    /// The crossings that are certain: at least 95 % of the curves that the data allow have them. In rising order.
    pub crossings: Vec<Crossing>,
    /// Whether no model describes one of the two: then straight lines between its points stand for it, on logarithms, and a
    /// crossing lies between loads that were measured.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_joined: bool,
    /// Who is ahead at the smallest of these loads; `None` where that cannot be told.
    pub ahead_at_first: Option<SeriesOfTwo>,
    /// Who is ahead at the largest; `None` where that cannot be told.
    pub ahead_at_last: Option<SeriesOfTwo>,
}

/// A load at which one series overtakes the other.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Crossing {
    /// The load, not rounded to whole ones; an end of the interval at an end of what was compared means *or beyond*.
    pub load: ScalingEstimate,
    /// Who has the higher throughput from there on.
    pub ahead_after: SeriesOfTwo,
}

/// One of two series.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SeriesOfTwo {
    /// The one that was named first.
    First,
    /// The other.
    Second,
}
