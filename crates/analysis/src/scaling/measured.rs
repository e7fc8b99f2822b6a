//! What was measured at each load, checked and summed up: the logarithm of the throughput, and how far a run scatters.
//!
//! Logarithms, because the throughput of a run scatters in proportion to itself: so all loads have one noise, and a
//! throughput in other units is the same curve. Nothing here knows of models.

use model::NoiseSource;

use super::Refusal;
use crate::stats::{f_test, mean, median};

/// One load of a sweep, with what was measured there.
#[derive(Clone, PartialEq, Debug)]
pub struct LoadPoint {
    /// Clients, instances or CPUs; above 0.
    pub load: f64,
    /// The runs at this load, at least one.
    pub runs: Vec<LoadRun>,
}

/// One run at a load.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LoadRun {
    /// Throughput, 1/s; above 0.
    pub throughput: f64,
    /// Its standard error, 1/s, where one is known: from bins within the run.
    pub standard_error: Option<f64>,
}

/// Fewer loads than this show no curve: two points lie on a line anyway.
pub(super) const LEAST_LOADS: usize = 3;

/// What no throughput is known better than, as a part of it: clocks and the ends of a run.
pub(super) const LEAST_NOISE: f64 = 0.001;

/// Runs of one load that scatter by more than this, as a part of their throughput, show no curve.
const MOST_NOISE: f64 = 0.5;

/// How seldom a load would be taken to be noisier than the others by chance.
const NOISIER: f64 = 0.01;

/// Loads and throughputs within which all that follows stays finite.
const LOADS: [f64; 2] = [1e-3, 1e9];
const THROUGHPUTS: [f64; 2] = [1e-9, 1e15];

/// A load with all its runs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Point {
    pub(super) load: f64,
    /// Natural logarithm of the load.
    pub(super) ln_load: f64,
    /// Mean of the logarithms of the throughputs.
    pub(super) level: f64,
    pub(super) runs: f64,
    /// Variance of the logarithm from run to run.
    pub(super) variance: f64,
    /// Sum of squares of the runs about their mean.
    squares: f64,
}

impl Point {
    /// What it counts for in a fit: one over the variance of its level.
    pub(super) fn weight(&self) -> f64 {
        self.runs / self.variance
    }
}

/// All points of a sweep, in rising order of load.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Measured {
    pub(super) points: Vec<Point>,
    pub(super) noise_from: NoiseSource,
    /// Degrees of freedom of the noise: infinite where it came with the throughputs, 0 where nothing tells it.
    pub(super) degrees: f64,
    /// Runs of all loads.
    pub(super) runs: f64,
    /// Sum of squares of all runs about the means of their loads, each in units of its variance.
    pub(super) squares: f64,
}

impl Measured {
    /// Checks the points and joins those of one load.
    ///
    /// # Errors
    ///
    /// Numbers that are no load or no throughput, fewer than three loads, or runs that scatter too far.
    pub(super) fn new(given: &[LoadPoint]) -> Result<Self, Refusal> {
        let joined = joined(given)?;
        if joined.len() < LEAST_LOADS {
            return Err(Refusal::FewLoads(joined.len()));
        }
        let mut points: Vec<Point> = joined.iter().map(summed_up).collect();
        let errors: Vec<Option<f64>> = joined.iter().map(relative_variance).collect();
        let repeated: f64 = points.iter().map(|it| it.runs - 1.0).sum();
        let (noise_from, degrees) = if repeated > 0.0 {
            set_from_repeats(&mut points, &errors)?;
            (NoiseSource::Repeats, repeated)
        } else if let Some(floor) = median(&errors.iter().copied().flatten().collect::<Vec<_>>()) {
            // One lucky error must not rule the curve, so the middle one is the least.
            for (point, error) in points.iter_mut().zip(errors) {
                point.variance = error
                    .map_or(floor, |it| it.max(floor))
                    .max(LEAST_NOISE.powi(2));
            }
            (NoiseSource::StandardErrors, f64::INFINITY)
        } else {
            (NoiseSource::Misfit, 0.0)
        };
        Ok(Self {
            runs: points.iter().map(|it| it.runs).sum(),
            squares: points.iter().map(|it| it.squares / it.variance).sum(),
            points,
            noise_from,
            degrees,
        })
    }

    /// The logarithm of the throughput at each load.
    pub(super) fn levels(&self) -> Vec<f64> {
        self.points.iter().map(|it| it.level).collect()
    }

    pub(super) fn least_load(&self) -> f64 {
        self.points[0].load
    }

    pub(super) fn most_load(&self) -> f64 {
        self.points[self.points.len() - 1].load
    }
}

