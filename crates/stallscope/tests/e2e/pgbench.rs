//! pgbench on a real PostgreSQL: what is said, what is written, and that pgbench is left as it is.

use std::process::Command;

use model::{EntityKind, ExitKind, PhaseKind, Provenance, Report, ReportSubject, Role, Signal};

use crate::place::{JSON, Place};
use crate::postgres::{self, Postgres};
use crate::process::{Ended, Running, one_line};

/// Runs it to its end with `--json report.json`.
fn run(postgres: &Postgres, place: &Place, options: &[&str], load: &[&str]) -> Ended {
    Running::start(command(postgres, place, options, load)).end()
}

fn command(postgres: &Postgres, place: &Place, options: &[&str], load: &[&str]) -> Command {
    let words = [&["run", "--json", JSON], options, &["--", "pgbench"], load];
    postgres.stallscope(place, &words.concat())
}

fn signal<'a>(report: &'a Report, name: &str) -> &'a Signal {
    let found = report.signals.iter().find(|signal| signal.name == name);
    found.unwrap_or_else(|| panic!("a signal {name}: {:?}", report.signals))
}

fn target(report: &Report) -> &ReportSubject {
    let found = report.subjects.iter().find(|it| it.role == Role::Target);
    found.expect("there is a target")
}

/// The mean that pgbench itself prints, for comparison.
fn own_tps(ended: &Ended) -> f64 {
    let text = ended.out_text();
    let tps = text.lines().find_map(|line| line.strip_prefix("tps = "));
    let number = tps.and_then(|tps| tps.split(' ').next());
    number
        .and_then(|it| it.parse().ok())
        .expect("pgbench says its tps")
}

#[test]
fn the_verdict_has_the_promised_shape() {
    let Some((postgres, _alone)) = postgres::running() else {
        return;
    };
    let place = Place::new();
    let load = ["-c", "4", "-j", "2", "-S", "-T", "4", "bench"];
    let ended = run(postgres, &place, &[], &load);
    ended
        .status(0)
        .says("pgbench: added -P 1 (--no-adjust leaves it alone). Target: postgres, 4 backends on a unix socket")
        .does_not_say("progress:");
    leaves_its_output_alone(&ended);
    has_the_promised_lines(&ended);
    let report = place.report();
    says_the_first_finding(&ended, &report);
    shares_make_a_whole(&report);
}

/// That all that pgbench wrote came through.
fn leaves_its_output_alone(ended: &Ended) {
    let text = ended.out_text();
    assert!(text.starts_with("pgbench (1"), "{ended}");
    let last = " (without initial connection time)\n";
    assert!(text.ends_with(last), "{ended}");
}

fn has_the_promised_lines(ended: &Ended) {
    let text = ended.err_text();
    let lines: Vec<&str> = text.lines().collect();
    for label in [
        "  Throughput  ",
        "  Load        ",
        "  PSI         ",
        "  Where the ",
        "  Ruled out  ",
        "  To confirm  ",
        "Saved pgbench-1.stall (",
    ] {
        assert!(
            lines.iter().any(|line| line.starts_with(label)),
            "{label}\n{ended}"
        );
    }
    for word in [" tps ", " Latency ", " Window ", " mean (pgbench"] {
        assert!(text.contains(word), "{word}\n{ended}");
    }
    for line in &lines {
        assert!(line.chars().count() <= 100, "too wide: {line}");
        assert!(!line.chars().any(char::is_control), "{line:?}");
    }
}

fn says_the_first_finding(ended: &Ended, report: &Report) {
    let first = &report.verdict.findings[0];
    assert!(first.sentence.ends_with('.'), "{}", first.sentence);
    let text = one_line(&ended.err_text());
    assert!(text.contains(&one_line(&first.sentence)), "{ended}");
    // Whatever else this machine does may be what is named.
    let who = match first.entity.kind {
        EntityKind::Cgroup => &first.entity.path,
        _ => &first.entity.name,
    };
    ended.says(&format!(
        "{}, {who}; {}",
        first.cause,
        first.confidence.word()
    ));
}

fn shares_make_a_whole(report: &Report) {
    let account = report.verdict.account.as_ref();
    let account = account.expect("there is an account");
    let whole: f64 = account.items.iter().map(|item| item.share).sum();
    assert!((whole - 1.0).abs() < 0.01, "{whole}");
}

