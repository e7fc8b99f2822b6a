//! Runs that change: phases, each with a verdict of its own.

use expect_test::expect;
use model::{PhaseKind, Report};

use crate::drawing::{drawn, headline, seconds};
use crate::quota::LIMITED;
use crate::saturated::SATURATED;

/// Server and generator use up both CPUs in the first half; in the second a quota holds the servers
/// back, and the machine is idle.
pub const TWO_REASONS: &str = "
    cpus 2  clients 10  quota 4  group /limited
    busy      ##########4444444444
    run x10   11111111110000000000
    wait      55555555555555555555
    gen       88888888881111111111
    throttled 00000000009999999999  /limited
    cpu       77777777777777777777
    cpu       00000000009999999999  /limited
    memory    00000000000000000000
    tps       99999999996666666666
    ms        11111111111111111111
";

/// One line per phase.
fn told(report: &Report) -> String {
    let start = report.phases[0].window.start;
    let line = |phase: &model::Phase| {
        let (from, to) = (phase.window.start, phase.window.end);
        let verdict = phase.verdict.as_ref();
        let verdict = verdict.map_or("no verdict".to_owned(), |it| {
            let share = it
                .share
                .map_or("none".to_owned(), |share| format!("{share:.2}"));
            format!(
                "{} of {}, {share}, {}",
                it.cause,
                it.entity,
                it.confidence.word()
            )
        });
        format!(
            "{:.0} to {:.0} {:?}: {:.0} per second, {verdict}\n",
            from.seconds_since(start),
            to.seconds_since(start),
            phase.kind,
            phase.throughput.unwrap_or(-1.0),
        )
    };
    report.phases.iter().map(line).collect()
}

/// A drawing with its `tps` lane drawn anew.
fn rates(cells: &str) -> String {
    SATURATED.replace(
        "tps       99999999999999999999",
        &format!("tps       {cells}"),
    )
}

#[test]
fn two_reasons_are_two_phases_with_two_verdicts() {
    let report = drawn(TWO_REASONS).diagnose();
    expect![[r#"
        0 to 1 WarmUp: 900 per second, no verdict
        1 to 10 Steady: 900 per second, cpu.saturated of process server, 0.56, measured
        10 to 20 Steady: 600 per second, cpu.quota of cgroup limited, 0.75, measured
    "#]]
    .assert_eq(&told(&report));
    assert_eq!(
        report.window,
        seconds(10.0, 20.0),
        "the longer one is judged"
    );
    let last = report
        .phases
        .last()
        .and_then(|phase| phase.verdict.as_ref());
    assert_eq!(
        last.map(|it| &it.sentence),
        Some(&headline(&report).sentence)
    );
}

#[test]
fn what_happened_in_one_phase_is_no_other_phases_verdict() {
    // Who complained when is not known: it is about the run.
    let text = format!(
        "{TWO_REASONS}
        cgroup_memory.usage_bytes /limited *1e9 11111111111111111111
        cgroup_memory.oom_kills   /limited *10  00000000000000010000
        complains too_many_connections 3 FATAL: sorry, too many clients already
        "
    );
    let report = drawn(&text).diagnose();
    expect![[r#"
        0 to 1 WarmUp: 900 per second, no verdict
        1 to 10 Steady: 900 per second, cpu.saturated of process server, 0.56, measured
        10 to 20 Steady: 600 per second, memory.oom of cgroup limited, none, measured
    "#]]
    .assert_eq(&told(&report));
    let found = report.verdict.findings.iter();
    let found: Vec<&str> = found.map(|finding| finding.cause.as_str()).collect();
    expect!["limit.connections, memory.oom, cpu.quota"].assert_eq(&found.join(", "));
}

#[test]
fn a_run_of_one_phase_has_no_verdict_of_phases() {
    for text in [SATURATED, LIMITED] {
        let report = drawn(text).diagnose();
        assert!(report.phases.iter().all(|phase| phase.verdict.is_none()));
    }
}

#[test]
fn stalls_of_one_second_are_no_phases() {
    expect![[r#"
        0 to 1 WarmUp: 900 per second, no verdict
        1 to 20 Steady: 805 per second, no verdict
    "#]]
    .assert_eq(&told(&drawn(&rates("99990999999999099999")).diagnose()));
}

#[test]
fn a_slow_level_at_the_start_is_a_phase_and_a_slow_rise_is_warm_up() {
    expect![[r#"
        0 to 1 WarmUp: 600 per second, no verdict
        1 to 9 Steady: 600 per second, cpu.saturated of process server, 0.50, measured
        9 to 20 Steady: 900 per second, cpu.saturated of process server, 0.50, measured
    "#]]
    .assert_eq(&told(&drawn(&rates("66666666699999999999")).diagnose()));
    expect![[r#"
        0 to 7 WarmUp: 500 per second, no verdict
        7 to 20 Steady: 900 per second, no verdict
    "#]]
    .assert_eq(&told(&drawn(&rates("23456789999999999999")).diagnose()));
}

#[test]
fn a_rise_over_most_of_the_run_is_a_ramp() {
    expect![[r#"
        0 to 1 WarmUp: 300 per second, no verdict
        1 to 20 Ramp: 600 per second, no verdict
    "#]]
    .assert_eq(&told(&drawn(&rates("33344455566677788899")).diagnose()));
    expect![[r#"
        0 to 1 WarmUp: 200 per second, no verdict
        1 to 20 Ramp: 516 per second, no verdict
    "#]]
    .assert_eq(&told(&drawn(&rates("22333444555666777777")).diagnose()));
}

/// Throughput as before with three times the latency: requests queue.
pub const QUEUES: &str = "
    clients 10  rate 900
    run x10   33333333333333333333
    gen       22222222222222222222
    tps       99999999999999999999
    lag       00000000000000000000
";

#[test]
fn more_requests_in_progress_without_more_throughput_are_a_congestion() {
    let late = drawn(&format!("{QUEUES}ms 11111111111111333333\n"));
    expect![[r#"
        0 to 1 WarmUp: 900 per second, no verdict
        1 to 14 Steady: 900 per second, healthy of process server, 1.00, measured
        14 to 20 Congested: 900 per second, healthy of process server, 1.00, measured
    "#]]
    .assert_eq(&told(&late.diagnose()));
    // For most of the run it is what the run was.
    let early = drawn(&format!("{QUEUES}ms 11111133333333333333\n")).diagnose();
    assert_eq!(early.window, seconds(6.0, 20.0));
    let kinds: Vec<PhaseKind> = early.phases.iter().map(|phase| phase.kind).collect();
    assert_eq!(
        kinds,
        [PhaseKind::WarmUp, PhaseKind::Steady, PhaseKind::Congested]
    );
}

#[test]
fn a_closed_loop_that_is_slowed_is_not_congested() {
    let slower = rates("99999999999999444444");
    expect![[r#"
        0 to 1 WarmUp: 900 per second, no verdict
        1 to 14 Steady: 900 per second, cpu.saturated of process server, 0.50, measured
        14 to 20 Steady: 400 per second, cpu.saturated of process server, 0.50, measured
    "#]]
    .assert_eq(&told(&drawn(&slower).diagnose()));
}
