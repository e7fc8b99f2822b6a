//! Who waited for whom: time that is spent in a lock (futex, or one of the database's own) is passed along to
//! what those did who ended the wait, and if they waited themselves, to what those did, up to what is no
//! lock.
//!
//! A crowd in futex behind one thread in fdatasync is disk and not a lock.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use model::{EntityId, LedgerClass};
use sensors::serving::Serving;
use sensors::wakeup::{By, CLASSES};

use crate::idle::idle_threads;
use crate::scene::Scene;
use crate::serving::Answering;
use crate::wakers::{Edge, LOCKS, edges, pool_of};

/// Locks behind locks: what is passed on more often than that goes round.
const MOST_STEPS: usize = 64;
/// Where what counts is less than this part of what a waker did, it is not known what the wait was for.
const LITTLE: f64 = 0.25;
/// A pool that waited for others of its own by all but this part says nothing about where that ended: of a thread only its
/// last wait is known, and the one that had the disk may have been in line once more before it woke somebody.
const LEAST_REST: f64 = 0.02;
/// What is less of the whole is followed no further.
const LEAST: f64 = 1e-6;

/// The graph of a window.
pub(crate) struct WaitsFor {
    edges: Vec<Edge>,
    /// The pools of the target's serving threads.
    serving: BTreeSet<EntityId>,
    /// Whether it is known which of their waits were inside requests.
    knows_requests: bool,
}

/// Where waits end, as parts of all that were followed.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Ends {
    /// By who did it and what.
    parts: BTreeMap<(Option<EntityId>, LedgerClass), f64>,
    /// Who ended the waits themselves, by pool or process.
    wakers: BTreeMap<EntityId, f64>,
    /// They went round.
    pub(crate) circle: f64,
    /// They were ended by one that serves requests itself and had mostly waited for input meanwhile: what the
    /// holder did before is not known.
    late: f64,
    /// Whether all of them were inside requests, so that none was idleness.
    pub(crate) are_inside: bool,
    /// The part that threads ended which serve requests themselves.
    own: f64,
    /// The part in futex that a timer ended: nobody holds what is waited for, or nobody gave it in time.
    pub(crate) timed: f64,
    /// How many these were, and how long together, ns.
    timed_waits: f64,
    timed_ns: f64,
    /// Those in futex that serving threads ended for others of their own pool.
    among: Among,
}

/// Waits of a pool's threads for each other.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Among {
    waits: f64,
    ns: f64,
}

impl WaitsFor {
    /// `None` where nothing was counted.
    pub(crate) fn of(scene: &Scene<'_>) -> Option<Self> {
        let (timeline, window) = (scene.timeline, scene.window);
        let edges: Vec<Edge> = edges(timeline, window).collect();
        let serving = scene.roles.target.serving.iter();
        let serving = serving.filter_map(|it| pool_of(timeline, *it)).collect();
        let knows_requests = scene.answering == Answering::Itself;
        (!edges.is_empty()).then_some(Self {
            edges,
            serving,
            knows_requests,
        })
    }

    /// Where the serving threads' waits for locks end; `None` where there were none.
    pub(crate) fn locks(&self) -> Option<Ends> {
        let own = |edge: &&Edge| self.is_waited(edge) && self.serving.contains(&edge.woken);
        let all: f64 = self.edges.iter().filter(own).map(|edge| edge.ns).sum();
        if all <= 0.0 {
            return None;
        }
        let mut ends = Ends {
            are_inside: self.knows_requests,
            ..Ends::default()
        };
        let mut open: BTreeMap<EntityId, f64> = BTreeMap::new();
        for edge in self.edges.iter().filter(own) {
            *open.entry(edge.woken).or_default() += edge.ns / all;
            // Who gives a futex to others is a thread (kernel/futex/waitwake.c); of interrupts only a timer ends such a wait.
            if edge.by == By::Interrupt && edge.class == LedgerClass::Futex {
                ends.timed += edge.ns / all;
                ends.timed_waits += edge.waits;
                ends.timed_ns += edge.ns;
            }
            if (edge.by, edge.class) == (By::Pool, LedgerClass::Futex)
                && edge.waker == Some(edge.woken)
            {
                ends.among.waits += edge.waits;
                ends.among.ns += edge.ns;
            }
            if let Some(waker) = edge.waker {
                if self.serving.contains(&waker) {
                    ends.own += edge.ns / all;
                }
                *ends.wakers.entry(waker).or_default() += edge.ns / all;
            }
        }
        for _ in 0..MOST_STEPS {
            let mut next = BTreeMap::new();
            for (pool, part) in open {
                self.pass_on(pool, part, &mut next, &mut ends);
            }
            next.retain(|_, part| *part > LEAST);
            open = next;
        }
        ends.circle += open.values().sum::<f64>();
        Some(ends)
    }

