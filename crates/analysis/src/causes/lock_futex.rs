//! Threads of the target wait for each other's locks.

use model::{Finding, LedgerClass};

use super::evidence::{finding, of_wait, share, told_by};
use super::{Cause, Judgement, Kind, Waiting, explained_by, settled, waits};
use crate::bounds;
use crate::facts::Facts;
use crate::number_format::percent;
use crate::thresholds::Thresholds;

pub(super) const CAUSE: Cause = Cause {
    name: "lock.futex",
    help: "Threads of the target wait for each other's locks (futex, or internal locks of the database).",
    about: "the target",
    kind: Kind::Limit,
    told_by: "Threads that serve requests are met in futex, or say that they wait for an internal lock. A crowd behind a thread in fsync is io.sync and not said again. Idle workers of a pool wait in futex too: where more time was spent there than requests took, or where no response time is known, this cannot be told. Where programs in the kernel are allowed, it is said who ended the waits, and what was done meanwhile in the end, behind however many locks. Which lock it is needs stacks.",
    judge,
};

const WAITS: [LedgerClass; 2] = [LedgerClass::Futex, LedgerClass::InternalLock];

fn judge(facts: &Facts<'_>, thresholds: &Thresholds, found: &[Finding]) -> Judgement {
    if let Some(judgement) = explained_by(found, &["io.sync"]) {
        return judgement;
    }
    let limits = &thresholds.lock_futex;
    let waiting = Waiting {
        classes: &WAITS,
        part: 1.0,
        least: limits.cost,
        doing: "waiting for a lock",
    };
    if let Some(judgement) = perhaps_idle(facts, thresholds) {
        return judgement;
    }
    settled(waits(facts, &waiting).map(|(target, held)| {
        let sentence = format!(
            "A lock is the bottleneck: {} of {} was threads of {} waiting for each other{}.",
            percent(held.share),
            facts.whole(),
            target.name,
            holder(facts).unwrap_or_default()
        );
        Judgement::Present(Box::new(Finding {
            share: Some(held.share),
            share_interval: held.interval,
            evidence: vec![share(
                facts,
                "waiting for a lock",
                &told_by(facts, &WAITS, "thread.syscall"),
                &target.entity,
                held.share,
                held.least,
            )],
            would_help: vec![bounds::without_wait(
                facts,
                held.share,
                "less time under the lock, or several locks instead of one".to_owned(),
            )],
            would_not_help: bounds::useless(facts, &["more clients", "more threads"]),
            to_confirm: "run with half of the clients: if throughput falls as much, this is wrong"
                .to_owned(),
            ..finding(
                CAUSE.name,
                &target.entity,
                of_wait(facts, &WAITS, held.least, &[]),
                sentence,
            )
        }))
    }))
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

/// Why futex cannot be told from idleness, where it cannot.
fn perhaps_idle(facts: &Facts<'_>, thresholds: &Thresholds) -> Option<Judgement> {
    let target = facts.target.as_ref()?;
    facts.account.as_ref()?;
    let name = &target.name;
    if facts.signal.is_none() {
        let part = target.serving_ledger.part(LedgerClass::Futex);
        return (part >= thresholds.floors.share).then(|| {
            Judgement::CannotTell(format!(
                "threads of {name} were in futex for {} of their time, where idle workers wait too, and no response time tells them apart",
                percent(part)
            ))
        });
    }
    facts.is_partly_idle(thresholds).then(|| {
        Judgement::CannotTell(format!(
            "the threads of {name} were in futex for longer than requests took: some of them were idle there"
        ))
    })
}
