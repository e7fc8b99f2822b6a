//! `net.*`: a long way, a way that loses, a queue that is full.

use expect_test::expect;
use model::{EntityKind, Role};
use sensors::request::{CALLS, REQUESTS};

use crate::drawing::{Drawn, answers, drawn, listed, told, with};
use crate::requests::add_requests;

/// Each request takes 10 ms, of which 8 are the way there and back.
pub const RTT: &str = "
    cpus 4  clients 4
    busy      22222222222222222222
    run x4    11111111111111111111
    wait      00000000000000000000
    gen       11111111111111111111
    throttled 00000000000000000000  /server
    io        00000000000000000000
    memory    00000000000000000000
    tps       44444444444444444444
    connection.rtt_min_ns   c1 *1e7 88888888888888888888
    connection.rtt_min_ns   c2 *1e7 77777777777777777777
    connection.segments_out c1 *1e3 99999999999999999999
    connection.segments_out c2 *1e3 99999999999999999999
    connection.retransmitted_segments c1 *1e3 00000000000000000000
    connection.retransmitted_segments c2 *1e3 00000000000000000000
    tcp.out_segments           *1e4 55555555555555555555
    tcp.retransmitted_segments *1e4 00000000000000000000
    tcp.listen_overflows       *10  00000000000000000000
    softnet.dropped            *10  00000000000000000000
    network.rx_drops eth0 *10 00000000000000000000
    network.tx_drops eth0 *10 00000000000000000000
";

/// One of 33 segments is sent again.
pub fn loss() -> String {
    with(
        RTT,
        "connection.retransmitted_segments c1 *100 55555555555555555555",
    )
}

/// Five connections per second find the listener's queue full.
pub fn backlog() -> String {
    with(RTT, "tcp.listen_overflows *10 55555555555555555555")
}

/// The connections' own counters hidden.
const NO_CONNECTIONS: &str = "
    connection.rtt_min_ns   c1 *1e7 --------------------
    connection.rtt_min_ns   c2 *1e7 --------------------
    connection.segments_out c1 *1e3 --------------------
    connection.segments_out c2 *1e3 --------------------
    connection.retransmitted_segments c1 *1e3 --------------------
    connection.retransmitted_segments c2 *1e3 --------------------
";

