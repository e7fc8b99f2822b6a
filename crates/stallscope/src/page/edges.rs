//! The instants that divide a recording into the page's finest bins.

use analysis::stats::median_high;
use model::{Timestamp, Window};

/// The finest step between two edges: how often target and generator are sampled.
const FINEST_NS: i64 = 100_000_000;
/// Edges in all, about.
pub(super) const MOST: i64 = 4_000;

/// Edges over `window`, which are the starts and ends of the workload's intervals and, where there is
/// room, instants between them.
pub(super) fn edges(window: Window, origin: Timestamp, intervals: &[Window]) -> Vec<Timestamp> {
    let step = step(window.len_ns() / MOST);
    if intervals.is_empty() {
        return even(window, origin, step);
    }
    let mut fixed: Vec<Timestamp> = intervals
        .iter()
        .flat_map(|interval| [interval.start, interval.end])
        .filter(|at| window.contains(*at))
        .chain([window.start, window.end])
        .collect();
    fixed.sort();
    fixed.dedup();
    let every = fixed.len() / MOST as usize + 1;
    if every > 1 {
        let last = fixed.len() - 1;
        let mut at = 0..;
        fixed.retain(|_| {
            let place = at.next().unwrap_or(last);
            place % every == 0 || place == last
        });
    }
    let mut edges = Vec::new();
    for pair in fixed.windows(2) {
        let length = pair[1].ns_since(pair[0]);
        // Rounded: an interval of 1.02 s has ten parts, not eleven.
        let parts = (length.saturating_add(step / 2) / step).max(1);
        edges.extend((0..parts).map(|part| pair[0] + part_of(length, part, parts)));
    }
    edges.extend(fixed.last());
    edges
}

/// `length * part / parts`, which may be more than fits on the way.
fn part_of(length: i64, part: i64, parts: i64) -> i64 {
    (i128::from(length) * i128::from(part) / i128::from(parts)) as i64
}

/// Every `step` from the origin on, both ways, and the ends of the window.
fn even(window: Window, origin: Timestamp, step: i64) -> Vec<Timestamp> {
    let before = window.start.ns_since(origin).div_euclid(step) + 1;
    let mut edges = vec![window.start];
    let mut at = origin + before.saturating_mul(step);
    while at < window.end {
        edges.push(at);
        at = at + step;
    }
    if !window.is_empty() {
        edges.push(window.end);
    }
    edges
}

/// The next round step that is not below `least`.
fn step(least: i64) -> i64 {
    let mut step = FINEST_NS;
    let mut factors = [2, 5, 10].into_iter().cycle();
    let mut decade = FINEST_NS;
    while step < least {
        let Some(factor) = factors.next() else { break };
        step = decade.saturating_mul(factor);
        if factor == 10 {
            decade = step;
        }
    }
    step
}

/// Every `stride`th edge, and the last.
pub(super) fn strided(edges: &[Timestamp], stride: usize) -> Vec<Timestamp> {
    let mut strided: Vec<Timestamp> = edges.iter().copied().step_by(stride).collect();
    if edges.len() % stride != 1 && stride > 1 {
        strided.extend(edges.last());
    }
    strided
}

/// The usual distance between two edges, ns.
pub(super) fn usual_step(edges: &[Timestamp]) -> i64 {
    let steps: Vec<i64> = edges.windows(2).map(|it| it[1].ns_since(it[0])).collect();
    median_high(&steps, i64::cmp).unwrap_or(FINEST_NS)
}
