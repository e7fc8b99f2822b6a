//! When the answer was there: how long a load had run when its cause was first named and stayed named.
//!
//! Worked out from the recording alone, whoever watched: windows that begin where the load does and end later and
//! later are judged, each by what happened in it. What needs more than the last of them to be named has no time.

use model::{Finding, Meta, Report, Timeline, Timestamp, Window};

use crate::causes;
use crate::comparable;
use crate::facts;
use crate::rank;
use crate::scene::{Roles, Scene, Scope};
use crate::thresholds::Thresholds;

/// Between the ends of two windows at first, ns; later ones grow by a part of their length.
const STEP_NS: i64 = 1_000_000_000;
const GROWTH: i64 = 5;
/// Longer ones are each so many times as long, ns: all of them together are then shorter than half of the recording,
/// and take less time to judge than that.
const LONG_NS: i64 = 60_000_000_000;
const LONG_GROWTH: i64 = 4;

/// A report with when its headline was named.
pub(crate) fn with_time(report: Report, timeline: &Timeline, meta: &Meta) -> Report {
    let roles = Roles::new(timeline, meta);
    let headline = report.verdict.findings.first();
    let named_after_ns =
        headline.and_then(|it| named_after(&roles, it, report.origin, report.window));
    Report {
        named_after_ns,
        ..report
    }
}

/// How long after `origin` the headline was first named and stayed, ns; `None` where none is named.
fn named_after(
    roles: &Roles<'_>,
    headline: &Finding,
    origin: Timestamp,
    judged: Window,
) -> Option<i64> {
    if headline.cause == "undetermined" {
        return None;
    }
    let thresholds = Thresholds::default();
    let mut named = None;
    // From the last to the first: what was named before something else was did not stay.
    for end in ends(origin, judged.end).into_iter().rev() {
        let Some(window) = Window::new(origin, end).intersect(roles.timeline.window) else {
            break;
        };
        let window = comparable(roles.timeline, &roles.bins, window);
        let scene = Scene::new(roles, window, Scope::Phase);
        let facts = facts::measure(&scene, &thresholds);
        let ranked = rank::rank(causes::judge(&facts), &facts);
        let is_it = |it: &Finding| (&it.cause, &it.entity) == (&headline.cause, &headline.entity);
        if !ranked.findings.first().is_some_and(is_it) {
            break;
        }
        named = Some(end.ns_since(origin));
    }
    named
}

/// Where the windows end. For the whole of a long one its headline stands.
fn ends(origin: Timestamp, end: Timestamp) -> Vec<Timestamp> {
    let whole = end.ns_since(origin);
    let mut lengths = Vec::new();
    let mut length = STEP_NS;
    while length < whole {
        lengths.push(length);
        length = match length < LONG_NS {
            true => length + STEP_NS.max(length / GROWTH),
            false => length.saturating_mul(LONG_GROWTH),
        };
    }
    if whole <= LONG_NS {
        lengths.push(whole);
    }
    let lengths = lengths.into_iter().filter(|length| *length > 0);
    lengths.map(|length| origin + length).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_end_each_second_at_first_and_an_hour_has_few() {
        let at = Timestamp::from_seconds;
        let seconds = |end: f64| -> Vec<f64> {
            let ends = ends(at(10.0), at(end));
            ends.iter().map(|it| it.seconds_since(at(10.0))).collect()
        };
        assert_eq!(seconds(13.5), [1.0, 2.0, 3.0, 3.5]);
        assert_eq!(seconds(10.0), Vec::<f64>::new());
        let hour = seconds(3_610.0);
        assert!(
            hour.iter().filter(|it| **it > 60.0).sum::<f64>() < 1_800.0,
            "{hour:?}"
        );
        assert!(hour.last().is_some_and(|last| *last > 900.0), "{hour:?}");
    }
}
