//! The disk gives as many operations or bytes per second as it ever will.

use model::{Confidence, Finding, LedgerClass};

use super::evidence::{finding, number, share};
use super::{Cause, Judgement, Kind, Waiting, explained_by, mostly_explained_by, settled, waits};
use crate::bounds;
use crate::facts::Facts;
use crate::number_format::{percent, rate};
use crate::thresholds::Thresholds;

pub(super) const CAUSE: Cause = Cause {
    name: "io.cap",
    help: "The disk gives as many operations or bytes per second as it ever will, whatever is asked of it.",
    about: "the disk",
    kind: Kind::Limit,
    told_by: "Operations or bytes per second are flat from second to second while requests queue at the device: cloud volumes are sold by such a number, which is named. A disk that varies, or that has no queue, is io.latency. Where want of memory, cold caches or syncs explain most of the wait, they are said instead.",
    judge,
};

const WAITS: [LedgerClass; LedgerClass::DISK.len()] = LedgerClass::DISK;

fn judge(facts: &Facts<'_>, thresholds: &Thresholds, found: &[Finding]) -> Judgement {
    if let Some(judgement) = explained_by(
        found,
        &[
            "io.throttled",
            "io.neighbour",
            "memory.limit",
            "memory.refault",
            "memory.swap",
        ],
    ) {
        return judgement;
    }
    let limits = &thresholds.io_cap;
    let waiting = Waiting {
        classes: &WAITS,
        part: 1.0,
        least: limits.cost,
        doing: "waiting for a disk",
    };
    let upstream = [
        "memory.limit",
        "memory.refault",
        "memory.swap",
        "cache.cold",
        "io.sync",
    ];
    settled(waits(facts, &waiting).map(|(target, held)| {
        if let Some(judgement) = mostly_explained_by(found, &upstream, held.share) {
            return judgement;
        }
        let Some(disk) = facts.io.disks.first() else {
            return Judgement::CannotTell("no disk was seen doing anything".to_owned());
        };
        if disk.queue < limits.queue {
            return Judgement::Absent(format!("{} had {} operations in progress on average", disk.entity.name, rate(disk.queue)));
        }
        let (operations, bytes) = disk.varies;
        let flat = |varies: Option<f64>| varies.filter(|varies| *varies < limits.flat);
        let (what, varies) = match (flat(operations), flat(bytes)) {
            (Some(varies), _) => (format!("{} operations per second", rate(disk.operations)), varies),
            (None, Some(varies)) => (format!("{} MB/s", rate(disk.bytes / 1e6)), varies),
            (None, None) => {
                return Judgement::Absent(format!(
                    "operations of {} varied by {} and bytes by {} from second to second",
                    disk.entity.name,
                    operations.map_or("an unknown part".to_owned(), percent),
                    bytes.map_or("an unknown part".to_owned(), percent)
                ));
            }
        };
        let sentence = format!(
            "The disk is at its cap: {} gave {what}, flat, with {} in its queue, and {} of {} was {} waiting for it.",
            disk.entity.name,
            rate(disk.queue),
            percent(held.share),
            facts.whole(),
            target.name
        );
        Judgement::Present(Box::new(Finding {
            share: Some(held.share),
            share_interval: held.interval,
            evidence: vec![
                number(facts, ("mean queue", "count"), "disk.queue_ns", &disk.entity, disk.queue, limits.queue),
                model::Evidence {
                    passed: true,
                    ..share(facts, "variation from second to second", "disk.reads + writes", &disk.entity, varies, limits.flat)
                },
                share(facts, "waiting for a disk", "thread.state", &target.entity, held.share, held.least),
            ],
            would_help: vec![bounds::without_wait(facts, held.share, format!("a disk that gives more than {what}"))],
            would_not_help: bounds::useless(facts, &["more clients"]),
            to_confirm: "run with twice the clients: if the disk gives more, this is wrong".to_owned(),
            ..finding(CAUSE.name, &disk.entity, Confidence::Consistent, sentence)
        }))
    }))
}
