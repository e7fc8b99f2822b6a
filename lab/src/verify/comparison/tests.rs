//! Reports and testimonies drawn by hand, compared.

use model::{
    AccountItem, Phase, PhaseKind, Provenance, Quality, Signal, ThreadsAccount, Timestamp, Window,
};

use super::*;
use crate::score::tests::report;

const PRINTED: &str = "latency average = 0.4 ms\ntps = 1000.5 (without initial connection time)\n";

fn item(class: LedgerClass, seconds: f64) -> AccountItem {
    AccountItem {
        class,
        label: String::new(),
        ns: (seconds * NS_PER_S) as i64,
        share: 0.0,
        quality: Quality::Exact,
        note: String::new(),
        parts: Vec::new(),
    }
}

fn phase(kind: PhaseKind, start: f64, end: f64, throughput: Option<f64>) -> Phase {
    Phase {
        kind,
        window: Window::new(Timestamp::from_seconds(start), Timestamp::from_seconds(end)),
        throughput,
        latency_ns: None,
        verdict: None,
        change: None,
        disks: Vec::new(),
    }
}

/// 10 s with 4 s of CPU, 3 s of waiting for one and 0.5 s unknown, at 1,000 tps.
fn measured() -> Report {
    let mut report = report(&[]);
    report.signals = vec![Signal {
        name: "throughput".to_owned(),
        unit: "per_second".to_owned(),
        mean: Some(1000.0),
        stddev: None,
        quantiles: Vec::new(),
        provenance: Provenance::ToolCount,
        empty_intervals: 0,
    }];
    report.phases = vec![phase(PhaseKind::Steady, 0.0, 10.0, Some(1000.0))];
    let target = &mut report.subjects[0];
    target.cpu_ns = 4_000_000_000;
    target.threads = Some(ThreadsAccount {
        threads: 1,
        wall_ns: 10_000_000_000,
        items: vec![
            item(LedgerClass::OnCpu, 4.0),
            item(LedgerClass::CpuWait, 2.0),
            item(LedgerClass::Throttled, 1.0),
            item(LedgerClass::Unknown, 0.5),
        ],
        hidden: None,
    });
    report
}

fn seen(cpu: f64, delay: f64) -> Testimony {
    let line = |seconds: f64| {
        let end = (seconds * NS_PER_S) as u64;
        vec![
            (Timestamp::from_seconds(0.0), 0),
            (Timestamp::from_seconds(10.0), end),
        ]
    };
    Testimony {
        usage: line(cpu),
        delay: [(7, line(delay))].into(),
    }
}

fn verdicts(report: &Report, testimony: &Testimony, printed: &str) -> Vec<bool> {
    all(report, testimony, printed)
        .iter()
        .map(Comparison::holds)
        .collect()
}

#[test]
fn figures_that_agree_within_two_percent_hold() {
    assert_eq!(verdicts(&measured(), &seen(4.07, 2.95), PRINTED), [true; 4]);
    let off = verdicts(&measured(), &seen(4.2, 3.2), "tps = 1100 (x)");
    assert_eq!(off, [false, false, false, true]);
}

#[test]
fn what_is_missing_does_not_hold() {
    let nothing = report(&[]);
    assert_eq!(verdicts(&nothing, &Testimony::default(), ""), [false; 4]);
    assert_eq!(
        verdicts(&measured(), &Testimony::default(), ""),
        [false, false, false, true]
    );
}

#[test]
fn the_summary_is_about_all_phases() {
    let mut report = measured();
    report
        .phases
        .push(phase(PhaseKind::WarmUp, -10.0, 0.0, Some(500.0)));
    report.phases.push(phase(PhaseKind::End, 10.0, 10.1, None));
    assert_eq!(whole_run(&report), Some(750.0));
    assert!(throughput(&report, "tps = 755 (x)").holds());
    assert!(!throughput(&report, "tps = 1000 (x)").holds());
    report.phases[0].throughput = Some(900.0);
    let apart = throughput(&report, "tps = 755 (x)");
    assert!(matches!(apart, Comparison::Missing { .. }), "{apart}");
}

#[test]
fn too_much_unknown_does_not_hold() {
    let mut report = measured();
    if let Some(threads) = &mut report.subjects[0].threads {
        threads.wall_ns = 4_000_000_000;
    }
    assert!(!unknown(&[&report.subjects[0]]).holds());
}

#[test]
fn nothing_on_both_sides_cannot_be_compared() {
    assert_eq!(difference(0.0, 0.0), None);
    assert_eq!(difference(1.0, 0.0), None);
    assert_eq!(
        difference(1.01, 1.0).map(|share| (share * 100.0).round()),
        Some(1.0)
    );
}

#[test]
fn a_line_shows_both_figures_and_the_difference() {
    let lines: Vec<String> = all(&measured(), &seen(4.0, 3.0), PRINTED)
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        lines[0],
        "ok  throughput             report 1000.000 tps, pgbench's summary 1000.500 tps: -0.05 % \
         (allowed 2 %)"
    );
    assert_eq!(
        lines[3],
        "ok  unknown                report 5.00 % of its threads' time (allowed 10 %)"
    );
}
