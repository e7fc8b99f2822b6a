//! The knee by the points alone: no curve is assumed, only that what each further one brings does not grow.

use model::Interval;

use super::measured::Point;
use crate::stats::t_95;

/// Loads between which throughput per further load falls below half of what each of the first brought. Where throughput is
/// concave its slope at a load lies between those of the stretches to both sides, so the knee lies behind the beginning of
/// every stretch that is steeper than half and before the end of every one that is flatter; each of which is told with
/// 95 %. `scale` is what variances are multiplied by, with its degrees of freedom. `None` where no stretch is flatter, or
/// where a flatter one lies before a steeper one: then there is no knee, or more than one.
pub(super) fn knee_between(points: &[Point], scale: f64, degrees: f64) -> Option<Interval> {
    let sure = t_95(degrees)?;
    let first = points.first()?;
    let stretches: Vec<(f64, f64, f64)> = points
        .windows(2)
        .map(|pair| (pair[0].load, pair[1].load, steepness(first, pair, scale)))
        .collect();
    let upper = stretches.iter().find(|it| it.2 < -sure)?.1;
    let steeper = stretches.iter().rev().find(|it| it.2 > sure);
    let low = steeper.map_or(first.load, |it| it.0);
    (low < upper).then_some(Interval { low, high: upper })
}

/// By how many standard errors the slope of a stretch is above half of the first load's throughput per load.
fn steepness(first: &Point, pair: &[Point], scale: f64) -> f64 {
    let [from, to] = [pair[0], pair[1]];
    let width = to.load - from.load;
    // What each throughput counts for; that of the first load may be that of the stretch's beginning too.
    let mut parts = vec![(to, 1.0 / width), (from, -1.0 / width)];
    match from.load == first.load {
        true => parts[1].1 -= 0.5 / first.load,
        false => parts.push((*first, -0.5 / first.load)),
    }
    let value: f64 = parts.iter().map(|(point, by)| by * point.level.exp()).sum();
    let variance =
        |(point, by): &(Point, f64)| (by * point.level.exp()).powi(2) * scale / point.weight();
    let error = parts.iter().map(variance).sum::<f64>().sqrt();
    match error > 0.0 {
        true => value / error,
        false => 0.0,
    }
}
