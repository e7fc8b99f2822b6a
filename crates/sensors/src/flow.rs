//! Who talks to whom: flows, counted by programs in the kernel (`bpf/flow.bpf.c`). The sampler fills the table where they
//! load; here is only what it holds, and what flows are called.
//!
//! A flow is what one process exchanges with one peer at one port of the service, by all its connections.

use std::fmt;
use std::sync::LazyLock;

use model::{Column, ColumnKind, EntityKind, Quality, Table, Unit};

/// Columns.
pub const WIDTH: usize = 26;
/// The column of open connections, behind the codes.
pub const OPEN: usize = 4;
/// The column of when they are opened, the last before the counters.
pub const OPENED_NS: usize = 5;

/// The protocol of a flow (column `protocol`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Protocol {
    /// TCP.
    Tcp = 1,
    /// UDP.
    Udp,
    /// Unix sockets of any type.
    Unix,
}

impl Protocol {
    /// Every protocol, in declaration order.
    pub const ALL: [Self; 3] = [Self::Tcp, Self::Udp, Self::Unix];

    /// That of a code.
    pub fn of(code: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|it| *it as i64 == code)
    }

    /// The word in JSON and sentences.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Udp => "udp",
            Self::Unix => "unix",
        }
    }
}

/// Which end of a flow its process has (column `side`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Side {
    /// Half of a pair of sockets without an address.
    Neither = 0,
    /// The end that was connected to.
    Server,
    /// The end that connected.
    Client,
}

impl Side {
    /// Every side, in declaration order.
    pub const ALL: [Self; 3] = [Self::Neither, Self::Server, Self::Client];

    /// That of a code.
    pub fn of(code: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|it| *it as i64 == code)
    }

    /// How it is drawn: an arrow from the client to the server.
    pub const fn mark(self) -> &'static str {
        match self {
            Self::Neither => "--",
            Self::Server => "<-",
            Self::Client => "->",
        }
    }
}

/// The other end of a flow.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Peer {
    /// An address of IP, or what stands for one in a bundle.
    Address(String),
    /// A unix socket's path; an abstract one begins with `@`.
    Path(String),
    /// Not known: datagrams are sent to anybody, or come from anybody.
    Any,
    /// All that had no flow of their own, because there were too many.
    Others,
    /// The other socket of a pair without an address.
    Pair,
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(text) | Self::Path(text) => f.write_str(text),
            Self::Any => f.write_str("any"),
            Self::Others => f.write_str("others"),
            Self::Pair => f.write_str("socket pair"),
        }
    }
}

/// What a flow is called: `postgres (17) -> 10.0.0.3:7100`, `postgres (18) :5432 <- 10.0.0.7`,
/// `dig (19) -> 10.0.0.2:53/udp`, `psql (20) -> /tmp/.s.PGSQL.5432`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FlowName {
    /// The process's name.
    pub process: String,
    /// Its pid.
    pub pid: u32,
    /// Which end it has.
    pub side: Side,
    /// The protocol.
    pub protocol: Protocol,
    /// The service's port; 0 for unix sockets.
    pub port: u16,
    /// The other end.
    pub peer: Peer,
}

impl fmt::Display for FlowName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}) ", self.process, self.pid)?;
        let (mark, port) = (self.side.mark(), self.port);
        let udp = if self.protocol == Protocol::Udp {
            "/udp"
        } else {
            ""
        };
        match (&self.peer, self.protocol, self.side) {
            (peer, Protocol::Unix, _) => write!(f, "{mark} {peer}"),
            (peer, _, Side::Server) => write!(f, ":{port}{udp} {mark} {peer}"),
            (Peer::Address(peer), _, _) if peer.contains(':') => {
                write!(f, "{mark} [{peer}]:{port}{udp}")
            }
            (peer, _, _) => write!(f, "{mark} {peer}:{port}{udp}"),
        }
    }
}

impl FlowName {
    /// Reads it again; `None` for what is no such name.
    pub fn parse(name: &str) -> Option<Self> {
        let marks = Side::ALL.into_iter().filter_map(|side| {
            let (own, other) = name.split_once(&format!(" {} ", side.mark()))?;
            Some((own, side, other))
        });
        // Whoever calls itself `->` has the earlier one.
        let (own, side, other) = marks.min_by_key(|(own, ..)| own.len())?;
        let (own, served) = match own.rsplit_once(' ')? {
            (own, port) if port.starts_with(':') => (own, Some(&port[1..])),
            _ => (own, None),
        };
        let (process, pid) = own.strip_suffix(')')?.rsplit_once(" (")?;
        let (end, port, protocol) = match (served, side) {
            (Some(port), Side::Server) => with_protocol(other, port)?,
            (None, Side::Client) if !other.starts_with(['/', '@', '.']) => {
                match other.rsplit_once(':') {
                    Some((end, port)) => with_protocol(end, port)?,
                    None => (other, 0, Protocol::Unix),
                }
            }
            _ => (other, 0, Protocol::Unix),
        };
        let bare = end.trim_start_matches('[').trim_end_matches(']');
        Some(Self {
            process: process.to_owned(),
            pid: pid.parse().ok()?,
            side,
            protocol,
            port,
            peer: match (end, protocol) {
                ("any", _) => Peer::Any,
                ("others", _) => Peer::Others,
                ("socket pair", Protocol::Unix) => Peer::Pair,
                (path, Protocol::Unix) => Peer::Path(path.to_owned()),
                _ => Peer::Address(bare.to_owned()),
            },
        })
    }
}

