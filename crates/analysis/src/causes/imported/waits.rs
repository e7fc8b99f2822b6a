//! What an import has of waits and of what was waited for, interval by interval of its source.

use model::{Entity, EntityId, EntityKind, Window};

use super::super::cause::{NoFinding, cannot_tell};
use crate::facts::Facts;
use crate::measure::Of;
use crate::stats::{coefficient_of_variation, mean, ratio};

/// A page cache writes back more than this at a time, bytes.
const LARGEST_SYNCED: f64 = 32_768.0;
/// What is read beside syncs, of the bytes that a disk moves.
const LITTLE_READ: f64 = 0.05;
/// A limit makes a rate as even as this (standard deviation / mean).
const EVEN: f64 = 0.10;
/// What a disk does at least, per second, that is held back by a limit: a log that is written now and then is even too.
const LEAST_OPERATIONS: f64 = 20.0;
const LEAST_BYTES: f64 = 1e6;

/// An interval of the source: what was waited in it, and for how long anything was busy with what was waited for, ns.
pub(super) struct Interval {
    pub(super) window: Window,
    pub(super) waited: f64,
    busy: f64,
}

impl Interval {
    /// The time for which somebody waited and nothing was busy, at least, ns.
    fn for_nothing(&self) -> f64 {
        (self.waited - self.busy).max(0.0)
    }

    fn is_mostly_for_nothing(&self) -> bool {
        self.for_nothing() >= 0.5 * self.window.len_ns() as f64
    }
}

/// Somebody's waits for a resource.
pub(super) struct Waits {
    pub(super) intervals: Vec<Interval>,
    /// Part of the window in which somebody waited.
    pub(super) waited: f64,
    /// The part of it in which nothing was busy, at least.
    pub(super) for_nothing: f64,
}

impl Waits {
    /// By the rows of the machine's pressure in the column `stall`; `busy` says how long anything that is waited for was busy.
    pub(super) fn of(
        facts: &Facts<'_>,
        stall: &str,
        busy: impl Fn(Window) -> Option<f64>,
    ) -> Result<Self, NoFinding> {
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
        let Some(intervals) = all else {
            return cannot_tell(
                "cpu.idle_ns of each CPU, or disk.busy_ns, is not in the file for all of this window",
            );
        };
        let ns = facts.window.len_ns().max(1) as f64;
        let part = |of: fn(&Interval) -> f64| intervals.iter().map(of).sum::<f64>() / ns;
        Ok(Self {
            waited: part(|it| it.waited),
            for_nothing: part(Interval::for_nothing),
            intervals,
        })
    }

    /// The disk that did most while nothing was busy, and its operations per second, where they were as even as under a
    /// limit.
    pub(super) fn even_disk(&self, facts: &Facts<'_>) -> Option<(Entity, f64)> {
        let all = self.intervals.iter();
        let held: Vec<Window> = all
            .filter(|it| it.is_mostly_for_nothing())
            .map(|it| it.window)
            .collect();
        let all = facts.timeline.entities.of_kind(EntityKind::Disk);
        let each = all.filter_map(|disk| {
            let of = |columns: &[&str]| -> Vec<f64> {
                let each = held.iter();
                each.map(|it| rate(facts, disk.id, *it, columns)).collect()
            };
            let (operations, bytes) =
                (of(&["reads", "writes"]), of(&["read_bytes", "write_bytes"]));
            let is_even = is_even(&operations, LEAST_OPERATIONS) || is_even(&bytes, LEAST_BYTES);
            Some((disk.entity.clone(), mean(&operations)?, is_even))
        });
        let (disk, operations, is_even) = each.max_by(|a, b| a.1.total_cmp(&b.1))?;
        is_even.then_some((disk, operations))
    }
}

/// The time of all CPUs that was not idle, ns; `None` unless each was seen.
pub(super) fn busy_cpus(facts: &Facts<'_>, window: Window) -> Option<f64> {
    let all = facts.timeline.entities.of_kind(EntityKind::Cpu);
    let each = all.map(|cpu| {
        let of = Of::new(facts.timeline, "cpu", cpu.id, window);
        let idle = of.growth("idle_ns")? + of.growth("iowait_ns").unwrap_or(0.0);
        Some((window.len_ns() as f64 - idle).max(0.0))
    });
    let each: Option<Vec<f64>> = each.collect();
    let each = each.filter(|it| !it.is_empty() && it.len() == facts.meta.cpus as usize)?;
    Some(each.into_iter().sum())
}

/// The busy time of all disks, ns: never less than that of any.
pub(super) fn busy_disks(facts: &Facts<'_>, window: Window) -> Option<f64> {
    let all = facts.timeline.entities.of_kind(EntityKind::Disk);
    let each =
        all.filter_map(|it| Of::new(facts.timeline, "disk", it.id, window).growth("busy_ns"));
    each.reduce(|sum, it| sum + it)
}

/// The busiest disk and the mean size of its writes, bytes, where it did small ones and hardly anything else.
pub(super) fn syncing(facts: &Facts<'_>, window: Window) -> Option<(Entity, f64)> {
    let all = facts.timeline.entities.of_kind(EntityKind::Disk);
    let busiest = all.max_by(|a, b| {
        let busy = |id| rate(facts, id, window, &["busy_ns"]);
        busy(a.id).total_cmp(&busy(b.id))
    })?;
    let rate = |column| rate(facts, busiest.id, window, &[column]);
    let (read, written) = (rate("read_bytes"), rate("write_bytes"));
    let size = ratio(written, rate("writes"))?;
    let is_syncing = size <= LARGEST_SYNCED && read <= LITTLE_READ * (read + written);
    is_syncing.then(|| (busiest.entity.clone(), size))
}

/// Least memory that nobody used, bytes.
pub(super) fn unused(facts: &Facts<'_>) -> Option<f64> {
    machine(facts, "memory")?.lowest("free_bytes")
}

/// How often the machine had to free memory for somebody: pages searched, or times. The kernel counts neither for a group at
/// its own limit (mm/vmscan.c, cgroup_reclaim).
pub(super) fn freed(facts: &Facts<'_>) -> Option<f64> {
    let of = machine(facts, "paging")?;
    let searched = of.growth("scan_direct");
    searched.or_else(|| of.growth("allocation_stalls"))
}

fn machine<'a>(facts: &Facts<'a>, table: &'a str) -> Option<Of<'a>> {
    let machine = facts.timeline.entities.machine()?;
    Some(Of::new(facts.timeline, table, machine.id, facts.window))
}

/// Of a disk, per second.
fn rate(facts: &Facts<'_>, disk: EntityId, window: Window, columns: &[&str]) -> f64 {
    let of = Of::new(facts.timeline, "disk", disk, window);
    columns.iter().filter_map(|column| of.rate(column)).sum()
}

fn is_even(values: &[f64], least: f64) -> bool {
    let is_enough = mean(values).is_some_and(|it| it >= least);
    is_enough && coefficient_of_variation(values).is_some_and(|it| it <= EVEN)
}
