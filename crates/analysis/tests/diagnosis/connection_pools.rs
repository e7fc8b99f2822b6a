//! `limit.pool` of connections to a peer, and of places for calls.

use expect_test::expect;

use crate::drawing::{answers, drawn, judged, told, with};
use crate::pools::{POOL, locked};

/// An event loop that has four connections to its peer, each of whose calls takes 40 ms.
pub fn of_connections() -> String {
    let one = POOL.replace("run x4", "run x1");
    one + "    serving.answered_for_others *1000 11111111111111111111
    peer_calls.requests    c1 *1e3 11111111111111111111
    peer_calls.timed       c1 *1e3 11111111111111111111
    peer_calls.timed_ns    c1 *4e10 11111111111111111111
    peer_calls.connections c1 *10 44444444444444444444
"
}

#[test]
fn a_pool_of_connections_is_full_where_all_have_a_call() {
    let report = drawn(&of_connections()).diagnose();
    expect![[r#"
        limit.pool | process server | measured | 0.800 (0.800 to 0.800)
        A full pool is the bottleneck: 80 % of each request was in line for a connection of server; all 4 connections to c1 had a call for 100 % of the time.
        helps: more connections in the pool, or shorter calls: +382 % to +456 % by waits removed, closed loop
        not: more clients, more or faster CPUs, faster disk, more memory
        wrong if: run with twice as many in the pool: if throughput stays the same, this is wrong
    "#]].assert_eq(&told(&report));
    let changes = [
        (
            "twice the connections",
            "peer_calls.connections c1 *10 88888888888888888888",
        ),
        (
            "fewer connections than calls at a time",
            "peer_calls.connections c1 *10 22222222222222222222",
        ),
        (
            "a gap in which they were not counted",
            "peer_calls.connections c1 *10 --------------------",
        ),
    ];
    expect![[r#"
        twice the connections
          absent: 8 connections of server to c1 were in use for only 50 % of the time
          headline: net.remote
        fewer connections than calls at a time
          cannot tell: 2 connections of server to c1 at the end cannot have had 4.00 calls at a time
          headline: net.remote
        a gap in which they were not counted
          cannot tell: the thread of server that reads a request is not the one that answers it, and how many connections server has to a peer was not counted
          headline: net.remote
    "#]].assert_eq(&answers(&of_connections(), "limit.pool", &changes));
}

#[test]
fn calls_at_a_time_that_stay_just_below_a_small_number_look_limited_to_it() {
    let two = with(
        &of_connections(),
        "
    peer_calls.timed_ns    c1 *195e8 11111111111111111111
    peer_calls.connections c1 *10 66666666666666666666",
    );
    let report = drawn(&two).diagnose();
    expect![[r#"
        limit.pool | process server | suspected | 0.902 (0.902 to 0.902)
        A full pool is the bottleneck: 90 % of each request was in line for a call of server; it seems to make at most 2 at a time to c1: 1.95 were under way, steadily.
        helps: a higher limit of calls at a time (HAProxy: maxconn), or shorter calls: +887 % to +1190 % by waits removed, closed loop
        not: more clients, more or faster CPUs, faster disk, more memory
        wrong if: run with twice as many in the pool: if throughput stays the same, this is wrong
    "#]].assert_eq(&told(&report));
    let changes = [
        (
            "they vary",
            "
            peer_calls.requests c1 *1e3 20020202020200202002
            peer_calls.timed    c1 *1e3 20020202020200202002
            peer_calls.timed_ns c1 *230e8 20020202020200202002",
        ),
        (
            "half way between two numbers",
            "peer_calls.timed_ns c1 *15e9 11111111111111111111",
        ),
    ];
    expect![[r#"
        they vary
          absent: 6 connections of server to c1 were in use for only 32 % of the time
          headline: undetermined
        half way between two numbers
          absent: 6 connections of server to c1 were in use for only 25 % of the time
          headline: undetermined
    "#]]
    .assert_eq(&answers(&two, "limit.pool", &changes));
}

/// Eight threads, each with a client of its own, of whose requests eight tenths are spent in futex: two connections to
/// a peer have a call all the time.
pub fn behind_connections() -> String {
    locked("88888888888888888888", "00000000000000000000")
        + "    peer_calls.requests    c1 *1e3 11111111111111111111
    peer_calls.timed       c1 *1e3 11111111111111111111
    peer_calls.timed_ns    c1 *2e10 11111111111111111111
    peer_calls.connections c1 *10 22222222222222222222
"
}

#[test]
fn threads_that_sleep_while_all_connections_have_a_call_wait_for_a_connection() {
    let report = drawn(&behind_connections()).diagnose();
    expect![[r#"
        limit.pool | process server | consistent | 0.750 (0.750 to 0.750)
        A full pool is the bottleneck: 75 % of each request was in line for a connection of server; both connections to c1 had a call for 100 % of the time.
        helps: more connections in the pool, or shorter calls: +270 % to +335 % by waits removed, closed loop
        not: more clients, more CPUs, faster disk, more memory
        wrong if: run with twice as many in the pool: if throughput stays the same, this is wrong
    "#]].assert_eq(&told(&report));
    expect!["limit.pool explains it: threads waited for one of 2 connections of server to c1"]
        .assert_eq(&judged(&report, "lock.futex").sentence);
    let changes = [
        (
            "one connection: the call may be under a lock",
            "
            peer_calls.timed_ns    c1 *1e10 11111111111111111111
            peer_calls.connections c1 *10 11111111111111111111",
        ),
        (
            "one of three connections is free",
            "peer_calls.connections c1 *10 33333333333333333333",
        ),
        (
            "half of the time one of two is free",
            "peer_calls.timed_ns c1 *15e9 11111111111111111111",
        ),
    ];
    expect![[r#"
        one connection: the call may be under a lock
          absent: only 0 of each request was in line behind threads of server that waited for peers or slept
          headline: lock.futex
        one of three connections is free
          present: A full pool is the bottleneck: 75 % of each request was in line for a call of server; it seems to make at most 2 at a time to c1: 2.00 were under way, steadily.
        half of the time one of two is free
          absent: only 0 of each request was in line behind threads of server that waited for peers or slept
          headline: lock.futex
    "#]].assert_eq(&answers(&behind_connections(), "limit.pool", &changes));
}
