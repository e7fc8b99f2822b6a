//! Throughput and latency in short intervals from single operations that a tool logged.

use model::{Timeline, Timestamp, Window};

use crate::latency_sample::Samples;
use crate::stats::median;
use crate::workload_metrics::bin::Bin;

/// Lengths of intervals that are tried, shortest first, ns.
const STEPS_NS: [i64; 3] = [100_000_000, 200_000_000, 500_000_000];
/// Operations that an interval has at least on average: of fewer the mean says little, and none for once is no stall.
const LEAST: f64 = 10.0;

/// The intervals, over the time that the tool's own cover; `None` where too few operations were logged for intervals that
/// are shorter than those.
///
/// Only a part of the operations may have been logged: throughput is that part, times what the tool counted in all over
/// what was logged.
pub(super) fn bins(timeline: &Timeline, tool: &[Bin]) -> Option<Vec<Bin>> {
    let start = tool.first()?.window.start;
    let end = tool.last()?.window.end;
    let lengths: Vec<f64> = tool.iter().map(|it| it.window.len_ns() as f64).collect();
    let longest = median(&lengths)? as i64;
    let samples = Samples::of(timeline);
    let inside = |at: i64| Timestamp::from_ns(at) >= start && Timestamp::from_ns(at) < end;
    let all: Vec<(i64, i64)> = samples
        .each()
        .iter()
        .copied()
        .filter(|it| inside(it.0))
        .collect();
    let per_ns = all.len() as f64 / Window::new(start, end).len_ns().max(1) as f64;
    let mut steps = STEPS_NS.into_iter();
    let step_ns = steps.find(|it| per_ns * *it as f64 >= LEAST)?;
    if step_ns >= longest {
        return None;
    }
    let completed: f64 = tool.iter().map(Bin::completed).sum();
    let each = (completed / all.len() as f64).max(1.0);
    let count = end.ns_since(start) / step_ns;
    let mut rest = &all[..];
    let bins = (0..count).map(|number| {
        let window = Window::new(start + number * step_ns, start + (number + 1) * step_ns);
        let (own, later) = rest.split_at(rest.partition_point(|it| it.0 < window.end.as_ns()));
        rest = later;
        let throughput = own.len() as f64 * each / window.seconds();
        let sum: f64 = own.iter().map(|it| it.1 as f64).sum();
        Bin {
            latency_ns: (!own.is_empty()).then(|| sum / own.len() as f64),
            stalled: own.is_empty(),
            ..Bin::new(window, throughput)
        }
    });
    Some(bins.collect())
}

#[cfg(test)]
mod tests {
    use model::{EntityId, EntityKind, Table, Unit};

    use super::*;

    const SECOND: i64 = 1_000_000_000;

    fn at(ns: i64) -> Timestamp {
        Timestamp::from_ns(ns)
    }

    /// Operations that were logged, each by its end and its length.
    fn logged(all: impl Iterator<Item = (i64, i64)>) -> Timeline {
        static COLUMNS: &[model::Column; 1] = &[model::Column::gauge(
            "latency_ns",
            Unit::Nanoseconds,
            "",
            "",
        )];
        static SAMPLE: Table = Table::new("latency_sample", EntityKind::Workload, "", COLUMNS);
        let mut timeline = Timeline::new(Window::new(at(0), at(60 * SECOND)));
        let table = timeline.table_mut(&SAMPLE);
        for (end, latency) in all {
            table.push(at(end), EntityId(1), &[latency]);
        }
        timeline
    }

    /// The tool's own: one each second, with 1,000 operations.
    fn tool() -> Vec<Bin> {
        let second = |it: i64| Window::new(at(it * SECOND), at((it + 1) * SECOND));
        (0..60).map(|it| Bin::new(second(it), 1_000.0)).collect()
    }

    #[test]
    fn a_stall_of_300_ms_is_seen_between_seconds() {
        // Every other operation is logged; none ends between 20.3 and 20.6 s, and the next take as long.
        let all = (0..30_000).map(|it| it * 2_000_000);
        let stalled = 20_300_000_000..20_600_000_000;
        let ends = all.filter(|it| !stalled.contains(it));
        let timeline = logged(ends.map(|end| match end - stalled.end {
            0..20_000_000 => (end, 300_000_000),
            _ => (end, 500_000),
        }));
        let bins = bins(&timeline, &tool()).expect("many are logged");
        assert_eq!(bins.len(), 600);
        assert!((bins[0].throughput - 1_005.0).abs() < 10.0, "{:?}", bins[0]);
        let stalled: Vec<usize> = (0..600).filter(|it| bins[*it].stalled).collect();
        assert_eq!(stalled, [203, 204, 205]);
        assert!(bins[206].latency_ns.is_some_and(|it| it > 50_000_000.0));
        assert_eq!(bins[207].latency_ns, Some(500_000.0));
    }

    #[test]
    fn of_few_operations_the_intervals_are_longer_or_none() {
        let each = |gap: i64| logged((0..60 * SECOND / gap).map(|it| (it * gap, 1_000)));
        let lengths = |gap| bins(&each(gap), &tool()).map(|it| it[0].window.len_ns() / 1_000_000);
        assert_eq!(lengths(1_000_000), Some(100));
        assert_eq!(lengths(15_000_000), Some(200));
        assert_eq!(lengths(40_000_000), Some(500));
        assert_eq!(lengths(100_000_000), None);
    }
}
