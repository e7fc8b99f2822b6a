//! Requests: how many there were and how long they took, at the sockets of servers and of the generator; and what
//! servers ask their peers themselves.
//!
//! Seen by the kernel at the sockets (`bpf/requests.bpf.c`), whatever the protocol: at the server from a
//! request's arrival to the last byte of its reply, at the generator from sending it to the last byte
//! received. The sampler fills the tables where the programs load. Times are told as a histogram whose
//! buckets are columns: their growth over any window and over any set of entities adds up.
//!
//! A request is what is asked in one go and answered in one go: the sockets tell no more. A pipeline that
//! comes in one piece and is answered in one is one request, as are a ping and its answer, a COPY's data
//! and what is said at their end. Only of commands of Redis's protocol is it known, and told, that there
//! were several. What a client says without wanting an answer, as replicas of most
//! servers do, lasts until the server sends something; PostgreSQL's processes for replicas are known by
//! their titles and left out.

use std::sync::LazyLock;

use model::{Column, ColumnKind, EntityKind, Quality, Table, Unit};

/// Bounds of buckets: four per octave, from the first of these powers of two on.
const FIRST_OCTAVE: u32 = 13;
const OCTAVES: u32 = 22;
/// Buckets: one for what is shorter than all bounds, and one for what is longer.
pub const BUCKETS: usize = 4 * OCTAVES as usize + 2;
/// Columns of the widest of these tables.
pub const WIDTH: usize = 13 + BUCKETS;
/// Requests of this length and more are all timed, by the kernel's tick; a bound of buckets (`REQUESTS_LONG_NS`).
pub const LONG_NS: u64 = 1 << 25;

/// What the columns of an end say.
struct End {
    source: &'static str,
    requests: &'static str,
    /// What is counted at this end beside the requests.
    besides: &'static [(&'static str, Unit, Quality, &'static str)],
    timed: &'static str,
    duration: &'static str,
}

const SERVED: End = End {
    source: "sk_data_ready, sock_recv_length, sock_send_length by BPF",
    requests: "Requests whose reply has begun: all of them, counted at sends. What is asked in one go and answered in one go is one request, whatever it holds: a pipeline, a ping.",
    timed: "Requests that were timed: a random sample, as large as the cost allows, and all that took 33.6 ms or more.",
    besides: &[
        (
            "pipelined",
            Unit::Count,
            // Which reads hold several commands is seen in on-windows only.
            Quality::Sampled,
            "Replies that answer more than one request: more had arrived when the reply was sent, the reply was sent in many small pieces, or the server had read several commands of Redis's protocol (RESP) at once (reads are looked at in on-windows; until the next look a connection counts as it was seen last). Where they are many, requests is no count of requests. In other protocols a pipeline that arrives in one piece and is answered in one looks like a single request.",
        ),
        (
            "unsolicited",
            Unit::Count,
            Quality::Exact,
            "Sends that answer no request: greetings and notifications. What PostgreSQL sends to replicas is left out.",
        ),
    ],
    duration: "from its arrival to the last byte of the reply",
};

const CALLED: End = End {
    source: "sock_send_length, sock_recv_length by BPF",
    requests: "Requests whose reply was read: all of them, counted at the next send or the connection's end.",
    timed: "Requests that were timed: a random sample, of those whose reply came in an on-window (table coverage), and all that took 33.6 ms or more.",
    // A pipeline looks like a request that was sent in pieces.
    besides: &[
        (
            "between_ns",
            Unit::Nanoseconds,
            Quality::Estimated,
            "Time between the arrival of a reply and the next request on the same connection, of all requests together: think time, with the caller's own work and its waits for a CPU. By the kernel's tick (1 to 10 ms): what one request has too much, another has too little.",
        ),
        (
            "unread_ns",
            Unit::Nanoseconds,
            Quality::Sampled,
            "Of the time of timed requests below 33.6 ms, that for which the whole reply lay at the socket until the last of it was read: the caller was busy with something else, or waited for a CPU. Over TCP only.",
        ),
    ],
    duration: "from its sending to the last byte received",
};

