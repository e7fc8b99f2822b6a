//! What another tool's measurements of a machine say about its bottleneck, though not who waited.
//!
//! Whoever waits for a CPU waits behind somebody who has it, and whoever waits for a disk waits for one that works. Where the
//! kernel says that somebody waited (/proc/pressure; kernel.org, Documentation/accounting/psi.rst) for longer than anything
//! of the kind was busy, a limit kept it from them. These are differences of times within each interval of the source, so
//! they hold whoever it was; but no witness of another kind is there, and none is more than *consistent*.

use model::{Confidence, Evidence, Finding};

use super::super::cause::{Case, Judgement, absent, cannot_tell};
use super::super::evidence::{machine, share};
use super::RECORD_IT;
use super::waits::{Waits, busy_cpus, busy_disks, freed, syncing, unused};
use crate::bounds;
use crate::facts::Facts;
use crate::formula;
use crate::number_format::{percent, rate, storage};
use crate::stats::ratio;
use crate::thresholds::Threshold;

/// Below this nobody's bottleneck is looked for.
pub(in super::super) const WAITED: Threshold = Threshold::share(
    "imported_wait",
    0.10,
    "Of an import: part of the time in which somebody waited so",
);
/// Pages that are brought back soon after they were evicted come from a fast disk at little pressure.
pub(in super::super) const MEMORY_WAITED: Threshold = Threshold::share(
    "imported_memory",
    0.05,
    "Of an import: part of the time in which somebody waited for memory",
);
/// Syncs are what is waited for when they hold this part of all waits for I/O.
const MOST: f64 = 0.7;
/// Memory that nobody uses, bytes: far above the kernel's watermarks, below which it frees some.
const UNUSED: f64 = 1e9;

const CPU: &str = "cpu_some_ns";
const IO: &str = "io_some_ns";
const MEMORY: &str = "memory_some_ns";

/// A wait for a CPU while none was busy: only a quota makes somebody wait then.
pub(in super::super) fn cpu_quota(case: &Case<'_>) -> Judgement {
    let facts = case.facts;
    let waits = Waits::of(facts, CPU, |window| busy_cpus(facts, window))?;
    let (waited, for_nothing) = (percent(waits.waited), percent(waits.for_nothing));
    if waits.for_nothing < WAITED.value() {
        return absent(format!(
            "somebody waited for a CPU {waited} of the time, hardly longer than CPUs were busy"
        ));
    }
    Ok(Finding {
        evidence: for_nothing_evidence(facts, &waits, CPU, ["a CPU", "none"]),
        ..finding(
            case,
            waits.for_nothing,
            Words {
                sentence: format!(
                    "A CPU quota is the bottleneck: somebody waited for a CPU {waited} of the time, at least {for_nothing} while no CPU was busy, as only a quota makes them."
                ),
                would_help: vec!["a higher quota for the group that is throttled".to_owned()],
                to_confirm: "see which group's nr_throttled grows: grep -rs nr_throttled /sys/fs/cgroup --include=cpu.stat",
            },
        )
    })
}

/// A wait for I/O while no disk was busy, with operations as even as a limit makes them.
pub(in super::super) fn io_limit(case: &Case<'_>) -> Judgement {
    let facts = case.facts;
    let waits = Waits::of(facts, IO, |window| busy_disks(facts, window))?;
    let (waited, for_nothing) = (percent(waits.waited), percent(waits.for_nothing));
    if waits.for_nothing < WAITED.value() {
        return absent(format!(
            "somebody waited for I/O {waited} of the time, hardly longer than disks were busy"
        ));
    }
    let Some((disk, operations)) = waits.even_disk(facts) else {
        return cannot_tell(
            "somebody waited for I/O while no disk was busy, for a limit or for a file system that is on no disk here: cgroup_io is not in the file",
        );
    };
    Ok(Finding {
        evidence: for_nothing_evidence(facts, &waits, IO, ["I/O", "no disk"]),
        ..finding(
            case,
            waits.for_nothing,
            Words {
                sentence: format!(
                    "An I/O limit is the bottleneck: somebody waited for I/O {waited} of the time, at least {for_nothing} while no disk was busy, and {} did an even {} operations a second.",
                    disk.name,
                    rate(operations)
                ),
                would_help: vec!["a higher I/O limit for the group that is held back".to_owned()],
                to_confirm: "see which group has a limit: grep -rs . /sys/fs/cgroup --include=io.max --include='blkio.throttle.*_device'",
            },
        )
    })
}

