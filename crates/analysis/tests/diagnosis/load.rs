//! `load.client` and `load.rate`: the limit is the load's own.

use expect_test::expect;
use model::{Answer, Confidence, EntityKind, Role};

use crate::drawing::{Drawn, answers, drawn, headline, judged, said, told, with};

/// The generator's one thread has no time left; each server works a twentieth of each request.
pub const CLIENT: &str = "
    cpus 4  clients 8
    busy      44444444444444444444
    run x8    00000000000000000000
    wait      00000000000000000000
    gen       ####################
    throttled 00000000000000000000  /server
    memory    00000000000000000000
    tps       55555555555555555555
";

/// Ten users are threads of one interpreter: each works for a tenth of the time, and the others wait for it.
pub fn in_turn() -> String {
    let threads: String = (1..=10)
        .map(|it| {
            format!(
                "thread_pool.pool loader{it} =gen ####################
                thread_time.futex_ns loader{it} *1e9 99999999999999999999\n"
            )
        })
        .collect();
    CLIENT.replace(
        "gen       ####################",
        "gen x10   11111111111111111111",
    ) + &threads
        + "
        wakeup.class   gen<gen *10 ####################
        wakeup.by      gen<gen     ####################
        wakeup.waker   gen<gen =gen ####################
        wakeup.wait_ns gen<gen *9e9 ####################
        "
}

/// A thousand per second were asked for and come, each after 10 ms.
pub const RATE: &str = "
    cpus 2  clients 10  rate 1000
    busy      44444444444444444444
    run x10   00000000000000000000
    wait      00000000000000000000
    gen       11111111111111111111
    throttled 00000000000000000000  /server
    memory    00000000000000000000
    tps       ####################
    ms        11111111111111111111
    lag       00000000000000000000
";

