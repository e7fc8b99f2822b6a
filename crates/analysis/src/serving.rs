//! Serving is a property of a thread: what the target's threads slept in inside requests, and what between them.
//!
//! A worker that waits in futex, for input or on a timer outside of any request waits for the next one, whatever it
//! sits in; inside of one it is part of that request. That is known where the thread that reads a request also
//! answers it. Where others answer (an event loop, goroutines on threads, a pool behind a thread that reads) nothing
//! of a thread's sleeps says whose they are.

use std::collections::{BTreeMap, BTreeSet};

use model::{Cursor, EntityId, LedgerClass, Timeline, Window};
use sensors::serving::{SERVING, Serving};
use sensors::thread_time::THREAD_TIME;

use crate::measure::Of;
use crate::wakers::{Edge, edges, pool_of};

/// The sleeps that are told apart, in the order of the table's columns.
const SLEEPS: [LedgerClass; 3] = [LedgerClass::Futex, LedgerClass::Input, LedgerClass::Sleep];
pub(crate) const INSIDE: [&str; 3] = ["inside_futex_ns", "inside_input_ns", "inside_sleep_ns"];
pub(crate) const OUTSIDE: [&str; 3] = ["outside_futex_ns", "outside_input_ns", "outside_sleep_ns"];

/// Who answers the requests that a thread of the target reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Answering {
    /// Not recorded, or of too few requests.
    Unknown,
    /// The thread itself.
    Itself,
    /// Others, or itself after it has read further ones.
    Others,
}

impl Answering {
    /// Of these threads over a window.
    pub(crate) fn of(timeline: &Timeline, threads: &[EntityId], window: Window) -> Self {
        /// Of the sleeps of who answers so much must carry a mark; under a duty cycle few do.
        const MARKED: f64 = 0.9;
        /// Of fewer requests nothing is said.
        const LEAST: f64 = 30.0;
        /// What takes another way now and then changes little.
        const MOST: f64 = 0.95;
        let [own, others] = [["answered"], ["answered_for_others"]]
            .map(|columns| sum(timeline, threads, &columns, window));
        // Of the others a sleep that began before there were marks may last to the end, and says nothing.
        let answering = threads.iter().filter(|it| answers(timeline, **it, window));
        let answering: Vec<EntityId> = answering.copied().collect();
        let marked = sum(timeline, &answering, &INSIDE, window)
            + sum(timeline, &answering, &OUTSIDE, window);
        match own + others {
            all if all < LEAST || marked < MARKED * slept(timeline, &answering, window) => {
                Self::Unknown
            }
            all if own < MOST * all || are_loops(timeline, &answering, window) => Self::Others,
            _ => Self::Itself,
        }
    }
}

/// Whether most of these threads are alone in their process and answered requests after they had read further ones: who is
/// alone answers for no other thread, so it is an event loop, however rarely it was seen to have several at a time.
fn are_loops(timeline: &Timeline, answering: &[EntityId], window: Window) -> bool {
    /// A client that asks twice before it is answered makes a few.
    const LEAST: f64 = 0.01;
    let mut processes: BTreeMap<Option<EntityId>, Vec<EntityId>> = BTreeMap::new();
    for thread in answering {
        let own = processes.entry(process_of(timeline, *thread)).or_default();
        own.push(*thread);
    }
    let loops = processes.values().filter(|threads| {
        let of = |columns: &[&str]| sum(timeline, threads, columns, window);
        let (own, later) = (of(&["answered"]), of(&["answered_for_others"]));
        threads.len() == 1 && later >= LEAST * (own + later) && later > 0.0
    });
    2 * loops.count() > processes.len()
}

