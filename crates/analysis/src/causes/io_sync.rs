//! The target waits for its writes to be made safe: fsync and its family.

use model::{Evidence, Finding, LedgerClass};
use sensors::kernel_wait::IoIntent;

use super::cause::{Case, Cause, Judgement, Kind, NoFinding, Upstream, Wait, cannot_tell};
use super::evidence::{
    Held, at_file, at_place, disk_busy, files, kept, of_wait, share, told_by, waited,
};
use super::family::Family;
use super::formulas;
use super::imported::{self, limits};
use crate::bounds;
use crate::facts::Facts;
use crate::number_format::{duration, percent};
use crate::subject::Subject;
use crate::thresholds::{SYNCED, Threshold};

const COST: Threshold = Threshold::share(
    "cost",
    0.20,
    "Part of the response time in fsync, or waiting behind one",
);

const FEWER: &str = "fewer syncs: more work per commit, or commits that need not be safe at once";

pub(super) const CAUSE: Cause = Cause {
    name: "io.sync",
    help: "The target waits for its writes to be made safe: fsync and its family, or a crowd behind one thread that is in it.",
    about: "the target",
    kind: Kind::Limit,
    family: Family::Storage,
    told_by: "Threads of the target are met in fsync, fdatasync or msync. Databases that commit in groups have one thread there and the others in line for its lock: while somebody is in fsync, time in futex or in the database's internal locks is passed on to it, so that a crowd in futex behind one thread in fdatasync is disk and not a lock. Where programs in the kernel are allowed, it is passed on to what those did who ended the waits, behind however many locks, unless next to nothing is known of what they did but stand in the same line. PostgreSQL's own word (`LWLock:WALWrite`) says so directly. The file that most of the time in fsync was for is named, where the call's descriptor could be followed. Where too few threads were met there, that of the other waits for the disk is. A neighbour that moves most of the bytes of a busy disk makes syncs slow, and goes before it. In what sar or atop measured it is seen where somebody waited for I/O while the disk did small writes and hardly anything else.",
    thresholds: &[COST, SYNCED, limits::WAITED],
    upstream: &[
        Upstream::All("io.throttled"),
        Upstream::Most("io.neighbour"),
    ],
    wait: Some(WAIT),
    would_help: &[FEWER],
    would_not_help: Some(&[]),
    to_confirm: "",
    judge,
};

const WAIT: Wait = Wait {
    classes: &[LedgerClass::Sync, LedgerClass::SyncQueue],
    least: COST,
    doing: "waiting for a sync",
};
const IN_SYNC: Wait = Wait {
    classes: &[LedgerClass::Sync],
    ..WAIT
};

fn judge(case: &Case<'_>) -> Judgement {
    let facts = case.facts;
    if imported::is_imported(facts) {
        return limits::io_sync(case);
    }
    let (target, held, wait) = how_it_waited(case)?;
    let behind = facts.share(LedgerClass::SyncQueue);
    let behind = behind.min(held.share - facts.share(LedgerClass::Sync));
    let crowd = if behind >= facts.floor {
        format!(" ({} behind another's)", percent(behind))
    } else {
        String::new()
    };
    let sentence = format!(
        "Syncing to disk is the bottleneck: {} of {} was {} waiting for fsync{}{crowd}{}.",
        percent(held.share),
        facts.whole(),
        target.name,
        at_file(facts, IoIntent::Sync),
        beside_syncs(facts)
    );
    let disk = facts.io.disks.first();
    let disk = disk.and_then(|disk| Some((&disk.entity.name, disk.each_ns?)));
    let disk = disk.map_or("a disk that syncs faster".to_owned(), |(name, ns)| {
        let each = duration(ns);
        format!("a disk that syncs faster than {name} (now {each} per operation)")
    });
    let would_help = vec![
        bounds::without_syncs(facts, &held, FEWER.to_owned()),
        bounds::without_disk_wait(facts, &held, disk),
    ];
    let confidence = of_wait(facts, wait.classes, held.least, &[]);
    Ok(Finding {
        evidence: evidence_of(facts, target, &held, &wait),
        would_help,
        to_confirm: format!(
            "let {} not sync for a minute (PostgreSQL: synchronous_commit = off): if throughput stays the same, this is wrong",
            target.name
        ),
        ..case.finding_of_wait(&held, &target.entity, confidence, sentence)
    })
}

/// Where too few threads were met in fsync to name its file, that of the other waits for the disk: what is written there is
/// what is synced next, or is synced as it is written.
fn beside_syncs(facts: &Facts<'_>) -> String {
    let (synced, others) = (
        at_file(facts, IoIntent::Sync),
        at_file(facts, IoIntent::ReadWrite),
    );
    match synced.is_empty() && !others.is_empty() {
        true => format!("; its other waits for the disk were reads and writes{others}"),
        false => String::new(),
    }
}

/// The target, and how steadily it waited. Threads without work are in futex as those behind a sync are: where some have
/// none, only those in the sync itself count.
fn how_it_waited<'a>(case: &Case<'a>) -> Result<(&'a Subject, Held, Wait), NoFinding> {
    let (target, held) = case.waited()?;
    if !case.facts.is_partly_idle() {
        return Ok((target, held, WAIT));
    }
    let in_sync = case.waited_in(&IN_SYNC, 1.0);
    let (target, held) = in_sync.or_else(|_| cannot_tell(format!(
        "a thread of {} was in fsync, and its others in futex for longer than requests took: some of them were idle there",
        target.name
    )))?;
    Ok((target, held, IN_SYNC))
}

fn evidence_of(facts: &Facts<'_>, target: &Subject, held: &Held, wait: &Wait) -> Vec<Evidence> {
    let ledger = &target.serving_ledger;
    let synced = (ledger.get(LedgerClass::Sync) / facts.window.len_ns().max(1) as f64).min(1.0);
    let mut evidence = vec![
        waited(
            facts,
            "in fsync, or behind one",
            &told_by(facts, wait.classes, "thread.syscall"),
            held,
        ),
        share(
            facts,
            "time with a thread in fsync",
            &told_by(facts, &[LedgerClass::Sync], "thread.syscall"),
            &target.entity,
            synced,
            0.0,
        )
        .by(formulas::at_a_time(facts, &[LedgerClass::Sync])),
    ];
    let place = facts.where_waited(wait.classes);
    evidence.extend(place.map(|place| at_place(facts, &place, &target.entity)));
    let synced = files(facts, IoIntent::Sync);
    evidence.extend(match synced.is_empty() {
        true => files(facts, IoIntent::ReadWrite),
        false => synced,
    });
    evidence.extend(kept(facts, &target.entity));
    if let Some(disk) = facts.io.disks.first() {
        evidence.push(disk_busy(facts, disk, 0.0));
    }
    evidence
}
