//! The memory limit of the target's control group, or of one above it, is too small for what it works on.

use model::{Evidence, Finding, Formula, LedgerClass, Reading};

use super::cause::{Case, Cause, Judgement, Kind, NoFinding, Upstream, Wait, absent, cannot_tell};
use super::evidence::{number, of_memory, share, told_by, waited};
use super::family::Family;
use super::imported::{self, limits};
use crate::bounds;
use crate::facts::Facts;
use crate::formula;
use crate::memory::{self, GroupMemory};
use crate::number_format::{memory, percent};
use crate::thresholds::Threshold;

const FULL: Threshold = Threshold::share("full", 0.90, "Used part of the limit");
const MET: Threshold = Threshold::new("met", 1.0, "per second", "Times that the limit was met");
const COST: Threshold = Threshold::share(
    "cost",
    0.10,
    "Part of the response time that want of memory cost",
);

pub(super) const CAUSE: Cause = Cause {
    name: "memory.limit",
    help: "The memory limit of the target's control group, or of one above it, is too small for what it works on.",
    about: "the control group with the limit",
    kind: Kind::Limit,
    family: Family::Storage,
    told_by: "The group is full (`memory.max` or `memory.high`, `memory.limit_in_bytes` of v1) and meets its limit again and again; the target reads from disk evicted pages to stay below it. Refaults decide: through mmap memory pressure shows little of it, while reads look like any other. Where little can be evicted, as of programs' own memory, the search for it is what costs: threads are met direct reclaim.\n\nA full group alone is no finding: page cache fills any limit, and costs nothing until it is missed. In what sar or atop measured it is seen where somebody waited for memory while much was unused and the machine freed none.",
    thresholds: &[FULL, MET, COST, limits::MEMORY_WAITED],
    upstream: &[Upstream::All("io.throttled")],
    wait: Some(READING),
    would_help: &[],
    would_not_help: Some(&["more memory in the machine with the same limit"]),
    to_confirm: "",
    judge,
};

/// Why its gain is not known.
const UNCOUNTED: &str = "CPU time that reclaim takes goes too, and is not counted apart";

const READING: Wait = Wait {
    classes: &[
        LedgerClass::Reclaim,
        LedgerClass::PageFault,
        LedgerClass::ReadWrite,
        LedgerClass::Uninterruptible,
    ],
    least: COST,
    doing: "reading again evicted pages",
};
/// Programs' own memory is not evicted: then the limit costs the search for something that is.
const FREEING: Wait = Wait {
    classes: &[LedgerClass::Reclaim],
    least: COST,
    doing: "direct reclaim",
};

/// A group at its limit.
struct Full<'a> {
    group: &'a GroupMemory,
    /// Used part of the limit.
    used: f64,
    /// How often it met the limit, per second.
    met: f64,
    /// Part of the disk reads that it had to do again.
    again: Option<(f64, Formula)>,
}

fn judge(case: &Case<'_>) -> Judgement {
    let facts = case.facts;
    if imported::is_imported(facts) {
        return limits::memory_limit(case);
    }
    let full = fullest(facts)?;
    let again = full.again.as_ref().map_or(0.0, |(part, _)| *part);
    let reading = facts.share_of(READING.classes) * again;
    let (wait, part) = match facts.share(LedgerClass::Reclaim) > reading {
        true => (FREEING, 1.0),
        false if full.again.is_none() => {
            return cannot_tell("how much was read again was not recorded");
        }
        false => (READING, again),
    };
    let (target, held) = case.waited_in(&wait, part)?;
    let group = &full.group.group;
    let sentence = format!(
        "A memory limit is the bottleneck: {} filled {} of it, and {} of {} was {} {}.",
        group.path,
        percent(full.used),
        percent(held.share),
        facts.whole(),
        target.name,
        wait.doing
    );
    let now = full.group.limit;
    let now = now.map_or(String::new(), |limit| format!(" (now {})", memory(limit)));
    let change = format!("a higher memory limit for {}{now}", group.name);
    let mut evidence = evidence_of(facts, &full);
    evidence.push(waited(
        facts,
        "waiting for memory or its reads",
        &told_by(facts, wait.classes, "thread.state"),
        &held,
    ));
    Ok(Finding {
        evidence,
        would_help: vec![bounds::not_known(change, UNCOUNTED)],
        to_confirm: format!(
            "double the memory limit of {}: if throughput stays the same, this is wrong",
            group.path
        ),
        ..case.finding_of_wait(&held, group, of_memory(facts, held.least), sentence)
    })
}

/// The group of the target that is closest to its limit, and at it.
fn fullest<'a>(facts: &'a Facts<'_>) -> Result<Full<'a>, NoFinding> {
    let groups = facts.memory.groups.iter();
    let full = groups
        .filter_map(|group| Some((group, group.fullness()?)))
        .filter(|(_, used)| *used >= FULL.value())
        .filter(|(group, _)| group.met.is_none_or(|met| met >= MET.value()));
    let Some((group, used)) = full.max_by(|a, b| a.1.total_cmp(&b.1)) else {
        return if facts.memory.groups_seen {
            absent("no control group of the target was at its memory limit")
        } else {
            cannot_tell("the memory of the target's control groups was not recorded")
        };
    };
    let Some(met) = group.met else {
        return cannot_tell(format!(
            "{} was full, and how often it met its limit was not recorded",
            group.group.path
        ));
    };
    let again = again(facts, group);
    Ok(Full {
        group,
        used,
        met,
        again,
    })
}

fn evidence_of(facts: &Facts<'_>, full: &Full<'_>) -> Vec<Evidence> {
    let group = &full.group.group;
    let whose = formula::one(full.group.id);
    let bytes = |reading, column| formula::recorded(reading, "cgroup_memory", &[column], whose);
    let limits = full.group.limit_columns.iter();
    let limits = limits.map(|column| bytes(Reading::Last, column));
    let limit = formula::least(limits.collect::<Vec<_>>());
    let again = share(
        facts,
        "reads that bring back what was evicted",
        "cgroup_memory.refault_file",
        group,
        full.again.as_ref().map_or(0.0, |(part, _)| *part),
        0.0,
    );
    vec![
        share(
            facts,
            "memory limit used",
            "cgroup_memory.usage_bytes",
            group,
            full.used,
            FULL.value(),
        )
        .by(formula::part(bytes(Reading::Mean, "usage_bytes"), limit)),
        number(
            facts,
            ("limit met", "per_second"),
            "cgroup_memory.limit_events",
            group,
            full.met,
            MET.value(),
        )
        .by(formula::alone(formula::rate(
            "cgroup_memory",
            &["limit_events", "high_events"],
            whose,
        ))),
        Evidence {
            formula: full.again.as_ref().map(|(_, formula)| formula.clone()),
            ..again
        },
    ]
}

/// Part of the disk reads that the group had to do again: of the machine's, or more where the group
/// read most.
fn again(facts: &Facts<'_>, group: &GroupMemory) -> Option<(f64, Formula)> {
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
    let own = own.map(|part| (part, memory::refaulted_part_of(group.id)));
    own.or_else(|| Some((facts.refaulted_part()?, memory::refaulted_part())))
}
