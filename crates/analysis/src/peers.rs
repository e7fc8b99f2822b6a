//! Whom the target itself asks while it serves requests, and how long its calls take.
//!
//! The calls' own time says what a request waits for elsewhere, whatever the target's threads do meanwhile: a thread
//! that waits in `recv` and an event loop with many calls under way look alike here.

use model::{
    Amount, Entity, EntityId, EntityKind, EntityRecord, Meta, Role, Timeline, Whose, Window,
};
use sensors::request::{LONG_NS, PEER_CALLS, REQUESTS, bound_ns};

use crate::formula;
use crate::measure::Of;

/// Addresses of name servers end so.
const NAMES: &str = ":53";
/// The time of fewer timed calls stands for no others.
const LEAST_TIMED: f64 = 30.0;

/// What the target asked its peers over the window.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Calls {
    /// Each peer, the one with most time first.
    pub peers: Vec<Peer>,
}

/// What the target asked one peer.
#[derive(Clone, PartialEq, Debug)]
pub struct Peer {
    /// Its number in the recording.
    pub id: EntityId,
    /// The calls of a service to its address, which is the name.
    pub calls: Entity,
    /// Its process, where that is on this machine and was found.
    pub process: Option<Entity>,
    /// Calls that were answered.
    pub count: f64,
    /// The least round trip to it, ns; `None` where no TCP connection to it was seen to have one.
    pub rtt_ns: Option<f64>,
    /// Stream connections to it when the recording ended; `None` where nobody counted them.
    pub connections: Option<f64>,
    /// Their time together until their answers had come, ns: of those below `LONG_NS` as a sample says it.
    pub ns: f64,
    /// For how long answers lay at the target's sockets until it read them, together, ns: what its threads did meanwhile
    /// held them up, and not the peer.
    pub unread_ns: f64,
    /// Of the sample; `None` where nobody is in it.
    short: Option<Each>,
    /// Standard error of `ns`, by the sample's deviation; `None` where the sample is too small to tell.
    error_ns: Option<f64>,
}

/// Means of a sample of calls, ns.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Each {
    /// Until the answer was read.
    ns: f64,
    /// For which it lay at the socket.
    unread_ns: f64,
}

impl Each {
    /// Until the answer had come.
    fn answered_ns(self) -> f64 {
        self.ns - self.unread_ns
    }
}

impl Calls {
    /// The target's calls to whom is neither itself nor makes the load; `None` where nobody counted calls.
    pub(crate) fn of(timeline: &Timeline, meta: &Meta, window: Window) -> Option<Self> {
        let Some(table) = timeline.table(&PEER_CALLS.name) else {
            // A table without rows has no file: then no call was made.
            let counted = meta.plan.periods.contains_key(&*PEER_CALLS.name)
                && timeline.table(&REQUESTS.name).is_some();
            return counted.then(Self::default);
        };
        let records = table.entities().filter_map(|id| timeline.entities.get(id));
        let of_target = records.filter(|it| it.role == Role::Target);
        let mut peers: Vec<Peer> = of_target
            .filter_map(|it| Peer::of(timeline, it, window))
            .collect();
        peers.sort_by(|a, b| b.ns.total_cmp(&a.ns).then(a.id.cmp(&b.id)));
        Some(Self { peers })
    }

    /// The time of all calls, ns.
    pub(crate) fn ns(&self) -> f64 {
        self.peers.iter().map(|it| it.ns).sum()
    }

    /// The same of a part of the window, at the window's mean of the sample.
    pub(crate) fn ns_in(&self, timeline: &Timeline, part: Window) -> f64 {
        let own = self.peers.iter();
        own.filter_map(|it| it.ns_in(timeline, part)).sum()
    }

    /// For how long their answers lay unread, ns.
    pub(crate) fn unread_ns(&self) -> f64 {
        self.peers.iter().map(|it| it.unread_ns).sum()
    }

