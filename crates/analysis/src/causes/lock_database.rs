//! Sessions of the database wait for each other's locks.

use model::{Entity, Finding, LedgerClass};
use sensors::mysql;

use super::cause::{Case, Cause, Judgement, Kind, NoFinding, Wait, cannot_tell};
use super::evidence::{Held, of_wait, share, told_by, waited};
use super::family::Family;
use crate::bounds::{self, Removed};
use crate::facts::{Blocker, Facts};
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
    about: "the backend or thread that holds the lock, where `--postgres` or `--mysql` tells it; else the target",
    kind: Kind::Limit,
    family: Family::Lock,
    told_by: "PostgreSQL's own word: backends whose wait event is of the class Lock, read from their memory (root, versions 13 to 18), at each of their sleeps where programs in the kernel are allowed (table `thread_time`) or, once a second, from pg_stat_activity (`--postgres`). From outside they look idle: a lock waiter and an idle backend both sit in epoll, so where its word was not read and enough time is left, it cannot be told. Who holds the lock is known to PostgreSQL only: `--postgres DSN` asks it (pg_blocking_pids). Threads of MySQL and MariaDB sleep in futex when they wait for a row lock: `--mysql` asks the server which do, and who holds it, once a second (table `mysql_session`).",
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
        (Some(Blocker { entity, part, .. }), _) => format!(
            " that {} ({}) held for {} of that time",
            entity.name,
            number(entity),
            percent(*part)
        ),
        (None, Some(_)) => ", which many sessions held in turn".to_owned(),
        (None, None) => String::new(),
    };
    let sentence = format!(
        "Locks of the database are the bottleneck: {} of {} was {} waiting for a lock{who}.{}",
        percent(held.share),
        facts.whole(),
        target.name,
        blocker.map_or(String::new(), doing)
    );
    let mut evidence = vec![waited(
        facts,
        "waiting for a lock",
        &told_by(facts, &WAITS, sampled(facts)),
        &held,
    )];
    evidence.extend(blocker.map(|it| {
        let column = format!("{}.blocked_by", it.table.name);
        let what = "of the waits behind this session";
        share(facts, what, &column, &it.entity, it.part, HOLDS)
    }));
    let entity = blocker.map_or(&target.entity, |it| &it.entity);
    let confidence = of_wait(facts, &WAITS, held.least, &[]);
    let idles = blocker.is_some_and(|it| it.idle >= MOSTLY);
    let changes = idles.then_some(COMMIT_FIRST).into_iter();
    let goes = goes(facts, &held, blocker);
    let would_help = changes
        .chain(CAUSE.would_help.iter().copied())
        .map(|change| bounds::without_held_lock(facts, goes, change.to_owned()))
        .collect();
    Ok(Finding {
        evidence,
        would_help,
        to_confirm: to_confirm(facts),
        ..case.finding_of_wait(&held, entity, confidence, sentence)
    })
}

/// A holder is idle when it was so for at least this part of the waits behind it.
const MOSTLY: f64 = 0.5;
/// From here on it was so all the time.
const ALWAYS: f64 = 0.95;
const COMMIT_FIRST: &str = "a commit before the session goes idle in transaction";

/// What the holder did: ` Meanwhile the session was idle in transaction, after "update t ...".`
fn doing(blocker: &Blocker) -> String {
    let statement = blocker.statement.as_deref().map(quoted);
    match (blocker.idle >= MOSTLY, statement) {
        (true, statement) => format!(
            " {} the session was idle in transaction{}.",
            match blocker.idle >= ALWAYS {
                true => "Meanwhile".to_owned(),
                false => format!("For {} of that", percent(blocker.idle)),
            },
            statement.map_or(String::new(), |it| format!(", after {it}"))
        ),
        (false, Some(statement)) => format!(" Meanwhile the session ran {statement}."),
        (false, None) => String::new(),
    }
}

/// A statement in a sentence: its beginning, in quotes.
fn quoted(statement: &str) -> String {
    const LONGEST: usize = 60;
    let mut text: String = statement.chars().take(LONGEST).collect();
    if text.len() < statement.len() {
        text = format!("{} ...", text.trim_end());
    }
    format!("\"{text}\"")
}

/// What goes with the one session that holds the lock: at least the waits right behind it, at most all. Those who wait
/// for each other do so afterwards too.
fn goes(facts: &Facts<'_>, held: &Held, blocker: Option<&Blocker>) -> Removed {
    let whole = Removed::from(held).of_two(facts.stalled());
    blocker.map_or(whole, |it| whole.with_least_part(it.part))
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
    if left < COST.value() {
        return Ok(());
    }
    cannot_tell(format!(
        "what {} itself says that it waits for was not read (PostgreSQL 13 to 18, by root): who waits for a lock \
         looks as if it waited for its client",
        target.name
    ))
}

/// The column that samples were divided by.
fn sampled(facts: &Facts<'_>) -> &'static str {
    match facts.timeline.table(&mysql::SESSION.name) {
        Some(_) => "mysql_session.wait_class",
        None => "thread.wait_event",
    }
}

fn to_confirm(facts: &Facts<'_>) -> String {
    match (holder(facts), facts.sessions.blocker.is_some()) {
        (Some(it), _) => format!(
            "end the transaction of {}: if throughput stays the same, this is wrong",
            number(&it.entity)
        ),
        (None, true) => "run with half of the clients: if throughput falls as much, this is wrong".to_owned(),
        (None, false) if facts.timeline.table(&mysql::SESSION.name).is_some() => {
            "run with half of the clients: if throughput falls as much, this is wrong. The column State of SHOW PROCESSLIST names the lock".to_owned()
        }
        (None, false) => "ask who holds it: stallscope run --postgres DSN -- ..., or select pid, pg_blocking_pids(pid) from pg_stat_activity".to_owned(),
    }
}

/// One session holds up the others when it blocked them for at least this part of their waits.
const HOLDS: f64 = 0.5;

fn holder<'a>(facts: &'a Facts<'_>) -> Option<&'a Blocker> {
    let blocker = facts.sessions.blocker.as_ref()?;
    (blocker.part >= HOLDS).then_some(blocker)
}

/// `pid 17` of `pid:17@256402`, `thread 19` of `pid:17@256402/tid:19`.
fn number(served_by: &Entity) -> String {
    let path = &served_by.path;
    if let Some((_, thread)) = path.rsplit_once("/tid:") {
        return format!("thread {thread}");
    }
    let pid = served_by.pid();
    pid.map_or_else(|| served_by.name.clone(), |pid| format!("pid {pid}"))
}
