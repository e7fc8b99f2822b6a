//! What the disks did, who used them, and which limits of groups on I/O were met.

use std::collections::{BTreeMap, BTreeSet};

use model::{Entity, EntityId, EntityKind, Timeline, Window};

use crate::groups;
use crate::ledger::seconds;
use crate::measure::Of;
use crate::scene::Scene;
use crate::stats::{coefficient_of_variation, kendall_tau, mean, ratio};
use crate::thresholds::{FADES, FALLING};
use crate::workload_metrics::{self, Bin};

/// Input and output over the window; rates are per second.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Io {
    /// The disks that did something: those first that the target's groups use, where that is known, and
    /// of these the one with the longest queue.
    pub disks: Vec<Disk>,
    /// The I/O limit that the target's groups came closest to.
    pub limit: Option<Limit>,
    /// Whether what the target's groups do to disks was recorded; the root group has no limit.
    pub groups_seen: bool,
    /// Bytes read and written per second by processes of the target; `None` when that may not be seen.
    pub target_bytes: Option<f64>,
    /// The same of all others that were seen, and who of them moved most.
    pub others: Option<Others>,
    /// Filesystems of the target, the fullest first.
    pub filesystems: Vec<Filesystem>,
}

/// A block device.
#[derive(Clone, PartialEq, Debug)]
pub struct Disk {
    /// Its number in the recording.
    pub id: EntityId,
    /// Which one.
    pub entity: Entity,
    /// The kernel's number of it.
    device: Option<i64>,
    /// Operations completed per second.
    pub operations: f64,
    /// Bytes read and written per second.
    pub bytes: f64,
    /// Bytes read per second.
    pub read_bytes: f64,
    /// Mean operations in progress.
    pub queue: f64,
    /// Mean time of an operation, ns; `None` where none was completed.
    pub each_ns: Option<f64>,
    /// The same from the other account of the kernel: the times of all operations, added up.
    pub in_progress: f64,
    /// Part of the time with an operation in progress.
    pub busy: f64,
    /// How much operations, and bytes, vary from second to second (standard deviation / mean); `None`
    /// where seconds are too few.
    pub varies: (Option<f64>, Option<f64>),
}

/// A limit of a control group on one device.
#[derive(Clone, PartialEq, Debug)]
pub struct Limit {
    /// The control group.
    pub group: Entity,
    /// The group's part of that device.
    pub(crate) part: EntityId,
    /// `read bytes`, `writes`.
    pub of: &'static str,
    /// Its columns in `cgroup_io`: of what was used, and of what is allowed.
    pub(crate) column: &'static str,
    pub(crate) limit_column: &'static str,
    /// What is allowed per second, in the unit of `of`.
    pub allowed: f64,
    /// What was used of it per second.
    pub used: f64,
}

impl Limit {
    /// Used part of what is allowed.
    pub fn fullness(&self) -> f64 {
        self.used / self.allowed
    }
}

/// What others than the target moved.
#[derive(Clone, PartialEq, Debug)]
pub struct Others {
    /// Bytes read and written per second.
    pub bytes: f64,
    /// Who moved most: a control group that does not hold the target, else a process.
    pub most: Entity,
    /// Its number in the recording.
    pub most_id: EntityId,
    /// Bytes that it read and wrote per second.
    pub most_bytes: f64,
}

/// A filesystem on which the target works.
#[derive(Clone, PartialEq, Debug)]
pub struct Filesystem {
    /// Its number in the recording.
    pub id: EntityId,
    /// Where it is mounted.
    pub entity: Entity,
    /// Least number of its bytes that was free, with their part of all.
    pub bytes: (f64, f64),
    /// The same of its inodes; `None` where it has as many as it needs.
    pub inodes: Option<(f64, f64)>,
}

impl Filesystem {
    /// The smaller of both parts.
    pub fn free(&self) -> f64 {
        let inodes = self.inodes.map_or(f64::INFINITY, |(_, part)| part);
        self.bytes.1.min(inodes)
    }
}

