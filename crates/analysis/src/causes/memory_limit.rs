//! The memory limit of the target's control group, or of one above it, is too small for what it works on.

use model::{Finding, LedgerClass};

use super::evidence::{finding, number, of_memory, share, told_by};
use super::{Cause, Judgement, Kind, Waiting, explained_by, settled, waits};
use crate::bounds;
use crate::facts::Facts;
use crate::memory::GroupMemory;
use crate::number_format::{memory, percent};
use crate::thresholds::Thresholds;

pub(super) const CAUSE: Cause = Cause {
    name: "memory.limit",
    help: "The memory limit of the target's control group, or of one above it, is too small for what it works on.",
    about: "the control group with the limit",
    kind: Kind::Limit,
    told_by: "The group is full (`memory.max` or `memory.high`, `memory.limit_in_bytes` of v1) and meets its limit again and again; the target reads from disk evicted pages to stay below it. Refaults decide: through mmap memory pressure shows little of it, while reads look like any other. Where little can be evicted, as of programs' own memory, the search for it is what costs: threads are met direct reclaim.\n\nA full group alone is no finding: page cache fills any limit, and costs nothing until it is missed.",
    judge,
};

const WAITS: [LedgerClass; 4] = [
    LedgerClass::Reclaim,
    LedgerClass::PageFault,
    LedgerClass::ReadWrite,
    LedgerClass::Uninterruptible,
];

fn judge(facts: &Facts<'_>, thresholds: &Thresholds, found: &[Finding]) -> Judgement {
    if let Some(judgement) = explained_by(found, &["io.throttled"]) {
        return judgement;
    }
    let limits = &thresholds.memory_limit;
    let groups = &facts.memory.groups;
    let full = groups
        .iter()
        .filter_map(|group| Some((group, group.fullness()?)))
        .filter(|(_, full)| *full >= limits.full);
    let meets = |(group, _): &(&GroupMemory, f64)| group.met.is_none_or(|met| met >= limits.met);
    let fullest = full.filter(meets).max_by(|a, b| a.1.total_cmp(&b.1));
    let Some((group, full)) = fullest else {
        return if facts.memory.groups_seen {
            Judgement::Absent("no control group of the target was at its memory limit".to_owned())
        } else {
            Judgement::CannotTell(
                "the memory of the target's control groups was not recorded".to_owned(),
            )
        };
    };
    let Some(met) = group.met else {
        return Judgement::CannotTell(format!(
            "{} was full, and how often it met its limit was not recorded",
            group.group.path
        ));
    };
    // Programs' own memory is not evicted: then the limit costs the search for something that is.
    let freeing = Waiting {
        classes: &[LedgerClass::Reclaim],
        part: 1.0,
        least: limits.cost,
        doing: "direct reclaim",
    };
    let again = again(facts, group);
    let reading = Waiting {
        classes: &WAITS,
        part: again.unwrap_or(0.0),
        least: limits.cost,
        doing: "reading again evicted pages",
    };
    let frees = facts.share(LedgerClass::Reclaim) > facts.share_of(&WAITS) * reading.part;
    let waiting = if frees { freeing } else { reading };
    if again.is_none() && !frees {
        return Judgement::CannotTell("how much was read again was not recorded".to_owned());
    }
    settled(waits(facts, &waiting).map(|(target, held)| {
        let doing = waiting.doing;
        let sentence = format!(
            "A memory limit is the bottleneck: {} filled {} of it, and {} of {} was {} {doing}.",
            group.group.path,
            percent(full),
            percent(held.share),
            facts.whole(),
            target.name
        );
        let now = group
            .limit
            .map_or(String::new(), |limit| format!(" (now {})", memory(limit)));
        Judgement::Present(Box::new(Finding {
            share: Some(held.share),
            share_interval: held.interval,
            evidence: vec![
                share(
                    facts,
                    "memory limit used",
                    "cgroup_memory.usage_bytes",
                    &group.group,
                    full,
                    limits.full,
                ),
                number(
                    facts,
                    ("limit met", "per_second"),
                    "cgroup_memory.limit_events",
                    &group.group,
                    met,
                    limits.met,
                ),
                share(
                    facts,
                    "reads that bring back what was evicted",
                    "cgroup_memory.refault_file",
                    &group.group,
                    again.unwrap_or(0.0),
                    0.0,
                ),
                share(
                    facts,
                    "waiting for memory or its reads",
                    &told_by(facts, waiting.classes, "thread.state"),
                    &target.entity,
                    held.share,
                    held.least,
                ),
            ],
            would_help: vec![bounds::without_wait(
                facts,
                held.share,
                format!("a higher memory limit for {}{now}", group.group.name),
            )],
            would_not_help: bounds::useless(
                facts,
                &["more memory in the machine with the same limit"],
            ),
            to_confirm: format!(
                "double the memory limit of {}: if throughput stays the same, this is wrong",
                group.group.path
            ),
            ..finding(
                CAUSE.name,
                &group.group,
                of_memory(facts, held.least),
                sentence,
            )
        }))
    }))
}

/// Part of the disk reads that the group had to do again: of the machine's, or more where the group
/// read most.
fn again(facts: &Facts<'_>, group: &GroupMemory) -> Option<f64> {
    // A compressed swap in memory reads no disk.
    let swapped = facts.memory.swapped_in.unwrap_or(0.0);
    let read = facts.memory.read.map(|read| read.max(swapped));
    let of_group = group.refaulted.zip(read);
    let own = of_group.map(|(again, read)| {
        if read > 0.0 {
            (again / read).min(1.0)
        } else {
            0.0
        }
    });
    own.or(facts.refaulted_part())
}
