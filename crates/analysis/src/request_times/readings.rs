//! Parts of a window in each of which the same share of requests was timed.
//!
//! The recorder sets that share anew at each reading, by how many requests came since the last one. Between two
//! readings the requests that were timed are a random sample of all; across them they are not: of a load that has just
//! begun all are timed for a tenth of a second, and a part afterwards; and after a slow moment more are than before.

use model::{EntityId, Timeline, Timestamp, Window};

/// A window is cut into so many parts at most: a day has a million readings.
const MOST_PARTS: i64 = 300;

/// When the recorder read the counters.
pub(super) struct Readings(Vec<Timestamp>);

impl Readings {
    pub(super) fn of(timeline: &Timeline, table: &str, connections: &[EntityId]) -> Self {
        let of = connections.iter();
        let of = of.filter_map(|it| timeline.series(table, *it, "requests"));
        // All are read at the same time, but have a row only where something changed.
        let longest = of.max_by_key(|it| it.values().count());
        Self(longest.map_or(Vec::new(), |it| it.values().map(|(at, _)| at).collect()))
    }

    /// The window, cut at readings.
    pub(super) fn cut(&self, window: Window) -> impl Iterator<Item = Window> {
        self.cut_into(window, window.len_ns() / MOST_PARTS)
    }

    /// The window, cut at readings into parts that are longer than `least_ns`, but for the last.
    pub(super) fn cut_into(&self, window: Window, least_ns: i64) -> impl Iterator<Item = Window> {
        let first = self.0.partition_point(|at| *at <= window.start);
        let inside = self.0[first..]
            .iter()
            .copied()
            .take_while(move |at| *at < window.end);
        let mut start = window.start;
        inside.chain([window.end]).filter_map(move |at| {
            let is_part = at.ns_since(start) > least_ns || at == window.end;
            is_part.then(|| Window::new(std::mem::replace(&mut start, at), at))
        })
    }
}