/// Requests at the server's sockets.
pub static REQUESTS: LazyLock<Table> = LazyLock::new(|| {
    Table {
    name: "requests".into(),
    entity: EntityKind::Connection,
    help: "Requests that target and dependencies answered over TCP and unix stream sockets: of single connections, and of each service those of all its other connections. What a client says without wanting an answer cannot be told from a request that lasts until the server sends something.".into(),
    columns: columns(&SERVED),
    covered_by: "".into(),
    rows: model::RowKind::Readings,
}
});

/// The same at the generator's.
pub static CALLS: LazyLock<Table> = LazyLock::new(|| Table {
    name: "calls".into(),
    entity: EntityKind::Connection,
    help: "Requests that the generator sent over TCP and unix stream sockets, and was answered."
        .into(),
    columns: columns(&CALLED),
    covered_by: "".into(),
    rows: model::RowKind::Readings,
});

/// The same at those of target and dependencies: their calls to the peers that they ask themselves.
pub static PEER_CALLS: LazyLock<Table> = LazyLock::new(|| {
    let gauge = |name, unit, help| Column {
        kind: ColumnKind::Gauge,
        ..CALLED.counter(name, unit, Quality::Exact, help)
    };
    let peer = [
        gauge("rtt_min_ns", Unit::Nanoseconds, ROUND_TRIP),
        gauge("connections", Unit::Count, CONNECTIONS),
        gauge("process", Unit::Count, PROCESS),
    ];
    Table {
        name: "peer_calls".into(),
        entity: EntityKind::Connection,
        help: "Requests that target and dependencies sent to their peers, and were answered: over TCP and unix stream sockets, and lookups of names by UDP (port 53, connected sockets). One entity for each peer of a service: all its connections to one address. Questions to a name server that leave at once are one lookup, and one that is asked again counts again. Lookups by UDP are timed where their answer comes in an on-window (table coverage), however long they take: long and long_ns are missing there.".into(),
        columns: columns(&CALLED).iter().cloned().chain(peer).collect(),
        covered_by: "".into(),
        rows: model::RowKind::Readings,
    }
});

const ROUND_TRIP: &str = "Least round-trip time that the kernel saw (tcp_min_rtt) on TCP connections to it that have ended, or that were there when the recording ended.";
const CONNECTIONS: &str = "Stream connections to it when the recording ended.";
const PROCESS: &str = "Entity number of the peer's process, where it is on this machine: the one that listens at the address, else one that holds the other end of a connection; of TCP and UDP looked for when the recording ends.";

fn columns(end: &End) -> std::borrow::Cow<'static, [Column]> {
    let requests = end.counter("requests", Unit::Count, Quality::Exact, end.requests);
    let besides = end.besides.iter();
    let besides =
        besides.map(|(name, unit, quality, help)| end.counter(name, *unit, *quality, help));
    std::iter::once(requests)
        .chain(besides)
        .chain(end.open())
        .chain(end.timed())
        .chain(end.buckets())
        .collect()
}

impl End {
    fn counter(&self, name: &str, unit: Unit, quality: Quality, help: &str) -> Column {
        Column {
            name: name.to_owned().into(),
            unit,
            kind: ColumnKind::Counter,
            quality,
            help: help.to_owned().into(),
            source: self.source.into(),
            since: "6.3".into(),
        }
    }

    /// Requests without a reply yet.
    fn open(&self) -> [Column; 3] {
        let gauge = |name, unit, help| Column {
            kind: ColumnKind::Gauge,
            ..self.counter(name, unit, Quality::Exact, help)
        };
        [
            gauge(
                "open",
                Unit::Count,
                "Requests without a reply yet; looked at when the recording ends.",
            ),
            gauge(
                "open_long",
                Unit::Count,
                "Of these, the ones that have lasted for 33.6 ms or more so far.",
            ),
            gauge(
                "open_long_ns",
                Unit::Nanoseconds,
                "How long those have lasted so far, together; by the kernel's tick (1 to 10 ms).",
            ),
        ]
    }

