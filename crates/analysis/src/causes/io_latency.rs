//! Every operation takes the disk long, and there are not many at a time.

use model::{Finding, LedgerClass};

use super::evidence::{self, DISK_ALONE, finding, number, of_wait, share, told_by};
use super::{Cause, Judgement, Kind, Waiting, explained_by, settled, waits};
use crate::bounds;
use crate::facts::Facts;
use crate::kernel_waits;
use crate::number_format::{duration, percent, rate};
use crate::thresholds::Thresholds;

pub(super) const CAUSE: Cause = Cause {
    name: "io.latency",
    help: "The target waits for the disk, each operation for as long as the disk needs.",
    about: "the disk",
    kind: Kind::Limit,
    told_by: "The target waits for a disk whose queue is short, so that more disks or deeper queues would not help, only faster answers. Operations in progress must bear out that a disk is what is waited for: threads in a network filesystem, or behind a lock of the kernel, look the same. What a limit, a neighbour, want of memory, or syncing explains is not said again.",
    judge,
};

const WAITS: [LedgerClass; 3] = [
    LedgerClass::ReadWrite,
    LedgerClass::PageFault,
    LedgerClass::Uninterruptible,
];

/// Who waits for a disk has an operation there, or shares one: with fewer than this for each waiting
/// thread they wait for something else, like a network filesystem, a limit, or a lock of the kernel.
const AT_LEAST: f64 = 0.1;

fn judge(facts: &Facts<'_>, thresholds: &Thresholds, found: &[Finding]) -> Judgement {
    let upstream = [
        "io.throttled",
        "io.neighbour",
        "io.cap",
        "memory.limit",
        "memory.refault",
        "memory.swap",
        "cache.cold",
    ];
    if let Some(judgement) = explained_by(found, &upstream) {
        return judgement;
    }
    let limits = &thresholds.io_latency;
    let waiting = Waiting {
        classes: &WAITS,
        part: 1.0,
        least: limits.cost,
        doing: "waiting for a disk",
    };
    settled(waits(facts, &waiting).map(|(target, held)| {
        let Some(disk) = facts.io.disks.first() else {
            return Judgement::CannotTell("no disk was seen doing anything".to_owned());
        };
        if disk.queue >= thresholds.io_cap.queue {
            return Judgement::Absent(format!(
                "{} had {} operations in progress on average, and no flat rate: it is busy rather than slow",
                disk.entity.name,
                rate(disk.queue)
            ));
        }
        let waiting = facts.at_a_time(held.share);
        let queues = facts.io.disks.iter().map(|disk| disk.queue);
        let queue = queues.fold(0.0, f64::max);
        if queue < waiting * AT_LEAST {
            return Judgement::CannotTell(format!(
                "{} threads of {} waited in the kernel at a time, and the disks had only {} operations in progress: \
                 they wait for something else, like a network filesystem, an I/O limit, or a lock of the kernel{}",
                rate(waiting),
                target.name,
                rate(queue),
                kernel_waits::in_words(&facts.kept, facts.floor)
                    .map_or(String::new(), |said| format!(" (of what it kept them, {said})")),
            ));
        }
        let each = disk.each_ns.map_or("an unknown time".to_owned(), duration);
        let sentence = format!(
            "The disk is the bottleneck: {} took {each} per operation, and {} of {} was {} waiting for it.",
            disk.entity.name,
            percent(held.share),
            facts.whole(),
            target.name
        );
        let mut evidence = vec![
            share(facts, "waiting for a disk", &told_by(facts, &WAITS, "thread.state"), &target.entity, held.share, held.least),
            number(facts, ("time of an operation", "ns"), "disk.queue_ns", &disk.entity, disk.each_ns.unwrap_or(0.0), 0.0),
            number(facts, ("mean queue", "count"), "disk.queue_ns", &disk.entity, disk.queue, 0.0),
        ];
        evidence.extend(evidence::kept(facts, &target.entity));
        Judgement::Present(Box::new(Finding {
            share: Some(held.share),
            share_interval: held.interval,
            evidence,
            would_help: vec![
                bounds::without_wait(facts, held.share, "a disk that answers faster".to_owned()),
                bounds::without_wait(facts, held.share, "what is read kept in memory".to_owned()),
            ],
            would_not_help: bounds::useless(facts, &[]),
            to_confirm: "run again on data that fit in memory: if throughput stays the same, this is wrong".to_owned(),
            ..finding(CAUSE.name, &disk.entity, of_wait(facts, &DISK_ALONE, held.least, &[]), sentence)
        }))
    }))
}
