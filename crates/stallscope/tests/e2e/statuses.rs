//! The exit status is the workload's own, and a workload that cannot be run says why.

use crate::place::Place;

#[test]
fn the_status_is_the_workloads_own() {
    for (body, status) in [
        ("exit 0", 0),
        ("exit 7", 7),
        ("kill -9 $$", 137),
        ("kill -TERM $$", 143),
    ] {
        let place = Place::new();
        place.script("load", body);
        place
            .run(&["run", "--", "./load"])
            .status(status)
            .says("Saved load-1.stall");
        assert!(place.opened().meta.complete);
    }
}

#[test]
fn a_workload_that_ends_at_once_has_a_verdict_and_a_recording() {
    let place = Place::new();
    place
        .run(&["run", "--", "false"])
        .status(1)
        .says("Undetermined:")
        .says("false ended with status 1")
        .says("Saved false-1.stall");
    let recording = place.opened();
    assert!(recording.damage.is_empty(), "{:?}", recording.damage);
    let outcome = recording
        .meta
        .workload
        .and_then(|workload| workload.outcome);
    assert_eq!(
        outcome.map(|outcome| outcome.exit),
        Some(model::ExitKind::Code(1))
    );
}

#[test]
fn a_workload_without_its_dashes_is_told_of_them() {
    let place = Place::new();
    place
        .run(&["run", "-q", "pgbench", "-c", "10"])
        .status(125)
        .says("The workload stands behind two dashes: stallscope run -- pgbench");
}

#[test]
fn a_command_that_does_not_exist_is_named_and_leaves_nothing() {
    let place = Place::new();
    let ended = place.run(&["run", "--", "no-such-load", "-c", "10"]);
    ended.status(127);
    assert_eq!(
        ended.err_text(),
        "stallscope: no such command: no-such-load. Check the name, or give its path\n"
    );
    assert!(ended.out.is_empty(), "{ended}");
    assert!(place.recordings().is_empty(), "{:?}", place.recordings());
}

#[test]
fn a_file_that_cannot_be_run_is_named_and_leaves_nothing() {
    let place = Place::new();
    place.write("load", "no program");
    let ended = place.run(&["run", "--", "./load"]);
    ended.status(126);
    assert_eq!(
        ended.err_text(),
        "stallscope: cannot run ./load: permission denied. Is it a program? Try: chmod +x ./load\n"
    );
    assert!(place.recordings().is_empty(), "{:?}", place.recordings());
}

#[test]
fn a_command_line_without_a_workload_is_refused_before_anything_happens() {
    let place = Place::new();
    place.run(&["run"]).status(125).says("<COMMAND>");
    place
        .run(&["run", "--fail-if", "p99 > 5ms", "--", "touch", "started"])
        .status(125)
        .says("`p99` is no metric");
    assert!(!place.path().join("started").exists());
    assert!(place.recordings().is_empty());
}

#[test]
fn a_second_run_takes_the_next_name() {
    let place = Place::new();
    place.run(&["run", "-q", "--", "true"]).status(0);
    place
        .run(&["run", "-q", "--", "true"])
        .status(0)
        .says("Saved true-2.stall");
    assert_eq!(place.recordings().len(), 2);
}

#[test]
fn what_the_tool_advises_next_can_be_typed() {
    let place = Place::new();
    let ended = place.run(&["run", "-q", "--no-report", "--", "sleep", "1"]);
    ended.status(0);
    let said = ended.err_text();
    let next = said
        .lines()
        .find_map(|line| line.split_once("Next: stallscope ").map(|(_, next)| next))
        .expect("the last line says what to do next");
    let words: Vec<&str> = next.split_whitespace().collect();
    let explained = place.run(&words);
    explained.status(0);
    assert!(explained.out_text().contains("sleep"), "{explained}");
}

#[test]
fn the_workload_has_the_limits_and_the_priority_it_would_have_without_us() {
    let place = Place::new();
    let own_nice = crate::process::Running::start(place.shell("nice"))
        .end()
        .out_text();
    let text = "ulimit -Sn 300; ulimit -Hn 4000; \
        exec \"$0\" run -q -- sh -c 'ulimit -Sn; ulimit -Hn; nice'";
    let ended = crate::process::Running::start(place.shell(text)).end();
    ended.status(0);
    assert_eq!(
        ended.out_text(),
        format!("300\n4000\n{}\n", own_nice.trim())
    );
}
