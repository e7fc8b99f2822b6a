//! The target waits for its writes to be made safe: fsync and its family.

use model::{Finding, LedgerClass};

use super::evidence::{finding, kept, of_wait, share, told_by};
use super::{Cause, Judgement, Kind, Waiting, explained_by, mostly_explained_by, settled, waits};
use crate::bounds;
use crate::facts::Facts;
use crate::number_format::{duration, percent};
use crate::thresholds::Thresholds;

pub(super) const CAUSE: Cause = Cause {
    name: "io.sync",
    help: "The target waits for its writes to be made safe: fsync and its family, or a crowd behind one thread that is in it.",
    about: "the target",
    kind: Kind::Limit,
    told_by: "Threads of the target are met in fsync, fdatasync or msync. Databases that commit in groups have one thread there and the others in line for its lock: while somebody is in fsync, time in futex or in the database's internal locks is passed on to it, so that a crowd in futex behind one thread in fdatasync is disk and not a lock. Where programs in the kernel are allowed, it is passed on to what those did who ended the waits, behind however many locks. PostgreSQL's own word (`LWLock:WALWrite`) says so directly. A neighbour that moves most of the bytes of a busy disk makes syncs slow, and goes before it.",
    judge,
};

const WAITS: [LedgerClass; 2] = [LedgerClass::Sync, LedgerClass::SyncQueue];

fn judge(facts: &Facts<'_>, thresholds: &Thresholds, found: &[Finding]) -> Judgement {
    if let Some(judgement) = explained_by(found, &["io.throttled"]) {
        return judgement;
    }
    let limits = &thresholds.io_sync;
    let waiting = Waiting {
        classes: &WAITS,
        part: 1.0,
        least: limits.cost,
        doing: "waiting for a sync",
    };
    settled(waits(facts, &waiting).map(|(target, held)| {
        if let Some(judgement) = mostly_explained_by(found, &["io.neighbour"], held.share) {
            return judgement;
        }
        let behind = facts.share(LedgerClass::SyncQueue).min(held.share);
        if facts.is_partly_idle(thresholds) && facts.share(LedgerClass::Sync) < held.least {
            return Judgement::CannotTell(format!(
                "a thread of {} was in fsync, and its others in futex for longer than requests took: some of them were idle there",
                target.name
            ));
        }
        let crowd = if behind >= thresholds.floors.share {
            format!(" ({} behind another's)", percent(behind))
        } else {
            String::new()
        };
        let sentence = format!(
            "Syncing to disk is the bottleneck: {} of {} was {} waiting for fsync{crowd}.",
            percent(held.share),
            facts.whole(),
            target.name
        );
        let ledger = &target.serving_ledger;
        let synced = (ledger.get(LedgerClass::Sync) / facts.window.len_ns().max(1) as f64).min(1.0);
        let mut evidence = vec![
            share(facts, "in fsync, or behind one", &told_by(facts, &WAITS, "thread.syscall"), &target.entity, held.share, held.least),
            share(facts, "time with a thread in fsync", &told_by(facts, &WAITS[..1], "thread.syscall"), &target.entity, synced, 0.0),
        ];
        evidence.extend(kept(facts, &target.entity));
        if let Some(disk) = facts.io.disks.first() {
            evidence.push(share(facts, "disk busy", "disk.busy_ns", &disk.entity, disk.busy, 0.0));
        }
        let each = facts.io.disks.first().and_then(|disk| disk.each_ns);
        let disk = each.map_or("a disk that syncs faster".to_owned(), |ns| {
            format!("a disk that syncs faster (now {} per operation)", duration(ns))
        });
        Judgement::Present(Box::new(Finding {
            share: Some(held.share),
            share_interval: held.interval,
            evidence,
            would_help: vec![
                bounds::without_wait(facts, held.share, disk),
                bounds::without_wait(facts, held.share, "fewer syncs: more work per commit, or commits that need not be safe at once".to_owned()),
            ],
            would_not_help: bounds::useless(facts, &[]),
            to_confirm: format!("let {} not sync for a minute (PostgreSQL: synchronous_commit = off): if throughput stays the same, this is wrong", target.name),
            ..finding(CAUSE.name, &target.entity, of_wait(facts, &WAITS, held.least, &[]), sentence)
        }))
    }))
}
