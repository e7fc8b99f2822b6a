//! Models of the throughput of a configuration: a curve over one parameter, a power of each, and the utilisation law with
//! the bound of a closed loop.

use super::data::{Datum, Place};
use crate::scaling::{Scaling, between};
use crate::stats::median;

/// A kind of model.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Kind {
    /// The fitted scaling curve over the number at this place, all others being equal.
    Curve(usize),
    /// Straight lines, on logarithms, from each configuration to the next over the number at this place, all others being
    /// equal: for what no curve describes.
    Joined(usize),
    /// X = a times a power of each parameter (Cobb and Douglas 1928).
    Powers,
    /// X = ((l N)^-p + (u S)^-p)^(-1/p): a closed loop of N clients asks for l each at most, and S units do u each at
    /// most (asymptotic bounds: Lazowska et al. 1984, Quantitative System Performance, chapter 5); p as in a hard cap.
    Law,
    /// The same, with u from the CPU time that a request was measured to take.
    MeasuredLaw,
}

/// A model with what was found for it.
#[derive(Clone, Debug)]
pub(super) enum Fitted {
    Curve(usize, Box<Scaling>),
    /// The number at this place and the throughput of each configuration as logarithms, in rising order.
    Joined(usize, Vec<(f64, f64)>),
    /// The logarithm of a, and the powers.
    Powers(f64, Vec<f64>),
    Law(Bounds),
}

/// ln X = rate + ln N - ln(1 + (N / S e^ratio)^p) / p
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Bounds {
    /// Logarithm of what one client asks for at most.
    rate: f64,
    /// Logarithm of that as a multiple of what one unit does at most.
    ratio: f64,
    sharpness: f64,
}

/// How sharp the bend between the two bounds may be.
const SHARPNESS: [f64; 6] = [1.0, 1.5, 2.0, 4.0, 8.0, 32.0];

impl Kind {
    pub(super) fn fit(self, data: &[Datum]) -> Option<Fitted> {
        match self {
            Self::Curve(axis) => {
                let loads: Vec<_> = data.iter().map(|it| it.as_load(axis)).collect();
                let scaling = Scaling::new(&loads).ok()?;
                Some(Fitted::Curve(axis, Box::new(scaling)))
            }
            Self::Joined(axis) => {
                let points = data
                    .iter()
                    .map(|it| (it.place.numbers[axis].ln(), it.level));
                let mut points: Vec<(f64, f64)> = points.collect();
                points.sort_by(|one, other| one.0.total_cmp(&other.0));
                Some(Fitted::Joined(axis, points))
            }
            Self::Powers => powers(data),
            Self::Law => law(data, None),
            Self::MeasuredLaw => {
                let times: Option<Vec<f64>> = data.iter().map(|it| it.demand_s).collect();
                // One unit does as many requests a second as their CPU time fits into it.
                law(data, Some(-median(&times?)?.ln()))
            }
        }
    }

    /// Its name; `None` of the number that a curve is over.
    pub(super) fn name(self, numbers: &[String]) -> String {
        let over = |axis: usize| numbers.get(axis).map_or("", String::as_str);
        match self {
            Self::Curve(axis) => format!("the curve over {}", over(axis)),
            Self::Joined(axis) => format!("its neighbours over {}", over(axis)),
            Self::Powers => format!("a power of each of {}", numbers.join(" and ")),
            Self::Law => "the bounds of clients and units".to_owned(),
            Self::MeasuredLaw => "the utilisation law".to_owned(),
        }
    }
}

impl Fitted {
    /// The logarithm of the throughput there, and of the ends of its own interval where it has one.
    pub(super) fn predict(&self, place: &Place) -> Option<[f64; 3]> {
        match self {
            Self::Curve(axis, scaling) => {
                let it = scaling.predict(*place.numbers.get(*axis)?).ok()?;
                let logarithms = [it.value, it.interval.low, it.interval.high].map(f64::ln);
                logarithms
                    .iter()
                    .all(|it| it.is_finite())
                    .then_some(logarithms)
            }
            Self::Joined(axis, points) => {
                let level = between(points, place.numbers.get(*axis)?.ln())?;
                level.is_finite().then_some([level; 3])
            }
            Self::Powers(constant, powers) => {
                let numbers = place.numbers.iter().zip(powers);
                let level = constant + numbers.map(|(it, power)| it.ln() * power).sum::<f64>();
                level.is_finite().then_some([level; 3])
            }
            Self::Law(bounds) => {
                let level = bounds.rate + bounds.shape(place);
                level.is_finite().then_some([level; 3])
            }
        }
    }
}