pub(crate) fn io(scene: &Scene<'_>) -> Io {
    let (timeline, window) = (scene.timeline, scene.window);
    let mut disks: Vec<Disk> = timeline
        .entities
        .of_kind(EntityKind::Disk)
        .filter_map(|record| disk(timeline, record.id, window))
        .filter(|disk| disk.operations > 0.0)
        .collect();
    let own = own_devices(scene);
    let is_own = |disk: &Disk| disk.device.is_some_and(|device| own.contains(&device));
    disks.sort_by(|a, b| {
        let longer = b.queue.total_cmp(&a.queue);
        is_own(b).cmp(&is_own(a)).then(longer)
    });
    let mut filesystems: Vec<Filesystem> = timeline
        .entities
        .of_kind(EntityKind::Filesystem)
        .filter_map(|record| filesystem(timeline, record.id, window))
        .collect();
    filesystems.sort_by(|a, b| a.free().total_cmp(&b.free()));
    Io {
        disks,
        limit: limit(scene),
        groups_seen: groups_seen(scene),
        target_bytes: moved_by_target(scene),
        others: others(scene),
        filesystems,
    }
}

fn disk(timeline: &Timeline, id: EntityId, window: Window) -> Option<Disk> {
    let of = Of::new(timeline, "disk", id, window);
    let rate = |column| of.rate(column).unwrap_or(0.0);
    let (reads, writes) = (of.rate("reads")?, of.rate("writes")?);
    let operations = reads + writes + rate("discards") + rate("flushes");
    let (read_bytes, write_bytes) = (rate("read_bytes"), rate("write_bytes"));
    let queue_ns = rate("queue_ns");
    let per_second = |columns: [&'static str; 2]| -> Vec<f64> {
        let each = |second| {
            let of = Of::new(timeline, "disk", id, second);
            Some(of.growth(columns[0])? + of.growth(columns[1])?)
        };
        seconds(window).into_iter().filter_map(each).collect()
    };
    Some(Disk {
        id,
        entity: timeline.entities.get(id)?.entity.clone(),
        device: of.last("device").map(|device| device as i64),
        operations,
        bytes: read_bytes + write_bytes,
        read_bytes,
        queue: queue_ns / 1e9,
        in_progress: ["read_ns", "write_ns", "discard_ns", "flush_ns"]
            .map(rate)
            .iter()
            .sum::<f64>()
            / 1e9,
        each_ns: ratio(queue_ns, operations),
        busy: (rate("busy_ns") / 1e9).min(1.0),
        varies: (
            coefficient_of_variation(&per_second(["reads", "writes"])),
            coefficient_of_variation(&per_second(["read_bytes", "write_bytes"])),
        ),
    })
}

/// The devices that the groups of the target do a good part of their operations on: a disk with a long
/// queue may be somebody else's. Empty where that is not known; the root group is everybody's.
fn own_devices(scene: &Scene<'_>) -> BTreeSet<i64> {
    let (timeline, window) = (scene.timeline, scene.window);
    /// Less than this part of what they do on the one used most is by the way.
    const PART: f64 = 0.1;
    let mut own = scene.roles.io_groups.own.clone();
    own.retain(|group| !groups::is_root(timeline, *group));
    let mut used: BTreeMap<i64, f64> = BTreeMap::new();
    for part in timeline.entities.of_kind(EntityKind::GroupDisk) {
        if part.parent.is_none_or(|group| !own.contains(&group)) {
            continue;
        }
        let of = Of::new(timeline, "cgroup_io", part.id, window);
        let operations = of.rate("reads").unwrap_or(0.0) + of.rate("writes").unwrap_or(0.0);
        if let Some(device) = of.last("device") {
            *used.entry(device as i64).or_default() += operations;
        }
    }
    let most = used.values().copied().fold(0.0, f64::max);
    used.retain(|_, operations| *operations > 0.0 && *operations >= most * PART);
    used.into_keys().collect()
}

/// Columns of `cgroup_io`: (what, used, allowed).
const LIMITS: [(&str, &str, &str); 4] = [
    ("read bytes", "read_bytes", "limit_read_bytes"),
    ("written bytes", "write_bytes", "limit_write_bytes"),
    ("reads", "reads", "limit_reads"),
    ("writes", "writes", "limit_writes"),
];

