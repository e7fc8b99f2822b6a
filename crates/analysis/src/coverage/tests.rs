//! What on-windows stand for, of a thread that is known.

use model::{Entity, EntityEvent, EntityKind, EntityRecord};
use sensors::thread_time::WIDTH;
use sensors::wakeup::WAKEUP;

use super::*;

const MACHINE: EntityId = EntityId(0);
const THREAD: EntityId = EntityId(1);
const WAKER: EntityId = EntityId(2);
const MS: i64 = 1_000_000;
const SECONDS: i64 = 20;
const FUTEX: usize = ThreadTimeClass::Futex as usize;
const INPUT: usize = ThreadTimeClass::Input as usize;

fn at(ms: i64) -> Timestamp {
    Timestamp::from_ns(ms * MS)
}

/// What the thread does in a millisecond: in each ten it runs for 2, waits for the target's CPU for 3, and sleeps for
/// 5, in futex during the first half of the recording and for input during the second.
fn column(ms: i64) -> usize {
    match ms % 10 {
        0 | 1 => 0,
        2..=4 => QUEUED.start + 1,
        _ if ms < SECONDS * 500 => FUTEX,
        _ => INPUT,
    }
}

fn thread_table() -> &'static Table {
    let mut tables = sensors::all().iter().map(|it| it.table);
    tables.find(|it| it.name == "thread").expect("there is one")
}

/// The recording of it with these on-windows, in ms.
fn recorded(windows: &[(i64, i64)]) -> Timeline {
    let mut timeline = Timeline::new(Window::new(at(0), at(SECONDS * 1_000)));
    for (id, kind) in [
        (MACHINE, EntityKind::Machine),
        (THREAD, EntityKind::Thread),
        (WAKER, EntityKind::Waker),
    ] {
        let entity = Entity::new(kind, "it", format!("/{}", id.0));
        let time = at(0);
        let record = EntityRecord {
            serving: true,
            role: model::Role::Target,
            ..EntityRecord::new(id, entity, time)
        };
        timeline.entities.apply(EntityEvent { time, record });
    }
    let is_on = |ms: i64| windows.iter().any(|(from, to)| (*from..*to).contains(&ms));
    let edges: Vec<i64> = windows.iter().flat_map(|(from, to)| [*from, *to]).collect();
    let (mut covered, mut counted, mut kernel) = (0, [0; WIDTH], [0; 2]);
    let waits = WAKEUP.position("waits").expect("it is a column");
    for ms in 0..=SECONDS * 1_000 {
        if edges.contains(&ms) || ms == 0 || ms == SECONDS * 1_000 {
            let coverage = timeline.table_mut(&COVERAGE);
            coverage.push(at(ms), MACHINE, &[covered, MISSING, MISSING]);
            timeline
                .table_mut(&THREAD_TIME)
                .push(at(ms), THREAD, &counted);
            let mut wakeups = vec![0; WAKEUP.columns.len()];
            wakeups[waits] = covered / MS;
            timeline.table_mut(&WAKEUP).push(at(ms), WAKER, &wakeups);
        }
        if ms % 100 == 0 {
            let table = thread_table();
            let mut row = vec![MISSING; table.columns.len()];
            for (name, ns) in ["run_ns", "wait_ns"].iter().zip(kernel) {
                row[table.position(name).expect("it is a column")] = ns;
            }
            timeline.table_mut(table).push(at(ms), THREAD, &row);
        }
        let column = column(ms);
        if is_on(ms) {
            covered += MS;
            counted[column] += MS;
        }
        match column {
            0 => kernel[0] += MS,
            column if QUEUED.contains(&column) => kernel[1] += MS,
            _ => {}
        }
    }
    timeline
}

fn growth(timeline: &Timeline, column: &str, window: (i64, i64)) -> f64 {
    let series = timeline.series("thread_time", THREAD, column);
    let growth = series.and_then(|it| it.growth(Window::new(at(window.0), at(window.1))));
    growth.expect("it is known") / 1e6
}