impl Bounds {
    fn shape(&self, place: &Place) -> f64 {
        // The logarithm of how far the clients' bound is above the units'.
        let over = self.sharpness * (self.ratio + (place.load / place.units).ln());
        let bent = match over > 30.0 {
            true => over,
            false => over.exp().ln_1p(),
        };
        place.load.ln() - bent / self.sharpness
    }
}

/// Least squares of logarithms. `None` where the configurations do not tell the powers apart.
fn powers(data: &[Datum]) -> Option<Fitted> {
    let width = data.first()?.place.numbers.len() + 1;
    if data.len() < width {
        return None;
    }
    let mut matrix = vec![vec![0.0; width + 1]; width];
    for it in data {
        let numbers = it.place.numbers.iter().map(|it| it.ln());
        let row: Vec<f64> = std::iter::once(1.0).chain(numbers).collect();
        for (own, one) in matrix.iter_mut().zip(&row) {
            for (sum, other) in own.iter_mut().zip(row.iter().chain([&it.level])) {
                *sum += one * other;
            }
        }
    }
    let solution = solve(matrix)?;
    let (constant, powers) = solution.split_first()?;
    Some(Fitted::Powers(*constant, powers.to_vec()))
}

/// Gauss' elimination with the largest pivot; the last column is the right side.
fn solve(mut matrix: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    const SINGULAR: f64 = 1e-9;
    let width = matrix.len();
    for at in 0..width {
        let pivot = (at..width).max_by(|one, other| {
            let [one, other] = [one, other].map(|it| matrix[*it][at].abs());
            one.total_cmp(&other)
        })?;
        matrix.swap(at, pivot);
        let own = matrix[at].clone();
        if own[at].abs() < SINGULAR {
            return None;
        }
        for (below, row) in matrix.iter_mut().enumerate() {
            if below != at {
                let factor = row[at] / own[at];
                row.iter_mut()
                    .zip(&own)
                    .for_each(|(it, own)| *it -= factor * own);
            }
        }
    }
    let solution = (0..width).map(|at| matrix[at][width] / matrix[at][at]);
    Some(solution.collect())
}

/// Searches the ratio of the two bounds and the sharpness of the bend on a grid that becomes finer; the rate is a mean for
/// any of them. `unit` is the logarithm of what one unit does, where that was measured.
fn law(data: &[Datum], unit: Option<f64>) -> Option<Fitted> {
    const STEPS: i32 = 24;
    const FINER: usize = 4;
    // The bend lies within the configurations, or up to e^3 beyond them.
    const BEYOND: f64 = 3.0;
    let ratios = data.iter().map(|it| (it.place.units / it.place.load).ln());
    let low = ratios.clone().fold(f64::INFINITY, f64::min) - BEYOND;
    let high = ratios.fold(f64::NEG_INFINITY, f64::max) + BEYOND;
    if !(low.is_finite() && high.is_finite()) {
        return None;
    }
    let mut best: Option<(f64, Bounds)> = None;
    for sharpness in SHARPNESS {
        let (mut centre, mut half) = ((low + high) / 2.0, (high - low) / 2.0);
        for _ in 0..FINER {
            let tried =
                (-STEPS..=STEPS).map(|step| centre + half * f64::from(step) / f64::from(STEPS));
            let own = tried.map(|ratio| tried_bounds(data, unit, ratio, sharpness));
            let found = own.min_by(|one, other| one.0.total_cmp(&other.0))?;
            (centre, half) = (found.1.ratio, half / f64::from(STEPS) * 2.0);
            if best.as_ref().is_none_or(|it| found.0 < it.0) {
                best = Some(found);
            }
        }
    }
    best.map(|it| Fitted::Law(it.1))
}

/// The sum of squares that a ratio and a sharpness leave, with the rate that leaves least.
fn tried_bounds(data: &[Datum], unit: Option<f64>, ratio: f64, sharpness: f64) -> (f64, Bounds) {
    let mut bounds = Bounds {
        rate: 0.0,
        ratio,
        sharpness,
    };
    let off: Vec<f64> = data
        .iter()
        .map(|it| it.level - bounds.shape(&it.place))
        .collect();
    bounds.rate = match unit {
        Some(unit) => ratio + unit,
        None => off.iter().sum::<f64>() / off.len().max(1) as f64,
    };
    let squares = off.iter().map(|it| (it - bounds.rate).powi(2)).sum();
    (squares, bounds)
}
