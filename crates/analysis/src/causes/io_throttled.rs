//! A limit on I/O, of the target's control group or of one above it, holds requests back.

use model::{Finding, LedgerClass, Reading};
use sensors::kernel_wait::IoIntent;

use super::cause::{Case, Cause, Judgement, Kind, NoFinding, Wait, absent, cannot_tell};
use super::evidence::{DISK_ALONE, files, kept, of_wait, share, told_by, waited};
use super::family::Family;
use super::imported::{self, limits};
use crate::bounds;
use crate::facts::Facts;
use crate::formula;
use crate::io::{self, Limit};
use crate::number_format::{percent, rate, storage};
use crate::subject::Subject;
use crate::thresholds::{FADES, FALLING, Threshold};

const FULL: Threshold = Threshold::share("full", 0.80, "Used part of the limit");
const COST: Threshold = Threshold::share(
    "cost",
    0.10,
    "Part of the response time spent waiting for a disk",
);

pub(super) const CAUSE: Cause = Cause {
    name: "io.throttled",
    help: "A limit on I/O, of the target's control group or of one above it, holds its reads or writes back.",
    about: "the control group with the limit",
    kind: Kind::Limit,
    family: Family::Storage,
    told_by: "The group moved nearly as much as its limit allows (`io.max`, or `blkio.throttle.*` of v1), and the target waited for a disk. Requests that are held back never reach the device: /proc/diskstats shows a fast and idle disk meanwhile, which is what tells this from io.latency and io.cap. In what sar or atop measured it is seen where somebody waited for I/O for longer than disks were busy, and the disk did an even number of operations. While caches fill a limit on reads only delays the end of them: where reads for each request fade by the factor below, cache.cold is named instead.",
    thresholds: &[FULL, COST, limits::WAITED, FADES, FALLING],
    upstream: &[],
    wait: Some(Wait {
        classes: &LedgerClass::DISK,
        least: COST,
        doing: "waiting for a disk",
    }),
    would_help: &[],
    would_not_help: Some(&["a faster disk with the same limit"]),
    to_confirm: "",
    judge,
};

fn judge(case: &Case<'_>) -> Judgement {
    let facts = case.facts;
    if imported::is_imported(facts) {
        return limits::io_limit(case);
    }
    let (target, held) = case.waited()?;
    let limit = used_up(facts, target)?;
    fades(facts, limit)?;
    let (group, used) = (&limit.group, limit.fullness());
    let sentence = format!(
        "An I/O limit is the bottleneck: {} used {} of the {} that it is allowed, and {} of {} was {} waiting for a disk.",
        group.path,
        percent(used),
        allowed(limit),
        percent(held.share),
        facts.whole(),
        target.name
    );
    let column = format!("cgroup_io.{}", limit.column);
    let waits = told_by(facts, &LedgerClass::DISK, "thread.state");
    let at_target = &target.entity;
    let of_part = formula::one(limit.part);
    let mut evidence = vec![
        share(facts, "I/O limit used", &column, group, used, FULL.value()).by(formula::part(
            formula::rate("cgroup_io", &[limit.column], of_part),
            formula::recorded(Reading::Last, "cgroup_io", &[limit.limit_column], of_part),
        )),
        waited(facts, "waiting for a disk", &waits, &held),
    ];
    evidence.extend(files(facts, IoIntent::ReadWrite));
    evidence.extend(kept(facts, at_target));
    let change = format!("a higher limit for {}", group.name);
    let confidence = of_wait(facts, &DISK_ALONE, held.least, &[]);
    Ok(Finding {
        evidence,
        would_help: vec![bounds::without_disk_wait(facts, &held, change)],
        to_confirm: format!(
            "double the limit of {}: if throughput stays the same, this is wrong",
            group.path
        ),
        ..case.finding_of_wait(&held, group, confidence, sentence)
    })
}

/// The limit that the target's group used up.
fn used_up<'a>(facts: &'a Facts<'_>, target: &Subject) -> Result<&'a Limit, NoFinding> {
    let Some(limit) = &facts.io.limit else {
        if !facts.io.groups_seen {
            return cannot_tell(format!(
                "what the control groups of {} did to disks, and may do, was not recorded",
                target.name
            ));
        }
        return absent(format!(
            "no control group of {} has an I/O limit",
            target.name
        ));
    };
    if limit.fullness() < FULL.value() {
        return absent(format!(
            "{} used {} of the {} that it is allowed",
            limit.group.name,
            percent(limit.fullness()),
            allowed(limit)
        ));
    }
    Ok(limit)
}

/// A limit on reads that caches make superfluous within the window is no bottleneck of its own.
fn fades(facts: &Facts<'_>, limit: &Limit) -> Result<(), NoFinding> {
    let is_read = ["read_bytes", "reads"].contains(&limit.column);
    let course = is_read
        .then(|| io::passes_by_itself(facts.scene, limit))
        .flatten();
    let amount = |value| match limit.of.ends_with("bytes") {
        true => storage(value),
        false => rate(value),
    };
    course.map_or(Ok(()), |course| {
        absent(format!(
            "{} used {} of the {} that it is allowed, and needs it less and less: its reads for each request fell from {} to {} within this window (cache.cold)",
            limit.group.name,
            percent(limit.fullness()),
            allowed(limit),
            amount(course.first),
            amount(course.last)
        ))
    })
}

/// `2,000 reads per second`, `8.0 MB of read bytes per second`.
fn allowed(limit: &Limit) -> String {
    if limit.of.ends_with("bytes") {
        format!("{} MB/s of {}", rate(limit.allowed / 1e6), limit.of)
    } else {
        format!("{} {} per second", rate(limit.allowed), limit.of)
    }
}