    /// The standard error of that time, ns; `None` where a sample is too small to tell.
    pub(crate) fn error_ns(&self) -> Option<f64> {
        let squares = self.peers.iter().map(|it| Some(it.error_ns?.powi(2)));
        Some(squares.sum::<Option<f64>>()?.sqrt())
    }

    /// How it is worked out.
    pub(crate) fn formula(&self) -> Amount {
        let each = self.peers.iter().map(Peer::formula);
        formula::sum(each.collect::<Vec<_>>())
    }
}

impl Peer {
    fn of(timeline: &Timeline, record: &EntityRecord, window: Window) -> Option<Self> {
        let counts = Counts::of(timeline, record.id, window)?;
        let of = Of::new(timeline, &PEER_CALLS.name, record.id, window);
        // These are looked for when the recording ends, behind the window.
        let last = |column| {
            let series = timeline.series(&PEER_CALLS.name, record.id, column)?;
            series.values().next_back().map(|(_, value)| value)
        };
        let process = last("process").and_then(|id| u32::try_from(id).ok());
        let process = process.and_then(|id| timeline.entities.get(EntityId(id)));
        // The first row of earlier recordings has 0 of what was not known yet: of processes, the machine.
        let process = process.filter(|it| it.entity.kind == EntityKind::Process);
        let known = |column| last(column).filter(|it| *it > 0);
        let is_peer = |it: &EntityRecord| matches!(it.role, Role::Dependency | Role::Background);
        if process.is_some_and(|it| !is_peer(it)) || counts.requests <= 0.0 {
            return None;
        }
        let short = counts.each_short();
        Some(Self {
            id: record.id,
            calls: record.entity.clone(),
            process: process.map(|it| it.entity.clone()),
            count: counts.requests,
            rtt_ns: known("rtt_min_ns").map(|ns| ns as f64),
            connections: known("connections").map(|count| count as f64),
            ns: counts.ns(short.map(Each::answered_ns)),
            unread_ns: counts.short().0 * short.map_or(0.0, |it| it.unread_ns),
            short,
            error_ns: counts.error_ns(&of, short),
        })
    }

    /// The time of its calls in a part of the window, ns, at the window's mean of the sample; `None` where none is known.
    pub(crate) fn ns_in(&self, timeline: &Timeline, part: Window) -> Option<f64> {
        let counts = Counts::of(timeline, self.id, part)?;
        Some(counts.ns(self.short.map(Each::answered_ns)))
    }

    /// The same until their answers were read: for so long a connection is nobody else's.
    pub(crate) fn held_ns_in(&self, timeline: &Timeline, part: Window) -> Option<f64> {
        let counts = Counts::of(timeline, self.id, part)?;
        Some(counts.ns(self.short.map(|it| it.ns)))
    }

    /// Who it is: the process, else the address.
    pub fn entity(&self) -> &Entity {
        self.process.as_ref().unwrap_or(&self.calls)
    }

    /// What a person calls it.
    pub fn name(&self) -> String {
        let address = &self.calls.name;
        match &self.process {
            Some(process) if self.is_name_server() => format!("{} ({address}, DNS)", process.name),
            Some(process) => format!("{} ({address})", process.name),
            None if self.is_name_server() => format!("{address} (DNS)"),
            None => address.clone(),
        }
    }

    /// Whether it is asked for names, by its port.
    pub(crate) fn is_name_server(&self) -> bool {
        self.calls.name.ends_with(NAMES)
    }

    /// The round trip, where it is most of a call, ns: then the way is what takes long.
    pub(crate) fn long_way_ns(&self) -> Option<f64> {
        const MOST: f64 = 0.5;
        self.rtt_ns
            .filter(|rtt_ns| *rtt_ns >= MOST * self.mean_ns())
    }

    /// Mean of its calls, ns.
    pub fn mean_ns(&self) -> f64 {
        self.ns / self.count
    }

    /// How its time is worked out.
    pub(crate) fn formula(&self) -> Amount {
        // Earlier recordings do not have it.
        let unread = formula::or_nothing(self.growth("unread_ns"));
        let until_read = self.short_until_read();
        self.with_long("time of calls to", formula::rest(until_read, unread))
    }

