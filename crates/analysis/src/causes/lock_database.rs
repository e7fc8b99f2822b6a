//! Sessions of the database wait for each other's locks.

use model::{Entity, Finding, LedgerClass};

use super::cause::{Case, Cause, Judgement, Kind, NoFinding, Wait, cannot_tell};
use super::evidence::{of_wait, share, told_by, waited};
use super::family::Family;
use crate::facts::Facts;
use crate::number_format::percent;
use crate::thresholds::Threshold;

const COST: Threshold = Threshold::share(
    "cost",
    0.20,
    "Part of the response time spent waiting for locks of the database",
);

pub(super) const CAUSE: Cause = Cause {
    name: "lock.database",
    help: "Sessions of the database wait for a lock (row, table, transaction) that another session holds.",
    about: "the backend that holds the lock, where `--postgres` tells it; else the target",
    kind: Kind::Limit,
    family: Family::Lock,
    told_by: "PostgreSQL's own word: backends whose wait event is of the class Lock, read from their memory (root, versions 13 to 18), at each of their sleeps where programs in the kernel are allowed (table `thread_time`) or, once a second, from pg_stat_activity (`--postgres`). From outside they look idle: a lock waiter and an idle backend both sit in epoll, so where its word was not read and enough time is left, it cannot be told. Who holds the lock is known to PostgreSQL only: `--postgres DSN` asks it (pg_blocking_pids).",
    thresholds: &[COST],
    upstream: &[],
    wait: Some(Wait {
        classes: &WAITS,
        least: COST,
        doing: "waiting for a lock (row, table)",
    }),
    would_help: &["shorter transactions around what is locked, or fewer sessions that want it"],
    would_not_help: Some(&["more clients"]),
    to_confirm: "",
    judge,
};

const WAITS: [LedgerClass; 1] = [LedgerClass::DatabaseLock];

fn judge(case: &Case<'_>) -> Judgement {
    let facts = case.facts;
    let (target, held) = case.waited().or_else(|why| {
        may_hide(facts)?;
        Err(why)
    })?;
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
    let mut evidence = vec![waited(
        facts,
        "waiting for a lock",
        &told_by(facts, &WAITS, "thread.wait_event"),
        &held,
    )];
    evidence.extend(blocker.map(|(holder, part)| {
        let (what, column) = ("of the waits behind this session", "session.blocked_by");
        share(facts, what, column, holder, part, HOLDS)
    }));
    let entity = blocker.map_or(&target.entity, |(holder, _)| holder);
    let confidence = of_wait(facts, &WAITS, held.least, &[]);
    Ok(Finding {
        evidence,
        to_confirm: to_confirm(facts),
        ..case.finding_of_wait(&held, entity, confidence, sentence)
    })
}

/// Why it cannot be told: from outside, who waits for a lock looks like who waits for its client, and
/// enough time is left for it.
fn may_hide(facts: &Facts<'_>) -> Result<(), NoFinding> {
    let target = facts.target.as_ref();
    let Some(target) = target.filter(|it| !it.waits_named.events) else {
        return Ok(());
    };
    let left = match facts.signal {
        Some(_) => facts.share(LedgerClass::Outside),
        None if facts.account.is_none() => return Ok(()),
        None => target.serving_ledger.part(LedgerClass::Input),
    };
    if left < COST.value {
        return Ok(());
    }
    cannot_tell(format!(
        "what {} itself says that it waits for was not read (PostgreSQL 13 to 18, by root): who waits for a lock \
         looks as if it waited for its client",
        target.name
    ))
}

fn to_confirm(facts: &Facts<'_>) -> String {
    match (holder(facts), facts.sessions.blocker.is_some()) {
        (Some((holder, _)), _) => format!(
            "end the transaction of {}: if throughput stays the same, this is wrong",
            pid(holder)
        ),
        (None, true) => "run with half of the clients: if throughput falls as much, this is wrong".to_owned(),
        (None, false) => "ask who holds it: stallscope run --postgres DSN -- ..., or select pid, pg_blocking_pids(pid) from pg_stat_activity".to_owned(),
    }
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