#[test]
fn times_of_a_thread_add_up_run_and_wait_are_the_kernels_and_reasons_as_in_on_windows() {
    let windows: Vec<(i64, i64)> = (0..13).map(|it| (it * 1_537, it * 1_537 + 60)).collect();
    let mut timeline = recorded(&windows);
    let all = (0, SECONDS * 1_000);
    let raw = growth(&timeline, "on_cpu_ns", all);
    assert!((raw - 0.2 * 13.0 * 60.0).abs() < 5.0, "a part: {raw}");
    let window = Window::new(at(0), at(SECONDS * 1_000));
    let off = off_part(&timeline, window).expect("most of it");
    assert!((off - (1.0 - 0.78 / 20.0)).abs() < 1e-6, "{off}");
    assert_eq!(on_windows(&timeline, window).len(), 13);
    estimate(&mut timeline);
    for (column, expected, within) in [
        ("on_cpu_ns", 4_000.0, 1.0),
        ("queued_target_ns", 6_000.0, 1.0),
        // When one reason goes over into the other is known to half an off-window.
        ("futex_ns", 5_000.0, 500.0),
        ("input_ns", 5_000.0, 500.0),
        ("unknown_ns", 0.0, 1.0),
    ] {
        let found = growth(&timeline, column, all);
        assert!((found - expected).abs() < within, "{column}: {found}");
    }
    let sum: f64 = THREAD_TIME.columns[..TIMES]
        .iter()
        .map(|column| growth(&timeline, &column.name, all))
        .sum();
    assert!((sum - 20_000.0).abs() < 1.0, "{sum}");
    assert!(growth(&timeline, "futex_ns", (500, 8_500)) > 3_990.0);
}

#[test]
fn counts_go_on_as_fast_as_in_on_windows() {
    let windows: Vec<(i64, i64)> = (0..20).map(|it| (it * 1_000, it * 1_000 + 100)).collect();
    let mut timeline = recorded(&windows);
    estimate(&mut timeline);
    let waits = timeline.series("wakeup", WAKER, "waits").expect("recorded");
    let growth = waits.growth(Window::new(at(0), at(SECONDS * 1_000)));
    let growth = growth.expect("it is known");
    assert!(
        (growth - 20_000.0).abs() < 100.0,
        "one in each ms: {growth}"
    );
}

#[test]
fn what_is_counted_late_stands_for_its_on_window() {
    let interval = |from: i64, covered_ms: i64, grown: f64| Interval {
        window: Window::new(at(from), at(from + 100)),
        covered_ns: (covered_ms * MS) as f64,
        grown: vec![grown],
    };
    let mut intervals = [
        interval(0, 100, 5.0),
        interval(100, 0, 7.0),
        interval(200, 100, 12.0),
    ];
    give_back(&mut intervals, &[0]);
    assert_eq!(
        intervals.each_ref().map(|it| it.grown[0]),
        [12.0, 0.0, 12.0]
    );
    let mut rows: Vec<Row> = (0..4)
        .map(|row| Row {
            time: at(row * 100),
            values: vec![0],
        })
        .collect();
    scale(&mut rows, &intervals, &[0]);
    let last = rows.last().map(|row| row.values[0]);
    assert_eq!(last, Some(36), "as much in the off-window as on both sides");
}

#[test]
fn a_short_on_window_between_two_far_readings_stands_for_its_own_time() {
    // Read at the ends of the recording and at 10 s; half of the time was spent there while it was counted: for 1 s of
    // the first half and for 50 ms, half a percent, of the second.
    let readings = [(0, 0, 0), (10_000, 1_000, 500), (20_000, 1_050, 525)];
    let mut timeline = recorded(&[]);
    timeline.remove(&COVERAGE.name);
    let some = COUNTED_CGROUP_PRESSURE
        .position("cpu_some_ns")
        .expect("it is a column");
    for (ms, covered, counted) in readings {
        let coverage = timeline.table_mut(&COVERAGE);
        coverage.push(at(ms), MACHINE, &[covered * MS, MISSING, MISSING]);
        let mut row = vec![0; COUNTED_CGROUP_PRESSURE.columns.len()];
        row[some] = counted * MS;
        let table = timeline.table_mut(&COUNTED_CGROUP_PRESSURE);
        table.push(at(ms), WAKER, &row);
    }
    estimate(&mut timeline);
    let pressure = timeline
        .series(pressure::CGROUP.table.name.as_ref(), WAKER, "cpu_some_ns")
        .expect("it was counted");
    for (from, to) in [(0, 10_000), (10_000, 20_000)] {
        let share = pressure
            .rate(Window::new(at(from), at(to)))
            .expect("a rate")
            / 1e9;
        assert!((share - 0.5).abs() < 1e-6, "{share}");
    }
}

