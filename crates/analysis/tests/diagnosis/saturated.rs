//! `cpu.saturated`: leads when CPUs are used up by target and generator, and not otherwise.

use expect_test::expect;
use model::{Answer, Confidence, EntityKind, LedgerClass};

use crate::drawing::{drawn, headline, judged, part, said, told};

/// Both CPUs busy: ten servers with a tenth each, a generator with 0.8, half of each request spent
/// in the run queue.
pub const SATURATED: &str = "
    cpus 2  clients 10
    busy      ####################
    run x10   11111111111111111111
    wait      55555555555555555555
    gen       88888888888888888888
    genwait   11111111111111111111
    rest      11111111111111111111
    throttled 00000000000000000000  /server
    io        00000000000000000000
    memory    00000000000000000000
    tps       99999999999999999999
";

/// The same drawing with one lane drawn anew.
fn with(lane: &str, cells: &str) -> String {
    let redrawn = |line: &str| match line.split_whitespace().next() {
        Some(name) if name == lane.split(' ').next().unwrap_or(lane) => format!("{lane} {cells}\n"),
        _ => format!("{line}\n"),
    };
    SATURATED.lines().map(redrawn).collect()
}

#[test]
fn leads_when_target_and_generator_use_up_the_cpus() {
    let report = drawn(SATURATED).diagnose();
    let finding = headline(&report);
    assert_eq!(finding.cause, "cpu.saturated");
    assert_eq!(finding.entity.kind, EntityKind::Process);
    assert_eq!(finding.confidence, Confidence::Measured);
    assert!((finding.share.expect("a share") - 0.5).abs() < 0.01);
    expect![[r#"
        cpu.saturated | process server | measured | 0.500 (0.500 to 0.500)
        CPU is the bottleneck: both CPUs were 100 % busy, and 50 % of each request was server waiting for one.
        helps: a third CPU: +14 % to +35 % by CPU law, one thread
        helps: loadgen on another machine: +14 % to +35 % by CPU law, one thread (it takes 40 % of the CPU)
        helps: the machine to itself: +2 % to +21 % by CPU law (others take 10 % of the CPU)
        not: more clients, faster disk, more memory
        wrong if: under the same load: stallscope prove --target 'name:^server$' --capacity cpu
    "#]].assert_eq(&told(&report));
    assert!((part(&report, LedgerClass::OnCpu) - 0.1).abs() < 0.01);
    assert!((part(&report, LedgerClass::Outside) - 0.4).abs() < 0.01);
}

#[test]
fn is_absent_when_the_target_waits_a_little_less_than_it_must() {
    let text = with("wait", "21212121212121212121");
    let text = text.replace("genwait   11111111111111111111", "");
    let report = drawn(&text).diagnose();
    expect!["absent: server waited for a CPU for only 15 % of each request"]
        .assert_eq(&said(&report, "cpu.saturated"));
}

#[test]
fn is_absent_when_the_cpus_are_a_little_less_busy_than_they_must_be() {
    let report = drawn(&with("busy", "98989898989898999999")).diagnose();
    expect!["absent: the CPUs were 86 % busy, under 90 %"]
        .assert_eq(&said(&report, "cpu.saturated"));
}

#[test]
fn is_absent_when_others_use_too_much_of_the_cpus() {
    let fewer = with("gen", "11111111111111111111").replace("run x10", "run x8 ");
    let report = drawn(&fewer).diagnose();
    expect!["absent: target and generator used only 45 % of the busy time"]
        .assert_eq(&said(&report, "cpu.saturated"));
}

#[test]
fn is_right_on_what_is_covered() {
    for (lane, cells) in [
        ("busy", "########---------###"),
        ("busy", "----------##########"),
        ("wait", "555-------------5555"),
        ("wait", "----------5555555555"),
        ("run x10", "111-------------1111"),
        ("run x10", "----------1111111111"),
        ("tps", "999-------------9999"),
        ("tps", "-------------9999999"),
    ] {
        let report = drawn(&with(lane, cells)).diagnose();
        let finding = headline(&report);
        assert_eq!(finding.cause, "cpu.saturated", "{lane} {cells}");
        let share = finding.share.expect("a share");
        assert!((share - 0.5).abs() < 0.02, "{lane} {cells}: {share}");
        let used = &finding.evidence[1];
        assert!((used.value - 0.9).abs() < 0.02, "{lane} {cells}: {used:?}");
    }
}

#[test]
fn cannot_be_told_without_the_lane_that_tells_it() {
    let mut sentences = String::new();
    for lane in ["busy", "run x10", "wait"] {
        let report = drawn(&with(lane, "--------------------")).diagnose();
        assert_eq!(
            judged(&report, "cpu.saturated").answer,
            Answer::CannotTell,
            "{lane}"
        );
        sentences += &format!("{lane}: {}\n", said(&report, "cpu.saturated"));
        sentences += &format!("  {}\n", headline(&report).sentence);
    }
    expect![[r#"
        busy: cannot tell: CPU times were not recorded
          Undetermined: 50 % of each request was server: waiting for a CPU, and no cause that this version judges explains it.
        run x10: cannot tell: the threads of server were not seen in this window
          Undetermined: the threads of server did nothing that could be measured in this window.
        wait: cannot tell: how long server waited for a CPU was not recorded
          Undetermined: how long server waited for a CPU was not recorded.
    "#]].assert_eq(&sentences);
}

#[test]
fn steal_speaks_against_it() {
    let text = with("busy", "99999999999999999999") + "steal 11111111111111111111\n";
    let report = drawn(&text).diagnose();
    assert_eq!(headline(&report).confidence, Confidence::Consistent);
    expect![[r#"
        cpu.saturated | process server | consistent | 0.500 (0.500 to 0.500)
        CPU is the bottleneck: both CPUs were 100 % busy, and 50 % of each request was server waiting for one.
        helps: a third CPU: +8 % to +28 % by CPU law, one thread
        helps: loadgen on another machine: +8 % to +28 % by CPU law, one thread (it takes 42 % of the CPU)
        helps: the machine to itself: +0 % to +15 % by CPU law (others take 5.3 % of the CPU)
        not: more clients, faster disk, more memory
        but: the hypervisor took 10 % of the CPUs away: part of the wait is its doing
        wrong if: under the same load: stallscope prove --target 'name:^server$' --capacity cpu
    "#]].assert_eq(&told(&report));
}

/// The same on CPUs that are idle in between, as the scheduler's own events tell it.
fn in_bursts() -> String {
    with("busy", "77777777777777777777")
        + "    thread_time.queued_target_ns *1e9 33333333333333333333
               thread_time.queued_generator_ns *1e9 22222222222222222222\n"
}

#[test]
fn waits_in_bursts_are_explained_however_busy_the_cpus_are() {
    expect![[r#"
        cpu.saturated | process server | consistent | 0.500 (0.500 to 0.500)
        CPU is the bottleneck at times: both CPUs were 70 % busy on average, and 50 % of each request was server waiting for one.
        helps: a third CPU: +8 % to +28 % by CPU law, one thread
        helps: loadgen on another machine: +8 % to +28 % by CPU law, one thread (it takes 42 % of the CPU)
        helps: the machine to itself: +0 % to +15 % by CPU law (others take 5.3 % of the CPU)
        not: more clients, faster disk, more memory
        but: the CPUs were idle for 30 % of the time: they are short in bursts
        wrong if: under the same load: stallscope prove --target 'name:^server$' --capacity cpu
    "#]].assert_eq(&told(&drawn(&in_bursts()).diagnose()));
    // Waits of 50 us each are what being woken costs.
    let short = in_bursts() + "    thread.slices *1e5 11111111111111111111\n";
    expect![
        "absent: server waited for a CPU for 50.0 us at a time, about as long as a wake-up takes"
    ]
    .assert_eq(&said(&drawn(&short).diagnose(), "cpu.saturated"));
    // One CPU is full and another idle: that is another cause.
    let uneven = in_bursts().replacen(
        "busy 77777777777777777777\n",
        "busy ####################\nbusy 44444444444444444444\n",
        1,
    );
    expect!["absent: the CPUs were 70 % busy, under 90 %"]
        .assert_eq(&said(&drawn(&uneven).diagnose(), "cpu.saturated"));
}

#[test]
fn a_pinned_target_is_judged_by_the_cpus_that_it_may_use() {
    // Its own CPU has room; somebody else fills another.
    let pinned = "
        cpus 2  allowed 1  which 1  clients 4
        busy     ####################
        busy     55555555555555555555
        run x4   11111111111111111111
        wait     33333333333333333333
        gen      22222222222222222222
        tps      99999999999999999999
    ";
    expect!["absent: the CPUs were 50 % busy, under 90 %"]
        .assert_eq(&said(&drawn(pinned).diagnose(), "cpu.saturated"));
    let unknown = pinned.replace("which 1", "");
    expect!["absent: target and generator used only 40 % of the busy time"]
        .assert_eq(&said(&drawn(&unknown).diagnose(), "cpu.saturated"));
}

#[test]
fn a_pinned_target_is_judged_by_as_many_cpus_as_it_may_use() {
    let pinned = "
        cpus 4  allowed 1  clients 4
        busy     --------############
        busy     --------000000000000
        busy     --------000000000000
        busy     --------000000000000
        run x4   22222222222222222222
        wait     66666666666666666666
        gen      22222222222222222222
        tps      99999999999999999999
    ";
    let report = drawn(pinned).diagnose();
    expect![[r#"
        cpu.saturated | process server | measured | 0.600 (0.600 to 0.600)
        CPU is the bottleneck: its one CPU was 100 % busy, and 60 % of each request was server waiting for one.
        helps: a second CPU: +72 % to +109 % by CPU law
        helps: loadgen on another machine: +15 % to +35 % by CPU law (it takes 20 % of the CPU)
        not: more clients, faster disk
        wrong if: under the same load: stallscope prove --target 'name:^server$' --capacity cpu
    "#]].assert_eq(&told(&report));
    let half = pinned.replace('#', "5");
    expect!["absent: the CPUs were 50 % busy, under 90 %"]
        .assert_eq(&said(&drawn(&half).diagnose(), "cpu.saturated"));
}

#[test]
fn without_a_signal_shares_are_of_busy_time() {
    let text = SATURATED.replace("tps       99999999999999999999", "");
    let report = drawn(&text).diagnose();
    expect![[r#"
        cpu.saturated | process server | measured | 0.833 (0.833 to 0.833)
        CPU is the bottleneck: both CPUs were 100 % busy, and 83 % of server's non-idle time was server waiting for one.
        helps: a third CPU: not known
        helps: loadgen on another machine: not known (it takes 40 % of the CPU)
        helps: the machine to itself: not known (others take 10 % of the CPU)
        not: more clients, faster disk, more memory
        wrong if: under the same load: stallscope prove --target 'name:^server$' --capacity cpu
    "#]].assert_eq(&told(&report));
}

/// As many clients as CPUs: each request is work, nobody waits for a CPU, and none is idle.
const WORK: &str = "
    cpus 2  clients 2
    busy      ####################
    run x2    99999999999999999999
    wait      00000000000000000000
    gen x1    11111111111111111111
    throttled 00000000000000000000  /server
    io        00000000000000000000
    memory    00000000000000000000
    tps       99999999999999999999
";

#[test]
fn work_that_fills_the_cpus_is_the_limit_though_nobody_waits() {
    let room = WORK.replace("####################", "77777777777777777777");
    let idle = WORK.replace(
        "99999999999999999999\n    wait",
        "66666666666666666666\n    wait",
    );
    let others = WORK
        .replace("clients 2", "clients 1")
        .replace("run x2", "run x1");
    expect![[r#"
        cpu.saturated | process server | consistent | 0.900
        CPU is the bottleneck: both CPUs were 100 % busy, and 90 % of each request was work of server on them.
        helps: more or faster CPUs, or less work in each request: not known
        not: more clients
        wrong if: under the same load: stallscope prove --target 'name:^server$' --capacity cpu
        others' absent: server did not wait for a CPU
        room: absent: the CPUs were 70 % busy, under 90 %
        more than work: absent: server did not wait for a CPU
    "#]].assert_eq(&format!(
        "{}others' {}\nroom: {}\nmore than work: {}\n",
        told(&drawn(WORK).diagnose()),
        said(&drawn(&others).diagnose(), "cpu.saturated"),
        said(&drawn(&room).diagnose(), "cpu.saturated"),
        said(&drawn(&idle).diagnose(), "cpu.saturated"),
    ));
}