/// A wait for memory while much was unused and the machine freed none: only a group's own limit makes somebody wait then.
pub(in super::super) fn memory_limit(case: &Case<'_>) -> Judgement {
    let facts = case.facts;
    let waits = Waits::of(facts, MEMORY, |_| Some(0.0))?;
    let waited = percent(waits.waited);
    if waits.waited < MEMORY_WAITED.value() {
        return absent(format!(
            "somebody waited for memory only {waited} of the time"
        ));
    }
    let Some((unused, freed)) = unused(facts).zip(freed(facts)) else {
        return cannot_tell(
            "somebody waited for memory, and memory.free_bytes with paging.scan_direct or allocation_stalls is not in the file",
        );
    };
    if unused < UNUSED || freed > 0.0 {
        return cannot_tell(
            "somebody waited for memory, and whether the machine or a group had too little is not in the file: cgroup_memory",
        );
    }
    Ok(Finding {
        evidence: vec![pressure(
            facts,
            "waiting for memory",
            MEMORY,
            waits.waited,
            MEMORY_WAITED,
        )],
        ..finding(
            case,
            waits.waited,
            Words {
                sentence: format!(
                    "A memory limit is the bottleneck: somebody waited for memory {waited} of the time while {} were unused and the machine had none to free, as only a group's limit makes them.",
                    storage(unused)
                ),
                would_help: vec!["a higher memory limit for the group that is full".to_owned()],
                to_confirm: "see which group meets its limit: grep -rs . /sys/fs/cgroup --include=memory.events --include=memory.failcnt",
            },
        )
    })
}

/// A wait for I/O while disks do small writes and nothing else: what a page cache writes back is large and nobody waits for
/// it, so these are syncs, or writes around the cache.
pub(in super::super) fn io_sync(case: &Case<'_>) -> Judgement {
    let facts = case.facts;
    let waits = Waits::of(facts, IO, |_| Some(0.0))?;
    let waited = percent(waits.waited);
    if waits.waited < WAITED.value() {
        return absent(format!("somebody waited for I/O only {waited} of the time"));
    }
    let each = waits.intervals.iter();
    let in_syncs: Vec<_> = each
        .filter_map(|it| Some((it.waited, syncing(facts, it.window)?)))
        .collect();
    let all_ns = waits.intervals.iter().map(|it| it.waited).sum();
    let during = ratio(in_syncs.iter().map(|it| it.0).sum(), all_ns).unwrap_or(0.0);
    let longest = in_syncs.into_iter().max_by(|a, b| a.0.total_cmp(&b.0));
    let Some((_, (disk, size))) = longest.filter(|_| during >= MOST) else {
        return cannot_tell(
            "somebody waited for I/O, and whether reads, syncs or a neighbour's were waited for is not in the file: thread.syscall and process_io",
        );
    };
    let beside = share(
        facts,
        "of these waits, beside small writes alone",
        "disk.write_bytes",
        &disk,
        during,
        MOST,
    );
    Ok(Finding {
        evidence: vec![
            pressure(facts, "waiting for I/O", IO, waits.waited, WAITED),
            beside,
        ],
        ..finding(
            case,
            waits.waited * during,
            Words {
                sentence: format!(
                    "Syncing to disk is the bottleneck: somebody waited for I/O {waited} of the time while {} did hardly anything but writes of {}, as fsync makes them.",
                    disk.name,
                    storage(size)
                ),
                would_help: vec![
                    format!("a disk that syncs faster than {}", disk.name),
                    "fewer syncs: more work per commit, or commits that need not be safe at once"
                        .to_owned(),
                ],
                to_confirm: "see who waits in fsync: stallscope record --for 30s",
            },
        )
    })
}

/// What a finding says.
struct Words {
    sentence: String,
    would_help: Vec<String>,
    to_confirm: &'static str,
}

fn finding(case: &Case<'_>, held: f64, words: Words) -> Finding {
    let also = case.cause.would_not_help.unwrap_or_default();
    let gain = |change| bounds::not_known(change, "who waited is not in the file");
    Finding {
        share: Some(held),
        would_help: words.would_help.into_iter().map(gain).collect(),
        // What the account of a target shows to be useless is not known without one.
        would_not_help: also.iter().map(|&it| it.to_owned()).collect(),
        to_confirm: format!("{}; or {RECORD_IT}", words.to_confirm),
        ..case.finding(&machine(case.facts), Confidence::Consistent, words.sentence)
    }
}

/// Waits for something, and those while nothing of the kind was busy.
fn for_nothing_evidence(
    facts: &Facts<'_>,
    waits: &Waits,
    column: &str,
    [what, nothing]: [&str; 2],
) -> Vec<Evidence> {
    let idle = share(
        facts,
        &format!("waiting for {what} while {nothing} was busy, at least"),
        &format!("pressure.{column}"),
        &machine(facts),
        waits.for_nothing,
        WAITED.value(),
    );
    let all = format!("waiting for {what}");
    vec![pressure(facts, &all, column, waits.waited, WAITED), idle]
}

fn pressure(facts: &Facts<'_>, what: &str, column: &str, value: f64, least: Threshold) -> Evidence {
    let of_machine = machine(facts);
    let evidence = share(
        facts,
        what,
        &format!("pressure.{column}"),
        &of_machine,
        value,
        least.value(),
    );
    let Some(record) = facts.timeline.entities.machine() else {
        return evidence;
    };
    let whose = formula::one(record.id);
    evidence.by(formula::part(
        formula::rate("pressure", &[column], whose),
        formula::number(1e9),
    ))
}