#[test]
fn a_long_way_leads_and_what_speaks_against_it() {
    let report = drawn(RTT).diagnose();
    expect![[r#"
        net.rtt | connection c1 | consistent | 0.750
        The network is the bottleneck: a round trip to server takes 7.50 ms, 75 % of each request.
        helps: generator and target next to each other: +315 % to +335 % by waits removed, closed loop
        helps: more clients: they wait for the way at the same time: +476 % to +1689 % by CPU law
        not: a faster server, more CPUs, faster disk, more memory
        wrong if: run the generator on the server's own machine: if throughput stays the same, this is wrong
    "#]].assert_eq(&told(&report));
    expect!["net.rtt c1 0.75"].assert_eq(&listed(&report));
    let at_work = format!("{NO_CONNECTIONS}\n run x4 88888888888888888888");
    let changes = [
        (
            "a little under 30 %",
            "
            connection.rtt_min_ns c1 *1e7 33333333333333333333
            connection.rtt_min_ns c2 *1e7 22222222222222222222",
        ),
        (
            "long, but the server works meanwhile",
            "run x4 88888888888888888888",
        ),
        ("no connection was seen", NO_CONNECTIONS),
        (
            "no connection was seen, and the server works",
            at_work.as_str(),
        ),
        ("no response time", "tps --------------------"),
        (
            "a way that loses",
            "connection.retransmitted_segments c1 *100 55555555555555555555",
        ),
    ];
    expect![[r#"
        a little under 30 %
          absent: a round trip took 2.50 ms, 25 % of each request
          headline: undetermined
        long, but the server works meanwhile
          absent: a round trip took 7.50 ms, 20 % of each request
          headline: healthy
        no connection was seen
          cannot tell: no TCP connection of server was seen
          headline: undetermined
        no connection was seen, and the server works
          absent: no TCP connection of server was seen
          headline: healthy
        no response time
          cannot tell: no response time is known to hold the round trip against
          headline: healthy
        a way that loses
          absent: net.loss explains it: c1
          headline: net.loss
    "#]]
    .assert_eq(&answers(RTT, "net.rtt", &changes));
}

/// Transactions of 10 ms and ten statements each, of 0.95 ms at the generator and 0.1 ms at the server: one after the
/// other, or so many at a time.
fn statements(at_once: i64) -> Drawn {
    let near = "
        connection.rtt_min_ns c1 *1e6 88888888888888888888
        connection.rtt_min_ns c2 *1e6 77777777777777777777";
    let mut drawn = drawn(&with(RTT, near));
    add_requests(&mut drawn, &REQUESTS, Role::Target, |_| {
        (400 * at_once, 100)
    });
    add_requests(&mut drawn, &CALLS, Role::Generator, |_| {
        (400 * at_once, 950)
    });
    let mut processes = drawn.timeline.entities.of_kind(EntityKind::Process);
    let generator = processes.find(|it| it.role == Role::Generator);
    let generator = generator.expect("it runs").id;
    drop(processes);
    for record in drawn.timeline.entities.iter_mut() {
        if record.entity.kind == EntityKind::Connection && record.role == Role::Generator {
            record.parent = Some(generator);
        }
    }
    drawn
}

#[test]
fn each_statement_of_a_transaction_goes_the_way_again() {
    expect![[r#"
        net.rtt | connection c1 | consistent | 0.750
        The network is the bottleneck: a round trip to server takes 0.750 ms, and each operation of the load makes 10 of them: 75 % of its time.
        helps: generator and target next to each other: +315 % to +335 % by waits removed, closed loop
        helps: one round trip for all of it: a batch, a procedure in the server, or a pipeline: +217 % to +228 % by waits removed, closed loop
        helps: more clients: they wait for the way at the same time: +476 % to +1689 % by CPU law
        not: a faster server, more CPUs, faster disk, more memory
        wrong if: run the generator on the server's own machine: if throughput stays the same, this is wrong
    "#]].assert_eq(&told(&statements(1).diagnose()));
    // Of three at a time no more than the way's part of each.
    expect![[r#"
        net.rtt | connection c1 | consistent | 0.789
        The network is the bottleneck: a round trip to server takes 0.750 ms, and each operation of the load makes 30 of them: 79 % of its time.
        helps: generator and target next to each other: +392 % to +425 % by waits removed, closed loop
        helps: one round trip for all of it: a batch, a procedure in the server, or a pipeline: +263 % to +277 % by waits removed, closed loop
        helps: more clients: they wait for the way at the same time: +476 % to +1689 % by CPU law
        not: a faster server, more CPUs, faster disk, more memory
        wrong if: run the generator on the server's own machine: if throughput stays the same, this is wrong
    "#]].assert_eq(&told(&statements(3).diagnose()));
}

#[test]
fn a_way_that_loses_leads_and_what_speaks_against_it() {
    let report = drawn(&loss()).diagnose();
    expect![[r#"
        net.loss | connection c1 | consistent | 0.900
        The network loses data: 2.8 % of the segments were sent again, and 90 % of each request was outside server.
        helps: a way that loses nothing: +526 % to +1150 % by CPU law
        not: a faster server, more CPUs, faster disk, more memory
        wrong if: run the generator on the server's own machine: if throughput stays the same, this is wrong
    "#]].assert_eq(&told(&report));
    expect!["net.loss c1 0.90"].assert_eq(&listed(&report));
    let machine =
        format!("{NO_CONNECTIONS}\n tcp.retransmitted_segments *100 77777777777777777777");
    let unseen = format!("{NO_CONNECTIONS}\n tcp.retransmitted_segments *1e4 --------------------");
    let changes = [
        (
            "a little under 1 %",
            "connection.retransmitted_segments c1 *10 99999999999999999999
            connection.retransmitted_segments c2 *10 88888888888888888888",
        ),
        (
            "others' connections lose",
            "
            connection.retransmitted_segments c1 *100 00000000000000000000
            tcp.retransmitted_segments *1e4 55555555555555555555",
        ),
        (
            "the server works for nearly all of each request",
            "run x4 99999999999999999999",
        ),
        ("only the machine's segments are known", machine.as_str()),
        ("nothing is known", unseen.as_str()),
    ];
    expect![[r#"
        a little under 1 %
          absent: 0.9 % of the segments were sent again
          headline: net.rtt
        others' connections lose
          absent: 0 of the segments were sent again
          headline: net.rtt
        the server works for nearly all of each request
          absent: 2.8 % of the segments were sent again, but only 10 % of each request was outside server
          headline: healthy
        only the machine's segments are known
          present: The network loses data: 1.4 % of the segments were sent again, and 90 % of each request was outside server.
        nothing is known
          cannot tell: what was sent again was not recorded
          headline: undetermined
    "#]].assert_eq(&answers(&loss(), "net.loss", &changes));
}

#[test]
fn a_full_queue_leads_and_what_speaks_against_it() {
    let report = drawn(&backlog()).diagnose();
    expect![[r#"
        net.backlog | machine machine | consistent | 0.810
        A queue of the network is full: connections refused by a full listen queue, 5.00 per second (nothing else accounts for 81 % of each request).
        wrong if: make that queue longer (listeners: the server's backlog, net.core.somaxconn; ss -ltn shows them): if throughput stays the same, this is wrong
    "#]].assert_eq(&told(&report));
    expect!["net.backlog machine 0.81, net.rtt c1 0.75"].assert_eq(&listed(&report));
    let none = "tcp.listen_overflows *10 00000000000000000000\n";
    let dropped = format!("{none} network.rx_drops eth0 *10 77777777777777777777");
    let softnet = format!("{none} softnet.dropped *10 77777777777777777777");
    let unwanted = format!("{dropped}\n run x4 ####################");
    let changes = [
        (
            "less than one a second",
            "tcp.listen_overflows *1 99999999999999999999",
        ),
        ("packets dropped by an interface", dropped.as_str()),
        ("packets dropped by CPUs", softnet.as_str()),
        ("packets dropped that nobody misses", unwanted.as_str()),
        (
            "listeners were not recorded",
            "tcp.listen_overflows *10 --------------------
            tcp.out_segments *1e4 --------------------
            tcp.retransmitted_segments *1e4 --------------------",
        ),
        (
            "CPUs were not recorded",
            "tcp.listen_overflows *10 00000000000000000000
            softnet.dropped *10 --------------------",
        ),
    ];
    expect![[r#"
        less than one a second
          absent: no queue of the network was full
          headline: net.rtt
        packets dropped by an interface
          present: A queue of the network is full: packets dropped by eth0, 7.00 per second (nothing else accounts for 81 % of each request).
        packets dropped by CPUs
          present: A queue of the network is full: packets dropped by CPUs, 28.0 per second (nothing else accounts for 81 % of each request).
        packets dropped that nobody misses
          absent: no queue of the network was full
          headline: healthy
        listeners were not recorded
          cannot tell: queues of the network were not recorded
          headline: net.rtt
        CPUs were not recorded
          cannot tell: queues of the network were not recorded
          headline: net.rtt
    "#]]
    .assert_eq(&answers(&backlog(), "net.backlog", &changes));
}