#[test]
fn the_places_are_those_of_the_columns() {
    for (column, name) in [
        (THROTTLED, "throttled_ns"),
        (UNKNOWN, "unknown_ns"),
        (QUEUED.start, "queued_rest_ns"),
        (CAUSED, "delay_caused_ns"),
        (HIDDEN, "hidden_ns"),
        (SLICES, "slices"),
    ] {
        assert_eq!(THREAD_TIME.columns[column].name, name);
    }
}

proptest::proptest! {
    #[test]
    fn whatever_a_damaged_recording_says_is_survived(
        coverage in proptest::collection::vec((proptest::num::i64::ANY, proptest::num::i64::ANY), 0..6),
        times in proptest::collection::vec((proptest::num::i64::ANY, proptest::num::i64::ANY), 0..6),
        kernel in proptest::collection::vec((proptest::num::i64::ANY, proptest::num::i64::ANY), 0..6),
    ) {
        let mut timeline = recorded(&[]);
        for (table, entity, rows) in [
            (&COVERAGE, MACHINE, &coverage),
            (&THREAD_TIME, THREAD, &times),
            (&WAKEUP, WAKER, &times),
            (thread_table(), THREAD, &kernel),
        ] {
            timeline.remove(&table.name);
            for (time, value) in rows {
                let row = vec![*value; table.columns.len()];
                timeline.table_mut(table).push(Timestamp::from_ns(*time), entity, &row);
            }
        }
        estimate(&mut timeline);
        off_part(&timeline, timeline.window);
        on_windows(&timeline, timeline.window);
    }
}

#[test]
fn counters_from_end_to_end_of_their_range_are_no_on_window() {
    let mut timeline = recorded(&[]);
    timeline.remove(&COVERAGE.name);
    for (ms, covered) in [(0, i64::MAX), (1, i64::MIN + 1)] {
        let coverage = timeline.table_mut(&COVERAGE);
        coverage.push(at(ms), MACHINE, &[covered, MISSING, MISSING]);
    }
    assert_eq!(on_windows(&timeline, timeline.window), []);
}

#[test]
fn an_on_window_that_ends_with_the_recording_gave_way_to_nothing() {
    for (off_ms, expected) in [(6, 0), (400, 1)] {
        let mut timeline = recorded(&[]);
        timeline.remove(&COVERAGE.name);
        let end_ms = timeline.window.end.as_ns() / 1_000_000;
        let on_ms = end_ms - off_ms;
        for (ms, covered) in [
            (0, 0),
            (on_ms, on_ms * 1_000_000),
            (end_ms, on_ms * 1_000_000),
        ] {
            let coverage = timeline.table_mut(&COVERAGE);
            coverage.push(at(ms), MACHINE, &[covered, MISSING, MISSING]);
        }
        let before = before_off_windows(&timeline, timeline.window);
        assert_eq!(before.len(), expected, "{off_ms}: {before:?}");
    }
}

#[test]
fn what_was_counted_all_the_time_stays_as_it_is() {
    let mut timeline = recorded(&[(0, SECONDS * 1_000)]);
    let before: Vec<Vec<i64>> = rows(&timeline);
    estimate(&mut timeline);
    assert_eq!(rows(&timeline), before);
    assert_eq!(off_part(&timeline, timeline.window), None);
}

fn rows(timeline: &Timeline) -> Vec<Vec<i64>> {
    let data = timeline.table("thread_time").expect("recorded");
    (0..data.len()).map(|row| data.row(row).collect()).collect()
}