    /// How that is until the answers were read.
    pub(crate) fn held_formula(&self) -> Amount {
        self.with_long("time of connections to", self.short_until_read())
    }

    fn growth(&self, column: &str) -> Amount {
        formula::growth(&PEER_CALLS.name, &[column], Whose::One { id: self.id })
    }

    fn short_until_read(&self) -> Amount {
        let long_ns = formula::or_nothing(self.growth("long_ns"));
        formula::rest(self.growth("timed_ns"), long_ns)
    }

    /// The time of all, where the sample's short ones took `sampled` together.
    fn with_long(&self, what: &str, sampled: Amount) -> Amount {
        // Of lookups by UDP no long ones are known apart.
        let long = |column| formula::or_nothing(self.growth(column));
        let short = formula::rest(self.growth("requests"), long("long"));
        let mean = formula::ratio(sampled, formula::rest(self.growth("timed"), long("long")));
        let short = formula::or_nothing(formula::product([short, mean]));
        let all = formula::sum([long("long_ns"), short]);
        formula::named(&format!("{what} {}", self.calls.name), all)
    }
}

/// What the counters of a peer say of a window.
struct Counts {
    requests: f64,
    timed: f64,
    timed_ns: f64,
    long: f64,
    long_ns: f64,
    unread_ns: f64,
}

impl Counts {
    fn of(timeline: &Timeline, peer: EntityId, window: Window) -> Option<Self> {
        let of = Of::new(timeline, &PEER_CALLS.name, peer, window);
        let grown = |column| of.growth(column).unwrap_or(0.0);
        Some(Self {
            requests: of.growth("requests")?,
            timed: grown("timed"),
            timed_ns: grown("timed_ns"),
            long: grown("long"),
            long_ns: grown("long_ns"),
            unread_ns: grown("unread_ns"),
        })
    }

    /// Calls that were not timed for their length, and those of them that are in the sample.
    fn short(&self) -> (f64, f64) {
        let apart = |all: f64| (all - self.long).max(0.0);
        (apart(self.requests), apart(self.timed))
    }

    /// Means of the sample.
    fn each_short(&self) -> Option<Each> {
        let (_, sampled) = self.short();
        let all_ns = (self.timed_ns - self.long_ns).max(0.0);
        (sampled > 0.0).then(|| Each {
            ns: all_ns / sampled,
            unread_ns: self.unread_ns.min(all_ns) / sampled,
        })
    }

    /// The time of all, at a mean of the sample.
    fn ns(&self, short_ns: Option<f64>) -> f64 {
        self.long_ns + self.short().0 * short_ns.unwrap_or(0.0)
    }

    /// The standard error of that: of a mean, by the deviation in the histogram, for so many; none where all are in
    /// the sample.
    fn error_ns(&self, of: &Of<'_>, each: Option<Each>) -> Option<f64> {
        let (short, sampled) = self.short();
        if sampled >= short {
            return Some(0.0);
        }
        let mean = each.filter(|_| sampled >= LEAST_TIMED)?.ns;
        // Where some long ones are not told apart all of them are in the sample.
        let most = match self.long > 0.0 {
            true => LONG_NS as f64,
            false => f64::INFINITY,
        };
        let columns = PEER_CALLS.columns.iter();
        let buckets = columns.filter_map(|it| Some((&*it.name, bound_ns(&it.name)?)));
        let squares = buckets
            .filter(|(_, bound)| *bound <= most)
            .map(|(name, bound)| {
                // The bound is the farthest from the mean, or nearly so, that a call in the bucket can be; the last one's
                // has none.
                let far = if bound.is_finite() {
                    bound - mean
                } else {
                    mean
                };
                of.growth(name).unwrap_or(0.0) * far.powi(2)
            });
        let variance = squares.sum::<f64>() / sampled;
        Some(short * (variance / sampled).sqrt())
    }
}
