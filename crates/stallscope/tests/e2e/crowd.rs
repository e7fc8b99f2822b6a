//! Processes that come and go by the dozen while a run goes on.

use model::Role;

use crate::place::{JSON, Place};
use crate::postgres;

#[test]
fn many_short_processes_are_no_trouble() {
    let _alone = postgres::alone();
    let place = Place::new();
    place.script(
        "load",
        "for second in 1 2 3; do\n  for i in $(seq 50); do /bin/true & done\n  sleep 1\ndone\nwait",
    );
    let ended = place.run(&["run", "--json", JSON, "--", "./load"]);
    ended
        .status(0)
        .says("own cost")
        .says("Saved")
        .does_not_say("stallscope:");
    let report = place.report();
    assert!(
        report.cost.cpu_ns > 0 && report.cost.ticks > 20,
        "{:?}",
        report.cost
    );
    assert!(report.subjects.iter().any(|it| it.role == Role::Target));
    let recording = place.opened();
    assert!(recording.damage.is_empty(), "{:?}", recording.damage);
}

#[test]
fn a_workload_that_leaves_a_process_behind_does_not_hold_the_verdict() {
    let place = Place::new();
    // The one that stays closes our streams, as a daemon does.
    place.script("load", "sleep 3 >/dev/null 2>&1 &\necho started");
    let ended = place.run(&["run", "-q", "--", "./load"]);
    ended.status(0).says("Saved");
    assert_eq!(ended.out, b"started\n");
}
