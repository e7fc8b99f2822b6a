//! What changed where one phase ends and the next begins.

use expect_test::expect;
use model::{Mark, Report, Timestamp};

use crate::drawing::{Drawn, drawn, with};
use crate::phases::{QUEUES, TWO_REASONS};

/// All that is said of each border.
fn borders(report: &Report) -> String {
    let changes = report.phases.iter().filter_map(|it| it.change.as_ref());
    let said = changes.map(|change| {
        let at = change.at.seconds_since(report.origin);
        let marks = change
            .marks
            .iter()
            .map(|it| format!("\n  mark {}", it.text));
        let differences = change.differences.iter();
        let differences = differences.map(|it| {
            format!(
                "\n  {} of {} in {}: {:?} to {:?}\n    {}",
                it.what, it.entity, it.unit, it.before, it.after, it.sentence
            )
        });
        format!(
            "{at:.0} s: {}{}{}\n  {}\n",
            change.sentence,
            marks.collect::<String>(),
            differences.collect::<String>(),
            change.settled
        )
    });
    said.collect()
}

#[test]
fn the_quota_and_the_idle_cpus_are_told_where_a_quota_holds_back() {
    expect![[r#"
        10 s: Throughput fell from 900 to 600 tps (-33 %).
          throttled of cgroup limited in share: Some(0.0) to Some(0.9000000000000001)
            The time for which a quota held back /limited rose from 0 to 90 %.
          pressure.cpu of cgroup limited in share: Some(0.0) to Some(0.9000000000000001)
            CPU pressure of /limited rose from 0 to 90 %.
          cpu.busy of machine machine in share: Some(1.0) to Some(0.39999999999999997)
            CPU use of the machine fell from 100 % to 40 %.
          Throughput settled at once.
    "#]]
    .assert_eq(&borders(&drawn(TWO_REASONS).diagnose()));
}

#[test]
fn nothing_is_told_where_nothing_differs_plainly() {
    expect![[r#"
        14 s: Latency rose from 10.0 ms to 30.0 ms.
          Throughput settled at once.
    "#]]
    .assert_eq(&borders(
        &drawn(&format!("{QUEUES}ms 11111111111111333333\n")).diagnose(),
    ));
}

#[test]
fn what_is_not_known_of_one_phase_is_not_compared() {
    let hidden = with(
        TWO_REASONS,
        "
        throttled ----------9999999999  /limited
        cpu       77777777777777777777
        cpu       ----------9999999999  /limited
        busy      ##########----------
        ",
    );
    expect![[r#"
        10 s: Throughput fell from 900 to 600 tps (-33 %).
          wait.cpu of process server in ns_per_request: Some(5555555.555555556) to Some(833333.3333333333)
            What server waits for a CPU fell from 5.56 ms to 0.833 ms per request.
          Throughput settled at once.
    "#]].assert_eq(&borders(&drawn(&hidden).diagnose()));
    let hole = with(TWO_REASONS, "throttled 000000----999---9999  /limited");
    expect![[r#"
        10 s: Throughput fell from 900 to 600 tps (-33 %).
          throttled of cgroup limited in share: Some(0.0) to Some(0.9000000000000001)
            The time for which a quota held back /limited rose from 0 to 90 %.
          pressure.cpu of cgroup limited in share: Some(0.0) to Some(0.9000000000000001)
            CPU pressure of /limited rose from 0 to 90 %.
          cpu.busy of machine machine in share: Some(1.0) to Some(0.39999999999999997)
            CPU use of the machine fell from 100 % to 40 %.
          Throughput settled at once.
    "#]]
    .assert_eq(&borders(&drawn(&hole).diagnose()));
}

#[test]
fn a_process_that_starts_is_told_with_what_it_uses() {
    let crowded = "
        cpus 2  clients 10
        busy      666666666#########
        run x4    222222222111111111
        wait      000000000444444444
        gen       111111111111111111
        rest      ---------999999999
        memory    000000000000000000
        tps       888888888333333333
    ";
    expect![[r#"
        9 s: Throughput fell from 800 to 300 tps (-62 %).
          cpu.others of process other1 in cpus: Some(0.0) to Some(0.9000000000000001)
            CPU use of other1 rose from 0 to 0.900 CPUs.
          cpu.busy of machine machine in share: Some(0.6) to Some(1.0)
            CPU use of the machine rose from 60 % to 100 %.
          wait.cpu of process server in ns_per_request: Some(0.0) to Some(5333333.333333333)
            What server waits for a CPU rose from 0 to 5.33 ms per request.
          Throughput settled at once.
    "#]]
    .assert_eq(&borders(&drawn(crowded).diagnose()));
}

#[test]
fn a_mark_is_told_at_the_border_that_it_is_near() {
    let Drawn { mut timeline, meta } = drawn(TWO_REASONS);
    let mark = Mark::new(Timestamp::from_seconds(109.0), "quota set");
    timeline.marks.extend(mark);
    let report = analysis::diagnose(&timeline, &meta, None);
    let changes = report.phases.iter().filter_map(|it| it.change.as_ref());
    let marks: Vec<&str> = changes
        .flat_map(|it| &it.marks)
        .map(|it| it.text.as_str())
        .collect();
    assert_eq!(marks, ["quota set"]);
}
