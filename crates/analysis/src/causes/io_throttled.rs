//! A limit on I/O, of the target's control group or of one above it, holds requests back.

use model::{Finding, LedgerClass};

use super::evidence::{DISK_ALONE, finding, kept, of_wait, share, told_by};
use super::{Cause, Judgement, Kind, Waiting, settled, waits};
use crate::bounds;
use crate::facts::Facts;
use crate::io::Limit;
use crate::number_format::{percent, rate};
use crate::thresholds::Thresholds;

pub(super) const CAUSE: Cause = Cause {
    name: "io.throttled",
    help: "A limit on I/O, of the target's control group or of one above it, holds its reads or writes back.",
    about: "the control group with the limit",
    kind: Kind::Limit,
    told_by: "The group moved nearly as much as its limit allows (`io.max`, or `blkio.throttle.*` of v1), and the target waited for a disk. Requests that are held back never reach the device: /proc/diskstats shows a fast and idle disk meanwhile, which is what tells this from io.latency and io.cap.",
    judge,
};

const WAITS: [LedgerClass; LedgerClass::DISK.len()] = LedgerClass::DISK;

fn judge(facts: &Facts<'_>, thresholds: &Thresholds, _found: &[Finding]) -> Judgement {
    let limits = &thresholds.io_throttled;
    let waiting = Waiting {
        classes: &WAITS,
        part: 1.0,
        least: limits.cost,
        doing: "waiting for a disk",
    };
    settled(waits(facts, &waiting).map(|(target, held)| {
        let Some(limit) = &facts.io.limit else {
            if !facts.io.groups_seen {
                return Judgement::CannotTell(format!(
                    "what the control groups of {} did to disks, and may do, was not recorded",
                    target.name
                ));
            }
            return Judgement::Absent(format!("no control group of {} has an I/O limit", target.name));
        };
        let fullness = limit.fullness();
        if fullness < limits.full {
            return Judgement::Absent(format!(
                "{} used {} of the {} that it is allowed",
                limit.group.name,
                percent(fullness),
                allowed(limit)
            ));
        }
        let sentence = format!(
            "An I/O limit is the bottleneck: {} used {} of the {} that it is allowed, and {} of {} was {} waiting for a disk.",
            limit.group.path,
            percent(fullness),
            allowed(limit),
            percent(held.share),
            facts.whole(),
            target.name
        );
        let mut evidence = vec![
            share(facts, "I/O limit used", &format!("cgroup_io.{}", limit.column), &limit.group, fullness, limits.full),
            share(facts, "waiting for a disk", &told_by(facts, &WAITS, "thread.state"), &target.entity, held.share, held.least),
        ];
        evidence.extend(kept(facts, &target.entity));
        Judgement::Present(Box::new(Finding {
            share: Some(held.share),
            share_interval: held.interval,
            evidence,
            would_help: vec![bounds::without_wait(facts, held.share, format!("a higher limit for {}", limit.group.name))],
            would_not_help: bounds::useless(facts, &["a faster disk with the same limit"]),
            to_confirm: format!("double the limit of {}: if throughput stays the same, this is wrong", limit.group.path),
            ..finding(CAUSE.name, &limit.group, of_wait(facts, &DISK_ALONE, held.least, &[]), sentence)
        }))
    }))
}

/// `2,000 reads per second`, `8.0 MB of read bytes per second`.
fn allowed(limit: &Limit) -> String {
    if limit.of.ends_with("bytes") {
        format!("{} MB/s of {}", rate(limit.allowed / 1e6), limit.of)
    } else {
        format!("{} {} per second", rate(limit.allowed), limit.of)
    }
}
