//! Interrupts reach the workload once, end it, and still leave a verdict.

use std::fs::File;
use std::io::{Read, Write};
use std::process::Command;
use std::time::Duration;

use model::{ExitKind, Meta};
use rustix::process::Signal;

use crate::needs;
use crate::place::{JSON, Place};
use crate::process::{Ended, Running, is_alive};

/// A workload that says when it runs. `exec` keeps the pid.
const SLEEP: &str = "echo $$ > running; exec sleep 60";

fn interrupted(body: &str, signals: &[Signal]) -> (Place, Ended) {
    let place = Place::new();
    place.script("load", body);
    // Whoever runs these tests may have had HUP ignored for all that they start (nohup).
    let text = "exec env --default-signal=HUP \"$0\" run -- ./load";
    let running = Running::start(place.shell(text));
    place.wait_for("running");
    for signal in signals {
        running.signal(*signal);
        std::thread::sleep(Duration::from_millis(300));
    }
    let ended = running.end();
    (place, ended)
}

fn outcome(meta: &Meta) -> Option<ExitKind> {
    let workload = meta.workload.as_ref()?;
    Some(workload.outcome.as_ref()?.exit)
}

#[test]
fn a_signal_to_us_alone_ends_the_workload_with_a_verdict() {
    for (signal, status) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let (place, ended) = interrupted(SLEEP, &[signal]);
        ended
            .status(status)
            .says("Window")
            .says("Saved load-1.stall");
        let meta = place.opened().meta;
        assert!(meta.complete);
        assert_eq!(outcome(&meta), Some(ExitKind::Signal(status - 128)));
        let pid = place.read("running").trim().parse().expect("a pid");
        assert!(!is_alive(pid), "the workload has ended");
    }
}

#[test]
fn a_workload_that_ends_well_on_an_interrupt_keeps_its_status() {
    let body = "trap 'exit 0' INT; echo $$ > running; while :; do sleep 0.1; done";
    let (place, ended) = interrupted(body, &[Signal::INT]);
    ended.status(0).says("Saved");
    assert!(place.opened().meta.complete);
}

#[test]
fn a_workload_that_ignores_signals_is_killed_after_the_grace_period() {
    let body = "trap '' INT TERM; echo $$ > running; while :; do sleep 0.1; done";
    let (place, ended) = interrupted(body, &[Signal::TERM]);
    ended
        .status(137)
        .says("load has not ended since the interrupt: killing it")
        .says("Window")
        .says("Saved");
    assert!(place.opened().meta.complete);
}

#[test]
fn more_interrupts_do_not_wait_for_the_grace_period() {
    let body = "trap '' INT TERM; echo $$ > running; while :; do sleep 0.1; done";
    let (place, ended) = interrupted(body, &[Signal::INT, Signal::INT, Signal::INT]);
    ended
        .status(137)
        .says("asking it to terminate")
        .says("killing it")
        .says("Saved");
    assert!(place.opened().meta.complete);
}

#[test]
fn what_a_shell_runs_is_ended_with_the_shell() {
    let body = "sh -c 'echo $$ > running; exec sleep 60'\necho not reached";
    let (place, ended) = interrupted(body, &[Signal::INT]);
    ended.status(130).does_not_say("has not ended since");
    assert!(ended.out.is_empty(), "{ended}");
    let pid = place.read("running").trim().parse().expect("a pid");
    assert!(!is_alive(pid), "what the shell ran has ended");
}

#[test]
fn interrupts_while_the_recording_is_closed_change_nothing() {
    let place = Place::new();
    // A Ctrl-C that the workload obeys at once, and an impatient second.
    place.script(
        "load",
        "sleep 2\n(for i in 1 2 3 4 5 6 7 8; do sleep 0.02; kill -INT $PPID; done) >/dev/null 2>&1 &\nexit 0",
    );
    let ended = place.run(&["run", "-q", "--json", JSON, "--", "./load"]);
    ended.status(0).says("Saved");
    assert!(place.opened().meta.complete);
    let report = place.report();
    assert!(
        report.window.seconds() > 1.0,
        "{:?}\n{ended}",
        report.window
    );
    assert!(report.cost.cpu_ns > 0, "{:?}", report.cost);
}