/// Those of a target's threads that serve requests, over the whole recording.
///
/// Where the thread that reads a request answers it, these are the threads that do so, and the pools that they wait
/// for in a lock meanwhile: these do a part of their work, or hold what they need. A compiler of the runtime's, a
/// collector of garbage that nobody waits for, a poller work for themselves. Where others answer it is not known who
/// has a part in a request, so all threads are taken to have one. So are those of a pool that answers, of processes of
/// which nothing was counted: only some connections are watched at a time, and where each has a process of its own, as
/// in PostgreSQL, the others answer unseen.
pub(crate) fn at_requests(timeline: &Timeline, threads: Vec<EntityId>) -> Vec<EntityId> {
    /// Of the time of those who answer: a lock that is met more rarely makes nobody a part of their requests.
    const LEAST_WAITED: f64 = 0.001;
    let window = timeline.window;
    if Answering::of(timeline, &threads, window) != Answering::Itself {
        return threads;
    }
    let answers = |thread: EntityId| answers_itself(timeline, thread, window);
    let answering = threads.iter().filter(|it| answers(**it));
    let answer_themselves = answering.clone().count();
    let answering: BTreeSet<EntityId> = answering.filter_map(|it| pool_of(timeline, *it)).collect();
    let mut waited: BTreeMap<EntityId, f64> = BTreeMap::new();
    let locks = edges(timeline, window)
        .filter(|it| it.is_lock() && it.serving == Some(Serving::Inside))
        .filter(|it| answering.contains(&it.woken));
    for edge in locks {
        let waker = edge.waker.map(|it| waited.entry(it).or_default());
        waker.into_iter().for_each(|ns| *ns += edge.ns);
    }
    let least = LEAST_WAITED * window.len_ns() as f64 * answer_themselves as f64;
    waited.retain(|_, ns| *ns > least);
    let waited_for: BTreeSet<EntityId> = waited.into_keys().collect();
    let is_of = |thread, pools: &BTreeSet<EntityId>| {
        pool_of(timeline, thread).is_some_and(|it| pools.contains(&it))
    };
    let counted = threads.iter().filter(|it| is_counted(timeline, **it));
    let counted: BTreeSet<EntityId> = counted.filter_map(|it| process_of(timeline, *it)).collect();
    let is_unseen =
        |thread| process_of(timeline, thread).is_some_and(|process| !counted.contains(&process));
    let mut serving = threads;
    serving.retain(|it| {
        answers(*it) || is_of(*it, &waited_for) || (is_of(*it, &answering) && is_unseen(*it))
    });
    serving
}

fn process_of(timeline: &Timeline, thread: EntityId) -> Option<EntityId> {
    timeline.entities.get(thread)?.parent
}

/// Whether anything was counted of what a thread answers.
fn is_counted(timeline: &Timeline, thread: EntityId) -> bool {
    let answered = timeline.series(&SERVING.name, thread, "answered");
    answered.is_some()
}

/// Where others answer than who reads, as in an event loop: those of the threads that never answered, of pools that
/// ended no wait for input of who does, as a pool that does its work for it would. They work for themselves or for the
/// runtime, and what they sleep in is no part of a request. None where nobody told who woke whom.
pub(crate) fn beside_requests(
    timeline: &Timeline,
    threads: &[EntityId],
    window: Window,
) -> BTreeSet<EntityId> {
    let does_answer = |it: &&EntityId| answers(timeline, **it, window);
    let answering: BTreeSet<EntityId> = threads.iter().filter(does_answer).copied().collect();
    let edges: Vec<Edge> = edges(timeline, window).collect();
    if edges.is_empty() {
        return BTreeSet::new();
    }
    let answering_pools: BTreeSet<EntityId> = answering
        .iter()
        .filter_map(|it| pool_of(timeline, *it))
        .collect();
    let working_for_them: BTreeSet<EntityId> = edges
        .into_iter()
        .filter(|it| it.class == LedgerClass::Input && it.ns > 0.0)
        .filter(|it| answering_pools.contains(&it.woken))
        .filter_map(|it| it.waker)
        .collect();
    let is_beside = |it: &EntityId| {
        let pool = pool_of(timeline, *it);
        let is_known = is_counted(timeline, *it);
        is_known
            && !answering.contains(it)
            && pool.is_some_and(|it| !working_for_them.contains(&it))
    };
    threads.iter().copied().filter(is_beside).collect()
}

