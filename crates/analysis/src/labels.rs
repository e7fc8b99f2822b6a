//! Operations by label (sampler, endpoint, kind), where the workload tells them apart.

use std::collections::BTreeMap;

use model::{
    EntityId, LabelReport, MISSING, Meta, ScriptSummary, TableData, Timeline, Timestamp, Window,
};

use crate::latency_sample::Samples;
use crate::stats::{is_supported, nearest_rank};
use crate::workload_metrics::Bin;

/// An interval of one label.
struct Interval {
    end: Timestamp,
    label: EntityId,
    completed: f64,
    failed: Option<f64>,
    latency_ns: Option<f64>,
}

fn intervals(timeline: &Timeline) -> Vec<Interval> {
    let Some(table) = timeline.table("signal_by_label") else {
        return Vec::new();
    };
    let names = [
        "interval_ns",
        "throughput_milli",
        "failed",
        "latency_mean_ns",
    ];
    let columns = names.map(|name| table.table.position(name));
    let read = |row| interval(table, row, columns);
    let mut all: Vec<Interval> = (0..table.len()).filter_map(read).collect();
    all.sort_by_key(|it| it.end);
    all
}

fn interval(table: &TableData, row: usize, columns: [Option<usize>; 4]) -> Option<Interval> {
    let value = |column: usize| {
        let value = table.row(row).nth(columns[column]?)?;
        (value != MISSING && value >= 0).then_some(value as f64)
    };
    let (end, label) = table.key(row);
    Some(Interval {
        end,
        label,
        completed: value(0)? * value(1)? / 1e12,
        failed: value(2),
        latency_ns: value(3),
    })
}

/// Gives intervals of all operations the mean latency of those of the labels that end within them, where the workload says
/// none of all: what it says of some would be another measure beside that.
pub(crate) fn fill_latency(bins: &mut [Bin], timeline: &Timeline) {
    if bins.iter().any(|bin| bin.latency_ns.is_some()) {
        return;
    }
    let all = intervals(timeline);
    for bin in bins {
        let from = all.partition_point(|it| it.end <= bin.window.start);
        let to = all.partition_point(|it| it.end <= bin.window.end);
        bin.latency_ns = mean(&all[from..to.max(from)]);
    }
}

fn mean<'a>(intervals: impl IntoIterator<Item = &'a Interval>) -> Option<f64> {
    let (mut completed, mut time) = (0.0, 0.0);
    for it in intervals {
        if let Some(latency_ns) = it.latency_ns {
            completed += it.completed;
            time += it.completed * latency_ns;
        }
    }
    (completed > 0.0).then(|| time / completed)
}

/// What is known of each label over the window; where intervals say nothing, over the whole run.
pub(crate) fn report(timeline: &Timeline, meta: &Meta, window: Window) -> Vec<LabelReport> {
    let outcome = meta.workload.as_ref().and_then(|it| it.outcome.as_ref());
    let summary = outcome.and_then(|it| it.summary.as_ref());
    over(timeline, summary.map_or(&[], |it| &it.scripts), window)
}

fn over(timeline: &Timeline, kinds: &[ScriptSummary], window: Window) -> Vec<LabelReport> {
    let mut by_label: BTreeMap<EntityId, Vec<Interval>> = BTreeMap::new();
    for it in intervals(timeline) {
        if window.start < it.end && it.end <= window.end {
            by_label.entry(it.label).or_default().push(it);
        }
    }
    if by_label.is_empty() {
        // One kind alone says no more than the whole.
        let kinds = if kinds.len() > 1 { kinds } else { &[] };
        return kinds.iter().map(of_whole_run).collect();
    }
    let each = by_label.iter().filter_map(|(label, intervals)| {
        let name = &timeline.entities.get(*label)?.entity.name;
        let failed = intervals.iter().filter_map(|it| it.failed);
        let completed: f64 = intervals.iter().map(|it| it.completed).sum();
        let times = Samples::of_label(timeline, *label).inside(window);
        let p99 = is_supported(times.len() as f64, 0.99).then(|| nearest_rank(&times, 0.99));
        Some(LabelReport {
            name: name.clone(),
            completed: Some(completed.round() as u64),
            failed: failed.reduce(|a, b| a + b).map(|it| it as u64),
            latency_mean_ns: mean(intervals),
            latency_p99_ns: p99.flatten().map(|ns| ns as f64),
            of_whole_run: false,
        })
    });
    each.collect()
}

