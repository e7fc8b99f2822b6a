//! Where two series cross: the load from which on the one that was behind is ahead.

use model::{Crossing, CrossingReport, Interval, ScalingEstimate, SeriesOfTwo};

use super::curve::Curve;
use super::draws::interval;
use super::joined::Joined;
use crate::stats::Xorshift;

/// Places between the ends at which two curves are compared; between two of them they cross once or not at all.
const PLACES: u32 = 64;

/// A part of the draws that is certain.
const CERTAIN: f64 = 0.95;

const SEED: u64 = 0xC205_5146_C205_5146;

/// How throughput grows in one series.
#[derive(Clone, Debug)]
pub(super) enum Path {
    /// As a model says.
    Curve(Curve),
    /// As its points say.
    Joined(Joined),
}

impl Path {
    fn log_throughput(&self, load: f64) -> f64 {
        match self {
            Self::Curve(curve) => curve.log_throughput(load),
            Self::Joined(joined) => joined.log_throughput(load),
        }
    }
}

/// What one series says, and the draws of it.
pub(super) struct Series {
    pub(super) path: Path,
    pub(super) drawn: Vec<Path>,
}

impl Series {
    fn is_joined(&self) -> bool {
        matches!(self.path, Path::Joined(_))
    }
}

/// A change of who is ahead.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Change {
    load: f64,
    after: SeriesOfTwo,
}

/// The changes between two curves over the loads of `compared`, and who is ahead at their ends.
struct Course {
    changes: Vec<Change>,
    first: Option<SeriesOfTwo>,
    last: Option<SeriesOfTwo>,
}

/// All crossings within the loads that both were measured at; `loads` are those of both, in rising order.
pub(super) fn crossings(
    first: &Series,
    second: &Series,
    loads: &[f64],
    compared: Interval,
) -> CrossingReport {
    let courses = drawn_courses(&first.drawn, &second.drawn, compared);
    let found = course(&first.path, &second.path, compared).changes;
    let is_joined = first.is_joined() || second.is_joined();
    let certain = found.into_iter().filter_map(|change| {
        let drawn = courses.iter().map(|it| it.like(change));
        let drawn: Vec<Option<f64>> = drawn.collect();
        let has = drawn.iter().filter(|it| it.is_some()).count();
        if (has as f64) < CERTAIN * drawn.len() as f64 {
            return None;
        }
        let ends = courses.iter().zip(&drawn);
        let drawn = ends.map(|(course, load)| load.unwrap_or(course.beyond(change, compared)));
        let interval = interval(change.load, drawn.collect());
        Some(Crossing {
            load: ScalingEstimate {
                value: change.load,
                // How throughput goes between two points is not known where no model says it.
                interval: match is_joined {
                    true => outwards(interval, loads),
                    false => interval,
                },
            },
            ahead_after: change.after,
        })
    });
    CrossingReport {
        compared,
        is_joined,
        crossings: certain.collect(),
        ahead_at_first: certainly(&courses, |it| it.first),
        ahead_at_last: certainly(&courses, |it| it.last),
    }
}

/// An interval that ends at loads which were measured.
fn outwards(interval: Interval, loads: &[f64]) -> Interval {
    let below = loads.iter().rev().find(|it| **it <= interval.low);
    let above = loads.iter().find(|it| **it >= interval.high);
    Interval {
        low: below.copied().unwrap_or(interval.low),
        high: above.copied().unwrap_or(interval.high),
    }
}

/// Draws of both, paired at random: the same noise was drawn for both in the same order.
fn drawn_courses(first: &[Path], second: &[Path], compared: Interval) -> Vec<Course> {
    let mut random = Xorshift::new(SEED);
    let others = first.iter().map(|_| random.below(second.len()));
    let others: Vec<usize> = others.collect();
    let pairs = first.iter().zip(others);
    pairs
        .map(|(one, other)| course(one, &second[other], compared))
        .collect()
}

/// Who is ahead in nearly all courses: 97.5 %, as an interval of 95 % leaves out as many on each side.
fn certainly(
    courses: &[Course],
    of: impl Fn(&Course) -> Option<SeriesOfTwo>,
) -> Option<SeriesOfTwo> {
    let all = courses.len() as f64;
    let is_certain = |series: &SeriesOfTwo| {
        let count = courses.iter().filter(|it| of(it) == Some(*series)).count();
        count as f64 >= 0.5 * (1.0 + CERTAIN) * all
    };
    [SeriesOfTwo::First, SeriesOfTwo::Second]
        .into_iter()
        .find(is_certain)
}

fn course(first: &Path, second: &Path, compared: Interval) -> Course {
    let ahead = |load: f64| {
        let lead = first.log_throughput(load) - second.log_throughput(load);
        // Curves that are equal to a part of a million are equal.
        match lead.abs() > 1e-6 {
            true if lead > 0.0 => Some(SeriesOfTwo::First),
            true => Some(SeriesOfTwo::Second),
            false => None,
        }
    };
    let [low, high] = [compared.low.ln(), compared.high.ln()];
    let place = |at: u32| match at {
        0 => compared.low,
        PLACES => compared.high,
        _ => (low + (high - low) * f64::from(at) / f64::from(PLACES)).exp(),
    };
    let mut changes = Vec::new();
    let mut before: Option<(f64, SeriesOfTwo)> = None;
    for load in (0..=PLACES).map(place) {
        let Some(now) = ahead(load) else { continue };
        if let Some((from, was)) = before.filter(|it| it.1 != now) {
            changes.push(Change {
                load: bisect([from, load], |it| ahead(it) == Some(was)),
                after: now,
            });
        }
        before = Some((load, now));
    }
    Course {
        changes,
        first: ahead(compared.low),
        last: ahead(compared.high),
    }
}

/// The load at which what holds at the first of two ceases to hold.
fn bisect([mut low, mut high]: [f64; 2], holds: impl Fn(f64) -> bool) -> f64 {
    while high / low > 1.0 + 1e-7 {
        let middle = (low * high).sqrt();
        match holds(middle) {
            true => low = middle,
            false => high = middle,
        }
    }
    (low * high).sqrt()
}

impl Course {
    /// The load of the change to the same series that is nearest to one.
    fn like(&self, change: Change) -> Option<f64> {
        let alike = self.changes.iter().filter(|it| it.after == change.after);
        let far = |load: f64| (load / change.load).ln().abs();
        alike
            .map(|it| it.load)
            .min_by(|one, other| far(*one).total_cmp(&far(*other)))
    }

    /// The end of the loads beyond which a change lies that is not between them: where the series that it leads to is
    /// ahead from the first load on, the first one.
    fn beyond(&self, change: Change, compared: Interval) -> f64 {
        match self.first == Some(change.after) {
            true => compared.low,
            false => compared.high,
        }
    }
}
