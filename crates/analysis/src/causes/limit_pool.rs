//! Every thread of the pool that answers requests is inside one, or every connection to a peer in a call, while more
//! requests wait for one.

use model::{Amount, Confidence, Evidence, Finding, Interval, LedgerClass, Role};

use super::cause::{Case, Cause, Judgement, Kind, NoFinding, absent, cannot_tell};
use super::evidence::{confidence, number, share};
use super::family::Family;
use crate::bounds;
use crate::facts::Facts;
use crate::formula;
use crate::number_format::{percent, rate};
use crate::poolers::Pooler;
use crate::pools::Pool;
use crate::serving::{self, Answering};
use crate::stats::ratio_interval;
use crate::subject::Subject;
use crate::thresholds::{AGREE, POOL_FULL, POOL_ROOM, Threshold};

const COST: Threshold = Threshold::share(
    "cost",
    0.20,
    "Part of the response time spent in line for one of the pool",
);
pub(super) const CAUSE: Cause = Cause {
    name: "limit.pool",
    help: "A pool is too small: all threads that answer requests are inside one, or all connections to a peer have a call, while further requests wait for one.",
    about: "the target; the pooler where it is that which says so",
    kind: Kind::Limit,
    family: Family::Peer,
    told_by: "The kernel sees which thread reads a request from its client's socket and which one answers it. Where that is the same thread, a thread that sleeps between the two is inside the request, whatever it sleeps in: an answer from another server, a timer, a lock; outside it is idle and waits for the next request. The pool is full where its threads are hardly ever idle and more requests are in progress than there are threads. What the threads do meanwhile decides whether the pool is to blame: requests behind a thread that waits for a lock, a disk or a CPU wait for that (`lock.futex`, `io.sync`, `cpu.quota`), and only requests behind one that sleeps on a timer or waits for somebody else's answer are the pool's. So are those behind threads that are at work on a CPU, where there are several and idle CPUs beside them: four event loops on sixteen CPUs. Who answers is not asked of these; where no thread was seen to answer, it is *consistent* at most. One such thread is `cpu.single_thread`, and without idle CPUs it is `cpu.saturated`.\n\nA pooler that was asked itself (`--pgbouncer`) goes before all that: PgBouncer counts for how long clients waited for a server connection (`SHOW STATS`, `total_wait_time`; table `pgbouncer`), whoever the target is; in a recording of the whole machine, where everybody is judged alone, that is about the pooler only. Server connections that were free meanwhile are evidence against it; they may be another pool's, since its pools are added up.\n\nIn an event loop, or where one thread reads a request and another answers it, threads tell nothing. There the connections to the peer that it asks most are the pool, as those of PgBouncer to its server (`cl_waiting` in its `SHOW POOLS`) or of a client library: it is full where all of them have a call all the time and more requests are in progress. They are counted when the recording ends. Where not all of them are in use, but calls at a time stay just below 1, 2 or 3 from second to second, they look limited to so many (HAProxy's `maxconn`), and the pool is *suspected*. Threads that sleep in futex inside of their requests, as many as have no call while all connections to the peer have one, wait for a connection and not for a lock (a pool of database connections in a Java service); of one connection alone this cannot be told from a lock around the call. Speaking against it: an idle thread or connection, or hardly more requests in progress than there are of them.\n\nQueueing theory calls this a multi-server station with all servers busy (Lazowska et al. 1984, Quantitative System Performance, chapter 5).",
    thresholds: &[POOL_FULL, COST, POOL_ROOM, AGREE],
    upstream: &[],
    wait: None,
    would_help: &[],
    would_not_help: Some(&["more clients"]),
    to_confirm: "run with twice as many in the pool: if throughput stays the same, this is wrong",
    judge,
};

fn judge(case: &Case<'_>) -> Judgement {
    let facts = case.facts;
    let target = case.seen()?;
    if let Some(finding) = behind_pooler(case) {
        return Ok(finding);
    }
    let (pool, in_line) = waited_for(facts);
    if in_line < COST.value() {
        return absent(format!(
            "only {} of {} was in line behind threads of {} that waited for peers or slept",
            percent(in_line),
            facts.whole(),
            target.name
        ));
    }
    let Some((pool, in_progress)) = pool.zip(facts.in_flight()) else {
        return cannot_tell(why_unknown(facts, &target.name));
    };
    is_full(&pool, &target.name)?;
    // The time in line is known twice: as what is left beside the requests that are served, and from sockets.
    let beside = 1.0 - pool.held / in_progress;
    let agree = (in_line - beside).abs() <= AGREE.value();
    let queued = match agree {
        true => beside,
        false => beside.min(in_line),
    };
    if queued < COST.value() {
        return absent(format!(
            "{} requests were in progress at a time for {}: hardly any was in line for one",
            rate(in_progress),
            pool.in_words(&target.name)
        ));
    }
    let interval = interval(facts, &pool);
    let passes = interval.is_some_and(|it| it.low >= COST.value());
    let answer = serving::all_answer(facts.timeline, pool.loops(), facts.window);
    let confidence = match (passes && agree && answer, pool.is_inferred()) {
        (_, true) => Confidence::Suspected,
        (true, false) => Confidence::Measured,
        (false, false) => Confidence::Consistent,
    };
    Ok(Finding {
        share: Some(queued),
        share_interval: interval.filter(|_| agree),
        evidence: evidence_of(facts, target, &pool, in_progress),
        would_help: vec![bounds::without_wait(
            facts,
            queued,
            pool.larger().to_owned(),
        )],
        ..case.finding(
            &target.entity,
            confidence,
            sentence(facts, target, &pool, queued),
        )
    })
}

