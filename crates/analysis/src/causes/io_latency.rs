//! Every operation takes the disk long, and there are not many at a time.

use model::{Evidence, Finding, LedgerClass};
use sensors::kernel_wait::IoIntent;

use super::cause::{Case, Cause, Judgement, Kind, NoFinding, Upstream, Wait, absent, cannot_tell};
use super::evidence::{self, DISK_ALONE, Held, busiest_disk, number, of_wait, told_by, waited};
use super::family::Family;
use super::io_cap;
use crate::facts::Facts;
use crate::formula;
use crate::io::Disk;
use crate::kernel_waits;
use crate::number_format::{duration, percent, rate};
use crate::subject::Subject;
use crate::thresholds::DISK_COST;

pub(super) const CAUSE: Cause = Cause {
    name: "io.latency",
    help: "The target waits for the disk, each operation for as long as the disk needs.",
    about: "the disk",
    kind: Kind::Limit,
    family: Family::Storage,
    told_by: "The target waits for a disk whose queue is short, so that more disks or deeper queues would not help, only faster answers. Operations in progress must bear out that a disk is what is waited for: threads in a network filesystem, or behind a lock of the kernel, look the same. What a limit, a neighbour, want of memory, or syncing explains is not said again.",
    thresholds: &[DISK_COST],
    upstream: &[
        Upstream::All("io.throttled"),
        Upstream::All("io.neighbour"),
        Upstream::All("io.cap"),
        Upstream::All("memory.limit"),
        Upstream::All("memory.refault"),
        Upstream::All("memory.swap"),
        Upstream::All("cache.cold"),
    ],
    wait: Some(Wait {
        classes: &WAITS,
        least: DISK_COST,
        doing: "waiting for a disk",
    }),
    would_help: &["a disk that answers faster", "what is read kept in memory"],
    would_not_help: Some(&[]),
    to_confirm: "run again on data that fit in memory: if throughput stays the same, this is wrong",
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

fn judge(case: &Case<'_>) -> Judgement {
    let facts = case.facts;
    let (target, held) = case.waited()?;
    let disk = busiest_disk(facts)?;
    if disk.queue >= io_cap::QUEUE.value() {
        return absent(format!(
            "{} had {} operations in progress on average, and no flat rate: it is busy rather than slow",
            disk.entity.name,
            rate(disk.queue)
        ));
    }
    borne_out(facts, target, &held)?;
    let each = disk.each_ns.map_or("an unknown time".to_owned(), duration);
    let sentence = format!(
        "The disk is the bottleneck: {} took {each} per operation, and {} of {} was {} waiting for it.",
        disk.entity.name,
        percent(held.share),
        facts.whole(),
        target.name
    );
    let confidence = of_wait(facts, &DISK_ALONE, held.least, &[]);
    Ok(Finding {
        evidence: evidence_of(facts, target, disk, &held),
        ..case.finding_of_wait(&held, &disk.entity, confidence, sentence)
    })
}

/// Whether the disks had enough to do for the threads that waited in the kernel to wait for them.
fn borne_out(facts: &Facts<'_>, target: &Subject, held: &Held) -> Result<(), NoFinding> {
    let waiting = facts.at_a_time(held.share);
    let queues = facts.io.disks.iter().map(|disk| disk.queue);
    let queue = queues.fold(0.0, f64::max);
    if queue >= waiting * AT_LEAST {
        return Ok(());
    }
    cannot_tell(format!(
        "{} threads of {} waited in the kernel at a time, and the disks had only {} operations in progress: \
         they wait for something else, like a network filesystem, an I/O limit, or a lock of the kernel{}",
        rate(waiting),
        target.name,
        rate(queue),
        kernel_waits::in_words(&facts.kept, facts.floor).map_or(String::new(), |said| format!(
            " (of what it kept them, {said})"
        )),
    ))
}

fn evidence_of(facts: &Facts<'_>, target: &Subject, disk: &Disk, held: &Held) -> Vec<Evidence> {
    let of_disk = |columns| formula::rate("disk", columns, formula::one(disk.id));
    let mut evidence = vec![
        waited(
            facts,
            "waiting for a disk",
            &told_by(facts, &WAITS, "thread.state"),
            held,
        ),
        number(
            facts,
            ("time of an operation", "ns"),
            "disk.queue_ns",
            &disk.entity,
            disk.each_ns.unwrap_or(0.0),
            0.0,
        )
        .by(formula::part(
            of_disk(&["queue_ns"]),
            of_disk(&["reads", "writes", "discards", "flushes"]),
        )),
        evidence::mean_queue(facts, disk, 0.0),
    ];
    evidence.extend(evidence::files(facts, IoIntent::ReadWrite));
    evidence.extend(evidence::kept(facts, &target.entity));
    evidence
}
