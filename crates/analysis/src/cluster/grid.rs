//! All quantities of all nodes in intervals that they share.

use std::collections::BTreeMap;

use model::{OverTime, Quantities, Span, Timestamp, Window};

use super::Node;
use super::quantity::{Quantity, Reader, Together};
use crate::stats::mean;

/// Part of an interval that must be known for its value to count.
const KNOWN: f64 = 0.5;

/// Values by interval, node and quantity; NaN where one is not known.
pub(super) struct Grid {
    pub(super) start_ns: i64,
    pub(super) step_ns: i64,
    pub(super) steps: usize,
    /// By node, then by quantity, then by interval.
    values: Vec<Vec<Vec<f64>>>,
    /// CPUs that each node may use, by node and interval; NaN where that is not known.
    sizes: Vec<Vec<f64>>,
}

impl Grid {
    pub(super) fn of(nodes: &[Node<'_>], span: Span, step_ns: i64) -> Self {
        let steps = ((span.to_ns - span.from_ns) / step_ns.max(1)).max(0) as usize;
        let mut grid = Self {
            start_ns: span.from_ns,
            step_ns,
            steps,
            values: Vec::new(),
            sizes: Vec::new(),
        };
        for node in nodes {
            let sizes: Vec<f64> = (0..steps)
                .map(|step| node.size_at(grid.middle(step)))
                .collect();
            let windows: Vec<Option<Window>> =
                (0..steps).map(|step| grid.known(node, step)).collect();
            let reader = Reader::of(node.timeline, &windows, &sizes);
            let rows = Quantity::ALL.iter().map(|it| reader.row(*it));
            grid.values.push(rows.collect());
            grid.sizes.push(sizes);
        }
        grid
    }

    fn middle(&self, step: usize) -> i64 {
        self.start_ns + self.step_ns * step as i64 + self.step_ns / 2
    }

    pub(super) fn starts_at(&self, step: usize) -> i64 {
        self.start_ns + self.step_ns * step as i64
    }

    pub(super) fn span(&self, steps: &std::ops::Range<usize>) -> Span {
        Span {
            from_ns: self.starts_at(steps.start),
            to_ns: self.starts_at(steps.end),
        }
    }

    /// The part of an interval in which a node is known, on its own clock; `None` where that is too little.
    fn known(&self, node: &Node<'_>, step: usize) -> Option<Window> {
        let at = |ns: i64| node.on_its_clock(ns);
        let whole = Window::new(at(self.starts_at(step)), at(self.starts_at(step + 1)));
        let mut known = whole.intersect(node.timeline.window)?;
        for hole in node.holes {
            if let Some(missing) = known.intersect(*hole) {
                // The longer side of the gap.
                let before = Window::new(known.start, missing.start);
                let behind = Window::new(missing.end, known.end);
                known = match before.len_ns() >= behind.len_ns() {
                    true => before,
                    false => behind,
                };
            }
        }
        let enough = known.len_ns() as f64 >= KNOWN * whole.len_ns() as f64;
        enough.then_some(known)
    }

    pub(super) fn nodes(&self) -> std::ops::Range<usize> {
        0..self.values.len()
    }

    /// A node's values of a quantity.
    pub(super) fn row(&self, node: usize, quantity: Quantity) -> &[f64] {
        &self.values[node][quantity as usize]
    }

    /// Whether a node was there: anything is known of it.
    pub(super) fn is_present(&self, node: usize, step: usize) -> bool {
        self.values[node].iter().any(|row| !row[step].is_nan())
    }

    /// How many nodes were there.
    pub(super) fn present_at(&self, step: usize) -> usize {
        self.nodes()
            .filter(|node| self.is_present(*node, step))
            .count()
    }

    /// Whether a node was there for at least half of some intervals.
    pub(super) fn is_present_in(&self, node: usize, steps: &std::ops::Range<usize>) -> bool {
        let there = steps.clone().filter(|step| self.is_present(node, *step));
        2 * there.count() >= steps.len()
    }

    pub(super) fn size(&self, node: usize, step: usize) -> Option<f64> {
        Some(self.sizes[node][step]).filter(|it| !it.is_nan())
    }

    /// A node's mean of a quantity over some intervals.
    pub(super) fn mean(
        &self,
        node: usize,
        quantity: Quantity,
        steps: std::ops::Range<usize>,
    ) -> Option<f64> {
        mean(&known(&self.row(node, quantity)[steps]))
    }

    /// All that is known of a node over some intervals.
    pub(super) fn means(&self, node: usize, steps: &std::ops::Range<usize>) -> Quantities {
        let each = Quantity::ALL.iter().filter_map(|quantity| {
            let mean = self.mean(node, *quantity, steps.clone())?;
            Some((quantity.word().to_owned(), mean))
        });
        each.collect()
    }

    /// The cluster's value of a quantity in an interval: of the nodes that are there.
    pub(super) fn together(&self, quantity: Quantity, step: usize) -> f64 {
        let all: Vec<f64> = self
            .nodes()
            .map(|node| self.row(node, quantity)[step])
            .collect();
        let all = known(&all);
        let sum: f64 = all.iter().sum();
        match quantity.together() {
            _ if all.is_empty() => f64::NAN,
            Together::Sum => sum,
            Together::Mean => sum / all.len() as f64,
        }
    }

    /// The same of all quantities over some intervals.
    pub(super) fn cluster_means(&self, steps: &std::ops::Range<usize>) -> Quantities {
        let each = Quantity::ALL.iter().filter_map(|quantity| {
            let values: Vec<f64> = steps
                .clone()
                .map(|step| self.together(*quantity, step))
                .collect();
            Some((quantity.word().to_owned(), mean(&known(&values))?))
        });
        each.collect()
    }

    /// As it goes into the report.
    pub(super) fn over_time(&self, throughput: &[f64]) -> OverTime {
        let shown = |value: &f64| (!value.is_nan()).then_some(*value as f32);
        let node = |node: usize| {
            let rows = Quantity::ALL.iter().filter_map(|quantity| {
                let row: Vec<Option<f32>> = self.row(node, *quantity).iter().map(shown).collect();
                let is_known = row.iter().any(Option::is_some);
                is_known.then(|| (quantity.word().to_owned(), row))
            });
            rows.collect::<BTreeMap<_, _>>()
        };
        OverTime {
            start_ns: self.start_ns,
            step_ns: self.step_ns,
            nodes: self.nodes().map(node).collect(),
            throughput: throughput
                .iter()
                .map(|it| (!it.is_nan()).then_some(*it))
                .collect(),
        }
    }
}

/// Those that are numbers.
pub(super) fn known(values: &[f64]) -> Vec<f64> {
    values.iter().copied().filter(|it| !it.is_nan()).collect()
}

impl Node<'_> {
    /// An instant of the clock on the wall that all share, on the clock of this node's recording.
    pub(super) fn on_its_clock(&self, realtime_ns: i64) -> Timestamp {
        let identity = &self.meta.identity;
        let own_ns = realtime_ns.saturating_add(self.ahead_ns);
        identity.anchor_boottime + own_ns.saturating_sub(identity.anchor_realtime_ns)
    }

    /// The other way round: ns since 1970.
    pub(super) fn on_the_wall(&self, at: Timestamp) -> i64 {
        let identity = &self.meta.identity;
        let own_ns = identity
            .anchor_realtime_ns
            .saturating_add(at.ns_since(identity.anchor_boottime));
        own_ns.saturating_sub(self.ahead_ns)
    }

    fn size_at(&self, realtime_ns: i64) -> f64 {
        let since = self.sizes.partition_point(|it| it.0 <= realtime_ns);
        let newest = since.checked_sub(1).and_then(|at| self.sizes.get(at));
        newest.or(self.sizes.first()).map_or(f64::NAN, |it| it.1)
    }
}
