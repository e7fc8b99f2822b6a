//! The disk gives as many operations or bytes per second as it ever will.

use model::{Confidence, Evidence, Finding, LedgerClass};

use super::cause::{Case, Cause, Judgement, Kind, NoFinding, Upstream, Wait, absent};
use super::evidence::{busiest_disk, mean_queue, share, waited};
use super::family::Family;
use crate::bounds;
use crate::io::Disk;
use crate::number_format::{percent, rate};
use crate::thresholds::{DISK_COST, Threshold};

pub(super) const QUEUE: Threshold =
    Threshold::new("queue", 4.0, "mean queue", "Operations in progress");
const FLAT: Threshold = Threshold::new(
    "flat",
    0.05,
    "standard deviation / mean",
    "How much operations or bytes per second vary",
);

pub(super) const CAUSE: Cause = Cause {
    name: "io.cap",
    help: "The disk gives as many operations or bytes per second as it ever will, whatever is asked of it.",
    about: "the disk",
    kind: Kind::Limit,
    family: Family::Storage,
    told_by: "Operations or bytes per second are flat from second to second while requests queue at the device: cloud volumes are sold by such a number, which is named. A disk that varies, or that has no queue, is io.latency. Where want of memory, cold caches or syncs explain most of the wait, they are said instead.",
    thresholds: &[QUEUE, FLAT, DISK_COST],
    upstream: &[
        Upstream::All("io.throttled"),
        Upstream::All("io.neighbour"),
        Upstream::All("memory.limit"),
        Upstream::All("memory.refault"),
        Upstream::All("memory.swap"),
        Upstream::Most("cache.cold"),
        Upstream::Most("io.sync"),
    ],
    wait: Some(Wait {
        classes: &LedgerClass::DISK,
        least: DISK_COST,
        doing: "waiting for a disk",
    }),
    would_help: &[],
    would_not_help: Some(&["more clients"]),
    to_confirm: "run with twice the clients: if the disk gives more, this is wrong",
    judge,
};

fn judge(case: &Case<'_>) -> Judgement {
    let facts = case.facts;
    let (target, held) = case.waited()?;
    let disk = busiest_disk(facts)?;
    let (what, varies) = flat(disk)?;
    let sentence = format!(
        "The disk is at its cap: {} gave {what}, flat, with {} in its queue, and {} of {} was {} waiting for it.",
        disk.entity.name,
        rate(disk.queue),
        percent(held.share),
        facts.whole(),
        target.name
    );
    let steady = share(
        facts,
        "variation from second to second",
        "disk.reads + writes",
        &disk.entity,
        varies,
        FLAT.value(),
    );
    Ok(Finding {
        evidence: vec![
            mean_queue(facts, disk, QUEUE.value()),
            // Here staying below the threshold is what counts.
            Evidence {
                passed: true,
                ..steady
            },
            waited(facts, "waiting for a disk", "thread.state", &held),
        ],
        would_help: vec![bounds::without_disk_wait(
            facts,
            &held,
            format!("a disk that gives more than {what}"),
        )],
        ..case.finding_of_wait(&held, &disk.entity, Confidence::Consistent, sentence)
    })
}

/// What a disk with a queue gave at a flat rate, in words, and how much that varied.
fn flat(disk: &Disk) -> Result<(String, f64), NoFinding> {
    if disk.queue < QUEUE.value() {
        return absent(format!(
            "{} had {} operations in progress on average",
            disk.entity.name,
            rate(disk.queue)
        ));
    }
    let (operations, bytes) = disk.varies;
    let flat = |varies: Option<f64>| varies.filter(|varies| *varies < FLAT.value());
    if let Some(varies) = flat(operations) {
        let what = format!("{} operations per second", rate(disk.operations));
        return Ok((what, varies));
    }
    if let Some(varies) = flat(bytes) {
        return Ok((format!("{} MB/s", rate(disk.bytes / 1e6)), varies));
    }
    let part = |varies: Option<f64>| varies.map_or("an unknown part".to_owned(), percent);
    absent(format!(
        "operations of {} varied by {} and bytes by {} from second to second",
        disk.entity.name,
        part(operations),
        part(bytes)
    ))
}