    /// Requests that were timed, and their time.
    fn timed(&self) -> [Column; 4] {
        let all = format!("Time of the timed requests in all, each {}.", self.duration);
        [
            self.counter("timed", Unit::Count, Quality::Exact, self.timed),
            self.counter("timed_ns", Unit::Nanoseconds, Quality::Sampled, &all),
            self.counter(
                "long",
                Unit::Count,
                Quality::Exact,
                "Of the timed requests, those of 33.6 ms and more. All of these are timed, by the kernel's tick (1 to 10 ms) where they were not in the sample.",
            ),
            self.counter(
                "long_ns",
                Unit::Nanoseconds,
                Quality::Exact,
                "Of timed_ns, the time of those.",
            ),
        ]
    }

    /// The histogram of the timed requests.
    fn buckets(&self) -> impl Iterator<Item = Column> {
        let help =
            "Timed requests that took less than this bound, and not less than the bound before.";
        (0..BUCKETS).map(move |bucket| {
            let bound = upper_ns(bucket);
            let name = bound.map_or("longer".to_owned(), |ns| format!("under_{ns}_ns"));
            // All requests of that length are timed.
            let quality = if bucket >= FIRST_LONG {
                Quality::Exact
            } else {
                Quality::Sampled
            };
            self.counter(&name, Unit::Count, quality, help)
        })
    }
}

/// What a connection over a unix socket is called, by the process at the other end: it has no address.
pub fn unix_socket_of(pid: u32) -> String {
    format!("unix socket of pid {pid}")
}

/// Where the buckets begin, which stand last.
pub fn first_bucket(table: &Table) -> usize {
    let mut columns = table.columns.iter();
    let first = columns.position(|column| bound_ns(&column.name).is_some());
    first.unwrap_or(table.columns.len())
}

/// What times in a bucket are below, ns; `None` for the last.
pub fn upper_ns(bucket: usize) -> Option<u64> {
    let (octave, quarter) = (bucket as u32 / 4, bucket as u64 % 4);
    (bucket + 1 < BUCKETS).then(|| (4 + quarter) << (FIRST_OCTAVE + octave - 2))
}

/// The first bucket of which all requests are timed, and not a sample of them.
pub const FIRST_LONG: usize = 1 + 4 * (LONG_NS.ilog2() - FIRST_OCTAVE) as usize;

/// What times in the bucket of a column are below, ns: infinite for the last; `None` for a column that
/// is no bucket.
pub fn bound_ns(column: &str) -> Option<f64> {
    if column == "longer" {
        return Some(f64::INFINITY);
    }
    let ns = column.strip_prefix("under_")?.strip_suffix("_ns")?;
    ns.parse::<u64>().ok().map(|ns| ns as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_four_per_octave_from_8_us_to_34_s() {
        let columns = &REQUESTS.columns;
        assert!(columns.len() <= WIDTH);
        let bounds: Vec<f64> = columns.iter().filter_map(|it| bound_ns(&it.name)).collect();
        assert_eq!(bounds.len(), BUCKETS);
        assert_eq!(
            bounds[..6],
            [8192.0, 10240.0, 12288.0, 14336.0, 16384.0, 20480.0]
        );
        assert_eq!(bounds[BUCKETS - 2..], [34_359_738_368.0, f64::INFINITY]);
        assert!(bounds.is_sorted());
        assert_eq!(bound_ns("requests"), None);
        assert_eq!(upper_ns(FIRST_LONG - 1), Some(LONG_NS));
        for (table, behind) in [(&REQUESTS, 0), (&CALLS, 0), (&PEER_CALLS, 3)] {
            let end = first_bucket(table) + BUCKETS;
            assert_eq!(end + behind, table.columns.len());
        }
        assert_eq!(PEER_CALLS.columns.len(), WIDTH);
    }
}