/// Why the pool is not full, where it is not.
fn is_full(pool: &Pool<'_>, target: &str) -> Result<(), NoFinding> {
    /// Connections are counted when the recording ends: a few may have come or gone.
    const MOST: f64 = 1.1;
    let part = pool.occupied;
    if !pool.is_full() {
        return absent(format!(
            "{} were in use for only {} of the time",
            pool.in_words(target),
            percent(part)
        ));
    }
    match part <= MOST {
        true => Ok(()),
        false => cannot_tell(format!(
            "{} at the end cannot have had {} calls at a time",
            pool.in_words(target),
            rate(pool.held)
        )),
    }
}

/// The pool, and the part of the response time in which requests were in line for one of it, at the sockets or in a
/// thread of their own.
fn waited_for<'a>(facts: &'a Facts<'_>) -> (Option<Pool<'a>>, f64) {
    let slept = facts.share(LedgerClass::Futex);
    let sleeping = Pool::of_sleeping_threads(facts).filter(|_| slept >= COST.value());
    if let Some(pool) = sleeping {
        return (Some(pool), in_line(facts) + slept);
    }
    if let Some((pool, behind_work)) = at_work(facts) {
        return (Some(pool), in_line(facts) + behind_work);
    }
    let pool = Pool::of(facts);
    let unseen = match &pool {
        Some(pool) if pool.is_of_connections() => before_connections(facts),
        _ => 0.0,
    };
    (pool, in_line(facts) + unseen)
}

/// Part of the response time that nobody accounts for, where how long requests took at the target's own sockets is not
/// known: an event loop that has read a request keeps it until a connection is free.
fn before_connections(facts: &Facts<'_>) -> f64 {
    match facts.knows_line() {
        true => 0.0,
        false => facts.unexplained(),
    }
}

/// Part of the response time in line at the target's sockets, behind threads that waited for peers, slept on a timer, or
/// did nothing that is known.
fn in_line(facts: &Facts<'_>) -> f64 {
    let behind = [LedgerClass::Remote, LedgerClass::Sleep].map(|it| facts.line.behind(it));
    unaccounted(facts) + behind.iter().sum::<f64>()
}

/// Several threads that are all at work, with so much in line behind them, where CPUs have room for more. Of one thread
/// `cpu.single_thread` speaks.
fn at_work<'a>(facts: &'a Facts<'_>) -> Option<(Pool<'a>, f64)> {
    let pool = Pool::of_full_threads(facts).filter(|it| it.size > 1.0)?;
    let line = facts.line.behind(LedgerClass::OnCpu);
    let is_short = line >= COST.value() && facts.idle_cpus() >= POOL_ROOM.value();
    is_short.then_some((pool, line))
}

/// The part in line behind nothing that is known. What threads wait for input inside of requests, and no call accounts
/// for, is no time in line.
fn unaccounted(facts: &Facts<'_>) -> f64 {
    let whole_ns = facts.account.as_ref().map_or(0, |it| it.total_ns) as f64;
    let asked_ns = facts.workers.as_ref().map_or(0.0, |it| it.asked_ns);
    let called = facts.share(LedgerClass::Remote) - facts.line.behind(LedgerClass::Remote);
    let asked = (asked_ns / whole_ns.max(1.0) - called).max(0.0);
    (facts.beyond_wake_up(facts.line.left()) - asked).max(0.0)
}

fn why_unknown(facts: &Facts<'_>, name: &str) -> String {
    match facts.scene.answering {
        Answering::Others => format!(
            "the thread of {name} that reads a request is not the one that answers it, and how many \
             connections {name} has to a peer was not counted"
        ),
        Answering::Unknown | Answering::Itself => {
            format!("which threads of {name} were inside a request was not recorded")
        }
    }
}

fn sentence(facts: &Facts<'_>, target: &Subject, pool: &Pool<'_>, queued: f64) -> String {
    let (slot, in_use) = pool.use_in_words(facts, &target.name);
    format!(
        "A full pool is the bottleneck: {} of {} was in line for a {slot} of {}; {in_use}.",
        percent(queued),
        facts.whole(),
        target.name
    )
}

