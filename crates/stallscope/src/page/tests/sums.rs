//! Numbers of pages against the recordings that they were made of.

use model::{
    ColumnKind, EntityKind, LedgerClass, MISSING, Role, Timeline, Timestamp, Unit, Window,
};
use proptest::prelude::*;

use super::decode::{Found, found};
use super::made::{HOSTILE, kept, with_gaps, with_names};
use super::{data_of, draw, text_of};
use crate::page::{bins, edges};

/// A window of a recording as ns after the page's origin.
pub(super) fn span(found: &Found, window: Window) -> (i64, i64) {
    let origin = found.page.report.origin;
    (window.start.ns_since(origin), window.end.ns_since(origin))
}

fn time(found: &Found, role: Role, class: LedgerClass, window: Window) -> i64 {
    let column = format!("{}_ns", class.word());
    let of_role = |entity: &model::PageEntity| {
        let process = entity
            .parent
            .map(|place| &found.page.entities[place as usize]);
        process.map_or(entity.role, |process| process.role) == role
    };
    let series = found.series("ledger", &column, of_role);
    found.growth(&series, span(found, window))
}

#[test]
fn time_of_threads_adds_up_to_what_is_said_of_windows() {
    for name in [
        "cpu-saturated",
        "cpu-quota",
        "io-sync",
        "mariadb-quota",
        "memory-thrash",
        "step-change",
    ] {
        let recording = kept(name);
        let (report, text) = data_of(&recording);
        let found = found(&text);
        let intervals = analysis::intervals(&recording.timeline, &recording.meta);
        let (second, third) = (intervals[1], intervals[intervals.len() - 2]);
        let windows = [
            report.window,
            Window::new(second.start, third.end),
            Window::new(second.start, second.end),
        ];
        for window in windows {
            let report = analysis::diagnose(&recording.timeline, &recording.meta, Some(window));
            for subject in &report.subjects {
                let threads = subject.threads.as_ref().expect("they were watched");
                let said = |class| {
                    let mut items = threads.items.iter();
                    items.find(|it| it.class == class).map_or(0, |it| it.ns)
                };
                let sum = |class| time(&found, subject.role, class, report.window);
                // What a quota held back is counted when it ends, be that before or behind the window's
                // ends; else there are microseconds between them.
                let late = 1_000_000 + threads.wall_ns / 1_000;
                for class in [
                    LedgerClass::OnCpu,
                    LedgerClass::CpuWait,
                    LedgerClass::Throttled,
                ] {
                    let (sum, said) = (sum(class), said(class));
                    assert!(
                        (sum - said).abs() <= late,
                        "{name}: {} {} over {:?}: {sum} is not {said}",
                        subject.role.word(),
                        class.word(),
                        span(&found, report.window),
                    );
                }
                let whole: i64 = LedgerClass::ALL.into_iter().map(sum).sum();
                let wall = threads.wall_ns;
                assert!(
                    (whole - wall).abs() <= late,
                    "{name}: {whole} is not {wall}"
                );
            }
        }
    }
}

/// Every series of a page against the recording's own arithmetic.
fn check(timeline: &Timeline, found: &Found) {
    let origin = found.page.report.origin;
    for (name, all) in found.bins.iter().filter(|(name, _)| *name != "ledger") {
        let about = found.page.tables.iter().find(|it| it.name == *name);
        let about = about.expect("it is described");
        for bins in all {
            let column = &about.columns[bins.column];
            let entity = &found.page.entities[bins.entity];
            let mut records = timeline.entities.iter();
            let record = records
                .find(|it| it.entity.kind == entity.kind && it.entity.path == entity.path)
                .expect("it was recorded");
            let series = timeline
                .series(name, record.id, &column.name)
                .expect("recorded");
            let whole = series.known().expect("it has values");
            let at = |ns: i64| origin + ns;
            assert!((whole.start.ns_since(at(bins.known.0))).abs() <= 1_000);
            assert!((whole.end.ns_since(at(bins.known.1))).abs() <= 1_000);
            let what = format!("{name}.{} of {}", column.name, entity.name);
            if column.kind == ColumnKind::Counter {
                let sum: i128 = bins.numbers.iter().copied().map(i128::from).sum();
                let grown = series.growth(whole).unwrap_or(0.0);
                let apart = (sum as f64 - grown).abs();
                assert!(apart <= column.scale as f64, "{what}: {sum} is not {grown}");
            }
            for (index, number) in bins.numbers.iter().enumerate() {
                let (start, end) = found.bin(bins, index);
                let bin = Window::new(at(start), at(end));
                let known = Window::new(at(start.max(bins.known.0)), at(end.min(bins.known.1)));
                let spread = bins.low[index] != *number || bins.high[index] != *number;
                // A counter's lowest and highest are of the whole bin.
                let mean = match column.kind {
                    ColumnKind::Counter if spread => {
                        *number as f64 * (bin.len_ns() as f64 / known.len_ns() as f64)
                    }
                    _ => *number as f64,
                };
                // The page knows the ends to a microsecond.
                let near = mean.abs() * 2_000.0 / known.len_ns().max(1) as f64 + 1e-6;
                assert!(
                    bins.low[index] as f64 <= mean + near && mean - near <= bins.high[index] as f64,
                    "{what}"
                );
                if column.kind == ColumnKind::Gauge && column.unit != Unit::Code {
                    let mean = series.mean(bin);
                    let near = mean
                        .is_none_or(|mean| (mean - *number as f64).abs() <= column.scale as f64);
                    assert!(near, "{what}: {number} is not {mean:?}");
                }
            }
        }
    }
}