fn limit(scene: &Scene<'_>) -> Option<Limit> {
    let (timeline, window) = (scene.timeline, scene.window);
    let own = &scene.roles.io_groups.all;
    let parts = timeline.entities.of_kind(EntityKind::GroupDisk);
    let all =
        parts.filter_map(|part| Some((part.id, part.parent.filter(|group| own.contains(group))?)));
    let limits = all.flat_map(|(part, group)| {
        let of = Of::new(timeline, "cgroup_io", part, window);
        LIMITS
            .into_iter()
            .filter_map(move |(what, column, allowed)| {
                Some(Limit {
                    group: timeline.entities.get(group)?.entity.clone(),
                    part,
                    of: what,
                    column,
                    limit_column: allowed,
                    allowed: of.last(allowed).filter(|allowed| *allowed > 0.0)?,
                    used: of.rate(column)?,
                })
            })
    });
    limits.max_by(|a, b| a.fullness().total_cmp(&b.fullness()))
}

fn groups_seen(scene: &Scene<'_>) -> bool {
    let (timeline, window) = (scene.timeline, scene.window);
    let own = &scene.roles.io_groups.own;
    let seen = |group: &EntityId| {
        let mut parts = timeline.entities.of_kind(EntityKind::GroupDisk);
        parts.any(|part| {
            let reads = timeline.series("cgroup_io", part.id, "reads");
            part.parent == Some(*group) && reads.is_some_and(|it| it.covered(window).is_some())
        })
    };
    !own.is_empty()
        && own
            .iter()
            .all(|group| groups::is_root(timeline, *group) || seen(group))
}

/// Bytes per second that reached storage for processes of the target.
fn moved_by_target(scene: &Scene<'_>) -> Option<f64> {
    let processes = scene.roles.target.processes.iter();
    let moved = processes.filter_map(|process| moved(scene.timeline, process.id, scene.window));
    moved.reduce(|a, b| a + b)
}

fn moved(timeline: &Timeline, process: EntityId, window: Window) -> Option<f64> {
    let of = Of::new(timeline, "process", process, window);
    // Over the window, not over what was seen of it: a short life is a small part.
    let bytes = of.growth("read_bytes")? + of.growth("write_bytes")?;
    Some(bytes / window.seconds().max(f64::MIN_POSITIVE))
}

fn others(scene: &Scene<'_>) -> Option<Others> {
    let (timeline, window) = (scene.timeline, scene.window);
    let own = &scene.roles.io_groups.own;
    let mut bytes = 0.0;
    let mut by_group: BTreeMap<EntityId, f64> = BTreeMap::new();
    let mut most: Option<(EntityId, f64)> = None;
    for process in &scene.roles.background {
        let Some(own_bytes) = moved(timeline, process.id, window) else {
            continue;
        };
        bytes += own_bytes;
        if most.is_none_or(|(_, most)| own_bytes > most) {
            most = Some((process.id, own_bytes));
        }
        let group = process.io_group.filter(|group| !own.contains(group));
        let group = group.filter(|id| !groups::is_root(timeline, *id));
        if let Some(group) = group {
            *by_group.entry(group).or_default() += own_bytes;
        }
    }
    let group = by_group.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
    // A group stands for its members when it moved at least as much as the busiest process.
    let (id, most_bytes) = match (group, most?) {
        (Some(group), process) if group.1 >= process.1 => group,
        (_, process) => process,
    };
    Some(Others {
        bytes,
        most: timeline.entities.get(id)?.entity.clone(),
        most_id: id,
        most_bytes,
    })
}

fn filesystem(timeline: &Timeline, id: EntityId, window: Window) -> Option<Filesystem> {
    let of = Of::new(timeline, "filesystem", id, window);
    let free_bytes = of.lowest("available_bytes")?;
    let part = ratio(free_bytes, of.last("total_bytes")?)?;
    // Some filesystems count no inodes and say 0 of 0.
    let inodes = of.lowest("free_inodes").zip(of.last("inodes"));
    let inodes = inodes.and_then(|(free, all)| Some((free, ratio(free, all)?)));
    Some(Filesystem {
        id,
        entity: timeline.entities.get(id)?.entity.clone(),
        bytes: (free_bytes, part),
        inodes,
    })
}

