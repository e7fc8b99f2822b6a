//! Another recording, whose call stacks a page's are compared with.

use model::{PageAgainst, Timeline, Timestamp, Window};

use super::call_stacks::Run;

/// Bins of its window, at most: each is a block of the comparison.
const MOST_BINS: i64 = 100;
/// A bin is no shorter, ns.
const LEAST_NS: i64 = 1_000_000_000;

/// A recording that was prepared, its judged window, and what a person types for it.
pub(crate) struct Against<'a> {
    pub(crate) timeline: &'a Timeline,
    pub(crate) window: Window,
    pub(crate) name: String,
}

impl<'a> Against<'a> {
    /// Its samples and waits, in even bins.
    pub(super) fn run(&self) -> Run<'a> {
        let Window { start, .. } = self.window;
        let length = self.window.len_ns();
        let bins = (length / LEAST_NS).clamp(1, MOST_BINS);
        let edges = (0..=bins).map(|bin| start + (length / bins) * bin);
        Run::of(self.timeline, self.window, edges.collect())
    }

    pub(super) fn described(&self, run: &Run<'_>) -> PageAgainst {
        let bins: Vec<Window> = run
            .edges
            .windows(2)
            .map(|pair| Window::new(pair[0], pair[1]))
            .collect();
        let after = |edge: &Timestamp| edge.ns_since(self.window.start);
        PageAgainst {
            recording: self.name.clone(),
            edges_ns: run.edges.iter().map(after).collect(),
            requests: analysis::completed(self.timeline, &bins),
        }
    }
}