fn joined(given: &[LoadPoint]) -> Result<Vec<LoadPoint>, Refusal> {
    let is_in = |value: f64, [low, high]: [f64; 2]| value >= low && value <= high;
    let mut joined: Vec<LoadPoint> = Vec::with_capacity(given.len());
    for point in given {
        if !is_in(point.load, LOADS) {
            return Err(Refusal::NoLoad(point.load));
        }
        if point.runs.is_empty() {
            return Err(Refusal::NoRun(point.load));
        }
        for run in &point.runs {
            let is_error = |it: f64| it.is_finite() && it >= 0.0;
            if !is_in(run.throughput, THROUGHPUTS) {
                return Err(Refusal::NoThroughput {
                    load: point.load,
                    throughput: run.throughput,
                });
            }
            if !run.standard_error.is_none_or(is_error) {
                return Err(Refusal::NoStandardError(point.load));
            }
        }
        match joined.iter_mut().find(|it| it.load == point.load) {
            Some(same) => same.runs.extend(&point.runs),
            None => joined.push(point.clone()),
        }
    }
    joined.sort_by(|one, other| one.load.total_cmp(&other.load));
    Ok(joined)
}

fn summed_up(point: &LoadPoint) -> Point {
    let levels: Vec<f64> = point.runs.iter().map(|it| it.throughput.ln()).collect();
    let level = mean(&levels).unwrap_or_default();
    Point {
        load: point.load,
        ln_load: point.load.ln(),
        level,
        runs: levels.len() as f64,
        variance: 1.0,
        squares: levels.iter().map(|it| (it - level).powi(2)).sum(),
    }
}

/// Variance of a run's logarithm by the standard errors that came with the runs; `None` where one has none.
fn relative_variance(point: &LoadPoint) -> Option<f64> {
    let squares = point
        .runs
        .iter()
        .map(|it| Some((it.standard_error? / it.throughput).powi(2)));
    mean(&squares.collect::<Option<Vec<f64>>>()?)
}

/// All loads have the noise of all runs together, however near those of one load happen to lie to each other. Only where
/// runs scatter more than those of the other loads by more than chance they have their own.
fn set_from_repeats(points: &mut [Point], errors: &[Option<f64>]) -> Result<(), Refusal> {
    let floor = LEAST_NOISE.powi(2);
    let mut is_own = vec![false; points.len()];
    while let Some(noisier) = noisiest(points, &is_own) {
        is_own[noisier] = true;
    }
    let pooled = pooled(points, |at| !is_own[at]).map_or(floor, |it| it.0.max(floor));
    if pooled > MOST_NOISE.powi(2) {
        return Err(Refusal::TooNoisy(pooled.sqrt()));
    }
    for (at, point) in points.iter_mut().enumerate() {
        let own = point.squares / (point.runs - 1.0).max(1.0);
        let known = errors[at].unwrap_or_default();
        point.variance = if is_own[at] { own } else { pooled }.max(known);
    }
    Ok(())
}

/// The load whose runs scatter most, where that is more than those of the others do by more than chance.
fn noisiest(points: &[Point], is_own: &[bool]) -> Option<usize> {
    // Most loads have the noise that is called everybody's.
    if 2 * (is_own.iter().filter(|it| **it).count() + 1) > points.len() {
        return None;
    }
    let candidates = (0..points.len()).filter(|at| !is_own[*at] && points[*at].runs > 1.0);
    let chances = candidates.filter_map(|at| {
        let degrees = points[at].runs - 1.0;
        let (others, degrees_below) = pooled(points, |other| other != at && !is_own[other])?;
        let ratio = points[at].squares / degrees / others.max(LEAST_NOISE.powi(2));
        Some((at, f_test(ratio, degrees, degrees_below)?))
    });
    let (at, chance) = chances.min_by(|one, other| one.1.total_cmp(&other.1))?;
    (chance * (points.len() as f64) < NOISIER).then_some(at)
}

