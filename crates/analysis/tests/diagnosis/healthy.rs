//! `healthy` and `undetermined`: nothing holds it back, or nobody can tell what does.

use expect_test::expect;
use model::{Answer, Confidence};

use crate::drawing::{drawn, headline, judged, said, told};

/// One client, one server that works for most of each request, CPUs to spare.
pub const HEALTHY: &str = "
    cpus 4  clients 1
    busy      44444444444444444444
    run       88888888888888888888
    wait      00000000000000000000
    gen       22222222222222222222
    throttled 00000000000000000000  /server
    io        00000000000000000000
    memory    00000000000000000000
    tps       22222222222222222222
";

#[test]
fn healthy_leads_when_nothing_is_waited_for() {
    let report = drawn(HEALTHY).diagnose();
    let finding = headline(&report);
    assert_eq!(finding.cause, "healthy");
    assert_eq!(finding.confidence, Confidence::Measured);
    assert!((finding.share.expect("a share") - 1.0).abs() < 0.01);
    expect![[r#"
        healthy | process server | measured | 1.000
        No bottleneck: with 1 client server did 200 tps, 5.00 ms each, and waited for nothing worth naming; 80 % of each request it was on a CPU.
        wrong if: to find the limit, run with -c 4
    "#]].assert_eq(&told(&report));
    let ruled_out: Vec<&str> = report
        .verdict
        .ruled_out
        .iter()
        .map(|i| i.sentence.as_str())
        .collect();
    expect![
        "steal 0, throttling 0, disk 0, memory 0, locks 0, network (round trip 10.0 us, 0 sent again), other processes 38 % of the CPU used"
    ]
    .assert_eq(&ruled_out.join(", "));
}

#[test]
fn a_cause_that_cannot_be_told_leaves_the_verdict_open_only_where_it_has_room() {
    // A fifth of each request is outside the server; whether it was the network nobody recorded.
    let unseen = HEALTHY.to_owned() + "    connection.rtt_min_ns c1 --------------------\n";
    let report = drawn(&unseen).diagnose();
    let finding = headline(&report);
    expect![[r#"
        Undetermined: net.loss cannot be told, and could hold up to 16 % of each request: what was sent again was not recorded.
        measure the latency where the load is generated, and run it once on the server's own machine"#]]
    .assert_eq(&format!("{}\n{}", finding.sentence, finding.to_confirm));
    assert_eq!(judged(&report, "healthy").answer, Answer::Absent);
    // The server works for nearly all of it: the same question has no room.
    let at_work = unseen.replace(
        "run       88888888888888888888",
        "run       ####################",
    );
    let report = drawn(&at_work).diagnose();
    assert_eq!(judged(&report, "net.loss").answer, Answer::CannotTell);
    assert_eq!(headline(&report).cause, "healthy");
}

#[test]
fn of_an_idle_target_it_is_said_how_many_threads_waited_at_a_time() {
    let idle = HEALTHY
        .replace("tps       22222222222222222222", "")
        .replace(
            "run       88888888888888888888",
            "run       00000000000000000000",
        );
    let report = drawn(&idle).diagnose();
    let evidence = &headline(&report).evidence[0];
    assert_eq!(
        (evidence.unit.as_str(), evidence.threshold),
        ("count", Some(0.05))
    );
    assert!(evidence.passed && evidence.value < 0.05, "{evidence:?}");
}

#[test]
fn healthy_is_absent_when_waits_reach_the_threshold() {
    let text = HEALTHY.replace(
        "wait      00000000000000000000",
        "wait      12121212121212121212",
    );
    let report = drawn(&text).diagnose();
    expect!["absent: server waited for 15 % of each request"].assert_eq(&said(&report, "healthy"));
    expect![[r#"
        undetermined | process server | suspected | none
        Undetermined: 15 % of each request was server: waiting for a CPU, and no cause that this version judges explains it.
        wrong if: run longer and alone on the machine, and name what serves: --target
    "#]].assert_eq(&told(&report));
}

#[test]
fn healthy_is_still_said_a_little_under_the_threshold() {
    let text = HEALTHY.replace(
        "wait      00000000000000000000",
        "wait      21212121212121212121",
    );
    assert_eq!(headline(&drawn(&text).diagnose()).cause, "healthy");
}

#[test]
fn healthy_cannot_be_told_when_waiting_for_a_cpu_was_not_recorded() {
    let text = HEALTHY.replace(
        "wait      00000000000000000000",
        "wait      --------------------",
    );
    let report = drawn(&text).diagnose();
    assert_eq!(judged(&report, "healthy").answer, Answer::CannotTell);
    expect![[r#"
        cannot tell: how long server waited for a CPU was not recorded
        undetermined | process server | suspected | none
        Undetermined: how long server waited for a CPU was not recorded.
        wrong if: run longer and alone on the machine, and name what serves: --target
    "#]]
    .assert_eq(&format!("{}\n{}", said(&report, "healthy"), told(&report)));
}

#[test]
fn healthy_is_right_on_what_is_covered() {
    for lane in [
        "run       88888888888888888888",
        "wait      00000000000000000000",
        "busy      44444444444444444444",
    ] {
        let holes = lane[..12].to_owned() + "---------" + &lane[21..];
        assert_eq!(
            headline(&drawn(&HEALTHY.replace(lane, &holes)).diagnose()).cause,
            "healthy",
            "{holes}"
        );
    }
}

#[test]
fn undetermined_leads_when_most_of_a_request_is_outside_and_unexplained() {
    let text = HEALTHY
        .replace("run       8", "run       1")
        .replace("8888888888888888888", "1111111111111111111");
    let report = drawn(&text).diagnose();
    assert_eq!(headline(&report).cause, "undetermined");
    assert_eq!(headline(&report).confidence, Confidence::Suspected);
    expect![[r#"
        undetermined | process server | suspected | none
        Undetermined: 90 % of each request was outside server, and the load generator explains little of it (28 % is explained in all): think time, the network, or locks that wait in epoll.
        wrong if: run longer and alone on the machine, and name what serves: --target
    "#]].assert_eq(&told(&report));
    expect!["cannot tell: only 28 % of each request is explained"]
        .assert_eq(&said(&report, "healthy"));
}

#[test]
fn undetermined_is_absent_when_just_more_than_half_is_explained() {
    let text = HEALTHY.replace("88888888888888888888", "44444444444444444444");
    let report = drawn(&text).diagnose();
    assert_eq!(headline(&report).cause, "healthy");
    expect!["absent: load.concurrency was found"].assert_eq(&said(&report, "undetermined"));
}

#[test]
fn undetermined_names_what_is_waited_for_where_no_cause_explains_it() {
    let text = HEALTHY.replace(
        "run       88888888888888888888",
        "run  44444444444444444444\nblocked D75 D75 S232",
    );
    expect![[r#"
        io.sync | process server | consistent | 0.411 (0.400 to 0.400)
        Syncing to disk is the bottleneck: 41 % of each request was server waiting for fsync.
        helps: a disk that syncs faster: at most +70 %
        helps: fewer syncs: more work per commit, or commits that need not be safe at once: at most +70 %
        not: more CPUs
        wrong if: let server not sync for a minute (PostgreSQL: synchronous_commit = off): if throughput stays the same, this is wrong
    "#]].assert_eq(&told(&drawn(&text).diagnose()));
}

#[test]
fn undetermined_leads_when_nothing_at_all_was_drawn_of_the_target() {
    for lane in [
        "run       88888888888888888888",
        "run       00000000000000000000",
    ] {
        let unseen = HEALTHY.replace(
            "run       88888888888888888888",
            "run       --------------------",
        );
        let text = if lane.contains('8') {
            unseen
        } else {
            HEALTHY.replace("run       88888888888888888888", "")
        };
        let report = drawn(&text).diagnose();
        assert_eq!(headline(&report).cause, "undetermined");
        assert_eq!(judged(&report, "healthy").answer, Answer::CannotTell);
    }
}

#[test]
fn two_causes_within_noise_are_both_listed_behind_undetermined() {
    // A generator that uses up both CPUs: half of each request in the server's run queue, half
    // outside.
    let tied = "
        cpus 2  clients 20
        busy      ####################
        run x20   00000000000000000000
        wait      55555455555555555555
        gen x2    ####################
        throttled 00000000000000000000  /server
        memory    00000000000000000000
        tps       99999999999999999999
    ";
    let report = drawn(tied).diagnose();
    let causes: Vec<&str> = report
        .verdict
        .findings
        .iter()
        .map(|f| f.cause.as_str())
        .collect();
    expect![[r#"
        ["undetermined", "load.client", "cpu.saturated", "load.shares_cpu"]
        undetermined | process server | suspected | none
        Undetermined: load.client and cpu.saturated hold as much of each request, within the noise of this run.
        wrong if: run longer and alone on the machine
    "#]].assert_eq(&format!("{causes:?}\n{}", told(&report)));
}
