//! perf script: numbers worked out by hand.

use model::EntityKind;

use super::*;

pub(super) const PERF: &str = "\
         swapper       0 [000]   100.000000: sched:sched_wakeup: comm=a b pid=7 prio=120 target_cpu=000
         swapper       0 [000]   100.001000: sched:sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=a b next_pid=7 next_prio=120
             a b       7 [000]   100.002000: sched:sched_wakeup: kworker/0:1:9 [120] CPU:000
             a b       7 [000]   100.005000: sched:sched_switch: a b:7 [120] R+ ==> kworker/0:1:9 [120]
     kworker/0:1       9 [000]   100.006500: sched:sched_switch: prev_comm=kworker/0:1 prev_pid=9 prev_prio=120 prev_state=S ==> next_comm=a b next_pid=7 next_prio=120
             a b       7 [000]   100.010000: sched:sched_switch: prev_comm=a b prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120
";

#[test]
fn switches_and_wake_ups_become_run_and_wait_times() {
    let imported = text(PERF.as_bytes(), None).expect("perf prints this");
    assert_eq!(imported.tool, "perf");
    let names: Vec<&str> = imported
        .entities
        .iter()
        .map(|it| &*it.entity.name)
        .collect();
    assert_eq!(names, ["a b", "kworker/0:1"]);
    let thread = |name| column(&imported, "thread", EntityKind::Thread, name);
    // 4 ms and 3.5 ms on a CPU; 1 ms and 1.5 ms in line.
    assert_eq!(thread("run_ns").last(), Some(&7_500_000));
    assert_eq!(thread("wait_ns").last(), Some(&2_500_000));
    assert_eq!(thread("slices").last(), Some(&2));
    let (table, rows) = &imported.tables[0];
    let wait = table.position("wait_ns").expect("it is there");
    let worker = imported.entities[1].id;
    let own = rows.iter().filter(|(_, whom, _)| *whom == worker);
    let highest = own.map(|(_, _, values)| values[wait]).max();
    assert_eq!(highest, Some(3_000_000));
    for column in table.columns.iter() {
        assert!(column.quality > model::Quality::Exact);
    }
}

#[test]
fn lost_events_are_said_and_odd_ones_refused() {
    let lost = PERF.replacen("kworker/0:1       9", "LOST 3 events!\nx 9", 1);
    let said = notes(&text(lost.as_bytes(), None).expect("it goes on"));
    assert!(said.contains("perf lost events in 1 places"), "{said}");
    let error = |from: &str, to: &str| {
        let text = super::text(PERF.replacen(from, to, 1).as_bytes(), None);
        text.expect_err("it is wrong").to_string()
    };
    assert!(error("100.005000", "100,005000").starts_with("line 4: expected [CPU], a time"));
    assert!(
        error("100.005000", "100.000500").starts_with("line 4: expected a time that is not before")
    );
}