fn of_whole_run(kind: &ScriptSummary) -> LabelReport {
    let p99 = kind.latency_quantiles.iter().find(|it| it.q == 0.99);
    LabelReport {
        name: kind.name.clone(),
        completed: kind.completed,
        failed: kind.failed,
        latency_mean_ns: kind.latency_mean_ns.map(|ns| ns as f64),
        latency_p99_ns: p99.map(|it| it.latency_ns as f64),
        of_whole_run: true,
    }
}

#[cfg(test)]
mod tests {
    use model::{Column, Entity, EntityEvent, EntityKind, EntityRecord, Table, Unit};

    use super::*;

    static COLUMNS: &[Column] = &[
        Column::gauge("interval_ns", Unit::Nanoseconds, "", ""),
        Column::gauge("throughput_milli", Unit::MilliPerSecond, "", ""),
        Column::gauge("latency_mean_ns", Unit::Nanoseconds, "", ""),
        Column::gauge("failed", Unit::Count, "", ""),
    ];
    static BY_LABEL: Table = Table::new("signal_by_label", EntityKind::Workload, "", COLUMNS);
    static LATENCY: &[Column] = &[Column::gauge("latency_ns", Unit::Nanoseconds, "", "")];
    static SAMPLE: Table = Table::new("latency_sample", EntityKind::Workload, "", LATENCY);

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_ns(seconds * 1_000_000_000)
    }

    /// Two labels over 10 s: `a` has 100 operations a second of 2 ms, `b` 10 of 5 ms and a failure from 5 s on.
    fn drawn() -> Timeline {
        let mut timeline = Timeline::new(Window::new(at(0), at(10)));
        for (id, name) in [(2, "a"), (3, "b")] {
            let entity = Entity::new(EntityKind::Workload, name, format!("workload/label:{id}"));
            let record = EntityRecord::new(EntityId(id), entity, at(0));
            timeline.entities.apply(EntityEvent {
                time: at(0),
                record,
            });
        }
        for second in 1..=10 {
            let table = timeline.table_mut(&BY_LABEL);
            let interval = 1_000_000_000;
            table.push(at(second), EntityId(2), &[interval, 100_000, 2_000_000, 0]);
            let (rate, failed) = if second > 5 { (10_000, 1) } else { (0, 0) };
            let latency = if second > 5 { 5_000_000 } else { MISSING };
            table.push(at(second), EntityId(3), &[interval, rate, latency, failed]);
            let samples = timeline.table_mut(&SAMPLE);
            for n in 1..=100 {
                samples.push(at(second) + -n, EntityId(2), &[n * 10_000]);
            }
        }
        timeline
    }

    #[test]
    fn labels_are_told_over_the_window() {
        let found = over(&drawn(), &[], Window::new(at(4), at(8)));
        let told: Vec<_> = found
            .iter()
            .map(|it| {
                (
                    &*it.name,
                    it.completed,
                    it.failed,
                    it.latency_mean_ns,
                    it.latency_p99_ns,
                )
            })
            .collect();
        // Of 400 samples too few lie beyond the p99.
        let expected = [
            ("a", Some(400), Some(0), Some(2e6), None),
            ("b", Some(30), Some(3), Some(5e6), None),
        ];
        assert_eq!(told, expected);
        let found = over(&drawn(), &[], Window::new(at(0), at(10)));
        assert_eq!(
            (found[0].latency_p99_ns, found[1].latency_p99_ns),
            (Some(990_000.0), None)
        );
        assert!(
            over(
                &Timeline::new(Window::new(at(0), at(1))),
                &[],
                Window::new(at(0), at(1))
            )
            .is_empty()
        );
    }

    #[test]
    fn latency_of_all_follows_from_that_of_labels() {
        let bin = |from, to, latency_ns| Bin {
            latency_ns,
            ..Bin::new(Window::new(at(from), at(to)), 100.0)
        };
        let mut bins = [bin(0, 5, None), bin(5, 10, None), bin(10, 15, None)];
        fill_latency(&mut bins, &drawn());
        let filled = bins.map(|bin| bin.latency_ns);
        // 100 x 2 ms and 10 x 5 ms.
        let both = (100.0 * 2e6 + 10.0 * 5e6) / 110.0;
        assert_eq!(filled, [Some(2e6), Some(both), None]);
        // A workload that says its latency of some intervals is not mixed with that.
        let mut bins = [bin(0, 5, None), bin(5, 10, Some(1.0))];
        fill_latency(&mut bins, &drawn());
        assert_eq!(bins.map(|bin| bin.latency_ns), [None, Some(1.0)]);
    }
}