#[test]
fn every_number_of_kept_recordings_is_the_recordings_own() {
    for name in ["cpu-quota", "io-sync"] {
        let recording = kept(name);
        check(&recording.timeline, &found(&data_of(&recording).1));
    }
    let recording = with_gaps(kept("cpu-neighbour"));
    check(&recording.timeline, &found(&data_of(&recording).1));
}

#[test]
fn in_a_bin_known_in_part_lowest_and_highest_are_of_the_whole_bin() {
    static COLUMNS: &[model::Column] = &[model::Column::counter("n", Unit::Count, "", "")];
    let table = model::Table::new("t", EntityKind::Machine, "", COLUMNS);
    let start = Timestamp::from_seconds(5.0);
    let mut timeline = Timeline::new(Window::new(start, start + 1_000));
    let data = timeline.table_mut(&table);
    // The second half of the bin: 1 a ns, then 3 a ns.
    for (at, total) in [(500, 0), (600, 100), (750, 250), (1_000, 1_000)] {
        data.push(start + at, model::EntityId(0), &[total]);
    }
    let series = timeline.series("t", model::EntityId(0), "n");
    let binned = bins::counter(&series.expect("drawn"), &[start, start + 1_000], 1);
    let binned = binned.expect("it is known");
    assert_eq!(binned.numbers, [1_000]);
    assert_eq!(binned.envelope, [(1_000, 3_000)]);
}

#[test]
fn the_workloads_own_intervals_are_all_there() {
    let recording = kept("step-change");
    let found = found(&data_of(&recording).1);
    let recorded = recording.timeline.table("signal").expect("it was recorded");
    let rows = &found.rows["signal"];
    assert_eq!(rows.len(), recorded.len());
    for (row, number) in rows.iter().zip(0..) {
        let (time, entity) = recorded.key(number);
        assert_eq!(row.at, time.ns_since(found.page.report.origin));
        let known = |value: i64| (value != MISSING).then_some(value);
        let values: Vec<Option<i64>> = recorded.row(number).map(known).collect();
        assert_eq!(row.values, values);
        let record = recording.timeline.entities.get(entity).expect("known");
        assert_eq!(found.page.entities[row.entity].path, record.entity.path);
    }
}

#[test]
fn of_too_many_operations_the_slowest_are_kept() {
    let mut recording = kept("redis-script");
    let timeline = &mut recording.timeline;
    let start = timeline.window.start;
    let workload = timeline.entities.of_kind(EntityKind::Workload).next();
    let workload = workload.expect("one was run").id;
    let sample = timeline.table_mut(&workloads::LATENCY_SAMPLE);
    for number in 0..70_000 {
        let slow = number % 10_007 == 5_000;
        let latency = if slow { 200_000_000 } else { 1_000_000 };
        sample.push(start + number * 100_000, workload, &[latency]);
    }
    let found = found(&data_of(&recording).1);
    let rows = &found.rows["latency_sample"];
    assert!(rows.len() <= 20_000, "{}", rows.len());
    let slow = rows.iter().filter(|row| row.values == [Some(200_000_000)]);
    assert_eq!(slow.count(), 7);
}

#[test]
fn damaged_numbers_are_survived() {
    let recording = with_names(&HOSTILE);
    let found = found(&data_of(&recording).1);
    assert!(found.bins.contains_key("thread"));
}

#[test]
fn those_that_are_left_out_are_counted_and_their_time_is_kept() {
    let recording = kept("connection-limit");
    let report = analysis::diagnose(&recording.timeline, &recording.meta, None);
    let whole = found(&text_of(&draw(&recording, &report, "x").expect("drawn")));
    let intervals = analysis::intervals(&recording.timeline, &recording.meta);
    let edges = edges::edges(recording.timeline.window, report.origin, &intervals);
    let cut = crate::page::draw_in(&recording, &report, "x", None, &edges, 0.0004).expect("drawn");
    let cut = found(&text_of(&cut));
    let left_out = |found: &Found| found.page.tables.iter().map(|it| it.left_out).sum::<u32>();
    assert_eq!(left_out(&whole), 0);
    assert!(left_out(&cut) > 0);
    assert!(cut.page.entities.len() < whole.page.entities.len());
    let window = recording.timeline.window;
    for role in [Role::Target, Role::Generator, Role::Background] {
        let sum = |found: &Found| time(found, role, LedgerClass::OnCpu, window);
        let (cut, whole) = (sum(&cut), sum(&whole));
        assert!(
            (cut - whole).abs() < 1_000_000,
            "{role:?}: {cut} is not {whole}"
        );
    }
    let kept = cut.page.entities.iter();
    assert!(
        kept.clone()
            .any(|it| it.kind == EntityKind::Thread && it.name.ends_with("others"))
    );
}