#[test]
fn the_report_holds_what_was_measured() {
    let Some((postgres, _alone)) = postgres::running() else {
        return;
    };
    let place = Place::new();
    let load = [
        "-c",
        "3",
        "-S",
        "-T",
        "6",
        "-h",
        "127.0.0.1",
        "-P",
        "2",
        "bench",
    ];
    let ended = run(postgres, &place, &[], &load);
    ended
        .status(0)
        .says("progress: 2.0 s,")
        .says("progress: 4.0 s,")
        .does_not_say("added")
        // Of a busy machine it may be said as soon as the first of the three is found.
        .says("Target: postgres, ")
        .says(&format!(" on port {}", postgres.port()));
    let report = place.report();
    names_server_and_generator(&report, postgres.port());
    agrees_with_pgbench(&report, &ended);
    is_without_gaps(&report);
    assert!(
        report.cost.cpu_ns > 0 && report.cost.ticks > 30,
        "{:?}",
        report.cost
    );
    holds_the_outcome(&place);
}

fn names_server_and_generator(report: &Report, port: u16) {
    let target = target(report);
    assert_eq!(target.found_by, format!("port {port}"));
    assert_eq!(
        (target.entity.name.as_str(), target.unit.as_str()),
        ("postgres", "backend")
    );
    assert_eq!(target.serving, 3, "as many backends as clients");
    assert!(target.cpu_ns > 0);
    let generator = report.subjects.iter().find(|it| it.role == Role::Generator);
    assert_eq!(generator.map(|it| it.entity.name.as_str()), Some("pgbench"));
}

fn agrees_with_pgbench(report: &Report, ended: &Ended) {
    let throughput = signal(report, "throughput");
    let mean = throughput.mean.expect("it has a mean");
    assert!(
        (0.5..2.0).contains(&(mean / own_tps(ended))),
        "{mean} against pgbench's own\n{ended}"
    );
    assert_eq!(throughput.provenance, Provenance::ToolCount);
    assert_eq!(signal(report, "latency").provenance, Provenance::ToolMean);
    let mut phases = report.phases.iter();
    assert!(phases.any(|phase| phase.kind == PhaseKind::Steady));
}

fn is_without_gaps(report: &Report) {
    let gaps: Vec<&str> = report.gaps.iter().map(|gap| gap.table.as_str()).collect();
    assert!(
        !gaps.contains(&"signal") && !gaps.contains(&"thread"),
        "{:?}",
        report.gaps
    );
}

/// How pgbench ended, and what it reported then.
fn holds_the_outcome(place: &Place) {
    let outcome = place
        .opened()
        .meta
        .workload
        .and_then(|workload| workload.outcome);
    assert_eq!(outcome.as_ref().map(|it| it.exit), Some(ExitKind::Code(0)));
    let summary = outcome
        .and_then(|it| it.summary)
        .expect("pgbench ended with a report");
    assert!(
        summary.complete && summary.clients == Some(3),
        "{summary:?}"
    );
}

#[test]
fn no_adjust_adds_nothing_and_the_kernel_tells_the_latency() {
    let Some((postgres, _alone)) = postgres::running() else {
        return;
    };
    let place = Place::new();
    let load = ["-c", "2", "-S", "-T", "3", "bench"];
    let ended = run(postgres, &place, &["--no-adjust"], &load);
    ended
        .status(0)
        .does_not_say("added")
        .does_not_say("progress:");
    // What pgbench derives from clients and throughput at its end is no evidence.
    assert_eq!(
        signal(&place.report(), "latency").provenance,
        Provenance::Kernel
    );
    let workload = place.opened().meta.workload.expect("there is a workload");
    assert_eq!(workload.command[1..], load, "the command as typed");
    assert!(workload.notices.is_empty());
}

