//! Somebody else holds the disk that the target waits for.

use model::{Amount, Confidence, EntityKind, Finding, Formula, Interval, LedgerClass, Role, Whose};

use super::cause::{Case, Cause, Judgement, Kind, NoFinding, Upstream, Wait, absent, cannot_tell};
use super::evidence::{busiest_disk, disk_busy, share, waited};
use super::family::Family;
use crate::bounds::{self, Removed};
use crate::facts::Facts;
use crate::formula;
use crate::io::{Disk, Others};
use crate::number_format::{percent, rate};
use crate::thresholds::{DISK_COST, Threshold};

const MOVED: Threshold = Threshold::share(
    "moved",
    0.50,
    "Part of the device's bytes that the culprit moved",
);
const BUSY: Threshold = Threshold::share("busy", 0.50, "Part of the time that the device was busy");

pub(super) const CAUSE: Cause = Cause {
    name: "io.neighbour",
    help: "Somebody else holds the disk that the target waits for.",
    about: "the culprit: a control group, or a process",
    kind: Kind::Limit,
    family: Family::Storage,
    told_by: "Another process or group moved most of the bytes of a busy disk (/proc/PID/io, which root may read) while the target waited for a disk. Which disk that is says the target's control group; what the target itself moved there cannot have been the neighbour. A neighbour whose I/O costs the target nothing is ruled out, however high the pressure.",
    thresholds: &[MOVED, BUSY, DISK_COST],
    upstream: &[Upstream::All("io.throttled"), Upstream::All("memory.limit")],
    wait: Some(Wait {
        classes: &LedgerClass::DISK,
        least: DISK_COST,
        doing: "waiting for a disk",
    }),
    would_help: &[],
    would_not_help: Some(&["more clients"]),
    to_confirm: "",
    judge,
};

fn judge(case: &Case<'_>) -> Judgement {
    let facts = case.facts;
    let (target, held) = case.waited()?;
    let disk = busiest_disk(facts)?;
    let (others, part) = moved_most(facts, disk)?;
    let who = &others.most;
    let name = match who.kind {
        EntityKind::Cgroup => &who.path,
        _ => &who.name,
    };
    let sentence = format!(
        "A neighbour holds the disk: {} {name} moved {} of its bytes ({} MB/s), and {} of {} was {} waiting for a disk.",
        who.kind,
        percent(part),
        rate(others.most_bytes / 1e6),
        percent(held.share),
        facts.whole(),
        target.name
    );
    let cost = held.share * part;
    let interval = held.interval.map(|interval| Interval {
        low: interval.low * part,
        high: interval.high * part,
    });
    let change = format!("{name} on another disk, or with an I/O limit");
    let column = "process.read_bytes + write_bytes";
    // Alone the target still waits for its own operation, which is one of those that are in progress now.
    let of_others = 1.0 - 1.0 / disk.queue.max(1.0);
    Ok(Finding {
        share: Some(cost),
        share_interval: interval,
        evidence: vec![
            share(
                facts,
                "bytes moved by this neighbour",
                column,
                who,
                part,
                MOVED.value(),
            )
            .by(moved(facts, disk, others)),
            disk_busy(facts, disk, BUSY.value()),
            waited(facts, "waiting for a disk", "thread.state", &held),
        ],
        would_help: vec![bounds::without_disk_wait(
            facts,
            Removed::from(&held).part(part).with_least_part(of_others),
            change,
        )],
        to_confirm: format!("stop {name} for 10 s: if throughput stays the same, this is wrong"),
        ..case.finding(who, Confidence::Consistent, sentence)
    })
}

/// How that part is worked out.
fn moved(facts: &Facts<'_>, disk: &Disk, others: &Others) -> Formula {
    let bytes = ["read_bytes", "write_bytes"];
    let of = |whose| formula::growth("process", &bytes, whose);
    let whose = match others.most.kind {
        EntityKind::Cgroup => Whose::Under { id: others.most_id },
        _ => formula::one(others.most_id),
    };
    let seconds = formula::product([formula::number(1e-9), Amount::Time]);
    let rate = formula::rate("disk", &bytes, formula::one(disk.id));
    let disk = formula::product([rate, seconds]);
    let background = of(formula::role(Role::Background));
    if facts.io.target_bytes.is_none() {
        let all = formula::most([background, disk]);
        return formula::part(of(whose), all);
    }
    let own = of(formula::role(Role::Target));
    let all = formula::sum([background, own.clone()]);
    let all = formula::most([all, disk.clone()]);
    let room = formula::ratio(formula::rest(disk.clone(), own), disk);
    let part = formula::ratio(of(whose), all);
    formula::alone(formula::least([part, room]))
}

/// The others, and the part of a busy disk's bytes that the one of them moved which moved most.
fn moved_most<'a>(facts: &'a Facts<'_>, disk: &Disk) -> Result<(&'a Others, f64), NoFinding> {
    let name = &disk.entity.name;
    if disk.busy < BUSY.value() {
        let busy = percent(disk.busy);
        return absent(format!("{name} was busy for {busy} of the time"));
    }
    let Some(others) = &facts.io.others else {
        return cannot_tell("who moves how many bytes may be seen by root only");
    };
    let moved = others.bytes + facts.io.target_bytes.unwrap_or(0.0);
    // Others' bytes may go to other disks: on this one there is room for what the target left.
    let room = facts
        .io
        .target_bytes
        .map_or(1.0, |own| (1.0 - own / disk.bytes.max(1.0)).max(0.0));
    let part = (others.most_bytes / moved.max(disk.bytes).max(1.0)).min(room);
    if part < MOVED.value() {
        return absent(format!(
            "{}, which moved most of all others, moved at most {} of the bytes of {name}",
            others.most.name,
            percent(part)
        ));
    }
    Ok((others, part))
}