/// What was counted of one thread's sleeps, asked about one window after the other.
pub(crate) struct Sleeps<'a> {
    inside: [Cursor<'a>; 3],
    outside: [Cursor<'a>; 3],
}

impl<'a> Sleeps<'a> {
    /// `None` where nothing was counted.
    pub(crate) fn of(timeline: &'a Timeline, thread: EntityId) -> Option<Self> {
        let cursor =
            |column: &'static str| Some(timeline.series(&SERVING.name, thread, column)?.cursor());
        let all = |[a, b, c]: [&'static str; 3]| Some([cursor(a)?, cursor(b)?, cursor(c)?]);
        Some(Self {
            inside: all(INSIDE)?,
            outside: all(OUTSIDE)?,
        })
    }

    /// The parts of sleeps in futex and on a timer that were outside of requests over a window: waits for the next one.
    pub(crate) fn outside(&mut self, window: Window) -> [(LedgerClass, f64); SLEEPS.len()] {
        let mut parts = SLEEPS.map(|class| (class, 0.0));
        let sleeps = self.inside.iter_mut().zip(&mut self.outside);
        for ((inside, outside), (_, part)) in sleeps.zip(&mut parts) {
            let grown = |it: &mut Cursor<'_>| it.growth(window).unwrap_or(0.0).max(0.0);
            let [inside, outside] = [grown(inside), grown(outside)];
            if outside > 0.0 {
                *part = outside / (inside + outside);
            }
        }
        parts
    }
}

/// The threads that answer requests: each is inside one or idle.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Workers {
    pub(crate) threads: Vec<EntityId>,
    /// Time inside of requests in which they waited for input, so for others than their clients, ns.
    pub(crate) asked_ns: f64,
    /// The same on a timer, ns.
    pub(crate) slept_ns: f64,
}

impl Workers {
    /// Those of these threads that answered requests over a window; `None` where none did.
    pub(crate) fn of(timeline: &Timeline, threads: &[EntityId], window: Window) -> Option<Self> {
        let answering = threads.iter();
        let answering = answering.filter(|it| answers_itself(timeline, **it, window));
        let threads: Vec<EntityId> = answering.copied().collect();
        let sum = |column| {
            let each = threads.iter();
            let each = each.map(|it| grown(timeline, *it, column, window));
            each.sum::<f64>()
        };
        let [_, asked_ns, slept_ns] = INSIDE.map(sum);
        (!threads.is_empty()).then_some(Self {
            asked_ns,
            slept_ns,
            threads,
        })
    }

    /// Those of them of which something was counted while they were idle.
    pub(crate) fn rested(
        &self,
        timeline: &Timeline,
        window: Window,
    ) -> impl Iterator<Item = EntityId> {
        let is_counted = move |thread: EntityId| {
            let of = Of::new(timeline, &SERVING.name, thread, window);
            OUTSIDE.iter().any(|column| of.growth(column).is_some())
        };
        let threads = self.threads.iter().copied();
        threads.filter(move |it| is_counted(*it))
    }

    /// How long they were idle over a part of the window, ns.
    pub(crate) fn idle_ns(&self, timeline: &Timeline, part: Window) -> f64 {
        let each = self.threads.iter().flat_map(|thread| {
            OUTSIDE
                .into_iter()
                .map(|it| grown(timeline, *thread, it, part))
        });
        each.sum()
    }
}

/// Whether each of these threads answered requests over a window, whoever had read them.
pub(crate) fn all_answer(timeline: &Timeline, threads: &[EntityId], window: Window) -> bool {
    threads.iter().all(|it| answers(timeline, *it, window))
}

/// Whether a thread answered requests that it had read.
fn answers_itself(timeline: &Timeline, thread: EntityId, window: Window) -> bool {
    grown(timeline, thread, "answered", window) > 0.0
}

fn answers(timeline: &Timeline, thread: EntityId, window: Window) -> bool {
    let mut columns = ["answered", "answered_for_others"].into_iter();
    columns.any(|it| grown(timeline, thread, it, window) > 0.0)
}

/// How long threads slept in the classes that are told apart, ns.
fn slept(timeline: &Timeline, threads: &[EntityId], window: Window) -> f64 {
    let of = |thread: &EntityId| Of::new(timeline, &THREAD_TIME.name, *thread, window);
    let each = threads.iter().map(of).flat_map(|of| {
        let columns = ["futex_ns", "input_ns", "sleep_ns"].into_iter();
        columns.filter_map(move |column| of.growth(column))
    });
    each.sum()
}

/// How much counters of threads grew together.
fn sum(timeline: &Timeline, threads: &[EntityId], columns: &[&str], window: Window) -> f64 {
    let each = threads.iter().flat_map(|it| {
        let own = columns.iter();
        own.map(|column| grown(timeline, *it, column, window))
    });
    each.sum()
}

/// How much a counter of a thread grew, at least 0.
fn grown(timeline: &Timeline, thread: EntityId, column: &str, window: Window) -> f64 {
    let of = Of::new(timeline, &SERVING.name, thread, window);
    of.growth(column).unwrap_or(0.0).max(0.0)
}