fn with_protocol<'a>(end: &'a str, port: &str) -> Option<(&'a str, u16, Protocol)> {
    let (port, protocol) = match port.strip_suffix("/udp") {
        Some(port) => (port, Protocol::Udp),
        None => (port, Protocol::Tcp),
    };
    Some((end, port.parse().ok()?, protocol))
}

const SOCKETS: &str = "tcp_sock by BPF, at each reading and in inet_sock_set_state";
const CALLS: &str = "sock_send_length, sock_recv_length by BPF; of TCP tcp_sock";
const STATES: &str = "inet_sock_set_state by BPF";

fn column(name: &'static str, unit: Unit, source: &'static str, help: &'static str) -> Column {
    Column {
        name: name.into(),
        unit,
        kind: ColumnKind::Counter,
        quality: Quality::Exact,
        help: help.into(),
        source: source.into(),
        since: "6.3".into(),
    }
}

fn count(name: &'static str, source: &'static str, help: &'static str) -> Column {
    column(name, Unit::Count, source, help)
}

fn gauge(name: &'static str, help: &'static str) -> Column {
    Column {
        kind: ColumnKind::Gauge,
        ..column(name, Unit::Code, SOCKETS, help)
    }
}

/// What processes exchange with their peers.
pub static FLOW: LazyLock<Table> = LazyLock::new(|| {
    Table {
    name: "flow".into(),
    entity: EntityKind::Flow,
    help: "What each process of the machine exchanges with each peer at each port of a service, by all its connections: TCP, UDP and unix sockets, over loopback too, in all network namespaces. Both ends of a connection have a row where both are on this machine. What connections from before the recording had transferred by then is not counted.".into(),
    columns: columns().into(),
    covered_by: "".into(),
    rows: model::RowKind::Readings,
}
});