/// Variance from run to run of some loads together, and its degrees of freedom; `None` where none was repeated.
fn pooled(points: &[Point], is_of_them: impl Fn(usize) -> bool) -> Option<(f64, f64)> {
    let (mut squares, mut degrees) = (0.0, 0.0);
    for (_, point) in points.iter().enumerate().filter(|(at, _)| is_of_them(*at)) {
        squares += point.squares;
        degrees += point.runs - 1.0;
    }
    (degrees > 0.0).then(|| (squares / degrees, degrees))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(load: f64, throughputs: &[f64]) -> LoadPoint {
        let run = |throughput: &f64| LoadRun {
            throughput: *throughput,
            standard_error: None,
        };
        LoadPoint {
            load,
            runs: throughputs.iter().map(run).collect(),
        }
    }

    fn noises(given: &[LoadPoint]) -> Vec<f64> {
        let measured = Measured::new(given).expect("points");
        measured
            .points
            .iter()
            .map(|it| it.variance.sqrt())
            .collect()
    }

    #[test]
    fn a_lucky_pair_has_the_noise_of_all_runs() {
        let noises = noises(&[
            point(1.0, &[100.0, 104.0]),
            point(2.0, &[200.0, 200.0]),
            point(4.0, &[390.0, 410.0]),
        ]);
        assert!(
            noises.iter().all(|it| *it == noises[0] && *it > 0.01),
            "{noises:?}"
        );
    }

    #[test]
    fn a_load_that_is_noisier_by_more_than_chance_has_its_own_noise() {
        let mut given: Vec<LoadPoint> = (1..=6)
            .map(f64::from)
            .map(|load| point(load, &[99.0 * load, 100.0 * load, 101.0 * load]))
            .collect();
        given[5] = point(6.0, &[400.0, 600.0, 900.0]);
        let noises = noises(&given);
        assert!(
            noises[..5].iter().all(|it| (0.009..0.011).contains(it)),
            "{noises:?}"
        );
        assert!(noises[5] > 0.3, "{noises:?}");
    }

    #[test]
    fn points_of_one_load_are_joined_in_rising_order() {
        let given = [
            point(4.0, &[40.0]),
            point(1.0, &[10.0]),
            point(2.0, &[20.0]),
            point(4.0, &[44.0]),
        ];
        let measured = Measured::new(&given).expect("points");
        let seen: Vec<(f64, f64)> = measured
            .points
            .iter()
            .map(|it| (it.load, it.runs))
            .collect();
        assert_eq!(seen, [(1.0, 1.0), (2.0, 1.0), (4.0, 2.0)]);
        assert_eq!(measured.noise_from, NoiseSource::Repeats);
        assert_eq!((measured.degrees, measured.runs), (1.0, 4.0));
    }

    #[test]
    fn standard_errors_are_the_noise_where_nothing_was_repeated_and_the_middle_is_the_least() {
        let with_error = |load: f64, relative: f64| LoadPoint {
            load,
            runs: vec![LoadRun {
                throughput: 100.0 * load,
                standard_error: Some(100.0 * load * relative),
            }],
        };
        let given = [
            with_error(1.0, 1e-6),
            with_error(2.0, 0.02),
            with_error(4.0, 0.05),
        ];
        let measured = Measured::new(&given).expect("points");
        assert_eq!(measured.noise_from, NoiseSource::StandardErrors);
        let noises: Vec<f64> = measured
            .points
            .iter()
            .map(|it| it.variance.sqrt())
            .collect();
        assert!(
            (noises[0] - 0.02).abs() < 1e-9 && (noises[2] - 0.05).abs() < 1e-9,
            "{noises:?}"
        );
        let bare = [point(1.0, &[1.0]), point(2.0, &[2.0]), point(3.0, &[3.0])];
        let measured = Measured::new(&bare).expect("points");
        assert_eq!(
            (measured.noise_from, measured.degrees),
            (NoiseSource::Misfit, 0.0)
        );
    }

    #[test]
    fn what_shows_no_curve_is_refused_with_its_reason() {
        let refusal = |given: &[LoadPoint]| Measured::new(given).expect_err("refused");
        let good = |load: f64| point(load, &[load]);
        assert_eq!(refusal(&[]), Refusal::FewLoads(0));
        assert_eq!(refusal(&[good(2.0)]), Refusal::FewLoads(1));
        assert_eq!(
            refusal(&[good(2.0), good(2.0), good(2.0)]),
            Refusal::FewLoads(1)
        );
        assert_eq!(refusal(&[good(1.0), good(2.0)]), Refusal::FewLoads(2));
        assert_eq!(refusal(&[good(0.0)]), Refusal::NoLoad(0.0));
        assert!(matches!(refusal(&[good(f64::NAN)]), Refusal::NoLoad(_)));
        assert_eq!(refusal(&[point(1.0, &[])]), Refusal::NoRun(1.0));
        for throughput in [0.0, -1.0, f64::INFINITY] {
            let expected = Refusal::NoThroughput {
                load: 1.0,
                throughput,
            };
            assert_eq!(refusal(&[point(1.0, &[throughput])]), expected);
        }
        let wild = [point(1.0, &[1.0, 9.0]), point(2.0, &[1.0, 30.0]), good(3.0)];
        assert!(matches!(refusal(&wild), Refusal::TooNoisy(_)));
    }
}