proptest! {
    #[test]
    fn edges_are_in_order_and_few(
        start in 0i64..1_000_000_000_000, length in 1i64..100_000_000_000_000,
        origin in -5_000_000_000i64..5_000_000_000,
        steps in proptest::collection::vec((1i64..3_000_000_000, 0i64..50_000_000), 0..300),
    ) {
        let start = Timestamp::from_ns(start);
        let window = Window::new(start, start + length);
        let mut at = start + origin;
        let mut intervals = Vec::new();
        for (length, pause) in steps {
            intervals.push(Window::new(at, at + length));
            at = at + length + pause;
        }
        let edges = edges::edges(window, start + origin, &intervals);
        prop_assert!(edges.windows(2).all(|pair| pair[0] < pair[1]));
        prop_assert_eq!(edges.first(), Some(&window.start));
        prop_assert_eq!(edges.last(), Some(&window.end));
        prop_assert!(edges.len() < 5_000, "{}", edges.len());
        for interval in intervals {
            let inside = |at: &Timestamp| window.contains(*at);
            for end in [interval.start, interval.end].iter().filter(|at| inside(at)) {
                prop_assert!(edges.contains(end));
            }
        }
        for stride in [1, 2, 7, 10_000] {
            let coarse = edges::strided(&edges, stride);
            prop_assert_eq!(coarse.first(), edges.first());
            prop_assert_eq!(coarse.last(), edges.last());
            prop_assert_eq!(coarse.len(), (edges.len() - 1).div_ceil(stride) + 1);
        }
    }

    #[test]
    fn no_reading_lies_outside_its_bins_envelope(
        rows in proptest::collection::vec((1i64..300_000_000, proptest::option::of(0i64..5_000_000)), 2..120),
        steps in proptest::collection::vec(1i64..2_000_000_000, 1..20),
        scale in prop_oneof![Just(1i64), Just(1_000)],
    ) {
        static COLUMNS: &[model::Column] = &[
            model::Column::counter("n", Unit::Nanoseconds, "", ""),
            model::Column::gauge("g", Unit::Nanoseconds, "", ""),
        ];
        let table = model::Table::new("t", EntityKind::Machine, "", COLUMNS);
        let start = Timestamp::from_seconds(5.0);
        let mut timeline = Timeline::new(Window::new(start, start + 60_000_000_000));
        let data = timeline.table_mut(&table);
        let (mut at, mut total) = (start, 0);
        let mut readings = Vec::new();
        for (step, value) in rows {
            at = at + step;
            total += value.unwrap_or(0);
            let counted = value.map_or(MISSING, |_| total);
            data.push(at, model::EntityId(0), &[counted, value.unwrap_or(MISSING)]);
            readings.extend(value.map(|value| (at, counted, value)));
        }
        let mut edge = start;
        let mut edges = vec![edge];
        for step in steps {
            edge = edge + step;
            edges.push(edge);
        }
        edges.push(at.max(edge) + 1);
        let series = |column| timeline.series("t", model::EntityId(0), column).expect("drawn");
        let counter = bins::counter(&series("n"), &edges, scale);
        let gauge = bins::gauge(&series("g"), &edges, scale);
        prop_assert_eq!(counter.is_some(), !readings.is_empty());
        let bin_of = |at: Timestamp| edges.partition_point(|edge| *edge <= at) - 1;
        if let Some(gauge) = gauge.filter(|it| !it.envelope.is_empty()) {
            for (at, _, value) in &readings {
                let (low, high) = gauge.envelope[bin_of(*at).min(gauge.first + gauge.envelope.len() - 1) - gauge.first];
                prop_assert!(low * scale <= *value && *value <= high * scale);
            }
        }
        if let Some(counter) = counter {
            let total = readings[readings.len() - 1].1 - readings[0].1;
            let sum: i64 = counter.numbers.iter().sum();
            prop_assert!((sum * scale - total).abs() < scale);
            for pair in readings.windows(2).filter(|_| !counter.envelope.is_empty()) {
                let bin = bin_of(pair[1].0 - 1);
                let whole = Window::new(edges[bin], edges[bin + 1]);
                let rate = (pair[1].1 - pair[0].1) as f64 / pair[1].0.ns_since(pair[0].0) as f64;
                let of_bin = rate * whole.len_ns() as f64 / scale as f64;
                let (low, high) = counter.envelope[bin - counter.first];
                prop_assert!(low as f64 <= of_bin + 1e-6 && of_bin <= high as f64 + 1e-6);
            }
        }
    }
}