fn evidence_of(
    facts: &Facts<'_>,
    target: &Subject,
    pool: &Pool<'_>,
    in_progress: f64,
) -> Vec<Evidence> {
    let (columns, formula) = pool.formula(facts);
    let full = share(
        facts,
        "the pool in use",
        columns,
        &target.entity,
        pool.occupied,
        POOL_FULL.value(),
    );
    let queue = number(
        facts,
        ("requests in progress for each in the pool", "count"),
        "requests.timed_ns",
        &target.entity,
        in_progress / pool.size,
        1.0 / (1.0 - COST.value()),
    );
    vec![full.by(formula), queue.by(formula::in_progress(pool.size))]
}

/// The 95 % interval over the seconds of the window: what is left of the response time beside the requests that are
/// served.
fn interval(facts: &Facts<'_>, pool: &Pool<'_>) -> Option<Interval> {
    let bins = facts.slices.iter();
    let bins: Vec<(f64, f64)> = bins
        .map(|slice| {
            let held_ns = pool.held_ns(facts, slice.window);
            ((slice.total_ns - held_ns).max(0.0), slice.total_ns)
        })
        .collect();
    ratio_interval(&bins)
}

/// A pooler whose clients wait for a server connection, by its own account.
fn behind_pooler(case: &Case<'_>) -> Option<Finding> {
    let facts = case.facts;
    let pooler = facts
        .sessions
        .pooler
        .as_ref()
        .filter(|_| facts.signal.is_some())?;
    let whole_ns = facts.account.as_ref()?.total_ns as f64;
    // Response times that were taken behind the pooler hold no wait in it.
    let is_beside = is_behind(facts, pooler);
    let with_waits = |whole_ns: f64, waited_ns: f64| match is_beside {
        true => whole_ns + waited_ns,
        false => whole_ns,
    };
    let waited = pooler.waited_ns / with_waits(whole_ns, pooler.waited_ns).max(1.0);
    let waited = waited.min(1.0);
    if waited < COST.value() {
        return None;
    }
    let bins = facts.slices.iter().map(|slice| {
        let waited_ns = pooler.waited_ns_in(facts.timeline, slice.window);
        (waited_ns, with_waits(slice.total_ns, waited_ns))
    });
    let interval = ratio_interval(&bins.collect::<Vec<_>>());
    let occupied = pooler.occupied();
    let is_full = occupied >= POOL_FULL.value();
    let free = format!(
        "of its server connections {} were free on average",
        rate(pooler.idle)
    );
    let against: Vec<String> = (!is_full).then_some(free).into_iter().collect();
    let sentence = format!(
        "A full pool is the bottleneck: {} of {} was in line for a server connection of {}: {} clients waited at a time, and \
         {} of its connections were in use.",
        percent(waited),
        facts.whole(),
        pooler.entity.name,
        rate(pooler.waiting),
        percent(occupied)
    );
    let change = "a larger pool (default_pool_size), or shorter transactions".to_owned();
    let whole = match is_beside {
        true => formula::sum([Amount::Account, pooler.waited()]),
        false => Amount::Account,
    };
    Some(Finding {
        share: Some(waited),
        share_interval: interval,
        evidence: evidence_of_pooler(facts, pooler, waited, whole),
        would_help: vec![bounds::without_wait(facts, waited, change)],
        evidence_against: against.clone(),
        ..case.finding(
            &pooler.entity,
            confidence(interval, COST.value(), &against),
            sentence,
        )
    })
}

/// Whether the response times are those of a server behind the pooler.
fn is_behind(facts: &Facts<'_>, pooler: &Pooler) -> bool {
    let record = facts.timeline.entities.get(pooler.id);
    facts.at_sockets && record.is_none_or(|it| it.role != Role::Target)
}

fn evidence_of_pooler(
    facts: &Facts<'_>,
    pooler: &Pooler,
    waited: f64,
    whole: Amount,
) -> Vec<Evidence> {
    let entity = &pooler.entity;
    let what = "waiting for a server connection";
    let column = "pgbouncer.wait_time_ns";
    let in_line = share(facts, what, column, entity, waited, COST.value());
    let (what, column) = ("clients that wait, at a time", "pgbouncer.clients_waiting");
    let waiting = number(facts, (what, "count"), column, entity, pooler.waiting, 0.0);
    let (what, column) = ("server connections in use", "pgbouncer.servers_active");
    let in_use = share(
        facts,
        what,
        column,
        entity,
        pooler.occupied(),
        POOL_FULL.value(),
    );
    vec![
        in_line.by(formula::part(pooler.waited(), whole)),
        waiting.by(formula::alone(pooler.mean(&["clients_waiting"]))),
        in_use.by(formula::part(
            pooler.mean(&["servers_active"]),
            pooler.mean(&["servers_active", "servers_idle"]),
        )),
    ]
}
