//! The answer so far, of a recording that is still being made.

use model::{Finding, Meta, Timeline, Window};

use crate::{diagnose, judged, machine};

/// What came before is not judged: the answer is about now, ns.
const LAST_NS: i64 = 20_000_000_000;
/// Rows of the last second are not all on disk yet, ns.
const UNWRITTEN_NS: i64 = 1_000_000_000;
/// Less than this says nothing, ns.
const LEAST_NS: i64 = 1_000_000_000;

/// The headline over the last 20 s of a recording that is prepared (`prepare`); `None` where there is too little, or
/// nobody to judge.
pub fn so_far(timeline: &Timeline, meta: &Meta) -> Option<Finding> {
    let (origin, _) = judged(timeline, meta);
    let end = timeline.window.end - UNWRITTEN_NS;
    let window = Window::new(origin.max(end - LAST_NS).min(end), end);
    if window.len_ns() < LEAST_NS || meta.targets.is_empty() {
        return None;
    }
    if meta.is_of_machine() {
        return machine::headline(timeline, meta, window);
    }
    let report = diagnose(timeline, meta, Some(window));
    report.verdict.findings.into_iter().next()
}
