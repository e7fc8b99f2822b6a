//! How sure a curve is: fits to throughputs as they might have been measured as well, and intervals by these.

use model::Interval;

use super::choice::{Candidate, Fitted};
use super::curve::Curve;
use super::measured::Measured;
use super::solver::Problem;
use crate::stats::Xorshift;

/// Fits to throughputs that are drawn.
const DRAWS: usize = 800;

const SEED: u64 = 0x5CA1_AB1E_0DD5_EED5;

/// No drawn throughput is further from the curve than by this factor's logarithm; beyond it all curves are alike.
const FARTHEST: f64 = 20.0;

/// Fits to draws from the curve with the noise that it was seen to have (parametric bootstrap: Efron and Tibshirani 1993,
/// An Introduction to the Bootstrap, 6.5). The noise is itself only known as well as its degrees of freedom say, so each
/// draw has its own, with which intervals of a line are those of Student's t.
pub(super) fn draws(fitted: &Fitted, measured: &Measured) -> Vec<Curve> {
    let (scale, degrees) = fitted.scale(measured);
    let curve = fitted.curve;
    let expected = measured
        .points
        .iter()
        .map(|it| curve.log_throughput(it.load));
    let expected: Vec<f64> = expected.collect();
    let errors = measured
        .points
        .iter()
        .map(|it| (scale / it.weight()).sqrt());
    let errors: Vec<f64> = errors.collect();
    let mut random = Xorshift::new(SEED ^ (curve.model as u64 + 1).wrapping_mul(0x9E37_79B9));
    let draw = |_| {
        let known = known_as_well_as(degrees, &mut random);
        let levels = expected.iter().zip(&errors);
        let levels: Vec<f64> = levels
            .map(|(level, error)| {
                level + (known * error * random.normal()).clamp(-FARTHEST, FARTHEST)
            })
            .collect();
        let problem = Problem::new(curve.model, &measured.points, &levels);
        problem.solve_from(curve.shape).curve
    };
    (0..DRAWS).map(draw).collect()
}

/// The square root of `degrees` over a number of the chi-squared distribution with as many.
pub(super) fn known_as_well_as(degrees: f64, random: &mut Xorshift) -> f64 {
    /// With more the noise is known to a few percent.
    const MANY: f64 = 200.0;
    if degrees > MANY {
        return 1.0;
    }
    let squares = (0..degrees as usize).map(|_| random.normal().powi(2));
    let sum: f64 = squares.sum();
    (degrees / sum.max(f64::MIN_POSITIVE)).sqrt()
}

/// Draws of all candidates, of each as many as its weight says: what they say together (Buckland, Burnham and Augustin
/// 1997, Biometrics 53(2)).
pub(super) fn mixed(candidates: &[Candidate], draws: &[Vec<Curve>]) -> Vec<Curve> {
    let each = candidates.iter().zip(draws);
    let taken = |(candidate, draws): (&Candidate, &Vec<Curve>)| {
        let count = (candidate.weight * draws.len() as f64).round() as usize;
        draws.iter().copied().take(count).collect::<Vec<_>>()
    };
    each.flat_map(taken).collect()
}

/// The 95 % interval of what was estimated as `value`, by the percentiles of the same from draws, rounded
/// outwards; it holds the value.
pub(super) fn interval(value: f64, mut drawn: Vec<f64>) -> Interval {
    drawn.sort_by(f64::total_cmp);
    let last = drawn.len().saturating_sub(1) as f64;
    let at = |rank: f64| drawn.get(rank as usize).copied().unwrap_or(value);
    Interval {
        low: at((0.025 * last).floor()).min(value),
        high: at((0.975 * last).ceil()).max(value),
    }
}
