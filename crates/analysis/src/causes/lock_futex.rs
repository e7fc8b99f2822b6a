//! Threads of the target wait for each other's locks.

use model::{Evidence, Finding, LedgerClass, Remedy};

use super::cause::{Case, Cause, Judgement, Kind, NoFinding, Upstream, Wait, absent, cannot_tell};
use super::evidence::{Held, at_place, of_wait, told_by, waited};
use super::family::Family;
use crate::bounds::{self, Removed};
use crate::facts::Facts;
use crate::number_format::percent;
use crate::pools::Pool;
use crate::serving::Answering;
use crate::stacks::Place;
use crate::subject::Subject;
use crate::thresholds::Threshold;

const COST: Threshold = Threshold::share(
    "cost",
    0.20,
    "Part of the response time spent waiting for locks",
);

pub(super) const CAUSE: Cause = Cause {
    name: "lock.futex",
    help: "Threads of the target wait for each other's locks (futex, or internal locks of the database).",
    about: "the target",
    kind: Kind::Limit,
    family: Family::Lock,
    told_by: "Threads that serve requests are met in futex, or say that they wait for an internal lock. A crowd behind a thread in fsync is io.sync and not said again, unless it is known that most of what is left of these waits ended with somebody who did something else meanwhile. Idle workers of a pool wait in futex too. Where the thread that reads a request also answers it, only what it sleeps in futex between the two counts, and a pool at rest is none; that covers locks that no futex word tells from queues, as those of the JVM and of InnoDB, whose waiters sleep on words of their own. Where others answer than read (an event loop, goroutines on threads), this cannot be told; nor, where that was not recorded, if more time was spent in futex than requests took or no response time is known, unless threads of one pool ended such waits for each other many times in each request: then these count, and no others. Where programs in the kernel are allowed, waits that a timer ended are sleep and no lock, and it is said who ended the others, and what was done meanwhile in the end, behind however many locks. Where the call stacks of waits were recorded, the functions that wait most are named, with the lock and with where it was released.",
    thresholds: &[COST],
    upstream: &[
        Upstream::Unless("io.sync", is_held_otherwise),
        Upstream::Most("lock.runtime"),
    ],
    wait: Some(Wait {
        classes: &WAITS,
        least: COST,
        doing: "waiting for a lock",
    }),
    would_help: &["less time under the lock, or several locks instead of one"],
    would_not_help: Some(&["more clients", "more threads"]),
    to_confirm: "run with half of the clients: if throughput falls as much, this is wrong",
    judge,
};

const WAITS: [LedgerClass; 2] = [LedgerClass::Futex, LedgerClass::InternalLock];

fn judge(case: &Case<'_>) -> Judgement {
    let facts = case.facts;
    let (target, held) = match (told_from_idleness(facts), handed_on(facts)) {
        (Ok(()), _) => case.waited()?,
        (Err(_), Some(part)) => case.waited_for(part)?,
        (Err(why), None) => return Err(why),
    };
    inside_requests(facts, &target.name)?;
    if let Some(pool) = Pool::of_sleeping_threads(facts) {
        let pool = pool.in_words(&target.name);
        return absent(format!(
            "limit.pool explains it: threads waited for one of {pool}"
        ));
    }
    let place = facts.where_waited(&WAITS);
    let sentence = format!(
        "A lock is the bottleneck: {} of {} was threads of {} waiting for each other{}{}.",
        percent(held.share),
        facts.whole(),
        target.name,
        place.as_ref().map_or_else(String::new, in_words),
        holder(facts).unwrap_or_default()
    );
    let confidence = of_wait(facts, &WAITS, held.least, &[]);
    Ok(Finding {
        evidence: evidence_of(facts, target, &held, place.as_ref()),
        would_help: would_help(facts, &held),
        ..case.finding_of_wait(&held, &target.entity, confidence, sentence)
    })
}