    /// How many of the target's other threads at a time, on average, waited for what this one then ended;
    /// `None` where that is not known of it alone: others of its pool may have ended it. Of a pool in which
    /// threads are at rest some wait for work, and do not count.
    pub(crate) fn behind(&self, scene: &Scene<'_>, thread: EntityId) -> Option<f64> {
        let (timeline, window) = (scene.timeline, scene.window);
        let own = pool_of(timeline, thread)?;
        let lived = |it: &EntityId| {
            let record = timeline.entities.get(*it);
            record.is_some_and(|it| {
                it.first_seen < window.end && it.vanished.is_none_or(|end| end > window.start)
            })
        };
        let threads = scene.roles.target.threads.iter();
        let threads: Vec<EntityId> = threads.map(|it| it.0).filter(lived).collect();
        let pools = threads.iter().map(|it| pool_of(timeline, *it));
        let pools: Vec<Option<EntityId>> = pools.collect();
        if pools.iter().filter(|it| **it == Some(own)).count() != 1 {
            return None;
        }
        let idle = idle_threads(timeline, &threads, window);
        let rests = |pool| {
            let mut members = threads.iter().zip(&pools);
            members.any(|(thread, of)| *of == pool && idle.contains(thread))
        };
        let waits = |edge: &&Edge| {
            let (by, woken) = ((edge.by, edge.waker), Some(edge.woken));
            by == (By::Pool, Some(own))
                && edge.woken != own
                && pools.contains(&woken)
                && !rests(woken)
        };
        let ns: f64 = self.edges.iter().filter(waits).map(|edge| edge.ns).sum();
        Some(ns / window.len_ns().max(1) as f64)
    }

    /// Passes a part of the time that a pool waited for locks on to those who ended it.
    fn pass_on(
        &self,
        pool: EntityId,
        part: f64,
        open: &mut BTreeMap<EntityId, f64>,
        ends: &mut Ends,
    ) {
        let own = |edge: &&Edge| edge.woken == pool && self.is_waited(edge);
        let all: f64 = self.edges.iter().filter(own).map(|edge| edge.ns).sum();
        let to_itself = |edge: &Edge| edge.ns / all * self.passed_to(pool, edge);
        let again: f64 = self.edges.iter().filter(own).map(to_itself).sum();
        // Who waited behind another of its own pool may have been the tenth in line: what this pool passes to itself is
        // passed again and again (a geometric series), and ends as the rest does, if there is enough of a rest.
        let rest = 1.0 - again;
        if rest < LEAST_REST {
            ends.circle += part;
            return;
        }
        for edge in self.edges.iter().filter(own) {
            let part = part * edge.ns / all;
            let did = self.did(edge);
            let known: f64 = did.iter().sum();
            if beside_locks(&did) < LITTLE * beside_locks(&edge.did) {
                ends.late += part;
            }
            let part = part / rest;
            let mut end = |class, part| {
                *ends.parts.entry((edge.waker, class)).or_default() += part;
            };
            if edge.by != By::Pool || known <= 0.0 {
                end(LedgerClass::Unknown, part);
                continue;
            }
            for (class, ns) in CLASSES.into_iter().zip(did).filter(|(_, ns)| *ns > 0.0) {
                let part = part * ns / known;
                match edge.waker {
                    Some(waker) if LOCKS.contains(&class) && self.waits(waker) => {
                        // Else it is in the series.
                        if waker != pool {
                            *open.entry(waker).or_default() += part;
                        }
                    }
                    _ => end(class, part),
                }
            }
        }
    }

