//! What another tool's measurements of a machine say about its bottleneck, though not who waited.
//!
//! Whoever waits for a CPU waits behind somebody who has it, and whoever waits for a disk waits for one that works. Where the
//! kernel says that somebody waited (/proc/pressure; kernel.org, Documentation/accounting/psi.rst) for longer than anything
//! of the kind was busy, a limit kept it from them. These are differences of times within each interval of the source, so
//! they hold whoever it was; but no witness of another kind is there, and none is more than *consistent*.

use model::{Confidence, Entity, EntityId, EntityKind, Evidence, Finding, Window};

use super::super::cause::{Case, Judgement, NoFinding, absent, cannot_tell};
use super::super::evidence::{machine, share};
use crate::bounds;
use crate::facts::Facts;
use crate::formula;
use crate::number_format::{percent, rate, storage};
use crate::stats::{mean, ratio};
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
/// A page cache writes back more than this at a time.
const LARGEST_SYNCED: f64 = 32_768.0;
/// What is read beside syncs, of the bytes that a disk moves.
const LITTLE_READ: f64 = 0.05;
/// Syncs are what is waited for when they hold this part of all waits for I/O.
const MOST: f64 = 0.7;
/// A limit makes a rate as even as this (standard deviation / mean).
const EVEN: f64 = 0.10;
/// What a disk does at least, per second, that is held back by a limit: a log that is written now and then is even too.
const LEAST_OPERATIONS: f64 = 20.0;
const LEAST_BYTES: f64 = 1e6;
/// Intervals from which a rate is said to be even.
const LEAST_INTERVALS: usize = 3;
/// Memory that nobody uses: far above the kernel's watermarks, below which it frees some.
const UNUSED: f64 = 1e9;

const WHO: &str = "who waited is not in the file";
const FIND_GROUP: &str = "record the same load with stallscope record, which says who waits";

/// An interval of the source: what was waited in it, and for how long anything was busy with what was waited for, ns.
struct Interval {
    window: Window,
    waited: f64,
    busy: f64,
}

impl Interval {
    /// The time for which somebody waited and nothing was busy, at least.
    fn for_nothing(&self) -> f64 {
        (self.waited - self.busy).max(0.0)
    }

    fn is_mostly_for_nothing(&self) -> bool {
        self.for_nothing() >= 0.5 * self.window.len_ns() as f64
    }
}

/// A wait for a CPU while none was busy: only a quota makes somebody wait then.
pub(in super::super) fn cpu_quota(case: &Case<'_>) -> Judgement {
    let facts = case.facts;
    let all = intervals(facts, "cpu_some_ns", |window| busy_cpus(facts, window))?;
    let (waited, for_nothing) = parts(facts, &all);
    if for_nothing < WAITED.value() {
        return absent(format!(
            "somebody waited for a CPU {} of the time, hardly longer than CPUs were busy",
            percent(waited)
        ));
    }
    let sentence = format!(
        "A CPU quota is the bottleneck: somebody waited for a CPU {} of the time, at least {} while no CPU was busy, as only a quota makes them.",
        percent(waited),
        percent(for_nothing)
    );
    let waits = pressure(facts, "waiting for a CPU", "cpu_some_ns", waited, WAITED);
    let idle = share(
        facts,
        "waiting for a CPU while none was busy, at least",
        "pressure.cpu_some_ns",
        &machine(facts),
        for_nothing,
        WAITED.value(),
    );
    Ok(Finding {
        evidence: vec![waits, idle],
        would_help: vec![bounds::not_known(
            "a higher quota for the group that is throttled".to_owned(),
            WHO,
        )],
        ..finding(
            case,
            for_nothing,
            sentence,
            "see which group's nr_throttled grows: grep -rs nr_throttled /sys/fs/cgroup --include=cpu.stat",
        )
    })
}