/// The part of the time in futex that was surely spent behind a lock, though threads were idle there too: that for which they
/// handed it on to each other.
fn handed_on(facts: &Facts<'_>) -> Option<f64> {
    let ns = facts.ends.as_ref()?.handed_on_ns();
    let whole = facts.account.as_ref()?.total_ns as f64;
    let in_futex = facts.share(LedgerClass::Futex) * whole;
    (ns > 0.0 && in_futex > 0.0).then(|| (ns / in_futex).min(1.0))
}

/// Whether most of the waits ended with somebody who did something else than sync meanwhile.
fn is_held_otherwise(facts: &Facts<'_>) -> bool {
    const MOST: f64 = 0.5;
    const SYNCS: [LedgerClass; 3] = [
        LedgerClass::Sync,
        LedgerClass::SyncQueue,
        LedgerClass::Unknown,
    ];
    let most = facts.ends.as_ref().and_then(|it| it.most());
    most.is_some_and(|(class, part)| part >= MOST && !SYNCS.contains(&class))
}

fn would_help(facts: &Facts<'_>, held: &Held) -> Vec<Remedy> {
    let goes = Removed::from(held).of_two(facts.stalled());
    let changes = CAUSE.would_help.iter();
    changes
        .map(|change| bounds::without_lock(facts, goes, (*change).to_owned()))
        .collect()
}

fn evidence_of(
    facts: &Facts<'_>,
    target: &Subject,
    held: &Held,
    place: Option<&Place>,
) -> Vec<Evidence> {
    let column = told_by(facts, &WAITS, "thread.syscall");
    let mut evidence = vec![waited(facts, "waiting for a lock", &column, held)];
    evidence.extend(place.map(|place| at_place(facts, place, &target.entity)));
    evidence
}

/// Where they wait, to follow a number.
fn in_words(place: &Place) -> String {
    let variable = place.lock.as_ref().and_then(|it| it.variable.as_ref());
    let lock = variable.map_or_else(String::new, |name| format!(", for {name}"));
    format!(", {} of that in {}{lock}", percent(place.part), place.path)
}

/// Who ended most of the waits, and what was done meanwhile in the end, behind however many locks.
fn holder(facts: &Facts<'_>) -> Option<String> {
    const MOST: f64 = 0.5;
    let ends = facts.ends.as_ref()?;
    let (waker, part) = ends.holder().filter(|(_, part)| *part >= MOST)?;
    let (class, ended) = ends
        .most()
        .filter(|(class, _)| *class != LedgerClass::Unknown)?;
    let waker = &facts.timeline.entities.get(waker)?.entity.name;
    Some(format!(
        "; {waker} ended {} of these waits, {} of which were for somebody {}",
        percent(part),
        percent(ended),
        class.label()
    ))
}

/// Why it is not known whether the waits were inside requests, where it is known that it cannot be.
fn inside_requests(facts: &Facts<'_>, name: &str) -> Result<(), NoFinding> {
    match facts.scene.answering {
        Answering::Others if facts.share(LedgerClass::Futex) >= COST.value() => {
            cannot_tell(format!(
                "the thread of {name} that reads a request is not the one that answers it, so its threads may as well have waited \
             in futex for work"
            ))
        }
        _ => Ok(()),
    }
}

/// Why futex cannot be told from idleness, where it cannot.
fn told_from_idleness(facts: &Facts<'_>) -> Result<(), NoFinding> {
    // Inside of requests no thread waits for longer than these take; one whose client left without an answer does.
    let most = 1.0 + facts.thresholds.gates.excess;
    if facts.scene.answering == Answering::Itself && facts.share(LedgerClass::Futex) <= most {
        return Ok(());
    }
    let Some(target) = facts.target.as_ref().filter(|_| facts.account.is_some()) else {
        return Ok(());
    };
    let name = &target.name;
    let part = target.serving_ledger.part(LedgerClass::Futex);
    if facts.signal.is_none() && part >= facts.floor {
        return cannot_tell(format!(
            "threads of {name} were in futex for {} of their time, where idle workers wait too, and no response time tells them apart",
            percent(part)
        ));
    }
    if facts.is_partly_idle() {
        return cannot_tell(format!(
            "the threads of {name} were in futex for longer than requests took: some of them were idle there"
        ));
    }
    Ok(())
}
