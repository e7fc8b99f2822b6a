//! Who talks to whom, against programs that know what they sent and what the kernel counted of it: from one network
//! namespace to another, over loopback and by unix sockets.
//!
//! Both namespaces and the devices between them are the workload's: they are gone with it, however it ends.

use model::{EntityKind, PortReport, Report, Timeline};
use sensors::flow::{FLOW, FlowName, OPEN, OPENED_NS, Peer, Protocol, Side};
use serde_json::Value;

use crate::needs;
use crate::place::{JSON, Place};

/// In a namespace of its own already: gives the server another one, and a pair of devices between the two.
const LOAD: &str = r#"set -e
ip link set lo up
unshare --net python3 server.py &
until [ -s ready ]; do sleep 0.05; done
server=$(cat ready)
ip link add v0 type veth peer name v1 netns "$server"
there="nsenter --net --target $server ip"
ip addr add 10.99.0.1/24 dev v0
$there addr add 10.99.0.2/24 dev v1
ip link set v0 up
$there link set v1 up
$there link set lo up
exec python3 client.py"#;

fn can_run() -> bool {
    let programs = ["python3", "ip", "tc", "unshare", "nsenter"];
    needs::root() && programs.into_iter().all(needs::program)
}

/// Flows of one protocol and side, at a port or a path, together.
struct Seen {
    flows: Vec<(FlowName, Vec<i64>)>,
    /// The most connections that were open at a time in one flow.
    open: i64,
}

impl Seen {
    fn of(
        timeline: &Timeline,
        protocol: Protocol,
        side: Side,
        is_it: impl Fn(&FlowName) -> bool,
    ) -> Self {
        let data = timeline.table(&FLOW.name).expect("it was recorded");
        let named = timeline.entities.of_kind(EntityKind::Flow).map(|it| {
            let name = FlowName::parse(&it.entity.name);
            (it.id, name.expect("its name can be read"))
        });
        let own = named.filter(|(_, it)| (it.protocol, it.side) == (protocol, side) && is_it(it));
        let mut seen = Self {
            flows: Vec::new(),
            open: 0,
        };
        for (id, name) in own {
            let rows = data.rows_of(id).expect("it has rows");
            let row = |index: u32| data.row(index as usize).collect::<Vec<i64>>();
            let (first, last) = (row(rows[0]), row(rows[rows.len() - 1]));
            let counters = &first[OPENED_NS + 1..];
            assert!(counters.iter().all(|it| *it == 0), "{name} began later");
            seen.open = seen
                .open
                .max(rows.iter().map(|it| row(*it)[OPEN]).max().unwrap_or(0));
            seen.flows.push((name, last));
        }
        seen
    }

    fn at_port(timeline: &Timeline, protocol: Protocol, side: Side, port: u16) -> Self {
        Self::of(timeline, protocol, side, |it| it.port == port)
    }

    fn sum(&self, column: &str) -> i64 {
        let place = FLOW.position(column).expect("a column");
        self.flows.iter().map(|(_, row)| row[place]).sum()
    }

    fn sums<const N: usize>(&self, columns: [&str; N]) -> [i64; N] {
        columns.map(|it| self.sum(it))
    }
}

/// What the client wrote down.
struct Truth(Value);

impl Truth {
    fn of(&self, what: &str, name: &str) -> i64 {
        let path = format!("/{what}/{name}");
        self.0
            .pointer(&path)
            .and_then(Value::as_i64)
            .expect("a number")
    }
}

const BOTH: [&str; 2] = ["sent_bytes", "received_bytes"];

#[test]
fn bytes_of_every_connection_are_those_of_its_ends_and_of_the_kernel() {
    if !can_run() {
        return;
    }
    let place = Place::new();
    place.script("load", LOAD);
    place.write("server.py", include_str!("connections/server.py"));
    place.write("client.py", include_str!("connections/client.py"));
    let workload = ["--", "unshare", "--net", "./load"];
    let arguments = [
        &[
            "run",
            "-q",
            "--no-report",
            "--stacks",
            "off",
            "--json",
            JSON,
        ],
        &workload[..],
    ]
    .concat();
    place.run(&arguments).status(0);
    let recording = place.opened();
    if let Some(why) = &recording.meta.cost.programs["flow"] {
        return needs::skip(&format!("programs in the kernel: {why}"));
    }
    let truth = serde_json::from_str(&place.read("truth.json"));
    let truth = Truth(truth.expect("the client's JSON"));
    let timeline = &recording.timeline;
    short_connections(timeline, &truth);
    retransmitted(timeline, &truth);
    datagrams(timeline, &truth);
    unix_sockets(timeline);
    crowd(timeline);
    let refused = Seen::at_port(timeline, Protocol::Tcp, Side::Client, 7199);
    assert_eq!(refused.sums(["refused", "opened", "closed"]), [5, 0, 0]);
    // Over all of it: the window that is judged may hold less.
    place
        .run(&["explain", "--from", "0s", "--json", JSON])
        .status(0);
    fan_in(&place.report());
    in_a_bundle(&place);
}

fn in_a_bundle(place: &Place) {
    let export = ["export", "--format", "bundle", "-o", "sent.stallbundle"];
    place.run(&export).status(0);
    let read = "export sent.stallbundle --format csv --table flow -o read";
    let read: Vec<&str> = read.split(' ').collect();
    place.run(&read).status(0);
    let text = place.read("read/flow.csv");
    assert!(text.contains(":7100"), "ports stay");
    for private in ["10.99.0.", "by-path"] {
        assert!(!text.contains(private), "{private} leaves");
    }
}