/// A wait for I/O while no disk was busy, with operations as even as a limit makes them.
pub(in super::super) fn io_limit(case: &Case<'_>) -> Judgement {
    let facts = case.facts;
    let all = intervals(facts, "io_some_ns", |window| busy_disks(facts, window))?;
    let (waited, for_nothing) = parts(facts, &all);
    if for_nothing < WAITED.value() {
        return absent(format!(
            "somebody waited for I/O {} of the time, hardly longer than disks were busy",
            percent(waited)
        ));
    }
    let held: Vec<Window> = all
        .iter()
        .filter(|it| it.is_mostly_for_nothing())
        .map(|it| it.window)
        .collect();
    let Some((disk, operations)) = even_disk(facts, &held) else {
        return cannot_tell(
            "somebody waited for I/O while no disk was busy, for a limit or for a file system that is on no disk here: cgroup_io is not in the file",
        );
    };
    let sentence = format!(
        "An I/O limit is the bottleneck: somebody waited for I/O {} of the time, at least {} while no disk was busy, and {} did an even {} operations a second.",
        percent(waited),
        percent(for_nothing),
        disk.name,
        rate(operations)
    );
    let waits = pressure(facts, "waiting for I/O", "io_some_ns", waited, WAITED);
    let idle = share(
        facts,
        "waiting for I/O while no disk was busy, at least",
        "pressure.io_some_ns",
        &machine(facts),
        for_nothing,
        WAITED.value(),
    );
    Ok(Finding {
        evidence: vec![waits, idle],
        would_help: vec![bounds::not_known(
            "a higher I/O limit for the group that is held back".to_owned(),
            WHO,
        )],
        ..finding(
            case,
            for_nothing,
            sentence,
            "see which group has a limit: grep -rs . /sys/fs/cgroup --include=io.max --include='blkio.throttle.*_device'",
        )
    })
}

