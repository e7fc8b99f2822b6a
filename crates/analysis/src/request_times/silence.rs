//! Bins in which no request was answered: a stall, or nobody asked.

use model::{EntityId, Timeline, Window};
use sensors::request::bound_ns;

use crate::workload_metrics::bin::Bin;

use super::growth;

/// Seconds without a request are no stall, unless one that was answered after them had been there all
/// the time.
pub(super) fn mark_stalls(
    bins: &mut [Bin],
    timeline: &Timeline,
    table: &str,
    connections: &[EntityId],
) {
    let mut empty_since = None;
    for next in 0..bins.len() {
        if bins[next].completed() == 0.0 {
            empty_since.get_or_insert(next);
        } else if let Some(first) = empty_since.take() {
            let answered = bins[next].window;
            let longest_ns = longest_ns(timeline, table, connections, answered);
            for bin in &mut bins[first..next] {
                bin.stalled = longest_ns >= answered.end.ns_since(bin.window.start) as f64;
            }
        }
    }
}

/// What the longest of the requests that were timed took at least.
fn longest_ns(timeline: &Timeline, table: &str, connections: &[EntityId], window: Window) -> f64 {
    let Some(data) = timeline.table(table) else {
        return 0.0;
    };
    let columns = data.table.columns.iter();
    let mut bounds: Vec<(f64, &str)> = columns
        .filter_map(|it| Some((bound_ns(&it.name)?, &*it.name)))
        .collect();
    bounds.sort_by(|a, b| a.0.total_cmp(&b.0));
    let highest = bounds
        .iter()
        .rposition(|(_, column)| growth(timeline, table, connections, column, window) > 0.0);
    let below = highest.and_then(|it| it.checked_sub(1));
    below.map_or(0.0, |it| bounds[it].0)
}
