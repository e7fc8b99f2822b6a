//! `cpu.quota`: leads when a limit of the target's group, or of one above it, withholds CPU.

use expect_test::expect;
use model::{Answer, Confidence, EntityKind, LedgerClass};

use crate::drawing::{drawn, headline, judged, part, said, told};

/// Four servers share 0.4 of a CPU: for 6 of 10 of the time both queues of their group are held
/// back, and what they wait is the quota's doing; the machine is idle.
pub const LIMITED: &str = "
    cpus 2  clients 4  quota 4  group /limited
    busy      33333333333333333333
    run x4    11111111111111111111
    wait      66666666666666666666
    gen       11111111111111111111
    throttled 66666666666666666666  /limited
    cpu       77777777777777777777
    cpu       99999999999999999999  /limited
    memory    00000000000000000000
    tps       22222222222222222222
";

#[test]
fn leads_though_it_raises_the_machines_pressure_while_the_machine_is_idle() {
    let report = drawn(LIMITED).diagnose();
    let finding = headline(&report);
    assert_eq!(finding.cause, "cpu.quota");
    assert_eq!(finding.entity.kind, EntityKind::Cgroup);
    assert_eq!(finding.entity.path, "/limited");
    assert_eq!(finding.confidence, Confidence::Measured);
    expect![[r#"
        cpu.quota | cgroup limited | measured | 0.360 (0.360 to 0.360)
        A CPU quota is the bottleneck: /limited ran out of its limit of 0.4 CPUs in 60 % of the periods, and 36 % of each request was server held back by it, while the machine was 70 % idle.
        helps: a quota of 1.8 CPUs: +55 % to +334 % by waits removed, closed loop
        not: more clients, a larger machine with the same quota, faster disk, more memory
        wrong if: under the same load: stallscope prove --target 'name:^server$' --capacity cpu
    "#]].assert_eq(&told(&report));
    let machine = report
        .pressure
        .iter()
        .find(|p| p.entity.kind == EntityKind::Machine);
    assert!(machine.is_some_and(|pressure| (pressure.share - 0.7).abs() < 0.01));
    assert_eq!(
        report.verdict.findings.len(),
        1,
        "{:?}",
        report.verdict.findings
    );
}

#[test]
fn time_held_back_is_taken_out_of_run_queue_delay() {
    // Held back for 6 of 10, queues of both CPUs, and each server waits 6 of 10: the lower bound of
    // the quota's part is 6 of 10 of the delay of 4 x 0.6, or 1.2 s per second, whichever is more.
    let report = drawn(LIMITED).diagnose();
    let throttled = part(&report, LedgerClass::Throttled);
    let wait = part(&report, LedgerClass::CpuWait);
    assert!((throttled + wait - 0.6).abs() < 0.01);
    assert!((throttled - 0.36).abs() < 0.01, "{throttled}");
}

#[test]
fn a_group_above_the_targets_counts_as_well_and_one_beside_it_does_not() {
    let above = LIMITED.replace("group /limited", "group /limited/inner/most");
    let report = drawn(&above).diagnose();
    assert_eq!(headline(&report).cause, "cpu.quota");
    assert_eq!(headline(&report).entity.path, "/limited");
    assert!(part(&report, LedgerClass::Throttled) > 0.3);
    let beside = LIMITED.replace("group /limited", "group /limited-not");
    let report = drawn(&beside).diagnose();
    assert_eq!(judged(&report, "cpu.quota").answer, Answer::Absent);
    assert_eq!(part(&report, LedgerClass::Throttled), 0.0);
}

#[test]
fn is_absent_a_little_under_both_thresholds() {
    let report = drawn(&LIMITED.replace(
        "throttled 66666666666666666666",
        "throttled 10010010010010010010",
    ))
    .diagnose();
    expect![
        "absent: limited ran out in 3.2 % of its quota periods, held back for 3.2 % of the time"
    ]
    .assert_eq(&said(&report, "cpu.quota"));
}

#[test]
fn is_absent_when_it_cost_the_target_next_to_nothing() {
    let text = LIMITED.replace(
        "wait      66666666666666666666",
        "wait      00000000000000000000",
    );
    let report = drawn(&text).diagnose();
    expect!["absent: limited was throttled, but it cost server only 0 of each request"]
        .assert_eq(&said(&report, "cpu.quota"));
}

#[test]
fn a_limit_that_comes_with_the_last_seconds_is_of_what_comes_after() {
    let text = LIMITED.replace(
        "throttled 66666666666666666666",
        "throttled 0000000000000000009#",
    );
    expect!["absent: it took 6 % of each request on the whole, but over 5 % in only 11 % of the seconds: spikes, not a state"].assert_eq(&said(&drawn(&text).diagnose(), "cpu.quota"));
}

#[test]
fn is_right_on_what_is_covered() {
    for cells in ["666--------------666", "----------6666666666"] {
        let lane = format!("throttled {cells}");
        let report = drawn(&LIMITED.replace("throttled 66666666666666666666", &lane)).diagnose();
        let finding = headline(&report);
        assert_eq!(finding.cause, "cpu.quota", "{cells}");
        assert!((finding.evidence[0].value - 0.6).abs() < 0.01, "{cells}");
        assert!((finding.evidence[1].value - 0.6).abs() < 0.01, "{cells}");
    }
}

#[test]
fn cannot_be_told_without_the_groups_account_and_throttling_is_not_acquitted() {
    for more in ["", "throttled 00000000000000000000 /elsewhere\n"] {
        let unseen = LIMITED.replace(
            "66666666666666666666  /limited",
            "--------------------  /limited",
        );
        let report = drawn(&(unseen + more)).diagnose();
        assert_eq!(judged(&report, "cpu.quota").answer, Answer::CannotTell);
        assert!(
            report
                .verdict
                .ruled_out
                .iter()
                .all(|ruled_out| ruled_out.what != "throttling")
        );
        assert_eq!(
            said(&report, "cpu.quota"),
            "cannot tell: of no control group of server was the CPU account recorded"
        );
    }
}
