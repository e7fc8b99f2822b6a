//! Which models describe the points, and which of these is likeliest.

use model::{NoiseSource, RejectedModel, ScalingModel, StrayingPoint};

use super::Refusal;
use super::answer::name;
use super::curve::{Curve, MODELS, parameters};
use super::measured::{LEAST_NOISE, Measured};
use super::solver::Problem;
use crate::number_format::percent;
use crate::stats::{f_test, mean};

/// A curve whose points lie so far off it that noise does it in fewer than this part of all cases does not describe them.
const IMPROBABLE: f64 = 0.01;

/// Below this a misfit counts as part of the noise: the curve is not the whole truth.
const DOUBTFUL: f64 = 0.05;

/// No server follows a formula exactly: a curve that misses no point by more than this part of it describes them, however
/// little noise they have. It is the least difference that is said between two recordings too.
const NEAR: f64 = 0.05;

/// The same where nothing but the distance from the curve says how noisy the points are, for their standard deviation.
const NEAR_UNREPEATED: f64 = 0.1;

/// A point strays where it lies so many standard errors off, and not near.
const STRAYS: f64 = 2.0;

/// Models whose AICc differ by less than this cannot be told apart (Burnham and Anderson 2002, Model Selection and
/// Multimodel Inference, 2.6).
const ALIKE: f64 = 2.0;

/// A model's curve through the points.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Fitted {
    pub(super) curve: Curve,
    /// Sum of squares of the distances of the points, each in units of its variance.
    pub(super) squares: f64,
    /// Loads less parameters.
    pub(super) degrees: f64,
    /// How often noise alone gives as large a sum; `None` where no noise is known.
    pub(super) p_value: Option<f64>,
    /// Distance of each point as a part of the curve's throughput.
    pub(super) off: Vec<f64>,
}

impl Fitted {
    fn new(model: ScalingModel, measured: &Measured) -> Self {
        let levels = measured.levels();
        let solution = Problem::new(model, &measured.points, &levels).solve();
        let degrees = measured.points.len() as f64 - parameters(model) as f64;
        let off = |at: usize| {
            let curve = solution.curve.log_throughput(measured.points[at].load);
            (levels[at] - curve).exp_m1()
        };
        Self {
            curve: solution.curve,
            squares: solution.squares,
            degrees,
            p_value: misfit_by_noise(measured, solution.squares / degrees, degrees),
            off: (0..levels.len()).map(off).collect(),
        }
    }

    /// Root of the mean squared distance of the points.
    pub(super) fn misfit(&self) -> f64 {
        let squares: Vec<f64> = self.off.iter().map(|it| it * it).collect();
        mean(&squares).unwrap_or_default().sqrt()
    }

    fn farthest(&self) -> f64 {
        self.off.iter().fold(0.0, |most, it| most.max(it.abs()))
    }

    fn describes_points(&self) -> bool {
        match self.p_value {
            Some(p) => p >= IMPROBABLE || self.farthest() <= NEAR,
            None => (self.squares / self.degrees).sqrt() <= NEAR_UNREPEATED,
        }
    }

    /// By what the variances of the points must be multiplied to be those that the curve shows, with the degrees of freedom
    /// of that: the noise of all runs together, or the misfit where it is more than noise (Birge 1932, Physical Review 40).
    pub(super) fn scale(&self, measured: &Measured) -> (f64, f64) {
        let own = (self.squares / self.degrees, self.degrees);
        match measured.noise_from {
            NoiseSource::Misfit => (own.0.max(LEAST_NOISE.powi(2)), own.1),
            _ if self.p_value.is_some_and(|it| it < DOUBTFUL) => (own.0.max(1.0), own.1),
            NoiseSource::StandardErrors => (1.0, f64::INFINITY),
            NoiseSource::Repeats => {
                let degrees = self.degrees + measured.degrees;
                ((self.squares + measured.squares) / degrees, degrees)
            }
        }
    }
}

/// The lack-of-fit test against what runs of one load differ by (Fisher 1922, Journal of the Royal Statistical Society
/// 85(4)), or against standard errors (chi-squared).
fn misfit_by_noise(measured: &Measured, per_degree: f64, degrees: f64) -> Option<f64> {
    match measured.noise_from {
        NoiseSource::Misfit => None,
        _ => f_test(per_degree, degrees, measured.degrees),
    }
}

/// A model that describes the points, beside the likeliest.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Candidate {
    pub(super) fitted: Fitted,
    /// By how much its AICc is above the least.
    pub(super) above_best: f64,
    /// Akaike weight among the candidates.
    pub(super) weight: f64,
}

/// What came of all models.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Choice {
    /// Those that cannot be told apart, the likeliest first; empty where none describes the points.
    pub(super) candidates: Vec<Candidate>,
    pub(super) rejected: Vec<RejectedModel>,
    /// The model that is nearest to the points.
    pub(super) nearest: Fitted,
    /// The points that it misses, where none describes them.
    pub(super) straying: Vec<StrayingPoint>,
}