/// A wait for memory while much was unused and the machine freed none: only a group's own limit makes somebody wait then.
pub(in super::super) fn memory_limit(case: &Case<'_>) -> Judgement {
    let facts = case.facts;
    let all = intervals(facts, "memory_some_ns", |_| Some(0.0))?;
    let (waited, _) = parts(facts, &all);
    if waited < MEMORY_WAITED.value() {
        return absent(format!(
            "somebody waited for memory only {} of the time",
            percent(waited)
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
    let sentence = format!(
        "A memory limit is the bottleneck: somebody waited for memory {} of the time while {} were unused and the machine had none to free, as only a group's limit makes them.",
        percent(waited),
        storage(unused)
    );
    let waits = pressure(
        facts,
        "waiting for memory",
        "memory_some_ns",
        waited,
        MEMORY_WAITED,
    );
    Ok(Finding {
        evidence: vec![waits],
        would_help: vec![bounds::not_known(
            "a higher memory limit for the group that is full".to_owned(),
            WHO,
        )],
        ..finding(
            case,
            waited,
            sentence,
            "see which group meets its limit: grep -rs . /sys/fs/cgroup --include=memory.events --include=memory.failcnt",
        )
    })
}

/// A wait for I/O while disks do small writes and nothing else: what a page cache writes back is large and nobody waits for
/// it, so these are syncs, or writes around the cache.
pub(in super::super) fn io_sync(case: &Case<'_>) -> Judgement {
    let facts = case.facts;
    let all = intervals(facts, "io_some_ns", |_| Some(0.0))?;
    let (waited, _) = parts(facts, &all);
    if waited < WAITED.value() {
        return absent(format!(
            "somebody waited for I/O only {} of the time",
            percent(waited)
        ));
    }
    let small = |it: &&Interval| syncing(facts, it.window).is_some();
    let syncing_ns: f64 = all.iter().filter(small).map(|it| it.waited).sum();
    let during = ratio(syncing_ns, all.iter().map(|it| it.waited).sum()).unwrap_or(0.0);
    if during < MOST {
        return cannot_tell(
            "somebody waited for I/O, and whether reads, syncs or a neighbour's were waited for is not in the file: thread.syscall and process_io",
        );
    }
    let of_syncs: Vec<Window> = all.iter().filter(small).map(|it| it.window).collect();
    let Some((disk, size)) = of_syncs.iter().find_map(|it| syncing(facts, *it)) else {
        return absent("no disk did small writes");
    };
    let sentence = format!(
        "Syncing to disk is the bottleneck: somebody waited for I/O {} of the time while {} did hardly anything but writes of {}, as fsync makes them.",
        percent(waited),
        disk.name,
        storage(size)
    );
    let waits = pressure(facts, "waiting for I/O", "io_some_ns", waited, WAITED);
    let beside = share(
        facts,
        "of these waits, beside small writes alone",
        "disk.write_bytes",
        &disk,
        during,
        MOST,
    );
    let help = [
        format!("a disk that syncs faster than {}", disk.name),
        "fewer syncs: more work per commit, or commits that need not be safe at once".to_owned(),
    ];
    Ok(Finding {
        evidence: vec![waits, beside],
        would_help: help.map(|it| bounds::not_known(it, WHO)).to_vec(),
        ..finding(
            case,
            waited * during,
            sentence,
            "see who waits in fsync: stallscope record --for 30s",
        )
    })
}

fn finding(case: &Case<'_>, held: f64, sentence: String, to_confirm: &str) -> Finding {
    let also = case.cause.would_not_help.unwrap_or_default();
    Finding {
        share: Some(held),
        // What the account of a target shows to be useless is not known without one.
        would_not_help: also.iter().map(|&it| it.to_owned()).collect(),
        to_confirm: format!("{to_confirm}; or {FIND_GROUP}"),
        ..case.finding(&machine(case.facts), Confidence::Consistent, sentence)
    }
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

/// The intervals of the source, by the rows of its pressure.
fn intervals(
    facts: &Facts<'_>,
    stall: &str,
    busy: impl Fn(Window) -> Option<f64>,
) -> Result<Vec<Interval>, NoFinding> {
    let timeline = facts.timeline;
    let machine = timeline.entities.machine();
    let Some(series) = machine.and_then(|it| timeline.series("pressure", it.id, stall)) else {
        return cannot_tell(format!("pressure.{stall} is not in the file"));
    };
    let rows = series.values_in(facts.window).map(|it| it.0);
    let mut times = vec![facts.window.start];
    times.extend(rows);
    times.push(facts.window.end);
    times.dedup();
    let windows = times.windows(2).map(|pair| Window::new(pair[0], pair[1]));
    let each = windows.map(|window| {
        Some(Interval {
            window,
            waited: series.growth(window)?,
            busy: busy(window)?,
        })
    });
    let all: Option<Vec<Interval>> = each.collect();
    match all {
        Some(all) if !all.is_empty() => Ok(all),
        Some(_) => cannot_tell("the file has too few rows of pressure in this window"),
        None => cannot_tell(
            "cpu.idle_ns of each CPU, or disk.busy_ns, is not in the file for all of this window",
        ),
    }
}

/// Parts of the window: waited, and waited for nothing.
fn parts(facts: &Facts<'_>, all: &[Interval]) -> (f64, f64) {
    let ns = facts.window.len_ns().max(1) as f64;
    let waited: f64 = all.iter().map(|it| it.waited).sum();
    let for_nothing: f64 = all.iter().map(Interval::for_nothing).sum();
    (waited / ns, for_nothing / ns)
}

/// The time of all CPUs that was not idle, ns; `None` unless each was seen.
fn busy_cpus(facts: &Facts<'_>, window: Window) -> Option<f64> {
    let timeline = facts.timeline;
    let grown = |cpu, column| timeline.series("cpu", cpu, column)?.growth(window);
    let idle = |cpu| Some(grown(cpu, "idle_ns")? + grown(cpu, "iowait_ns").unwrap_or(0.0));
    let all = timeline.entities.of_kind(EntityKind::Cpu);
    let each = all.map(|cpu| Some((window.len_ns() as f64 - idle(cpu.id)?).max(0.0)));
    let each: Option<Vec<f64>> = each.collect();
    let each = each.filter(|it| !it.is_empty() && it.len() == facts.meta.cpus as usize)?;
    Some(each.into_iter().sum())
}

/// The busy time of all disks, ns: never less than that of any.
fn busy_disks(facts: &Facts<'_>, window: Window) -> Option<f64> {
    let timeline = facts.timeline;
    let all = timeline.entities.of_kind(EntityKind::Disk);
    let each = all.filter_map(|it| timeline.series("disk", it.id, "busy_ns")?.growth(window));
    let each: Vec<f64> = each.collect();
    (!each.is_empty()).then(|| each.into_iter().sum())
}

fn disk_rate(facts: &Facts<'_>, disk: EntityId, window: Window, columns: &[&str]) -> f64 {
    let timeline = facts.timeline;
    let rate = |column: &&str| timeline.series("disk", disk, column)?.rate(window);
    columns.iter().filter_map(rate).sum()
}

/// The disk that did most in these intervals, and its operations per second, where they were as even as under a limit.
fn even_disk(facts: &Facts<'_>, held: &[Window]) -> Option<(Entity, f64)> {
    if held.len() < LEAST_INTERVALS {
        return None;
    }
    let all = facts.timeline.entities.of_kind(EntityKind::Disk);
    let each = all.filter_map(|disk| {
        let of = |columns: &[&str]| -> Vec<f64> {
            let each = held.iter();
            each.map(|it| disk_rate(facts, disk.id, *it, columns))
                .collect()
        };
        let (operations, bytes) = (of(&["reads", "writes"]), of(&["read_bytes", "write_bytes"]));
        let is_limited = is_even(&operations, LEAST_OPERATIONS) || is_even(&bytes, LEAST_BYTES);
        Some((disk.entity.clone(), mean(&operations)?, is_limited))
    });
    let most = each.max_by(|a, b| a.1.total_cmp(&b.1))?;
    most.2.then_some((most.0, most.1))
}

fn is_even(values: &[f64], least: f64) -> bool {
    let Some(mean) = mean(values).filter(|it| *it >= least) else {
        return false;
    };
    let squares: f64 = values.iter().map(|it| (it - mean).powi(2)).sum();
    (squares / values.len() as f64).sqrt() <= EVEN * mean
}

/// The busiest disk and the mean size of its writes, where it did small ones and hardly anything else.
fn syncing(facts: &Facts<'_>, window: Window) -> Option<(Entity, f64)> {
    let all = facts.timeline.entities.of_kind(EntityKind::Disk);
    let busiest = all.max_by(|a, b| {
        let busy = |id| disk_rate(facts, id, window, &["busy_ns"]);
        busy(a.id).total_cmp(&busy(b.id))
    })?;
    let rate = |column| disk_rate(facts, busiest.id, window, &[column]);
    let (read, written) = (rate("read_bytes"), rate("write_bytes"));
    let size = ratio(written, rate("writes"))?;
    let is_syncing = size <= LARGEST_SYNCED && read <= LITTLE_READ * (read + written);
    is_syncing.then(|| (busiest.entity.clone(), size))
}

/// Least memory that nobody used, bytes.
fn unused(facts: &Facts<'_>) -> Option<f64> {
    let machine = facts.timeline.entities.machine()?;
    let free = facts.timeline.series("memory", machine.id, "free_bytes")?;
    let least = free.values_in(facts.window).map(|it| it.1).min()?;
    Some(least as f64)
}

/// How often the machine had to free memory for somebody: pages searched, or times. The kernel counts neither for a group at
/// its own limit (mm/vmscan.c, cgroup_reclaim).
fn freed(facts: &Facts<'_>) -> Option<f64> {
    let machine = facts.timeline.entities.machine()?;
    let of = |column| {
        let series = facts.timeline.series("paging", machine.id, column)?;
        series.growth(facts.window)
    };
    of("scan_direct").or_else(|| of("allocation_stalls"))
}