#[test]
fn the_client_leads_when_its_thread_is_always_busy() {
    let report = drawn(&CLIENT.replace("run x8    0000000000", "run x8    1010101010")).diagnose();
    let finding = headline(&report);
    assert_eq!(finding.cause, "load.client");
    assert_eq!(finding.entity.name, "loadgen");
    assert_eq!(finding.confidence, Confidence::Measured);
    expect![[r#"
        load.client | process loadgen | measured | 0.979
        The load generator is the bottleneck: loadgen's one thread was on a CPU 100 % of the time, and 98 % of each request was outside server.
        helps: more threads for loadgen: +142 % to +213 % by CPU law
        helps: less work per request in loadgen: not known
        not: more clients, a faster server, more or faster CPUs, faster disk, more memory
        wrong if: give loadgen twice the threads: if throughput stays the same, this is wrong
    "#]].assert_eq(&told(&report));
}

#[test]
fn threads_of_a_generator_that_wait_for_each_other_have_no_time_left() {
    expect![[r#"
        load.client | process loadgen | consistent | 1.000
        The load generator is the bottleneck: 10 threads of loadgen wait for each other, 9.00 at a time, while 1.00 work, and 100 % of each request was outside server.
        helps: several processes of loadgen instead of threads: not known
        helps: less work per request in loadgen: not known
        not: more clients, a faster server, more or faster CPUs, faster disk, more memory
        wrong if: run loadgen twice at a time, each with half of the clients: if throughput stays the same, this is wrong
    "#]].assert_eq(&told(&drawn(&in_turn()).diagnose()));
    let changes = [
        (
            "one waits for an answer",
            "thread_time.futex_ns loader1 *1e9 00000000000000000000",
        ),
        (
            "they do not end each other's waits",
            "wakeup.wait_ns gen<gen *9e9 00000000000000000000",
        ),
        ("they hardly work", "gen x10 00000000000000000000"),
    ];
    expect![[r#"
        one waits for an answer
          absent: the busiest thread of loadgen was on a CPU for 10 % of the time
          headline: undetermined
        they do not end each other's waits
          absent: the busiest thread of loadgen was on a CPU for 10 % of the time
          headline: undetermined
        they hardly work
          cannot tell: no load generator was measured
          headline: undetermined
    "#]]
    .assert_eq(&answers(&in_turn(), "load.client", &changes));
}

#[test]
fn the_client_is_absent_when_its_thread_has_a_little_time_left() {
    let text = CLIENT.replace(
        "gen       ####################",
        "gen       89898989898989898989",
    );
    expect!["absent: the busiest thread of loadgen was on a CPU for 85 % of the time"]
        .assert_eq(&said(&drawn(&text).diagnose(), "load.client"));
}

#[test]
fn the_client_is_absent_when_the_target_holds_more_than_half_of_each_request() {
    let text = CLIENT.replace(
        "run x8    00000000000000000000",
        "run x8    56565656565656565656",
    );
    expect!["absent: only 45 % of each request was outside server"]
        .assert_eq(&said(&drawn(&text).diagnose(), "load.client"));
}

#[test]
fn the_client_is_judged_on_what_is_covered_and_not_at_all_without_it() {
    for cells in ["###-------------####", "----------##########"] {
        let text = CLIENT.replace("gen       ####################", &format!("gen {cells}"));
        assert_eq!(
            headline(&drawn(&text).diagnose()).cause,
            "load.client",
            "{cells}"
        );
    }
    let mut sentences = String::new();
    for (from, to) in [
        ("gen       ####################", "gen --------------------"),
        ("tps       55555555555555555555", "tps --------------------"),
        (
            "run x8    00000000000000000000",
            "run x8 --------------------",
        ),
    ] {
        let report = drawn(&CLIENT.replace(from, to)).diagnose();
        assert_eq!(
            judged(&report, "load.client").answer,
            Answer::CannotTell,
            "{to}"
        );
        sentences += &format!(
            "{to}: {}\n  {}\n",
            said(&report, "load.client"),
            headline(&report).sentence
        );
    }
    expect![[r#"
        gen --------------------: cannot tell: no load generator was measured
          Undetermined: 100 % of each request was outside server, and the load generator explains little of it (0 is explained in all): think time, the network, or locks that wait in epoll.
        tps --------------------: cannot tell: loadgen gave no response times to compare with
          No bottleneck: server was idle; its threads had no work.
        run x8 --------------------: cannot tell: the threads of server were not seen in this window
          Undetermined: the threads of server did nothing that could be measured in this window.
    "#]].assert_eq(&sentences);
}

#[test]
fn a_rate_that_is_reached_is_healthy_first_and_says_so_second() {
    let report = drawn(RATE).diagnose();
    let causes: Vec<&str> = report
        .verdict
        .findings
        .iter()
        .map(|f| f.cause.as_str())
        .collect();
    assert_eq!(causes, ["healthy", "load.rate"]);
    expect![[r#"
        healthy | process server | measured | 1.000
        No bottleneck: server answered all of the 1,000 tps that were asked for (-R 1000), 10.0 ms each.
        wrong if: to find the limit, run with -R 4000, and without -R
    "#]].assert_eq(&told(&report));
    expect!["The rate is the limit: loadgen asked for 1,000 tps (-R 1000) and got 1,000."]
        .assert_eq(&report.verdict.findings[1].sentence);
    expect!["these CPUs have room for at least 13,000 tps at 0.100 ms of CPU per request; CPU per request usually falls under load, so the limit of the CPUs lies higher"].assert_eq(
        &report
            .verdict
            .headroom
            .as_ref()
            .expect("room is left")
            .sentence,
    );
}

#[test]
fn a_rate_that_is_missed_by_a_little_more_than_it_may_be_is_absent() {
    let text = RATE.replace(
        "tps       ####################",
        "tps       9####9####9####9####",
    );
    let report = drawn(&text).diagnose();
    assert_eq!(judged(&report, "load.rate").answer, Answer::Present);
    let text = RATE.replace(
        "tps       ####################",
        "tps       9###9###9###9###9###",
    );
    // 979 of 1,000: within two standard deviations of a Poisson count over this window.
    assert_eq!(
        judged(&drawn(&text).diagnose(), "load.rate").answer,
        Answer::Present
    );
    let text = RATE.replace(
        "tps       ####################",
        "tps       9#9#9#9#9#9#9#9#9#9#",
    );
    let report = drawn(&text).diagnose();
    expect!["absent: 95 % of the 1,000 tps asked for were reached"]
        .assert_eq(&said(&report, "load.rate"));
}

#[test]
fn a_rate_that_is_reached_by_queueing_before_full_cpus_is_no_health() {
    let text = RATE
        .replace(
            "busy      44444444444444444444",
            "busy      ####################",
        )
        .replace(
            "run x10   00000000000000000000",
            "run x10   22222222222222222222",
        )
        .replace(
            "ms        11111111111111111111",
            "ms        44444444444444444444",
        )
        .replace(
            "lag       00000000000000000000",
            "lag       33333333333333333333",
        );
    let report = drawn(&text).diagnose();
    expect!["absent: the rate was reached on full CPUs only by queueing: 75 % of each request was lag behind the schedule"]
        .assert_eq(&said(&report, "load.rate"));
    assert_ne!(headline(&report).cause, "healthy");
}

#[test]
fn a_rate_is_judged_on_what_is_covered_and_not_at_all_without_it() {
    let text = RATE.replace(
        "tps       ####################",
        "tps       ###---------########",
    );
    assert_eq!(headline(&drawn(&text).diagnose()).cause, "healthy");
    let text = RATE.replace(
        "tps       ####################",
        "tps       --------------------",
    );
    let report = drawn(&text).diagnose();
    assert_eq!(judged(&report, "load.rate").answer, Answer::CannotTell);
    expect!["cannot tell: the workload gave no throughput over this window"]
        .assert_eq(&said(&report, "load.rate"));
    assert_eq!(
        said(&drawn(CLIENT).diagnose(), "load.rate"),
        "absent: no rate was asked for"
    );
}

#[test]
fn a_reached_rate_is_no_health_measured_when_the_target_waited_for_most_of_each_request() {
    let text = RATE.replace(
        "wait      00000000000000000000",
        "wait      55555555555555555555",
    );
    let report = drawn(&text).diagnose();
    let finding = headline(&report);
    assert_eq!(finding.cause, "healthy", "by design: the rate was reached");
    assert!(finding.evidence.iter().any(|evidence| !evidence.passed));
    assert!(finding.confidence < Confidence::Measured, "{finding:?}");
}

#[test]
fn what_broke_leads_though_the_rate_is_reached() {
    let refused = RATE.to_owned()
        + "complains too_many_connections 1 FATAL: sorry, too many clients already\n";
    expect![[r#"
        limit.connections | process server | measured | none
        server takes no more connections: clients were turned away once (`FATAL: sorry, too many clients already`).
        not: more clients
        wrong if: run with half of the clients: if they are turned away too, this is wrong
    "#]].assert_eq(&told(&drawn(&refused).diagnose()));
}

/// A generator that hardly works, in a group of its own whose quota runs out in so many tenths of its periods.
fn limited(text: &str, tenths: &str) -> Drawn {
    let lanes = format!("gen 11111111111111111111\n throttled {tenths}  /load");
    let mut drawn = drawn(&with(text, &lanes));
    let mut groups = drawn.timeline.entities.of_kind(EntityKind::Cgroup);
    let group = groups.find(|it| it.entity.path == "/load");
    let group = group.expect("it is drawn").id;
    drop(groups);
    for record in drawn.timeline.entities.iter_mut() {
        if record.role == Role::Generator && record.entity.kind == EntityKind::Process {
            record.group = Some(group);
        }
    }
    drawn
}

#[test]
fn a_generator_whose_own_quota_runs_out_is_the_limit() {
    let out = "99999999999999999999";
    expect![[r#"
        load.client | process loadgen | measured | 0.900
        The load generator is the bottleneck: the CPU quota of its group load ran out in 90 % of its periods.
        helps: a higher CPU quota for load, or loadgen outside of it: not known
        not: more clients, a faster server, more or faster CPUs, faster disk, more memory
        wrong if: raise that quota: if throughput stays the same, this is wrong
    "#]].assert_eq(&told(&limited(CLIENT, out).diagnose()));
    let causes = [limited(RATE, out), limited(CLIENT, "22222222222222222222")]
        .map(|it| headline(&it.diagnose()).cause.clone());
    expect!["healthy undetermined"].assert_eq(&causes.join(" "));
}