impl Choice {
    /// # Errors
    ///
    /// Too few runs for any model.
    pub(super) fn new(measured: &Measured) -> Result<Self, Refusal> {
        let mut rejected = Vec::new();
        let mut fits = Vec::new();
        for model in MODELS {
            match lacking(model, measured) {
                Some(reason) => rejected.push(RejectedModel { model, reason }),
                None => fits.push(Fitted::new(model, measured)),
            }
        }
        let inflation = inflation(&fits);
        let mut ranked: Vec<(f64, Fitted)> = fits
            .into_iter()
            .map(|it| (aicc(&it, measured, inflation), it))
            .collect();
        ranked.sort_by(|one, other| one.0.total_cmp(&other.0));
        let (_, nearest) = ranked.first().cloned().ok_or(Refusal::FewRuns)?;
        let (describing, others): (Vec<_>, Vec<_>) =
            ranked.into_iter().partition(|it| it.1.describes_points());
        rejected.extend(others.iter().map(|it| misses(&it.1)));
        let least = describing.first().map_or(0.0, |it| it.0);
        let best = describing
            .first()
            .map_or(nearest.curve.model, |it| it.1.curve.model);
        let mut candidates = Vec::new();
        for (aicc, fitted) in describing {
            let above_best = aicc - least;
            match above_best <= ALIKE {
                true => candidates.push(Candidate {
                    weight: (-0.5 * above_best).exp(),
                    above_best,
                    fitted,
                }),
                false => rejected.push(less_likely(fitted.curve.model, above_best, best)),
            }
        }
        let sum: f64 = candidates.iter().map(|it| it.weight).sum();
        candidates.iter_mut().for_each(|it| it.weight /= sum);
        let straying = match candidates.is_empty() {
            true => straying(&nearest, measured),
            false => Vec::new(),
        };
        Ok(Self {
            candidates,
            rejected,
            nearest,
            straying,
        })
    }
}

/// What AICc counts as data, and what of it the model takes beside its parameters: its noise.
fn counted(measured: &Measured) -> (f64, f64) {
    match measured.noise_from {
        NoiseSource::Repeats => (measured.runs, 1.0),
        NoiseSource::StandardErrors => (measured.points.len() as f64, 0.0),
        NoiseSource::Misfit => (measured.points.len() as f64, 1.0),
    }
}

/// Why a model cannot be tried: a clause.
fn lacking(model: ScalingModel, measured: &Measured) -> Option<String> {
    let loads = measured.points.len();
    if loads <= parameters(model) {
        let needed = parameters(model) + 1;
        return Some(format!(
            "{needed} loads are needed, and {loads} were measured"
        ));
    }
    let (count, noise) = counted(measured);
    let needed = parameters(model) as f64 + noise + 2.0;
    (count < needed).then(|| format!("{needed} runs or loads are needed, and there are {count}"))
}

/// By how much the points scatter more about the model that is nearest to them than noise does: the variance inflation
/// of QAICc (Burnham and Anderson 2002, 2.5). Runs of one load say nothing about that.
fn inflation(fits: &[Fitted]) -> f64 {
    let nearest = fits
        .iter()
        .min_by(|one, other| one.squares.total_cmp(&other.squares));
    match nearest {
        Some(it) if it.p_value.is_some_and(|p| p < DOUBTFUL) => (it.squares / it.degrees).max(1.0),
        _ => 1.0,
    }
}

/// Akaike's criterion for small samples (Hurvich and Tsai 1989, Biometrika 76(2)), up to what is the same for all models.
fn aicc(fitted: &Fitted, measured: &Measured, inflation: f64) -> f64 {
    let (count, noise) = counted(measured);
    let taken = parameters(fitted.curve.model) as f64 + noise;
    let misfit = match measured.noise_from {
        NoiseSource::Misfit => count * (fitted.squares / count).max(LEAST_NOISE.powi(2)).ln(),
        _ => fitted.squares / inflation,
    };
    misfit + 2.0 * taken + 2.0 * taken * (taken + 1.0) / (count - taken - 1.0)
}

fn misses(fitted: &Fitted) -> RejectedModel {
    RejectedModel {
        model: fitted.curve.model,
        reason: format!("misses points by up to {}", percent(fitted.farthest())),
    }
}

fn less_likely(model: ScalingModel, above_best: f64, best: ScalingModel) -> RejectedModel {
    let best = name(best);
    RejectedModel {
        model,
        reason: format!("is less likely than {best}: its AICc is {above_best:.1} higher"),
    }
}

/// The points that a curve misses by more than is near and by more than their noise; the farthest where noise covers all.
fn straying(nearest: &Fitted, measured: &Measured) -> Vec<StrayingPoint> {
    let error = |at: usize| match measured.noise_from {
        NoiseSource::Misfit => 0.0,
        _ => measured.points[at].weight().powf(-0.5),
    };
    let strays = |at: usize, least: f64| {
        let off = nearest.off[at];
        let load = measured.points[at].load;
        (off.abs() >= least).then_some(StrayingPoint { load, off })
    };
    let all = 0..nearest.off.len();
    let far: Vec<StrayingPoint> = all
        .clone()
        .filter_map(|at| strays(at, NEAR.max(STRAYS * error(at))))
        .collect();
    match far.is_empty() {
        true => all
            .filter_map(|at| strays(at, nearest.farthest()))
            .collect(),
        false => far,
    }
}
