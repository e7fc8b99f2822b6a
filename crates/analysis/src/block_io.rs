//! What block devices did and for whom, as a person reads it: by part (log, data, journal, metadata), file, process and
//! control group.
//!
//! A part is told by behaviour and by what the kernel knows of a request, never by a name. Nothing here decides a cause.

mod sentence;
mod stream;

use std::collections::BTreeMap;

use model::{
    DiskReport, DiskWork, Entity, EntityId, EntityKind, IoPart, IoPattern, Report, Timeline, Window,
};
use sensors::block_io::{Operation, Scope};

pub use sentence::sizes;
use stream::{Stream, Total, streams};

/// Patterns of each list, at most.
const MOST_STREAMS: usize = 20;
const MOST_OWNERS: usize = 10;

/// Disks that are shown where there is room for little, and the part of the busiest one's time that each has at least.
const MOST_WORKING: usize = 2;
const LEAST_WORKING: f64 = 0.1;

/// The report with the disks over its window and over each phase that has a verdict, where their requests were recorded.
pub(crate) fn with_disks(mut report: Report, timeline: &Timeline) -> Report {
    report.disks = disks(timeline, report.window);
    for phase in report.phases.iter_mut().filter(|it| it.verdict.is_some()) {
        phase.disks = working(timeline, phase.window);
    }
    report
}

/// What the busiest disks did in a window; nothing of one that only flushed.
pub(crate) fn working(timeline: &Timeline, window: Window) -> Vec<DiskWork> {
    let disks = disks(timeline, window);
    let most = disks.first().map_or(0.0, in_flight);
    let works = |it: &DiskReport| in_flight(it) >= LEAST_WORKING * most && !it.sentence.is_empty();
    let works = disks.into_iter().filter(works).take(MOST_WORKING);
    let work = |it: DiskReport| DiskWork {
        entity: it.entity,
        sentence: it.sentence,
        parts: it.parts,
    };
    works.map(work).collect()
}

/// Requests that it had at once, on average.
fn in_flight(disk: &DiskReport) -> f64 {
    disk.operations.iter().map(|it| it.in_flight).sum()
}

/// Those that did something in the window, those with most time first.
fn disks(timeline: &Timeline, window: Window) -> Vec<DiskReport> {
    let all = streams(timeline, window);
    let mut by_device: BTreeMap<i64, Vec<&Stream>> = BTreeMap::new();
    for stream in &all {
        by_device.entry(stream.device).or_default().push(stream);
    }
    let own = by_device.into_values();
    let mut disks: Vec<DiskReport> = own.filter_map(|own| disk(timeline, &own)).collect();
    disks.sort_by(|a, b| {
        let time = in_flight(b).total_cmp(&in_flight(a));
        time.then(a.entity.cmp(&b.entity))
    });
    disks
}

fn disk(timeline: &Timeline, own: &[&Stream]) -> Option<DiskReport> {
    let of = |scopes: &[Scope]| -> Vec<&Stream> {
        let own = own.iter().filter(|it| scopes.contains(&it.scope));
        own.copied().collect()
    };
    let whole = of(&[Scope::Device]);
    let first = whole.first()?;
    let entity = entity(timeline, first.id)?;
    let shares = [Scope::File, Scope::Journal, Scope::Metadata, Scope::Unnamed];
    let shares = of(&shares);
    let parts = parts(&shares);
    Some(DiskReport {
        sentence: sentence::sentence(&parts),
        operations: grouped(&whole, |it| it.operation),
        streams: most(singly(&shares, true), MOST_STREAMS),
        processes: most(singly(&of(&[Scope::Process]), false), MOST_OWNERS),
        groups: most(singly(&of(&[Scope::Cgroup]), false), MOST_OWNERS),
        parts,
        entity,
    })
}

/// The disk of its requests.
fn entity(timeline: &Timeline, stream: EntityId) -> Option<Entity> {
    let record = timeline.entities.get(stream)?;
    let disk = record.parent.and_then(|it| timeline.entities.get(it));
    let disk = disk.filter(|it| it.entity.kind == EntityKind::Disk);
    Some(disk.map_or(record, |disk| disk).entity.clone())
}

/// Reads and writes by what they are for.
fn parts(shares: &[&Stream]) -> Vec<IoPattern> {
    let moved = shares
        .iter()
        .filter(|it| matches!(it.operation, Operation::Read | Operation::Write));
    let moved: Vec<&Stream> = moved.copied().collect();
    let mut all = grouped(&moved, |it| (it.part(), it.operation));
    for pattern in &mut all {
        pattern.name = pattern.part.word().to_owned();
    }
    most(all, usize::MAX)
}

/// A pattern for each group of streams of the same key.
fn grouped<K: Ord>(streams: &[&Stream], key: impl Fn(&Stream) -> K) -> Vec<IoPattern> {
    let mut groups: BTreeMap<K, Vec<&Stream>> = BTreeMap::new();
    for stream in streams {
        groups.entry(key(stream)).or_default().push(stream);
    }
    let groups = groups.into_values();
    groups
        .filter_map(|own| Total::of(&own)?.pattern())
        .collect()
}

fn singly(streams: &[&Stream], with_part: bool) -> Vec<IoPattern> {
    let one = |it: &&Stream| {
        let mut pattern = Total::of(&[it])?.pattern()?;
        if !with_part {
            pattern.part = IoPart::All;
        }
        Some(pattern)
    };
    streams.iter().filter_map(one).collect()
}

/// Those with most time, the longest first.
fn most(mut patterns: Vec<IoPattern>, most: usize) -> Vec<IoPattern> {
    patterns.sort_by(|a, b| {
        let time = b.in_flight.total_cmp(&a.in_flight);
        time.then_with(|| b.requests.cmp(&a.requests))
            .then_with(|| (&a.name, &a.operation).cmp(&(&b.name, &b.operation)))
    });
    patterns.truncate(most);
    patterns
}

#[cfg(test)]
mod tests;
