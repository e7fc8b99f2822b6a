//! `healthy` and `undetermined`: nothing holds it back, or nobody can tell what does.

use expect_test::expect;
use model::{Answer, Confidence, Goal, Latency};

use crate::drawing::{drawn, headline, judged, listed, said, told, with};

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

/// The answer does not turn at one length of a wait, nor at one load of the CPUs, and seconds of long waits count whatever
/// the others are.
#[test]
fn from_wake_ups_to_waits_there_is_no_step() {
    let drawing = HEALTHY
        .replace(
            "wait      00000000000000000000",
            "wait      33333333333333333333",
        )
        .replace(
            "run       88888888888888888888",
            "run       66666666666666666666",
        );
    let waits = |lines: &str| {
        let report = drawn(&with(&drawing, lines)).diagnose();
        let healthy = report
            .verdict
            .findings
            .iter()
            .find(|it| it.cause == "healthy");
        let part = healthy.and_then(|it| it.share).map(|it| 1.0 - it);
        part.map_or("a cause".to_owned(), |it| format!("{:.0} %", 100.0 * it))
    };
    // Waits of 300 ms each second, in so many pieces.
    let pieces = [
        (50, 6_000),
        (60, 5_000),
        (70, 4_286),
        (80, 3_750),
        (100, 3_000),
    ];
    let by_length = pieces.map(|(us, count)| {
        let lines = format!("thread.slices *{count} ####################");
        format!("{us} us: {}", waits(&lines))
    });
    expect!["50 us: 0 %, 60 us: 6 %, 70 us: 12 %, 80 us: a cause, 100 us: a cause"]
        .assert_eq(&by_length.join(", "));
    let short = "thread.slices *1e4 ####################\n busy ";
    let by_load = ["8", "89", "9", "9#"].map(|cells| {
        let cells: String = cells.chars().cycle().take(20).collect();
        format!("{}: {}", &cells[..2], waits(&format!("{short}{cells}")))
    });
    expect!["88: 0 %, 89: 1 %, 99: a cause, 9#: a cause"].assert_eq(&by_load.join(", "));
    let uneven = "thread.slices *1e4 ###############11111";
    expect!["8 %"].assert_eq(&waits(uneven));
}

