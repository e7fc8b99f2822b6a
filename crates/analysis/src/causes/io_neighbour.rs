//! Somebody else holds the disk that the target waits for.

use model::{Confidence, EntityKind, Finding, LedgerClass};

use super::evidence::{finding, share};
use super::{Cause, Judgement, Kind, Waiting, explained_by, settled, waits};
use crate::bounds;
use crate::facts::Facts;
use crate::number_format::{percent, rate};
use crate::thresholds::Thresholds;

pub(super) const CAUSE: Cause = Cause {
    name: "io.neighbour",
    help: "Somebody else holds the disk that the target waits for.",
    about: "the culprit: a control group, or a process",
    kind: Kind::Limit,
    told_by: "Another process or group moved most of the bytes of a busy disk (/proc/PID/io, which root may read) while the target waited for a disk. Which disk that is says the target's control group; what the target itself moved there cannot have been the neighbour. A neighbour whose I/O costs the target nothing is ruled out, however high the pressure.",
    judge,
};

const WAITS: [LedgerClass; LedgerClass::DISK.len()] = LedgerClass::DISK;

fn judge(facts: &Facts<'_>, thresholds: &Thresholds, found: &[Finding]) -> Judgement {
    if let Some(judgement) = explained_by(found, &["io.throttled", "memory.limit"]) {
        return judgement;
    }
    let limits = &thresholds.io_neighbour;
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
        if disk.busy < limits.busy {
            let busy = percent(disk.busy);
            return Judgement::Absent(format!("{} was busy for {busy} of the time", disk.entity.name));
        }
        let Some(others) = &facts.io.others else {
            return Judgement::CannotTell("who moves how many bytes may be seen by root only".to_owned());
        };
        let moved = others.bytes + facts.io.target_bytes.unwrap_or(0.0);
        // Others' bytes may go to other disks: on this one there is room for what the target left.
        let room = facts.io.target_bytes.map_or(1.0, |own| {
            (1.0 - own / disk.bytes.max(1.0)).max(0.0)
        });
        let part = (others.most_bytes / moved.max(disk.bytes).max(1.0)).min(room);
        let who = &others.most;
        if part < limits.moved {
            return Judgement::Absent(format!(
                "{}, which moved most of all others, moved at most {} of the bytes of {}",
                who.name,
                percent(part),
                disk.entity.name
            ));
        }
        let name = if who.kind == EntityKind::Cgroup { &who.path } else { &who.name };
        let sentence = format!(
            "A neighbour holds the disk: {} {name} moved {} of its bytes ({} MB/s), and {} of {} was {} waiting for a disk.",
            who.kind,
            percent(part),
            rate(others.most_bytes / 1e6),
            percent(held.share),
            facts.whole(),
            target.name
        );
        Judgement::Present(Box::new(Finding {
            share: Some(held.share * part),
            share_interval: held.interval.map(|interval| model::Interval {
                low: interval.low * part,
                high: interval.high * part,
            }),
            evidence: vec![
                share(facts, "bytes moved by this neighbour", "process.read_bytes + write_bytes", who, part, limits.moved),
                share(facts, "disk busy", "disk.busy_ns", &disk.entity, disk.busy, limits.busy),
                share(facts, "waiting for a disk", "thread.state", &target.entity, held.share, held.least),
            ],
            would_help: vec![bounds::without_wait(facts, held.share * part, format!("{name} on another disk, or with an I/O limit"))],
            would_not_help: bounds::useless(facts, &["more clients"]),
            to_confirm: format!("stop {name} for 10 s: if throughput stays the same, this is wrong"),
            ..finding(CAUSE.name, who, Confidence::Consistent, sentence)
        }))
    }))
}