/// How something went over a window: its means over the first and the last third, and Kendall's tau of what lies between
/// (-1: always falling).
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Course {
    pub(crate) first: f64,
    pub(crate) last: f64,
    pub(crate) trend: f64,
}

impl Course {
    /// Of values in the order of time; `None` of too few.
    fn of(values: &[f64]) -> Option<Self> {
        const LEAST: usize = 9;
        if values.len() < LEAST {
            return None;
        }
        let third = values.len() / 3;
        Some(Self {
            first: mean(&values[..third])?,
            last: mean(&values[values.len() - third..])?,
            trend: kendall_tau(values),
        })
    }

    /// Whether it fell steadily, and to less than such a part.
    pub(crate) fn falls(&self, factor: f64, trend: f64) -> bool {
        self.trend <= trend && self.first >= self.last * factor && self.first > 0.0
    }
}

/// How disk reads went, bytes per second.
pub(crate) fn reads(scene: &Scene<'_>) -> Option<Course> {
    let read = read_by_all(scene.timeline);
    let seconds = seconds(scene.window).into_iter();
    Course::of(&seconds.filter_map(read).collect::<Vec<f64>>())
}

/// How disk reads went for each request, bytes: where a disk gives no more, they are as many a second until the end, and
/// requests become more. `None` without the workload's intervals, too.
pub(crate) fn reads_per_request(scene: &Scene<'_>) -> Option<Course> {
    per_request(scene, read_by_all(scene.timeline))
}

/// Bytes that all disks read in a window; `None` where that was not recorded.
fn read_by_all(timeline: &Timeline) -> impl Fn(Window) -> Option<f64> + '_ {
    let disks = timeline.entities.of_kind(EntityKind::Disk);
    let disks: Vec<EntityId> = disks.map(|disk| disk.id).collect();
    move |window| {
        let growth =
            |disk: &EntityId| Of::new(timeline, "disk", *disk, window).growth("read_bytes");
        disks.iter().filter_map(growth).reduce(|a, b| a + b)
    }
}

/// What is read is counted by the second, or by the request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Per {
    Second,
    Request,
}

/// How the reads of the target's own processes went from the first third of the window to the last,
/// bytes; `None` where they may not be seen, or it did not read.
pub(crate) fn own_reads(scene: &Scene<'_>, per: Per) -> Option<(f64, f64)> {
    let (timeline, window) = (scene.timeline, scene.window);
    let third = window.len_ns() / 3;
    let read = |part: Window| {
        let own = scene.roles.target.processes.iter();
        let all = own.filter_map(|process| {
            Of::new(timeline, "process", process.id, part).growth("read_bytes")
        });
        let bytes = all.reduce(|a, b| a + b)?;
        let of = match per {
            Per::Second => part.seconds(),
            Per::Request => workload_metrics::mean(&scene.roles.bins, part)?.completed,
        };
        Some(bytes / of.max(f64::MIN_POSITIVE))
    };
    let first = read(Window::new(window.start, window.start + third))?;
    let last = read(Window::new(window.end - third, window.end))?;
    (first + last > 0.0).then_some((first, last))
}

/// How what a limit counts went for each request, where it becomes so little within the window, and the target's own reads
/// with it, that the limit will soon limit nothing: caches fill.
pub(crate) fn passes_by_itself(scene: &Scene<'_>, limit: &Limit) -> Option<Course> {
    let used =
        |window| Of::new(scene.timeline, "cgroup_io", limit.part, window).growth(limit.column);
    let course = per_request(scene, used)?;
    let factor = FADES.value();
    let own = own_reads(scene, Per::Request);
    let own_falls = own.is_none_or(|(first, last)| first >= last * factor);
    (course.falls(factor, FALLING.value()) && own_falls).then_some(course)
}

/// How something went for each request, by what it amounts to in a window; `None` without the workload's intervals.
fn per_request(scene: &Scene<'_>, of: impl Fn(Window) -> Option<f64>) -> Option<Course> {
    let bins = workload_metrics::inside(&scene.roles.bins, scene.window);
    let each = |bin: &Bin| Some(of(bin.window)? / Some(bin.completed()).filter(|it| *it > 0.0)?);
    Course::of(&bins.filter_map(each).collect::<Vec<f64>>())
}
