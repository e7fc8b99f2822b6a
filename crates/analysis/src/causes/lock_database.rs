//! Sessions of the database wait for each other's locks.

use model::{Entity, Finding, LedgerClass};

use super::evidence::{finding, of_wait, share, told_by};
use super::{Cause, Judgement, Kind, Waiting, settled, waits};
use crate::bounds;
use crate::facts::Facts;
use crate::number_format::percent;
use crate::thresholds::Thresholds;

pub(super) const CAUSE: Cause = Cause {
    name: "lock.database",
    help: "Sessions of the database wait for a lock (row, table, transaction) that another session holds.",
    about: "the backend that holds the lock, where `--postgres` tells it; else the target",
    kind: Kind::Limit,
    told_by: "PostgreSQL's own word: backends whose wait event is of the class Lock, read from their memory (root, versions 13 to 18), at each of their sleeps where programs in the kernel are allowed (table `thread_time`) or, once a second, from pg_stat_activity (`--postgres`). From outside they look idle: a lock waiter and an idle backend both sit in epoll, so where its word was not read and enough time is left, it cannot be told. Who holds the lock is known to PostgreSQL only: `--postgres DSN` asks it (pg_blocking_pids).",
    judge,
};

const WAITS: [LedgerClass; 1] = [LedgerClass::DatabaseLock];

/// Why it cannot be told: from outside, who waits for a lock looks like who waits for its client, and
/// enough time is left for it.
fn unseen(facts: &Facts<'_>, least: f64) -> Option<Judgement> {
    let target = facts.target.as_ref().filter(|it| !it.waits_named.events)?;
    let may_hide = match facts.signal {
        Some(_) => facts.share(LedgerClass::Outside) >= least,
        None => facts.account.is_some() && target.serving_ledger.part(LedgerClass::Input) >= least,
    };
    may_hide.then(|| {
        Judgement::CannotTell(format!(
            "what {} itself says that it waits for was not read (PostgreSQL 13 to 18, by root): who waits for a lock \
             looks as if it waited for its client",
            target.name
        ))
    })
}

fn judge(facts: &Facts<'_>, thresholds: &Thresholds, _found: &[Finding]) -> Judgement {
    let limits = &thresholds.lock_database;
    let waiting = Waiting {
        classes: &WAITS,
        part: 1.0,
        least: limits.cost,
        doing: "waiting for a lock (row, table)",
    };
    let judged = waits(facts, &waiting);
    if judged.is_err()
        && let Some(judgement) = unseen(facts, limits.cost)
    {
        return judgement;
    }
    settled(judged.map(|(target, held)| {
        let blocker = holder(facts);
        let who = match (blocker, facts.sessions.blocker.as_ref()) {
            (Some((holder, part)), _) => format!(
                " that {} ({}) held for {} of that time",
                holder.name,
                pid(holder),
                percent(part)
            ),
            (None, Some(_)) => ", which many sessions held in turn".to_owned(),
            (None, None) => String::new(),
        };
        let sentence = format!(
            "Locks of the database are the bottleneck: {} of {} was {} waiting for a lock{who}.",
            percent(held.share),
            facts.whole(),
            target.name
        );
        let entity = blocker.map_or(&target.entity, |(holder, _)| holder);
        let mut evidence = vec![share(facts, "waiting for a lock", &told_by(facts, &WAITS, "thread.wait_event"), &target.entity, held.share, held.least)];
        evidence.extend(blocker.map(|(holder, part)| share(facts, "of the waits behind this session", "session.blocked_by", holder, part, HOLDS)));
        Judgement::Present(Box::new(Finding {
            share: Some(held.share),
            share_interval: held.interval,
            evidence,
            would_help: vec![bounds::without_wait(facts, held.share, "shorter transactions around what is locked, or fewer sessions that want it".to_owned())],
            would_not_help: bounds::useless(facts, &["more clients"]),
            evidence_against: Vec::new(),
            to_confirm: match (blocker, facts.sessions.blocker.is_some()) {
                (Some((holder, _)), _) => format!("end the transaction of {}: if throughput stays the same, this is wrong", pid(holder)),
                (None, true) => "run with half of the clients: if throughput falls as much, this is wrong".to_owned(),
                (None, false) => "ask who holds it: stallscope run --postgres DSN -- ..., or select pid, pg_blocking_pids(pid) from pg_stat_activity".to_owned(),
            },
            ..finding(CAUSE.name, entity, of_wait(facts, &WAITS, held.least, &[]), sentence)
        }))
    }))
}

/// One session holds up the others when it blocked them for at least this part of their waits.
const HOLDS: f64 = 0.5;

fn holder<'a>(facts: &'a Facts<'_>) -> Option<(&'a Entity, f64)> {
    let (holder, part) = facts.sessions.blocker.as_ref()?;
    (*part >= HOLDS).then_some((holder, *part))
}

/// `pid 17` of `pid:17@256402`.
fn pid(process: &Entity) -> String {
    let number = process
        .path
        .strip_prefix("pid:")
        .and_then(|rest| rest.split('@').next());
    number.map_or_else(|| process.name.clone(), |number| format!("pid {number}"))
}
