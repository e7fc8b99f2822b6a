//! How a run went second by second: a mean over half a minute hides that nothing was answered for two seconds of it.
//!
//! Where the kernel counted requests one by one, they are what is looked at, in steps of a tenth of a second; else
//! the workload's own intervals.

mod kernel;
mod workload;

use model::{BySecond, Load, Meta, Report, Stall, Timeline, Window};

use crate::request_times::{self, End};
use crate::thresholds::{Stalls, Thresholds};
use crate::workload_metrics;

/// No more intervals than these are reported.
const MOST_SECONDS: i64 = 3_600;
/// An interval.
const SECOND_NS: i64 = 1_000_000_000;

/// A report with its run by the second.
pub(crate) fn with_seconds(report: Report, timeline: &Timeline, meta: &Meta) -> Report {
    let by_second = of(timeline, meta, report.window, &Thresholds::default());
    Report {
        by_second,
        ..report
    }
}

/// The whole recording by the second, and what stalls held in the judged `window`; `None` where nobody said what was
/// completed when.
fn of(
    timeline: &Timeline,
    meta: &Meta,
    window: Window,
    thresholds: &Thresholds,
) -> Option<BySecond> {
    let rules = &thresholds.stalls;
    if let Some(end) = request_times::nearest_end(timeline) {
        let load = meta.workload.as_ref().map(|it| &it.load);
        return Some(kernel::Requests::of(timeline, end, rules)?.by_second(load, window));
    }
    let bins = workload_metrics::bins(timeline, meta);
    workload::by_second(timeline, meta, &bins, window, rules)
}

/// How long a step must be for requests in it to be compared, ns; `None` where none was answered.
pub(crate) fn step_ns(timeline: &Timeline, end: End, rules: &Stalls) -> Option<i64> {
    kernel::step_ns(timeline, end, request_times::known(timeline, end)?, rules)
}

/// Windows side by side over `known`, of `length_ns` each; what is left at the end belongs to the last.
fn cut(known: Window, length_ns: i64) -> Vec<Window> {
    let many = (known.len_ns() / length_ns.max(1)).max(1);
    let edge = |at: i64| match at == many {
        true => known.end,
        false => known.start + at * length_ns,
    };
    (0..many)
        .map(|at| Window::new(edge(at), edge(at + 1)))
        .collect()
}

/// Time of `window` that lies in stalls, ns.
fn stalled_ns(stalls: &[Stall], window: Window) -> i64 {
    let inside = stalls.iter().filter_map(|it| it.window.intersect(window));
    inside.map(Window::len_ns).sum()
}

/// Whether a generator keeps to a schedule of its own.
fn keeps_to_schedule(load: Option<&Load>) -> bool {
    load.is_some_and(|it| it.rate.is_some())
}

#[cfg(test)]
mod tests;