#[test]
fn a_wait_as_long_as_a_wake_up_needs_no_cause() {
    // A third of each request waits for a CPU that the client has just left.
    let long = HEALTHY
        .replace(
            "wait      00000000000000000000",
            "wait      33333333333333333333",
        )
        .replace(
            "run       88888888888888888888",
            "run       66666666666666666666",
        );
    expect![[r#"
        undetermined | process server | suspected | none
        Undetermined: 30 % of each request was server: waiting for a CPU, and no cause that this version judges explains it.
        wrong if: run longer and alone on the machine, and name what serves: --target
    "#]].assert_eq(&told(&drawn(&long).diagnose()));
    // The same of requests that take 50 us.
    let short =
        long.replace("tps    ", "tps *100") + "    thread.slices *1e5 22222222222222222222\n";
    expect![[r#"
        healthy | process server | measured | 1.000
        No bottleneck: with 1 client server did 20,000 tps, 50.0 us each, and waited for nothing worth naming; 60 % of each request it was on a CPU.
        wrong if: to find the limit, run with -c 4
    "#]].assert_eq(&told(&drawn(&short).diagnose()));
    let full = short.replace("44444444444444444444", "99999999999999999999");
    expect![[r#"
        undetermined | process server | suspected | none
        Undetermined: 30 % of each request was server: waiting for a CPU, and no cause that this version judges explains it.
        wrong if: run longer and alone on the machine, and name what serves: --target
    "#]].assert_eq(&told(&drawn(&full).diagnose()));
    // Three times as many waits, of 5 us each: what others fill the CPUs with gives way at once.
    let at_once = full.replace("thread.slices *1e5 2222", "thread.slices *3e5 2222");
    expect![[r#"
        healthy | process server | measured | 1.000
        No bottleneck: with 1 client server did 20,000 tps, 50.0 us each, and waited for nothing worth naming; 60 % of each request it was on a CPU.
        wrong if: to find the limit, run with -c 4
    "#]].assert_eq(&told(&drawn(&at_once).diagnose()));
}

/// Whether a goal was met, the first sentence, and what was found.
fn beside(drawing: &str, of: Latency, below_ms: i64) -> String {
    let mut drawn = drawn(drawing);
    let below_ns = below_ms * 1_000_000;
    drawn.meta.plan.goals.push(Goal { of, below_ns });
    let report = drawn.diagnose();
    let met = report.goals.first().and_then(|it| it.met);
    format!(
        "{met:?} {}\n{}",
        headline(&report).sentence,
        listed(&report)
    )
}

#[test]
fn a_goal_that_is_met_is_health_whatever_is_waited_for() {
    let saturated = crate::saturated::SATURATED;
    expect![[r#"
        Some(true) server is fast enough: mean latency was 11.1 ms, below the goal of 20.0 ms.
        healthy server 0.50, cpu.saturated server 0.50, load.shares_cpu loadgen 0.20"#]]
    .assert_eq(&beside(saturated, Latency::Mean, 20));
    expect![[r#"
        Some(false) CPU is the bottleneck: both CPUs were 100 % busy, and 50 % of each request was server waiting for one.
        cpu.saturated server 0.50, load.shares_cpu loadgen 0.20"#]].assert_eq(&beside(saturated, Latency::Mean, 5));
}

#[test]
fn a_goal_that_is_missed_or_not_measured_is_no_health() {
    expect![[r#"
        Some(false) Undetermined: mean latency was 5.00 ms, over the goal of 2.00 ms. server waited for nothing that explains it; 80 % of each request it was on a CPU.
        undetermined server none"#]].assert_eq(&beside(HEALTHY, Latency::Mean, 2));
    expect![[r#"
        None Undetermined: p99 latency was not measured, so whether it was below the goal of 20.0 ms is not known. server waited for nothing that explains it; 80 % of each request it was on a CPU.
        undetermined server none"#]].assert_eq(&beside(HEALTHY, Latency::Quantile(0.99), 20));
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
    expect!["absent: healthy was found"].assert_eq(&said(&report, "undetermined"));
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
        helps: fewer syncs: more work per commit, or commits that need not be safe at once: +76 % to +76 % by waits removed, closed loop
        helps: a disk that syncs faster: +76 % to +76 % by waits removed, closed loop
        not: more CPUs
        wrong if: under the same load: stallscope prove --target 'name:^server$' --capacity disk
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

/// One request a second, whose threads run and wait for a CPU for longer than it takes.
const RARE: &str = "
    cpus 2  adapter none
    busy      11111111111111111111
    run x4    00000000000000000000
    wait      00000000000000000000
    blocked   S202
    gen       00000000000000000000
    throttled 00000000000000000000  /server
    io        00000000000000000000
    memory    00000000000000000000
    requests.requests c1 *10 11111111111111111111
    requests.timed    c1 *10 11111111111111111111
    requests.timed_ns c1 *6e7 11111111111111111111
    thread.wait_ns    *2e7 11111111111111111111
";

#[test]
fn a_target_that_is_hardly_asked_is_idle_unless_a_goal_is_missed() {
    expect![[r#"
        healthy | process server | consistent | 0.994
        No bottleneck: server was idle: it did 1.00 per second, 6.00 ms each, so requests were in progress for 0.6 % of the time.
        wrong if: give it more work: what it then waits for is its limit
    "#]].assert_eq(&told(&drawn(RARE).diagnose()));
    // A tenth of the time is enough for a cause.
    let often = RARE.replace("c1 *", "c1 *20").replace("*206e7", "*120e7");
    expect![[r#"
        undetermined | process server | suspected | none
        Undetermined: the threads of server spent more time waiting in futex (a lock) than requests took, so some of them were idle there, and no cause that this version judges explains the rest.
        wrong if: run longer and alone on the machine, and name what serves: --target
    "#]].assert_eq(&told(&drawn(&often).diagnose()));
    // A worker that is asked for its metrics once a second.
    let worker = RARE.replace(
        "run x4    00000000000000000000",
        "run x4    99999999999999999999",
    );
    expect![[r#"
        undetermined | process server | suspected | none
        Undetermined: the threads of server spent more time waiting in futex (a lock) than requests took, so some of them were idle there, and no cause that this version judges explains the rest.
        wrong if: run longer and alone on the machine, and name what serves: --target
    "#]].assert_eq(&told(&drawn(&worker).diagnose()));
    expect![[r#"
        Some(false) Undetermined: mean latency was 6.00 ms, over the goal of 1.00 ms. server waited for nothing that explains it; 0 of each request it was on a CPU.
        undetermined server none"#]].assert_eq(&beside(RARE, Latency::Mean, 1));
}
