//! What is apart from what: the way from calls, a lock from the thread that has it, and a way from a wake-up.

use expect_test::expect;

use crate::drawing::{drawn, listed, said, told, with};
use crate::network::RTT;

#[test]
fn the_way_to_clients_and_calls_to_a_peer_are_both_named_however_near_they_are() {
    let both = with(
        RTT,
        "
        rest                    11111111111111111111
        connection.rtt_min_ns   c1 *1e7 44444444444444444444
        connection.rtt_min_ns   c2 *1e7 44444444444444444444
        peer_calls.requests c3 *1e3 44444444444444444444
        peer_calls.timed    c3 *1e3 44444444444444444444
        peer_calls.timed_ns c3 *4e9 44444444444444444444
        peer_calls.long     c3 *1e3 00000000000000000000
        peer_calls.long_ns  c3 *1e9 00000000000000000000
        peer_calls.process  c3 =other1 11111111111111111111",
    );
    let report = drawn(&both).diagnose();
    expect![[r#"
        present: The network is the bottleneck: a round trip to server takes 4.00 ms, 40 % of each request.
        net.remote other1 0.40, net.rtt c2 0.40"#]]
    .assert_eq(&format!(
        "{}\n{}",
        said(&report, "net.rtt"),
        listed(&report)
    ));
}

#[test]
fn a_way_as_long_as_a_wake_up_is_none() {
    let near = RTT.replace("*1e7", "*1e4").replace("tps    ", "tps *400");
    let report = drawn(&near).diagnose();
    expect![[r#"
        absent: round trips took 7.50 us of each request, about as long as a wake-up takes
        healthy server 1.00, load.concurrency loadgen none"#]]
    .assert_eq(&format!(
        "{}\n{}",
        said(&report, "net.rtt"),
        listed(&report)
    ));
}

/// One thread of the server's is on a CPU all the time, for somebody who is not of the load; four others, which answer the
/// load, wait for a lock and hardly run.
const REPORT: &str = "
    cpus 4  clients 4
    busy      33333333333333333333
    run x4    00000000000000000000
    wait      00000000000000000000
    blocked   S202
    hot x1    ####################
    hotwait   00000000000000000000
    gen x1    11111111111111111111
    throttled 00000000000000000000  /server
    io        00000000000000000000
    memory    00000000000000000000
    tps       44444444444444444444
    serving.inside_futex_ns *1e9 ####################
    serving.answered        *250 44444444444444444444
";

#[test]
fn threads_that_wait_for_a_lock_inside_of_requests_are_not_idle_beside_one_that_always_works() {
    let report = drawn(REPORT).diagnose();
    expect![[r#"
        lock.futex | process server | consistent | 1.000 (1.000 to 1.000)
        A lock is the bottleneck: 100 % of each request was threads of server waiting for each other.
        helps: less time under the lock, or several locks instead of one: +240 % to +524 % by CPU law
        not: more clients, more threads, more or faster CPUs, faster disk, more memory
        wrong if: run with half of the clients: if throughput falls as much, this is wrong
        present: A lock is the bottleneck: 100 % of each request was threads of server waiting for each other.
        absent: lock.futex explains it: server
    "#]].assert_eq(&format!(
        "{}{}\n{}\n",
        told(&report),
        said(&report, "lock.futex"),
        said(&report, "cpu.single_thread")
    ));
}