#[test]
fn a_load_far_below_the_limit_is_healthy_and_its_rate_is_named() {
    let Some((postgres, _alone)) = postgres::running() else {
        return;
    };
    let (mut seen, mut disturbed) = (Vec::new(), false);
    // pgbench draws its schedule: a few seconds of one may hold some per cent less than asked for.
    for seed in ["--random-seed=1", "--random-seed=2", "--random-seed=3"] {
        let place = Place::new();
        let load = ["-R", "1000", "-c", "4", "-S", "-T", "4", seed, "bench"];
        run(postgres, &place, &[], &load).status(0).says("Lag");
        let report = place.report();
        let rate = signal(&report, "throughput").mean.expect("it has a mean");
        assert!((800.0..1200.0).contains(&rate), "{rate}");
        let causes: Vec<String> = report
            .verdict
            .findings
            .into_iter()
            .map(|it| it.cause)
            .collect();
        if causes == ["healthy", "load.rate"] {
            return;
        }
        let pressure = report
            .pressure
            .iter()
            .map(|it| it.share)
            .fold(0.0, f64::max);
        // This load takes a few per cent of a CPU: what presses comes from others.
        disturbed |= pressure > 0.3 || causes.iter().any(|cause| cause == "cpu.neighbour");
        seen.push(causes);
    }
    if disturbed {
        crate::needs::skip("other work takes this machine's CPUs from a light load");
        return;
    }
    panic!("not healthy: {seen:?}");
}

#[test]
fn a_bar_that_is_met_or_missed_decides_the_status() {
    let Some((postgres, _alone)) = postgres::running() else {
        return;
    };
    let load = ["-c", "2", "-S", "-T", "3", "bench"];
    let met = ["--fail-if", "latency > 10s", "--fail-if", "throughput < 1"];
    run(postgres, &Place::new(), &met, &load)
        .status(0)
        .does_not_say("--fail-if");
    run(
        postgres,
        &Place::new(),
        &["--fail-if", "throughput > 1"],
        &load,
    )
    .status(1)
    .says("--fail-if holds: throughput was")
    .says("(throughput > 1)");
    let unseen = ["--fail-if", "lag > 1s"];
    run(postgres, &Place::new(), &unseen, &load)
        .status(1)
        .says("--fail-if cannot be ruled out: lag was not measured");
}

#[test]
fn several_scripts_are_one_load() {
    let Some((postgres, _alone)) = postgres::running() else {
        return;
    };
    let place = Place::new();
    place.write("read.sql", "select 1;\n");
    place.write("count.sql", "select count(*) from pgbench_branches;\n");
    let load = [
        "-n",
        "-c",
        "2",
        "-T",
        "4",
        "-f",
        "read.sql@1",
        "-f",
        "count.sql@9",
        "bench",
    ];
    run(postgres, &place, &[], &load)
        .status(0)
        .says("Target: postgres, 2 backends");
    let outcome = place
        .opened()
        .meta
        .workload
        .and_then(|workload| workload.outcome);
    let summary = outcome
        .and_then(|it| it.summary)
        .expect("pgbench ended with a report");
    let weights: Vec<_> = summary.scripts.iter().map(|script| script.weight).collect();
    assert_eq!(weights, [Some(1), Some(9)]);
    assert!(
        signal(&place.report(), "throughput")
            .mean
            .is_some_and(|mean| mean > 0.0)
    );
}

#[test]
fn a_new_connection_for_each_transaction_gives_a_verdict() {
    let Some((postgres, _alone)) = postgres::running() else {
        return;
    };
    let place = Place::new();
    let ended = run(
        postgres,
        &place,
        &[],
        &["-C", "-c", "2", "-S", "-T", "3", "bench"],
    );
    ended.status(0).says("Target: postgres").says("Where the");
    assert_eq!(target(&place.report()).entity.name, "postgres");
    assert!(place.opened().damage.is_empty());
}

#[test]
fn filling_the_database_runs_untouched_and_has_its_rows_counted() {
    let Some((postgres, _alone)) = postgres::running() else {
        return;
    };
    let place = Place::new();
    let ended = run(postgres, &place, &[], &["-i", "-s", "1", "-n", "postgres"]);
    ended
        .status(0)
        .does_not_say("added")
        .says("creating tables...")
        .says("Saved");
    let workload = place.opened().meta.workload.expect("there is a workload");
    assert_eq!(workload.adapter.as_deref(), Some("pgbench -i"));
    let summary = workload.outcome.and_then(|it| it.summary);
    assert_eq!(summary.and_then(|it| it.completed), Some(100_000));
}