fn fan_in(report: &Report) {
    let served = |port| {
        let mut own = report.connections.iter();
        own.find(|it| (it.port, it.is_served) == (port, true))
    };
    let crowd = served(7200).expect("it was served");
    assert_eq!(crowd.client_processes, 26);
    assert_eq!(
        crowd.sentence,
        "26 python3 processes -> port 7200 (26 python3 processes)"
    );
    let short = served(7100).expect("it was served");
    assert_eq!(
        (short.opened, short.peers.clone()),
        (1_000, vec!["10.99.0.1".to_owned()])
    );
    let path = |it: &&PortReport| it.path.as_deref() == Some("by-path");
    let path = report.connections.iter().find(path).expect("it was asked");
    assert_eq!(path.sentence, "python3 -> by-path (python3)");
    let mut called = report.connections.iter().filter(|it| !it.is_served);
    let refused = called.find(|it| it.port == 7199).expect("it was tried");
    assert_eq!((refused.refused, refused.opened), (5, 0));
}

fn short_connections(timeline: &Timeline, truth: &Truth) {
    let [asks, serves] =
        [Side::Client, Side::Server].map(|it| Seen::at_port(timeline, Protocol::Tcp, it, 7100));
    let own = ["sent", "received"].map(|it| truth.of("tcp:7100", it));
    let kernel = ["kernel/sent", "kernel/received"].map(|it| truth.of("tcp:7100", it));
    assert_eq!(own, kernel, "the client and its kernel agree");
    assert_eq!(asks.sums(BOTH), own);
    assert_eq!(serves.sums(["received_bytes", "sent_bytes"]), own);
    for seen in [&asks, &serves] {
        assert_eq!(seen.flows.len(), 1, "one process, one peer");
        assert_eq!(seen.sums(["opened", "closed", "reset"]), [1_000, 1_000, 0]);
        assert!(seen.sum("rtts") > 0 && seen.sum("rtt_ns") > 0);
    }
    assert_eq!(asks.sum("connects"), 1_000);
    let peers = [&asks, &serves].map(|it| &it.flows[0].0.peer);
    let ends = ["10.99.0.2", "10.99.0.1"].map(|it| Peer::Address(it.to_owned()));
    assert_eq!(peers, [&ends[0], &ends[1]]);
    let namespace = |seen: &Seen| seen.sum("namespace");
    assert_ne!(namespace(&asks), namespace(&serves));
}

fn retransmitted(timeline: &Timeline, truth: &Truth) {
    let seen = Seen::at_port(timeline, Protocol::Tcp, Side::Client, 7101);
    let own = ["sent", "received"].map(|it| truth.of("tcp:7101", it));
    assert_eq!(seen.sums(BOTH), own);
    assert_eq!(truth.of("tcp:7101", "kernel/acknowledged"), own[0]);
    let kernel = truth.of("tcp:7101", "kernel/retransmitted");
    assert!(kernel > 0, "the queue was too short");
    // The end of the stream may have been dropped too.
    let more = seen.sum("retransmitted") - kernel;
    assert!((0..=3).contains(&more), "{more} more than {kernel}");
    let serves = Seen::at_port(timeline, Protocol::Tcp, Side::Server, 7101);
    assert_eq!(serves.sums(["received_bytes", "sent_bytes"]), own);
}

fn datagrams(timeline: &Timeline, truth: &Truth) {
    for port in [9000, 53] {
        let what = format!("udp:{port}");
        let [asks, serves] =
            [Side::Client, Side::Server].map(|it| Seen::at_port(timeline, Protocol::Udp, it, port));
        let own = ["sent", "received"].map(|it| truth.of(&what, it));
        let count = truth.of(&what, "sends");
        assert_eq!(asks.sums(BOTH), own);
        assert_eq!(serves.sums(["received_bytes", "sent_bytes"]), own);
        for seen in [&asks, &serves] {
            assert_eq!(seen.sums(["sends", "receives"]), [count; 2]);
        }
        assert_eq!(serves.flows[0].0.peer, Peer::Any);
        let answers = if port == 53 { count } else { 0 };
        assert_eq!(asks.sum("answers"), answers);
        assert_eq!(asks.sum("answer_ns") > 0, answers > 0);
    }
}

fn unix_sockets(timeline: &Timeline) {
    let [asks, serves] = [Side::Client, Side::Server].map(|side| {
        let path = Peer::Path("by-path".to_owned());
        Seen::of(timeline, Protocol::Unix, side, |it| it.peer == path)
    });
    assert_eq!(asks.sums(BOTH), [5_000, 800]);
    assert_eq!(serves.sums(["received_bytes", "sent_bytes"]), [5_000, 800]);
    assert_eq!((asks.sum("opened"), serves.sum("opened")), (10, 10));
}

/// Each of 26 processes at either end has a connection of its own.
fn crowd(timeline: &Timeline) {
    let [asks, serves] =
        [Side::Client, Side::Server].map(|it| Seen::at_port(timeline, Protocol::Tcp, it, 7200));
    for (seen, bytes) in [(&asks, [2_080, 4_160]), (&serves, [4_160, 2_080])] {
        assert_eq!(seen.flows.len(), 26);
        assert_eq!(
            (seen.sum("opened"), seen.sum("closed"), seen.open),
            (26, 26, 1)
        );
        assert_eq!(seen.sums(BOTH), bytes);
    }
}
