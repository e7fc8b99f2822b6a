//! The ledger over time: its bins add up to what is said of a window.

use analysis::{LedgerOverTime, THREAD_CLASSES, ThreadTime};
use model::{EntityId, EntityKind, LedgerClass, Report, Role, Timestamp, Window};
use proptest::prelude::*;

use crate::drawing::{Drawn, drawn, seconds};
use crate::quota::LIMITED;
use crate::saturated::SATURATED;

/// Every `step` of `window`, and its end.
fn edges(window: Window, step_ns: i64) -> Vec<Timestamp> {
    let mut edges: Vec<Timestamp> = (0..)
        .map(|number| window.start + number * step_ns)
        .take_while(|edge| *edge < window.end)
        .collect();
    edges.push(window.end);
    edges
}

fn threads_of(run: &Drawn, role: Role) -> Vec<EntityId> {
    let entities = &run.timeline.entities;
    let of_role = |thread: &&model::EntityRecord| {
        let process = thread.parent.and_then(|parent| entities.get(parent));
        process.is_some_and(|process| process.role == role)
    };
    let threads = entities.of_kind(EntityKind::Thread).filter(of_role);
    threads.map(|thread| thread.id).collect()
}

/// Time of a class over the bins that lie in a window, of all threads of a role.
fn sum(run: &Drawn, role: Role, edges: &[Timestamp], window: Window, class: LedgerClass) -> i64 {
    let over_time = LedgerOverTime::new(&run.timeline, &run.meta, edges);
    let mut sum = 0;
    for thread in threads_of(run, role) {
        let Some(ThreadTime { first_bin, bins }) = over_time.of(thread) else {
            continue;
        };
        for (bin, classes) in bins.iter().enumerate() {
            let start = edges[first_bin + bin];
            if window.contains(start) {
                sum += classes[class as usize];
            }
        }
    }
    sum
}

fn said(report: &Report, role: Role, class: LedgerClass) -> i64 {
    let mut subjects = report.subjects.iter();
    let subject = subjects.find(|subject| subject.role == role);
    let threads = subject.and_then(|subject| subject.threads.as_ref());
    let mut items = threads.expect("it has threads").items.iter();
    items.find(|item| item.class == class).map_or(0, |it| it.ns)
}

#[track_caller]
fn agrees(run: &Drawn, window: Window, edges: &[Timestamp], within_ns: i64) {
    let report = run.diagnose_over(window);
    assert_eq!(report.window, window);
    for role in [Role::Target, Role::Generator] {
        for class in [
            LedgerClass::OnCpu,
            LedgerClass::CpuWait,
            LedgerClass::Throttled,
        ] {
            let (sum, said) = (
                sum(run, role, edges, window, class),
                said(&report, role, class),
            );
            let apart = (sum - said).abs();
            assert!(
                apart <= within_ns,
                "{role:?} {class:?}: {sum} is not {said}"
            );
        }
    }
}

#[test]
fn the_bins_of_a_window_add_up_to_its_ledger() {
    for drawing in [SATURATED, LIMITED] {
        let run = drawn(drawing);
        for step_ns in [100_000_000, 250_000_000, 1_000_000_000] {
            let edges = edges(run.timeline.window, step_ns);
            for window in [seconds(0.0, 20.0), seconds(3.0, 17.0), seconds(5.0, 6.0)] {
                // Each number is rounded to a nanosecond.
                agrees(&run, window, &edges, 10_000);
            }
        }
    }
}

#[test]
fn bins_that_are_longer_than_intervals_still_tell_the_quotas_part() {
    let run = drawn(LIMITED);
    let edges = edges(run.timeline.window, 5_000_000_000);
    agrees(&run, seconds(5.0, 15.0), &edges, 100_000_000);
}

