//! `--metric`: what any command prints becomes its signal.

use model::{ComplaintKind, PhaseKind, Provenance, Report, Signal, WorkloadRun};

use crate::place::{JSON, Place};
use crate::postgres;
use crate::process::Running;

const THROUGHPUT: &str = "throughput=s, ([0-9.]+) tps";
const LATENCY: &str = "latency=lat ([0-9.]+) ms";

fn signal<'a>(report: &'a Report, name: &str) -> Option<&'a Signal> {
    report.signals.iter().find(|signal| signal.name == name)
}

fn workload(place: &Place) -> WorkloadRun {
    let meta = place.opened().meta;
    meta.workload.expect("there is a workload")
}

#[test]
fn a_script_that_prints_numbers_has_a_signal_and_a_server() {
    let Some((postgres, _alone)) = postgres::running() else {
        return;
    };
    let place = Place::new();
    place.script("load.sh", "exec pgbench -c 2 -S -T 4 -P 1 bench");
    let words = [
        "run",
        "--json",
        JSON,
        "--metric",
        THROUGHPUT,
        "--metric",
        LATENCY,
        "--",
        "./load.sh",
    ];
    let ended = Running::start(postgres.stallscope(&place, &words)).end();
    ended
        .status(0)
        .says("progress: 2.0 s,")
        .says("Target: postgres")
        .says(" per second")
        .says(" mean (load.sh; no p99)");
    assert!(ended.out_text().contains("\ntps = "), "{ended}");

    let report = place.report();
    for (name, provenance) in [
        ("throughput", Provenance::ToolCount),
        ("latency", Provenance::ToolMean),
    ] {
        let signal = signal(&report, name).unwrap_or_else(|| panic!("{name}\n{ended}"));
        assert!(signal.mean.is_some_and(|mean| mean > 0.0), "{signal:?}");
        assert_eq!(signal.provenance, provenance);
    }
    let steady = |phase: &model::Phase| phase.kind == PhaseKind::Steady;
    assert!(report.phases.iter().any(steady), "{:?}", report.phases);
    let account = report.verdict.account.expect("there is an account");
    assert!(account.response_ns.is_some(), "latency is evidence");
    assert_eq!(workload(&place).signals, [THROUGHPUT, LATENCY]);
}

#[test]
fn an_adapters_own_numbers_stand() {
    let Some((postgres, _alone)) = postgres::running() else {
        return;
    };
    let place = Place::new();
    let words = [
        "run",
        "--json",
        JSON,
        "--metric",
        "throughput=([0-9]+)",
        "--",
        "pgbench",
        "-S",
        "-T",
        "4",
        "bench",
    ];
    Running::start(postgres.stallscope(&place, &words))
        .end()
        .status(0)
        .says("--metric throughput is not used: pgbench's own throughput is understood")
        .does_not_say("progress:");
    assert_eq!(workload(&place).notices.len(), 2);
}

#[test]
fn latency_alone_is_a_signal_and_can_be_a_bar() {
    let place = Place::new();
    place.script(
        "load.sh",
        "for i in 1 2 3 4; do echo 'p50 850us'; sleep 0.3; done",
    );
    let words = [
        "run",
        "--json",
        JSON,
        "--metric",
        "latency:us=p50 ([0-9]+)us",
        "--fail-if",
        "latency > 800us",
        "--target",
        "pid:1",
        "--",
        "./load.sh",
    ];
    let ended = place.run(&words);
    ended.status(1).says("--fail-if holds: latency was");
    let report = place.report();
    let latency = signal(&report, "latency").and_then(|signal| signal.mean);
    assert_eq!(latency, Some(850_000.0), "{ended}");
    assert!(signal(&report, "throughput").is_none());
}

#[test]
fn what_a_command_that_nobody_understands_complains_of_is_heard() {
    let place = Place::new();
    place.script(
        "load.sh",
        "for i in 1 2 3; do echo 'ERROR 1040: Too many connections' >&2; sleep 0.5; done",
    );
    let ended = place.run(&[
        "run",
        "--json",
        JSON,
        "--target",
        "pid:1",
        "--",
        "./load.sh",
    ]);
    ended
        .status(0)
        .says("takes no more connections: clients were turned away 3 times");
    assert!(workload(&place).is_heard);
}

#[test]
fn what_any_command_complains_of_is_kept_by_kind() {
    let place = Place::new();
    place.script(
        "load.sh",
        "for i in 1 2; do echo 'FATAL:  sorry, too many clients already' >&2; done; exit 1",
    );
    place
        .run(&["run", "--signal", "throughput=([0-9]+)", "--", "./load.sh"])
        .status(1);
    let outcome = workload(&place).outcome.expect("it ended");
    let complaints: Vec<_> = outcome
        .complaints
        .iter()
        .map(|it| (it.kind, it.count))
        .collect();
    assert_eq!(complaints, [(ComplaintKind::TooManyConnections, 2)]);
    assert_eq!(
        outcome.remarks,
        ["no line matched --metric 'throughput=([0-9]+)'"]
    );
}

#[test]
fn a_wrong_pattern_ends_before_anything_begins() {
    let place = Place::new();
    for (option, words) in [
        (
            "throughput=tps [0-9]+",
            "--metric 'throughput=tps ([0-9]+)'",
        ),
        ("p99=([0-9]+)", "it is throughput, latency, lag or failed"),
    ] {
        place
            .run(&["run", "--metric", option, "--", "touch", "started"])
            .status(125)
            .says(words);
    }
    let twice = [
        "run", "--metric", "lag=(a)", "--metric", "lag=(b)", "--", "touch", "started",
    ];
    place.run(&twice).status(125).says("is given twice");
    assert!(!place.path().join("started").exists());
}