#[expect(clippy::too_many_lines, reason = "a table")]
fn columns() -> Vec<Column> {
    let all = vec![
        gauge("protocol", "1 TCP, 2 UDP, 3 unix sockets."),
        gauge(
            "side",
            "Which end the process has: 1 the server's (it was connected to, or took a port of its choice), 2 the client's, 0 half of a pair of unix sockets without an address.",
        ),
        gauge(
            "port",
            "The service's port, whichever end that is; 0 of unix sockets, and of datagrams that are sent without connect.",
        ),
        gauge(
            "namespace",
            "Inode of the network namespace, as in /proc/PID/ns/net.",
        ),
        Column {
            unit: Unit::Count,
            quality: Quality::Sampled,
            ..gauge(
                "open",
                "Connections that are established; of UDP and unix sockets those that were used and are not closed.",
            )
        },
        Column {
            unit: Unit::Nanoseconds,
            source: STATES.into(),
            ..gauge(
                "opened_ns",
                "When the first connection since the reading before was opened, on CLOCK_BOOTTIME; where there was none, that of an earlier reading; missing before the first.",
            )
        },
        column(
            "sent_bytes",
            Unit::Bytes,
            CALLS,
            "Bytes sent; of TCP those of the stream that were sent, each once: bytes_acked of tcp_info without the connection's beginning and end, and what is under way. Of UDP and unix sockets those sent in on-windows (table coverage, calls_ns); so are sends, receives, opened and answers.",
        ),
        column(
            "received_bytes",
            Unit::Bytes,
            CALLS,
            "Bytes received; of TCP those that arrived in order (bytes_received of tcp_info, without the end of the stream, which the kernel counts as one).",
        ),
        count(
            "sends",
            CALLS,
            "Sends: of TCP segments with data, those sent again too, of UDP and unix sockets calls.",
        ),
        count("receives", CALLS, "Receives, likewise."),
        count(
            "requests",
            "requests.bpf.c",
            "Requests on connections of target, generator and dependencies, as the tables requests, calls and peer_calls count them; of unix sockets as of the last reading before the end. 0 of others.",
        ),
        count(
            "opened",
            STATES,
            "Connections established; of UDP and unix sockets those used for the first time.",
        ),
        count(
            "closed",
            STATES,
            "TCP connections that ended, however that was.",
        ),
        count(
            "short_lived",
            STATES,
            "Of these, those that lasted less than 1 s.",
        ),
        count("refused", STATES, "Attempts to connect that were refused."),
        count(
            "reset",
            STATES,
            "Connections that the other end reset, and attempts to connect that ended so in another way than being refused.",
        ),
        count(
            "timed_out",
            STATES,
            "Attempts to connect, and connections, that the kernel gave up because no answer came.",
        ),
        count(
            "failed",
            STATES,
            "Attempts to connect that came to nothing otherwise: no route, given up.",
        ),
        count(
            "turned_away",
            STATES,
            "Connections that this end opened and that ended before it had sent anything, while the other end had: a server that speaks first, as MySQL does, had only a refusal to say.",
        ),
        count(
            "retransmitted",
            SOCKETS,
            "TCP segments sent again, those that open a connection too.",
        ),
        Column {
            quality: Quality::Sampled,
            ..column(
                "rtt_ns",
                Unit::Nanoseconds,
                SOCKETS,
                "The kernel's smoothed round-trip times of connections that had transferred something, at each reading, added up; with rtts this gives the mean.",
            )
        },
        Column {
            quality: Quality::Sampled,
            ..count("rtts", SOCKETS, "How many these are.")
        },
        column(
            "connect_ns",
            Unit::Nanoseconds,
            STATES,
            "Time from connect to the established TCP connection, of all that this end opened.",
        ),
        count("connects", STATES, "How many these are."),
        column(
            "answer_ns",
            Unit::Nanoseconds,
            CALLS,
            "Of DNS (UDP to port 53): time from a query to when the next reply on its socket was read; of several queries at once from the first.",
        ),
        count("answers", CALLS, "How many these are."),
    ];
    debug_assert_eq!(all.len(), WIDTH, "as the sampler fills it");
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn name(process: &str, protocol: Protocol, side: Side, port: u16, peer: Peer) -> FlowName {
        FlowName {
            process: process.to_owned(),
            pid: 17,
            side,
            protocol,
            port,
            peer,
        }
    }

    fn address(text: &str) -> Peer {
        Peer::Address(text.to_owned())
    }

    #[test]
    fn names_are_read_as_they_are_written() {
        use Protocol::{Tcp, Udp, Unix};
        use Side::{Client, Neither, Server};
        let path = |text: &str| Peer::Path(text.to_owned());
        for (flow, written) in [
            (
                name("postgres", Tcp, Client, 7100, address("10.0.0.3")),
                "postgres (17) -> 10.0.0.3:7100",
            ),
            (
                name("postgres", Tcp, Server, 5432, address("10.0.0.7")),
                "postgres (17) :5432 <- 10.0.0.7",
            ),
            (
                name("a (2) b", Tcp, Client, 80, address("fe80::1")),
                "a (2) b (17) -> [fe80::1]:80",
            ),
            (
                name("x", Tcp, Server, 80, address("fe80::1")),
                "x (17) :80 <- fe80::1",
            ),
            (
                name("dig", Udp, Client, 53, address("10.0.0.2")),
                "dig (17) -> 10.0.0.2:53/udp",
            ),
            (
                name("statsd", Udp, Server, 8125, Peer::Any),
                "statsd (17) :8125/udp <- any",
            ),
            (name("x", Udp, Client, 0, Peer::Any), "x (17) -> any:0/udp"),
            (
                name("nginx", Tcp, Server, 443, Peer::Others),
                "nginx (17) :443 <- others",
            ),
            (
                name("psql", Unix, Client, 0, path("/tmp/.s.PGSQL.5432")),
                "psql (17) -> /tmp/.s.PGSQL.5432",
            ),
            (
                name("postgres", Unix, Server, 0, path("@a b:3")),
                "postgres (17) <- @a b:3",
            ),
            (
                name("x", Unix, Neither, 0, Peer::Pair),
                "x (17) -- socket pair",
            ),
            (name("x", Unix, Client, 0, Peer::Others), "x (17) -> others"),
        ] {
            assert_eq!(flow.to_string(), written);
            assert_eq!(FlowName::parse(written), Some(flow));
        }
        for other in [
            "",
            "postgres",
            "x -> y",
            "x (1) -> a:b",
            "x (1) :y <- 1.2.3.4",
        ] {
            assert_eq!(FlowName::parse(other), None, "{other}");
        }
    }

    #[test]
    fn codes_are_those_of_the_help() {
        assert_eq!(FLOW.columns[OPEN].name, "open");
        assert_eq!(FLOW.columns[OPENED_NS].name, "opened_ns");
        assert!(
            FLOW.columns[OPENED_NS + 1..]
                .iter()
                .all(|it| it.kind == ColumnKind::Counter)
        );
        for protocol in Protocol::ALL {
            assert_eq!(Protocol::of(protocol as i64), Some(protocol));
        }
        for side in Side::ALL {
            assert_eq!(Side::of(side as i64), Some(side));
        }
        assert_eq!((Protocol::of(0), Side::of(3)), (None, None));
    }

    proptest! {
        #[test]
        fn no_text_is_too_much(text in ".{0,40}") {
            if let Some(read) = FlowName::parse(&text) {
                prop_assert_eq!(FlowName::parse(&read.to_string()), Some(read));
            }
        }
    }
}