#[test]
fn an_interrupt_after_the_verdict_gives_up_the_page_and_nothing_else() {
    let place = Place::new();
    place.script("load", "sleep 1; exit 3");
    let json = place.path().join(JSON);
    let made = Command::new("mkfifo").arg(&json).status();
    assert!(made.expect("coreutils are there").success());
    let text = format!("exec \"$0\" run -q --json {JSON} -- ./load 2> said");
    let running = Running::start(place.shell(&text));
    // A pipe that takes no whole report holds up what comes behind the verdict.
    let mut reader = File::open(&json).expect("the program opens it too");
    rustix::pipe::fcntl_setpipe_size(&reader, 4_096).expect("it may be small");
    while !place.wait_for("said").contains("Window") {
        std::thread::sleep(Duration::from_millis(20));
    }
    let page = place.path().join("load-1.stall/report.html");
    assert!(!page.exists(), "the report does not wait for the page");
    running.signal(Signal::TERM);
    std::thread::sleep(Duration::from_millis(300));
    let mut report = String::new();
    reader.read_to_string(&mut report).expect("it is text");
    running.end().status(3);
    serde_json::from_str::<model::Report>(&report).expect("it is whole");
    let said = place.read("said");
    assert!(
        said.contains("stallscope report load-1.stall makes it"),
        "{said}"
    );
    assert!(
        said.contains("Next: stallscope explain load-1.stall"),
        "{said}"
    );
    assert!(!page.exists(), "{said}");
    assert!(place.opened().meta.complete);
}

#[test]
fn a_second_interrupt_of_record_keeps_what_was_recorded() {
    let place = Place::new();
    let own = format!("pid:{}", std::process::id());
    let running = Running::start(place.stallscope(&["record", "--json", JSON, "--target", &own]));
    place.wait_for_rows();
    std::thread::sleep(Duration::from_millis(2_000));
    running.signal(Signal::INT);
    running.signal(Signal::TERM);
    running.end().status(0).says("Saved record-1.stall");
    assert!(place.opened().meta.complete);
    let window = place.report().window;
    assert!(window.seconds() > 1.0, "{window:?}");
}

#[test]
fn a_workload_below_a_background_job_can_be_interrupted() {
    let place = Place::new();
    let text = "trap '' INT QUIT; exec \"$0\" run -q -- cat /proc/self/status";
    let ended = Running::start(place.shell(text)).end();
    ended.status(0);
    let ignored = ended.out_text();
    let ignored = ignored
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .expect("the kernel says what is ignored");
    let ignored = u64::from_str_radix(ignored.trim(), 16).expect("a mask");
    for signal in [Signal::INT, Signal::QUIT, Signal::TERM, Signal::PIPE] {
        let bit = 1 << (signal.as_raw() - 1);
        assert_eq!(ignored & bit, 0, "{signal:?} is ignored: {ignored:x}");
    }
}

#[test]
fn a_run_under_nohup_survives_the_end_of_the_terminal() {
    let place = Place::new();
    place.script("load", "echo $$ > running; sleep 2; echo done");
    // What nohup does, without its own files.
    let running = Running::start(place.shell("trap '' HUP; exec \"$0\" run -q -- ./load"));
    place.wait_for("running");
    running.signal(Signal::HUP);
    let ended = running.end();
    ended.status(0).says("Saved");
    assert_eq!(ended.out, b"done\n");
}

#[test]
fn a_recording_under_nohup_survives_the_end_of_the_terminal() {
    let place = Place::new();
    let text = format!(
        "exec nohup \"$0\" record -q --json {JSON} --target pid:{} --for 3s",
        std::process::id()
    );
    let running = Running::start(place.shell(&text));
    place.wait_for("record-1.stall/meta.json");
    running.signal(Signal::HUP);
    running.end().status(0).says("Saved record-1.stall");
    assert!(place.opened().meta.complete);
    let window = place.report().window;
    assert!(window.seconds() > 2.5, "{window:?}");
}

#[test]
fn ctrl_c_at_a_terminal_reaches_the_workload_once() {
    if !needs::program("script") {
        return;
    }
    let place = Place::new();
    place.script(
        "load",
        "trap 'echo INT >> hits' INT\necho $$ > running\ni=0\n\
         while [ $i -lt 20 ]; do sleep 0.1; i=$((i+1)); done\nexit 3",
    );
    let mut terminal = place.shell("exec script -qec \"exec '$0' run -- ./load\" typescript");
    terminal.env("TERM", "dumb");
    let (running, mut keyboard) = Running::start_typing(terminal);
    place.wait_for("running");
    keyboard.write_all(b"\x03").expect("script reads");
    let ended = running.end();
    ended.status(3);
    assert_eq!(place.read("hits"), "INT\n");
    // A terminal shows both streams in one.
    let shown = ended.out_text();
    assert!(shown.contains("Saved load-1.stall"), "{ended}");
    assert!(place.opened().meta.complete);
}