#[test]
fn a_wait_that_is_counted_at_its_end_is_spread_over_the_time_before() {
    // Counted late: nothing for four tenths of a second, and then all of it at once.
    let mut run = drawn(SATURATED);
    let thread = threads_of(&run, Role::Target)[0];
    let table = run.timeline.table("thread").expect("drawn").clone();
    let wait = table.table.position("wait_ns").expect("declared");
    let rows = (0..table.len()).filter(|row| table.key(*row).1 == thread);
    let mut late = model::TableData::new(table.table.clone());
    for row in rows {
        let (time, entity) = table.key(row);
        let mut values: Vec<i64> = table.row(row).collect();
        let since = time.ns_since(Timestamp::from_seconds(100.0));
        let counted = since / 500_000_000 * 500_000_000;
        values[wait] = counted / 10 * 7;
        late.push(time, entity, &values);
    }
    run.timeline.insert(late);
    let edges = edges(run.timeline.window, 100_000_000);
    let over_time = LedgerOverTime::new(&run.timeline, &run.meta, &edges);
    let time = over_time.of(thread).expect("it was watched");
    let waited = time
        .bins
        .iter()
        .map(|bin| bin[LedgerClass::CpuWait as usize]);
    let waited: Vec<i64> = waited.collect();
    let whole: i64 = waited[..100].iter().sum();
    assert!((whole - 7_000_000_000).abs() < 400_000_000, "{whole}");
    let run_ns = time.bins[50][LedgerClass::OnCpu as usize];
    assert!(waited.iter().all(|ns| *ns <= 100_000_000 - run_ns));
}

fn lane() -> impl Strategy<Value = String> {
    "[0-6]{8}"
}

/// A lane that fits into each second together with another.
fn half() -> impl Strategy<Value = String> {
    "[0-5]{8}"
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn a_threads_classes_add_up_to_its_time_in_every_bin(
        run in lane(), wait in lane(), gen_run in lane(), throttled in lane(), queued in lane(),
        blocked in "(S232|D75|R|S232!0x03000004|S0|S202){1}",
        mut steps in proptest::collection::vec(1i64..900_000_000, 1..40),
    ) {
        let drawing = format!(
            "cpus 2  clients 3  quota 4\nbusy 55555555\nrun x3 {run}\nwait {wait}\ngen {gen_run}\n\
             throttled {throttled} /server\nblocked {blocked}\ntps 22222222\n\
             thread_time.queued_rest_ns worker1 *1e9 {queued}\n\
             thread_time.kernel_other_ns worker2 *1e9 {queued}\n"
        );
        let run = drawn(&drawing);
        steps.insert(0, 0);
        let mut at = run.timeline.window.start;
        let edges: Vec<Timestamp> = steps.iter().map(|step| { at = at + *step; at }).collect();
        let over_time = LedgerOverTime::new(&run.timeline, &run.meta, &edges);
        for role in [Role::Target, Role::Generator] {
            for thread in threads_of(&run, role) {
                let series = run.timeline.series("thread", thread, "run_ns").expect("drawn");
                let known = series.known().expect("drawn");
                let time = over_time.of(thread).expect("it was watched");
                for (bin, classes) in time.bins.iter().enumerate() {
                    let place = time.first_bin + bin;
                    let window = Window::new(edges[place], edges[place + 1]);
                    let monitored = window.intersect(known).expect("a bin of its life").len_ns();
                    prop_assert_eq!(classes.iter().sum::<i64>(), monitored);
                    prop_assert!(classes.iter().all(|ns| *ns >= 0), "{:?}", classes);
                }
            }
        }
    }

    #[test]
    fn windows_of_any_run_add_up(
        run in half(), wait in half(), gen_run in half(), throttled in lane(),
        from in 0u8..4, length in 1u8..5, queued in half(),
    ) {
        let drawing = format!(
            "cpus 2  clients 3  quota 4\nbusy 55555555\nrun x3 {run}\nwait {wait}\ngen {gen_run}\n\
             throttled {throttled} /server\ntps 22222222\n\
             thread_time.queued_rest_ns worker1 *1e9 {queued}\n"
        );
        let run = drawn(&drawing);
        let window = seconds(from.into(), (from + length).into());
        let edges = edges(run.timeline.window, 100_000_000);
        agrees(&run, window, &edges, 10_000);
    }
}

#[test]
fn the_table_names_every_class_of_a_thread() {
    let run = drawn(SATURATED);
    let edges = edges(run.timeline.window, 100_000_000);
    let table = LedgerOverTime::new(&run.timeline, &run.meta, &edges).table();
    assert_eq!(table.columns.len(), THREAD_CLASSES);
    assert_eq!(
        table.columns[LedgerClass::CpuWait as usize].name,
        "cpu_wait_ns"
    );
    let last = LedgerClass::ALL[THREAD_CLASSES..]
        .iter()
        .map(|class| class.word());
    assert_eq!(last.collect::<Vec<_>>(), ["outside", "lag", "remote"]);
}
