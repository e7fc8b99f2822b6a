//! `lock.runtime`: a Java virtual machine that stands still.

use expect_test::expect;
use model::{Answer, Gap, GapReason};

use crate::drawing::{answers, drawn, judged, said, told, with};

/// A Java virtual machine that stands still for six tenths of the time, five of them to collect garbage from a heap that
/// stays nine tenths full. Its thread that serves one client runs in three of the four others.
pub const RUNTIME: &str = "
    cpus 4  clients 1
    busy      44444444444444444444
    run       33333333333333333333
    wait      00000000000000000000
    blocked   S202
    gen       11111111111111111111
    throttled 00000000000000000000  /server
    io        00000000000000000000
    memory    00000000000000000000
    tps       99999999999999999999
    jvm.safepoint_ns        worker1 *1e9 66666666666666666666
    jvm.safepoint_sync_ns   worker1 *1e9 00000000000000000000
    jvm.application_ns      worker1 *1e9 44444444444444444444
    jvm.collector0_ns       worker1 *1e9 11111111111111111111
    jvm.collector1_ns       worker1 *1e9 44444444444444444444
    jvm.heap_used_bytes     worker1 *1e9 99999999999999999999
    jvm.heap_capacity_bytes worker1 *1e9 ####################
";

#[test]
fn a_runtime_that_stands_still_leads_and_explains_what_looks_like_a_lock() {
    let report = drawn(RUNTIME).diagnose();
    expect![[r#"
        lock.runtime | process worker | measured | 0.600 (0.600 to 0.600)
        Garbage collection is the bottleneck: for 60 % of the time the Java virtual machine worker stood still; when collections ended its heap was 90 % full.
        helps: a larger heap (-Xmx), or less garbage: +57 % to +108 % by waits removed, closed loop
        helps: a concurrent collector (-XX:+UseZGC, -XX:+UseShenandoahGC): +163 % to +163 % by waits removed, closed loop
        not: more clients
        wrong if: run with twice the heap (-Xmx): if throughput stays the same, this is wrong
    "#]].assert_eq(&told(&report));
    expect!["absent: lock.runtime explains it: worker"].assert_eq(&said(&report, "lock.futex"));
    // Most of what is waited for in futex is not the runtime's doing.
    let few = with(
        RUNTIME,
        "jvm.safepoint_ns worker1 *1e9 22222222222222222222",
    );
    expect!["present: A lock is the bottleneck: 70 % of each request was threads of server waiting for each other."].assert_eq(&said(&drawn(&few).diagnose(), "lock.futex"));
}

#[test]
fn the_busy_thread_of_a_runtime_that_stands_still_is_the_runtimes_own() {
    let text = with(
        RUNTIME,
        "
        clients 10
        run       ####################
        jvm.safepoint_ns   worker1 *1e9 ####################
        jvm.application_ns worker1 *1e9 00000000000000000000",
    );
    let report = drawn(&text).diagnose();
    expect!["absent: lock.runtime explains it: worker"]
        .assert_eq(&said(&report, "cpu.single_thread"));
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table: changes and their answers")]
fn what_is_no_standstill_or_doubted_or_cannot_be_told() {
    let changes = [
        (
            "pauses as collectors aim for",
            "jvm.safepoint_ns worker1 *1e8 88888888888888888888",
        ),
        (
            "hardly any of it for garbage collection",
            "jvm.collector1_ns worker1 *1e9 00000000000000000000",
        ),
        (
            "memory in swap most of that time",
            "
            blocked D-1
            paging.swap_in *2000 ####################",
        ),
        ("no response time", "tps --------------------"),
        (
            "an account of its time that does not add up",
            "jvm.application_ns worker1 *1e9 11111111111111111111",
        ),
        ("another process serves too", "run x2 33333333333333333333"),
        (
            "it serves nobody",
            "
            jvm.safepoint_ns        worker1 *1e9 --------------------
            jvm.safepoint_sync_ns   worker1 *1e9 --------------------
            jvm.application_ns      worker1 *1e9 --------------------
            jvm.collector0_ns       worker1 *1e9 --------------------
            jvm.collector1_ns       worker1 *1e9 --------------------
            jvm.heap_used_bytes     worker1 *1e9 --------------------
            jvm.heap_capacity_bytes worker1 *1e9 --------------------
            jvm.safepoint_ns        server *1e9 66666666666666666666
            jvm.threads             server *10  66666666666666666666",
        ),
        (
            "a gap in which it was not read",
            "jvm.safepoint_ns worker1 *1e9 --------------------",
        ),
    ];
    expect![[r#"
        pauses as collectors aim for
          absent: the Java virtual machine worker stood still for only 8 % of the time
          headline: lock.futex
        hardly any of it for garbage collection
          present: Safepoints are the bottleneck: for 60 % of the time the Java virtual machine worker stood still, and garbage collection took only 17 % of that.
        memory in swap most of that time
          absent: memory.swap explains it: machine
          headline: memory.swap
        no response time
          present: Garbage collection is the bottleneck: for 60 % of the time the Java virtual machine worker stood still; when collections ended its heap was 90 % full.
        an account of its time that does not add up
          present: Garbage collection is the bottleneck: for 60 % of the time the Java virtual machine worker stood still; when collections ended its heap was 90 % full.
        another process serves too
          present: Garbage collection is the bottleneck: for 60 % of the time the Java virtual machine worker stood still; when collections ended its heap was 90 % full.
        it serves nobody
          absent: no process of server that serves is a Java virtual machine, the only runtime that counts for how long it stops its threads
          headline: lock.futex
        a gap in which it was not read
          cannot tell: for how long the Java virtual machine of server stood still was not recorded in this window
          headline: lock.futex
    "#]].assert_eq(&answers(RUNTIME, "lock.runtime", &changes));
}

#[test]
fn without_its_counters_a_runtime_cannot_be_told() {
    let other = |line: &&str| !line.contains("jvm.");
    let text: String = RUNTIME
        .lines()
        .filter(other)
        .map(|it| format!("{it}\n"))
        .collect();
    let mut run = drawn(&text);
    expect!["absent: no process of server that serves is a Java virtual machine, the only runtime that counts for how long it stops its threads"].assert_eq(&said(&run.diagnose(), "lock.runtime"));
    let gap = |what: &str| Gap {
        table: "jvm".to_owned(),
        what: what.to_owned().into(),
        window: None,
        reason: GapReason::Unsupported("it was started with -XX:-UsePerfData".into()),
    };
    // The generator's is none of the target's.
    run.timeline.gaps.push(gap("pid 20"));
    assert_eq!(
        judged(&run.diagnose(), "lock.runtime").answer,
        Answer::Absent
    );
    run.timeline.gaps.push(gap("pid 100"));
    expect!["cannot tell: of pid 100: not supported here: it was started with -XX:-UsePerfData"]
        .assert_eq(&said(&run.diagnose(), "lock.runtime"));
}

#[test]
fn a_runtime_is_measured_where_its_account_is_exact_alone() {
    use model::Confidence::{Consistent, Measured};
    let sure = |lines: &str| {
        let report = drawn(&with(RUNTIME, lines)).diagnose();
        assert_eq!(judged(&report, "lock.runtime").answer, Answer::Present);
        let mut findings = report.verdict.findings.iter();
        let own = findings.find(|it| it.cause == "lock.runtime");
        own.expect("it is present").confidence
    };
    assert_eq!(sure(""), Measured);
    assert_eq!(sure("tps --------------------"), Consistent);
    assert_eq!(sure("run x2 33333333333333333333"), Consistent);
    // On the whole enough, and nothing that lasts.
    assert_eq!(
        sure(
            "jvm.safepoint_ns worker1 *1e9 ####0000000000000000\n jvm.application_ns worker1 *1e9 0000################"
        ),
        Consistent
    );
}
