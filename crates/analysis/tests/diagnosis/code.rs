//! `lock.spin`, `cpu.hot_code`, and the functions that other causes name.

use expect_test::expect;

use crate::drawing::{drawn, listed, said, told, with};
use crate::locks::FUTEX;
use crate::saturated::SATURATED;

/// The CPUs are full of threads that spin for a lock.
pub fn spinning() -> String {
    with(SATURATED, "spun acquire<take_ticket<serve<main")
}

/// They are full of work, most of it in one function.
pub fn hot() -> String {
    with(SATURATED, "ran hash_row<join<serve<main")
}

#[test]
fn threads_that_spin_are_not_helped_by_more_cpus() {
    let report = drawn(&spinning()).diagnose();
    expect![[r#"
        lock.spin | process server | consistent | 0.550
        A spin lock is the bottleneck: 100 % of the CPU time of server was spinning in acquire < take_ticket < serve; with the waits for the CPUs that spun this is 55 % of each request.
        helps: less time under the lock, several locks instead of one, or a lock that sleeps: not known
        not: more CPUs, more clients, more threads, faster disk, more memory
        wrong if: run with half of the threads: if throughput falls as much, this is wrong
    "#]].assert_eq(&told(&report));
    expect!["absent: server spins: more CPUs would spin too"]
        .assert_eq(&said(&report, "cpu.saturated"));
    expect!["absent: server spins, see lock.spin"].assert_eq(&said(&report, "cpu.hot_code"));
}

#[test]
fn who_spins_now_and_then_has_no_bottleneck_there() {
    // Three of four samples are work.
    let few = with(&hot(), "spun acquire<serve<main x0.25");
    let few = drawn(&few).diagnose();
    expect!["absent: server was seen spinning for only 20 % of its CPU time"]
        .assert_eq(&said(&few, "lock.spin"));
    expect!["present: CPU is the bottleneck: both CPUs were 100 % busy, and 50 % of each request was server waiting for one."].assert_eq(&said(&few, "cpu.saturated"));
}

#[test]
fn the_function_with_most_of_the_cpu_time_is_named_beside_the_cpu() {
    let report = drawn(&hot()).diagnose();
    expect!["cpu.saturated server 0.50, load.shares_cpu loadgen 0.20, cpu.hot_code server 0.10"]
        .assert_eq(&listed(&report));
    expect!["present: 100 % of the CPU time of server is in hash_row < join < serve, which adds to cpu.saturated."].assert_eq(&said(&report, "cpu.hot_code"));
    expect!["absent: server was not seen spinning"].assert_eq(&said(&report, "lock.spin"));
    let unseen = drawn(SATURATED).diagnose();
    expect!["cannot tell: what server executed was not recorded"]
        .assert_eq(&said(&unseen, "lock.spin"));
    expect!["cannot tell: what server executed was not recorded"]
        .assert_eq(&said(&unseen, "cpu.hot_code"));
}

#[test]
fn a_lock_has_the_functions_that_wait_for_it_and_that_release_it() {
    let text = with(
        FUTEX,
        "slept futex_wait<Queue::push<serve<main by Queue::pop<serve<main",
    );
    let report = drawn(&text).diagnose();
    expect![[r#"
        lock.futex | process server | consistent | 0.900 (0.900 to 0.900)
        A lock is the bottleneck: 90 % of each request was threads of server waiting for each other, 100 % of that in futex_wait < Queue::push < serve.
        helps: less time under the lock, or several locks instead of one: +305 % to +685 % by CPU law
        not: more clients, more threads, more CPUs, faster disk, more memory
        wrong if: run with half of the clients: if throughput falls as much, this is wrong
    "#]].assert_eq(&told(&report));
    let finding = &report.verdict.findings[0];
    let evidence: Vec<&str> = finding.evidence.iter().map(|it| it.what.as_str()).collect();
    expect![[r#"
        waiting for a lock
        of that in futex_wait < Queue::push < serve, mostly ended in Queue::pop < serve < main"#]]
    .assert_eq(&evidence.join("\n"));
}

/// The second half needs more CPU time for a request, and does fewer.
fn grown(ran: &str) -> String {
    let slower = with(SATURATED, "tps 99999999996666666666");
    with(&slower, ran)
}

#[test]
fn a_function_that_grew_is_named_with_what_it_took_before() {
    let report = drawn(&grown("ran hash_row<join<serve<main x0.1 x0.9")).diagnose();
    let change = report.phases.iter().find_map(|it| it.change.as_ref());
    let differences = &change.expect("a border").differences;
    let said_there: Vec<&str> = differences.iter().map(|it| it.sentence.as_str()).collect();
    expect![[r#"
        CPU time of server in hash_row rose from 1.11 ms to 15.0 ms per request.
        What server waits for a CPU rose from 5.56 ms to 8.33 ms per request."#]]
    .assert_eq(&said_there.join("\n"));
    expect!["present: 100 % of the CPU time of server is in hash_row < join < serve, which adds to cpu.saturated. hash_row takes 15.0 ms of CPU time per request instead of 1.11 ms in the phase before."].assert_eq(&said(&report, "cpu.hot_code"));
    // A tenth of a CPU is little of what a request takes.
    let hardly = drawn(&grown("ran hash_row<join<serve<main x0.1 x0.12")).diagnose();
    expect!["present: 100 % of the CPU time of server is in hash_row < join < serve, which adds to cpu.saturated."].assert_eq(&said(&hardly, "cpu.hot_code"));
}