    /// The part of what a waker did that was to wait for locks as this pool does, where it is of this pool.
    fn passed_to(&self, pool: EntityId, edge: &Edge) -> f64 {
        let did = self.did(edge);
        let known: f64 = did.iter().sum();
        let is_own = edge.by == By::Pool && edge.waker == Some(pool) && known > 0.0;
        let all = CLASSES.into_iter().zip(did);
        let locks = all.filter(|(class, _)| is_own && LOCKS.contains(class));
        locks.map(|(_, ns)| ns / known).sum()
    }

    /// What the waker did in the time that was waited for it. One that serves requests itself came late to
    /// the lock if it waited for a request meanwhile: it was others' before.
    fn did(&self, edge: &Edge) -> [f64; CLASSES.len()] {
        let mut did = edge.did;
        if edge.waker.is_some_and(|it| self.serving.contains(&it)) {
            for (class, ns) in CLASSES.into_iter().zip(&mut did) {
                if class == LedgerClass::Input {
                    *ns = 0.0;
                }
            }
        }
        did
    }

    fn waits(&self, pool: EntityId) -> bool {
        let mut edges = self.edges.iter();
        edges.any(|edge| edge.woken == pool && self.is_waited(edge) && edge.ns > 0.0)
    }

    /// Whether these are waits for a lock: who serves requests and is inside none waits for the next.
    fn is_waited(&self, edge: &Edge) -> bool {
        let is_idle = self.knows_requests
            && edge.serving == Some(Serving::Outside)
            && self.serving.contains(&edge.woken);
        edge.is_lock() && !is_idle
    }
}

/// Waits in futex that a timer ended, a request, of a target whose requests sleep there: about one. Who waits for a lock for
/// a limited time, and then again, does so for one request many times or for many requests once: CPython for its lock.
const SLEEPS: RangeInclusive<f64> = 0.5..=2.0;

/// Waits a request that threads of one pool end for each other: work is given to an idle thread once or twice, and what passes
/// from hand to hand so often is a lock.
const HANDED_ON: f64 = 8.0;

impl Ends {
    /// The same where it is known how many requests were answered and how long they took: waits that a timer ended are sleep
    /// of a request that sleeps, or of somebody who sleeps for longer than any request takes.
    pub(crate) fn of_requests(mut self, requests: f64, response_ns: Option<f64>) -> Self {
        if self.among.waits < HANDED_ON * requests.max(1.0) {
            self.among = Among::default();
        }
        let (Some(response_ns), true) = (response_ns, requests > 0.0 && self.timed_waits > 0.0)
        else {
            return self;
        };
        let are_tries = self.timed_ns / self.timed_waits < response_ns;
        if are_tries && !SLEEPS.contains(&(self.timed_waits / requests)) {
            self.timed = 0.0;
        }
        self
    }

    /// The part that ends in a class, whosever.
    pub(crate) fn part(&self, class: LedgerClass) -> f64 {
        let of_class = self.parts.iter().filter(|((_, own), _)| *own == class);
        of_class.map(|(_, part)| part).sum()
    }

    /// How long threads of one pool waited in futex for each other, several times in each request, ns: no idle thread is woken
    /// so often. 0 where it was rarer.
    pub(crate) fn handed_on_ns(&self) -> f64 {
        self.among.ns
    }

    /// Whether serving threads waited for each other.
    pub(crate) fn are_own(&self) -> bool {
        const MOST: f64 = 0.9;
        self.own >= MOST
    }

    /// Who ended most of the waits, and which part.
    pub(crate) fn holder(&self) -> Option<(EntityId, f64)> {
        let most = self.wakers.iter().max_by(|a, b| a.1.total_cmp(b.1))?;
        Some((*most.0, *most.1))
    }

    /// In what most of them end, and which part; `None` where that is not known of most.
    pub(crate) fn most(&self) -> Option<(LedgerClass, f64)> {
        if self.late > 0.5 {
            return None;
        }
        let each = CLASSES.into_iter().map(|class| (class, self.part(class)));
        let most = each.max_by(|a, b| a.1.total_cmp(&b.1))?;
        (most.1 > 0.0).then_some(most)
    }
}

/// Time by class, without waits for locks.
fn beside_locks(did: &[f64; CLASSES.len()]) -> f64 {
    let others = CLASSES.into_iter().zip(did);
    let others = others.filter(|(class, _)| !LOCKS.contains(class));
    others.map(|(_, ns)| ns).sum()
}

#[cfg(test)]
mod tests;
