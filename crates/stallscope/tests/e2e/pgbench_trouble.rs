//! pgbench when things go wrong: no server, a server that stands still, an interrupt.

use std::thread::sleep;
use std::time::Duration;

use rustix::process::Signal;

use crate::place::{JSON, Place};
use crate::postgres;
use crate::process::{Running, send};

#[test]
fn a_server_that_refuses_is_told_in_pgbenchs_own_words() {
    let Some((postgres, _alone)) = postgres::running() else {
        return;
    };
    let place = Place::new();
    let load = [
        "run", "--", "pgbench", "-p", "1", "-c", "2", "-T", "6", "bench",
    ];
    let ended = Running::start(postgres.stallscope(&place, &load)).end();
    ended
        .status(1)
        .says("pgbench ended with status 1 before a server of it was found")
        .says("It said: `pgbench: error: connection to server on socket");
    assert!(ended.err_text().starts_with("pgbench: error:"), "{ended}");
    assert!(place.opened().meta.complete);
}

/// Lets go of what was stopped, however the test ends.
struct Stopped(Vec<u32>);

impl Stopped {
    fn stop(pids: Vec<u32>) -> Self {
        assert!(!pids.is_empty(), "somebody serves");
        pids.iter().for_each(|pid| send(*pid, Signal::STOP));
        Self(pids)
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        self.0.iter().for_each(|pid| send(*pid, Signal::CONT));
    }
}

#[test]
fn a_server_that_stands_still_is_a_doubt_about_the_mean() {
    let Some((postgres, _alone)) = postgres::running() else {
        return;
    };
    let place = Place::new();
    let load = ["pgbench", "-c", "4", "-S", "-T", "9", "bench"];
    let words = [&["run", "--json", JSON, "--"][..], &load].concat();
    let running = Running::start(postgres.stallscope(&place, &words));
    place.wait_for_rows();
    sleep(Duration::from_millis(2_800));
    let stopped = Stopped::stop(postgres.backends());
    sleep(Duration::from_millis(3_200));
    drop(stopped);
    running.end().status(0).says("  Stalls ").says("Saved");
    let report = place.report();
    let caveats = report
        .verdict
        .caveats
        .iter()
        .map(|caveat| caveat.gate.as_str());
    let caveats: Vec<&str> = caveats.collect();
    assert!(caveats.contains(&"gate.stalled"), "{caveats:?}");
    // The stall is among the bins that are judged, or a phase of its own.
    let empty = report.signals.iter().map(|signal| signal.empty_intervals);
    let stood_still = |phase: &model::Phase| phase.throughput.is_some_and(|rate| rate < 1_000.0);
    assert!(
        empty.max() >= Some(2) || report.phases.iter().any(stood_still),
        "{:?} {:?}",
        report.signals,
        report.phases
    );
}

#[test]
fn an_interrupted_load_is_judged_up_to_the_interrupt() {
    let Some((postgres, _alone)) = postgres::running() else {
        return;
    };
    let place = Place::new();
    let load = ["pgbench", "-c", "2", "-S", "-T", "60", "bench"];
    let words = [&["run", "--json", JSON, "--"][..], &load].concat();
    let running = Running::start(postgres.stallscope(&place, &words));
    place.wait_for_rows();
    sleep(Duration::from_millis(4_000));
    running.signal(Signal::INT);
    let ended = running.end();
    ended
        .status(130)
        .says("killed by signal 2")
        .says("Where the");
    let report = place.report();
    let throughput = report
        .signals
        .iter()
        .find(|signal| signal.name == "throughput");
    assert!(
        throughput.is_some_and(|it| it.mean > Some(0.0)),
        "{:?}",
        report.signals
    );
}
