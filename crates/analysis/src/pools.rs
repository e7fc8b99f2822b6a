//! Pools: that of which a request holds one while it is served, so that further requests stand in line for it once all
//! are held.

use model::{Amount, EntityId, LedgerClass, Window};

use crate::facts::{Facts, Peer};
use crate::formula;
use crate::ledger::Ledger;
use crate::monitored::Monitored;
use crate::number_format::{count, percent, rate};
use crate::serving::{Answering, OUTSIDE, Workers};
use crate::stats::coefficient_of_variation;
use crate::thresholds::{AGREE, POOL_FULL};

/// What a thread does that has no moment of rest.
const WORKS: [LedgerClass; 2] = [LedgerClass::OnCpu, LedgerClass::CpuWait];

/// A pool, full or not.
pub(crate) struct Pool<'a> {
    of: Of<'a>,
    /// How many there are.
    pub(crate) size: f64,
    /// How many of them were held at a time, on average.
    pub(crate) held: f64,
    /// The part of their time for which they were.
    pub(crate) occupied: f64,
}

/// What a request holds.
enum Of<'a> {
    /// A thread that answers requests.
    Threads(&'a Workers),
    /// A thread that works on one request after the other, whoever read them: event loops.
    Loops(&'a [EntityId]),
    /// A connection to a peer, of a target whose threads do not tell: an event loop.
    Connections(&'a Peer),
    /// One of so many places that calls to a peer have, whatever connections there are.
    Places(&'a Peer, f64),
}

/// Of more places for calls a mean just below a whole number is chance.
const MOST_PLACES: f64 = 3.0;
/// Calls that nothing limits come and go: their number at a time varies more from second to second.
const STEADY: f64 = 0.05;

impl<'a> Pool<'a> {
    /// The target's threads that serve, where hardly ever one was free; `None` elsewhere.
    pub(crate) fn of_full_threads(facts: &'a Facts<'_>) -> Option<Self> {
        let of = match (&facts.workers, &facts.target) {
            (Some(workers), _) => Of::Threads(workers),
            (None, target) => Of::Loops(&target.as_ref()?.line_threads),
        };
        Some(Self::new(facts, of)).filter(Self::is_full)
    }

    /// The target's pool, full or not, of what a request holds while it waits for others; `None` where none is known.
    pub(crate) fn of(facts: &'a Facts<'_>) -> Option<Self> {
        if let Some(workers) = &facts.workers {
            return Some(Self::new(facts, Of::Threads(workers)));
        }
        Self::of_calls(facts)
    }

    /// The connections to the peer that it asks most, or the places that calls to it seem to have where not all of them
    /// are in use: a proxy's limit (`maxconn`), with idle connections kept beside.
    fn of_calls(facts: &'a Facts<'_>) -> Option<Self> {
        let peer = facts.calls.as_ref()?.peers.first()?;
        let is_known = peer.connections.is_some_and(|size| size > 0.0);
        let all = is_known.then(|| Self::new(facts, Of::Connections(peer)))?;
        if all.occupied >= POOL_FULL.value() {
            return Some(all);
        }
        let places = Self::new(facts, Of::Places(peer, all.held.ceil().max(1.0)));
        let is_limit = places.size <= MOST_PLACES && places.is_full() && places.is_steady(facts);
        Some(if is_limit { places } else { all })
    }

    /// The connections to a peer that threads inside of requests sleep in futex for, because all have a call: as many of
    /// the requests in progress as have none. Of one connection, the call may as well be made under a lock. Where it is not
    /// known that these threads are inside of requests, those in line for them have to fit as well.
    pub(crate) fn of_sleeping_threads(facts: &'a Facts<'_>) -> Option<Self> {
        const LEAST: f64 = 2.0;
        let slept = facts.share(LedgerClass::Futex);
        let pool = Self::of_calls(facts).filter(|it| it.size >= LEAST && it.is_full())?;
        let beside = 1.0 - pool.held / facts.in_flight()?;
        let in_line = match facts.scene.answering {
            Answering::Itself => 0.0,
            _ => {
                let behind = [LedgerClass::Remote, LedgerClass::Sleep];
                facts.line.left() + behind.map(|it| facts.line.behind(it)).iter().sum::<f64>()
            }
        };
        ((slept + in_line - beside).abs() <= AGREE.value()).then_some(pool)
    }

    /// Whether as many of them were held in each second.
    fn is_steady(&self, facts: &Facts<'_>) -> bool {
        let slices = facts.slices.iter();
        let held = slices.map(|it| self.held_ns(facts, it.window) / it.window.len_ns() as f64);
        let varies = coefficient_of_variation(&held.collect::<Vec<_>>());
        varies.is_some_and(|it| it <= STEADY)
    }

    /// Whether a request holds a connection to a peer, and no thread.
    pub(crate) fn is_of_connections(&self) -> bool {
        matches!(self.of, Of::Connections(_))
    }

    /// Whether how many there are is only what their use looks like.
    pub(crate) fn is_inferred(&self) -> bool {
        matches!(self.of, Of::Places(..))
    }

    fn new(facts: &Facts<'_>, of: Of<'a>) -> Self {
        let held_ns = of.held_ns(facts, facts.window);
        let length_ns = facts.window.len_ns().max(1) as f64;
        Self {
            size: of.size(),
            held: held_ns / length_ns,
            occupied: held_ns / of.whole_ns(facts, facts.window).max(1.0),
            of,
        }
    }

    /// Whether hardly ever one of them was free.
    pub(crate) fn is_full(&self) -> bool {
        self.occupied >= POOL_FULL.value()
    }

    /// The threads of which it is not known that they answer the requests.
    pub(crate) fn loops(&self) -> &[EntityId] {
        match self.of {
            Of::Loops(threads) => threads,
            Of::Threads(_) | Of::Connections(_) | Of::Places(..) => &[],
        }
    }

    /// For how long they were held over a part of the window, added up, ns.
    pub(crate) fn held_ns(&self, facts: &Facts<'_>, part: Window) -> f64 {
        self.of.held_ns(facts, part)
    }

    /// How many there are, in words, of a target.
    pub(crate) fn in_words(&self, target: &str) -> String {
        let size = self.size as u32;
        match self.of {
            Of::Threads(_) | Of::Loops(_) => format!("{} of {target}", count(size, "thread")),
            Of::Connections(peer) => {
                let connections = count(size, "connection");
                format!("{connections} of {target} to {}", peer.name())
            }
            Of::Places(peer, _) => {
                let places = count(size, "place");
                format!("{places} for calls of {target} to {}", peer.name())
            }
        }
    }

    /// What a request in line waits for, and what all of them were in.
    pub(crate) fn use_in_words(&self, facts: &Facts<'_>, target: &str) -> (&'static str, String) {
        let occupied = percent(self.occupied.min(1.0));
        match self.of {
            Of::Threads(workers) => {
                let who = match workers.threads.len() {
                    1 => format!("the one thread of {target} that answers requests was"),
                    all => format!("all {all} threads of {target} that answer requests were"),
                };
                let doing = self.doing(facts, workers);
                let in_use = format!("{who} inside one for {occupied} of the time, {doing}");
                ("thread", in_use)
            }
            Of::Loops(threads) => {
                let (all, idle) = (threads.len(), rate(facts.idle_cpus()));
                let in_use = format!(
                    "all {all} threads of {target} that serve worked for {occupied} of the time, while {idle} CPUs were idle"
                );
                ("thread", in_use)
            }
            Of::Connections(peer) => {
                let which = match self.size as u32 {
                    1 => "its one connection to".to_owned(),
                    2 => "both connections to".to_owned(),
                    all => format!("all {all} connections to"),
                };
                let in_use = format!(
                    "{which} {} had a call for {occupied} of the time",
                    peer.name()
                );
                ("connection", in_use)
            }
            Of::Places(peer, places) => {
                let (held, name) = (rate(self.held), peer.name());
                let in_use = format!(
                    "it seems to make at most {places} at a time to {name}: {held} were under way, steadily"
                );
                ("call", in_use)
            }
        }
    }

    /// What would make it larger.
    pub(crate) fn larger(&self) -> &'static str {
        match self.of {
            Of::Threads(_) => "more threads in the pool, or less time in each request",
            Of::Loops(_) => "more event loops, or less work in each request",
            Of::Connections(_) => "more connections in the pool, or shorter calls",
            Of::Places(..) => {
                "a higher limit of calls at a time (HAProxy: maxconn), or shorter calls"
            }
        }
    }

    /// The part of their time for which they were held: its columns, and how it is worked out.
    pub(crate) fn formula(&self, facts: &Facts<'_>) -> (&'static str, model::Formula) {
        match self.of {
            Of::Threads(workers) => {
                let accounted = accounted(facts, &workers.threads);
                let lived = accounted.iter().map(|it| Amount::Lifetime {
                    whose: formula::one(*it),
                });
                let lived = formula::sum(lived.collect::<Vec<_>>());
                // Of a thread that was idle at no time nothing may have been counted.
                let rested = workers.rested(facts.timeline, facts.window);
                let idle = rested.map(|it| formula::growth("serving", &OUTSIDE, formula::one(it)));
                let idle = match idle.collect::<Vec<_>>() {
                    none if none.is_empty() => formula::number(0.0),
                    some => formula::sum(some),
                };
                let columns = "serving.outside_futex_ns + outside_input_ns + outside_sleep_ns";
                let held = formula::rest(lived.clone(), idle);
                (columns, formula::part(held, lived))
            }
            Of::Loops(threads) => {
                let threads = accounted(facts, threads);
                let each = |amount: &dyn Fn(EntityId) -> Amount| {
                    formula::sum(threads.iter().map(|it| amount(*it)).collect::<Vec<_>>())
                };
                let works = each(&|thread| Amount::Ledger {
                    classes: WORKS.to_vec(),
                    whose: formula::one(thread),
                });
                let lived = each(&|thread| Amount::Lifetime {
                    whose: formula::one(thread),
                });
                ("thread.run_ns + wait_ns", formula::part(works, lived))
            }
            Of::Connections(peer) | Of::Places(peer, _) => {
                let all = formula::product([formula::number(self.size), Amount::Time]);
                (
                    "peer_calls.timed_ns",
                    formula::part(peer.held_formula(), all),
                )
            }
        }
    }

    /// What threads that answer requests did inside of them most.
    fn doing(&self, facts: &Facts<'_>, workers: &Workers) -> String {
        let held_ns = self.held_ns(facts, facts.window);
        let ledger = ledger(facts, &workers.threads, facts.window);
        let works_ns = ledger.sum(&WORKS);
        let timed = facts.ends.as_ref().map_or(0.0, |it| it.timed);
        let slept_ns = workers.slept_ns + timed * ledger.get(LedgerClass::Futex);
        let peers = facts.calls.iter().flat_map(|it| &it.peers);
        let peer = peers.map(Peer::name).next();
        let peer = peer.as_deref().unwrap_or("another's answer");
        let doings = [
            (workers.asked_ns, format!("waiting for {peer}")),
            (slept_ns, "asleep on a timer".to_owned()),
            (works_ns, "at work on a CPU".to_owned()),
        ];
        let most = doings
            .into_iter()
            .reduce(|most, next| if next.0 > most.0 { next } else { most });
        let (ns, doing) = most.expect("there are three");
        format!("{} of it {doing}", percent((ns / held_ns).min(1.0)))
    }
}

impl Of<'_> {
    /// How many there are.
    fn size(&self) -> f64 {
        match self {
            Of::Threads(workers) => workers.threads.len() as f64,
            Of::Loops(threads) => threads.len() as f64,
            Of::Connections(peer) => peer.connections.unwrap_or(0.0),
            Of::Places(_, places) => *places,
        }
    }

    /// For how long they were held over a part of the window, added up, ns.
    fn held_ns(&self, facts: &Facts<'_>, part: Window) -> f64 {
        match self {
            Of::Threads(workers) => {
                let idle_ns = workers.idle_ns(facts.timeline, part);
                (self.whole_ns(facts, part) - idle_ns).max(0.0)
            }
            Of::Loops(threads) => ledger(facts, threads, part).sum(&WORKS),
            Of::Connections(peer) | Of::Places(peer, _) => {
                peer.held_ns_in(facts.timeline, part).unwrap_or(0.0)
            }
        }
    }

    /// For how long they could have been, ns.
    fn whole_ns(&self, facts: &Facts<'_>, part: Window) -> f64 {
        match self {
            Of::Threads(workers) => ledger(facts, &workers.threads, part).wall_ns,
            Of::Loops(threads) => ledger(facts, threads, part).wall_ns,
            Of::Connections(_) | Of::Places(..) => self.size() * part.len_ns() as f64,
        }
    }
}

/// Those of the threads that have an account of the window. In a damaged recording some have none.
fn accounted(facts: &Facts<'_>, threads: &[EntityId]) -> Vec<EntityId> {
    let mut accounted = threads.to_vec();
    accounted.retain(|it| {
        let thread = Monitored::new(facts.timeline, facts.meta, *it);
        thread.is_some_and(|mut it| it.ledger(facts.window).is_some())
    });
    accounted
}

/// What threads did over a part of the window.
fn ledger(facts: &Facts<'_>, threads: &[EntityId], part: Window) -> Ledger {
    let mut all = Ledger::default();
    let each = threads.iter();
    let each = each.filter_map(|it| Monitored::new(facts.timeline, facts.meta, *it)?.ledger(part));
    each.for_each(|it| all.merge(&it));
    all
}
