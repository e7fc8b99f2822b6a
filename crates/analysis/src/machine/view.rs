//! A recording of the whole machine as if one of those who were followed had been the only target.
//!
//! Roles follow from the recorded targets: a process belongs to the one whose control group it is in, or whose
//! processes it descends from. The kernel's programs counted of each wait for a CPU whether a thread of any target had
//! it, and of each thread how long targets waited behind it. From both, second by second, the waits of this target
//! behind targets are shared out: behind threads of its own (never behind the waiting thread itself) and of each
//! other, as much as targets waited behind these. With two targets, one thread each, that is exact; with more it
//! is exact as far as all wait for the same CPUs.

use std::collections::BTreeMap;

use model::{
    EntityId, EntityKind, EntityRecord, MISSING, Meta, Role, Series, TableData, Timeline,
    Timestamp, Window,
};
use sensors::thread_time::{Holder, PROCESS_TIME, THREAD_TIME};

/// Waits are shared out over so long at a time, ns.
const STEP_NS: i64 = 1_000_000_000;
/// Of a damaged recording, which may cover years, no more of these.
const MOST_STEPS: i64 = 100_000;
/// Ancestors that are looked at: a damaged recording may hold a circle.
const MOST_ANCESTORS: usize = 64;

/// Timeline and description in which the target of this number is the only one.
///
/// # Panics
/// When there is no target of that number: a mistake of the program.
pub fn view(timeline: &Timeline, meta: &Meta, number: usize) -> (Timeline, Meta) {
    let owners = Owners::of(timeline, meta);
    let mut seen = timeline.clone();
    if meta.targets.len() > 1 {
        for table in held_by(timeline, &owners, number) {
            seen.insert(table);
        }
    }
    for record in seen.entities.iter_mut() {
        let is_another = owners.0.get(&record.id).is_some_and(|own| *own != number);
        if is_another {
            record.role = Role::Background;
        }
    }
    let mut meta = meta.clone();
    meta.targets = vec![meta.targets[number].clone()];
    (seen, meta)
}

/// Whether a control group is, or holds, or is part of what was followed.
pub(super) fn concerns(timeline: &Timeline, meta: &Meta, group: EntityId) -> bool {
    let path_of = |id| Some(timeline.entities.get(id)?.entity.path.as_str());
    let Some(path) = path_of(group) else {
        return false;
    };
    let units = meta
        .targets
        .iter()
        .filter_map(|it| it.machine_unit.as_ref());
    let mut units = units.filter_map(|unit| unit.group.as_deref());
    let processes = timeline.entities.of_kind(EntityKind::Process);
    let followed = processes.filter(|process| process.role == Role::Target);
    let mut places = followed.filter_map(|process| path_of(process.pressure_group?));
    units.any(|unit| is_in(path, unit)) || places.any(|place| is_in(place, path))
}

/// Whether the group at `path` is this one, or below it.
fn is_in(path: &str, group: &str) -> bool {
    let below = path.strip_prefix(group.trim_end_matches('/'));
    below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The number of the target that each entity in the role of one belongs to.
struct Owners(BTreeMap<EntityId, usize>);

impl Owners {
    fn of(timeline: &Timeline, meta: &Meta) -> Self {
        let entities = timeline.entities.iter();
        let followed = entities.filter(|record| record.role == Role::Target);
        let owner = |record: &EntityRecord| Some((record.id, owner(timeline, meta, record)?));
        let mut owners: BTreeMap<_, _> = followed.filter_map(owner).collect();
        // Threads have no role of their own.
        for record in timeline.entities.of_kind(EntityKind::Thread) {
            let process = record
                .parent
                .and_then(|process| owners.get(&process))
                .copied();
            owners.extend(process.map(|own| (record.id, own)));
        }
        Self(owners)
    }

    /// The background beside this one.
    fn background(&self, timeline: &Timeline, number: usize) -> Vec<EntityId> {
        let processes = timeline.entities.of_kind(EntityKind::Process);
        let is_beside = |it: &&EntityRecord| match self.0.get(&it.id) {
            Some(own) => *own != number,
            None => it.role == Role::Background,
        };
        processes.filter(is_beside).map(|it| it.id).collect()
    }

    /// The threads of everybody, each with its process and whose they are.
    fn threads(&self, timeline: &Timeline) -> Vec<Thread> {
        let threads = timeline.entities.of_kind(EntityKind::Thread);
        let thread = |record: &EntityRecord| {
            Some(Thread {
                id: record.id,
                process: record.parent?,
                owner: *self.0.get(&record.id)?,
            })
        };
        threads.filter_map(thread).collect()
    }
}

/// A process belongs to the target whose group it is in; else to the nearest above it, itself included.
fn owner(timeline: &Timeline, meta: &Meta, record: &EntityRecord) -> Option<usize> {
    let above = |it: &&EntityRecord| timeline.entities.get(it.parent?);
    let line = std::iter::successors(Some(record), above).take(MOST_ANCESTORS);
    let processes: Vec<_> = line
        .filter(|it| it.entity.kind == EntityKind::Process)
        .collect();
    let process = processes.first()?;
    let groups = [
        process.group,
        process.pressure_group,
        process.memory_group,
        process.io_group,
    ];
    let paths = groups.into_iter().flatten();
    let mut paths = paths.filter_map(|id| Some(&*timeline.entities.get(id)?.entity.path));
    // As the survey tells them apart: by the first of its groups that says something.
    let path = paths.find(|path| *path != "/");
    let by_group = meta.targets.iter().position(|target| {
        let unit = target.machine_unit.as_ref();
        let group = unit.and_then(|unit| unit.group.as_deref());
        group
            .zip(path)
            .is_some_and(|(group, path)| is_in(path, group))
    });
    by_group.or_else(|| {
        processes.iter().find_map(|process| {
            let mut targets = meta.targets.iter();
            targets.position(|target| target.root == Some(process.id))
        })
    })
}

/// A thread of somebody who was followed.
struct Thread {
    id: EntityId,
    process: EntityId,
    owner: usize,
}

/// The tables of threads and of background processes as one target has them.
fn held_by(timeline: &Timeline, owners: &Owners, number: usize) -> Vec<TableData> {
    let threads = owners.threads(timeline);
    let Some(recorded) = timeline.table(&THREAD_TIME.name) else {
        return Vec::new();
    };
    let grid = grid(timeline.window);
    let grown = |thread: &Thread| Grown::of(timeline, thread.id, &grid);
    let grown: Vec<Grown> = threads.iter().map(grown).collect();
    let held = Held {
        threads: &threads,
        grown: &grown,
        background: owners.background(timeline, number),
        number,
        steps: grid.len().saturating_sub(1),
    };
    let others = held.parts_of_others();
    let process_time = held.processes(timeline, &grid, &others);
    vec![moved(recorded, &held, &grid, &others), process_time]
}

/// Instants at which waits are shared out.
fn grid(window: Window) -> Vec<Timestamp> {
    let steps = (window.len_ns() / STEP_NS + 1).clamp(1, MOST_STEPS);
    let mut grid: Vec<Timestamp> = (0..steps)
        .map(|step| window.start + step * STEP_NS)
        .collect();
    grid.push(window.end.max(window.start));
    grid
}

/// What a thread's counters grew by in each step, ns.
struct Grown {
    /// Waits behind targets at the first instant.
    begun: f64,
    behind_targets: Vec<f64>,
    behind_rest: Vec<f64>,
    caused: Vec<f64>,
    on_cpu: Vec<f64>,
}

impl Grown {
    fn of(timeline: &Timeline, thread: EntityId, grid: &[Timestamp]) -> Self {
        let counter = |column: &str| timeline.series(&THREAD_TIME.name, thread, column);
        let grown = |column: &str| growth(counter(column), grid);
        let targets = Holder::Target.column_name();
        let begun = at(counter(targets), &grid[..1]);
        Self {
            begun: begun[0],
            behind_targets: grown(targets),
            behind_rest: grown(Holder::Background.column_name()),
            caused: grown("delay_caused_ns"),
            on_cpu: grown("on_cpu_ns"),
        }
    }
}

/// The growth of a counter in each step: 0 where it is not known.
fn growth(counter: Option<Series<'_>>, grid: &[Timestamp]) -> Vec<f64> {
    let values = at(counter, grid);
    let pairs = values.windows(2);
    pairs.map(|pair| (pair[1] - pair[0]).max(0.0)).collect()
}

/// A counter at each instant; before its first reading as at that, which is no growth that anybody measured.
fn at(counter: Option<Series<'_>>, grid: &[Timestamp]) -> Vec<f64> {
    let first = counter.and_then(|series| series.values().next());
    let first = first.map_or(0.0, |(_, value)| value as f64);
    let mut cursor = counter.map(|series| series.cursor());
    let mut at = |time| cursor.as_mut().and_then(|it| it.counter_at(time));
    grid.iter().map(|time| at(*time).unwrap_or(first)).collect()
}

/// Who held CPUs that one target waited for.
struct Held<'a> {
    threads: &'a [Thread],
    grown: &'a [Grown],
    /// The background beside the target, the others in it.
    background: Vec<EntityId>,
    number: usize,
    steps: usize,
}

impl Held<'_> {
    fn all(&self) -> impl Iterator<Item = (&Thread, &Grown)> {
        self.threads.iter().zip(self.grown)
    }

    fn own(&self) -> impl Iterator<Item = (&Thread, &Grown)> {
        self.all().filter(|(thread, _)| thread.owner == self.number)
    }

    fn others(&self) -> impl Iterator<Item = (&Thread, &Grown)> {
        self.all().filter(|(thread, _)| thread.owner != self.number)
    }

    /// Of each own thread's waits behind targets, the part behind others, step by step.
    fn parts_of_others(&self) -> BTreeMap<EntityId, Vec<f64>> {
        let caused = |step: usize, others: bool| -> f64 {
            let of = self
                .all()
                .filter(|(it, _)| (it.owner != self.number) == others);
            of.map(|(_, grown)| grown.caused[step]).sum()
        };
        let sums: Vec<(f64, f64)> = (0..self.steps)
            .map(|step| (caused(step, false), caused(step, true)))
            .collect();
        let parts = self.own().map(|(thread, grown)| {
            let part = |step: usize| {
                let (own, others) = sums[step];
                // Nobody waits behind himself.
                let siblings = (own - grown.caused[step]).max(0.0);
                let all = siblings + others;
                if all > 0.0 { others / all } else { 0.0 }
            };
            (thread.id, (0..self.steps).map(part).collect())
        });
        parts.collect()
    }

    /// How long each process of the others and of the background held CPUs that this target waited for.
    fn processes(
        &self,
        timeline: &Timeline,
        grid: &[Timestamp],
        parts: &BTreeMap<EntityId, Vec<f64>>,
    ) -> TableData {
        let mut rows = TableData::new(PROCESS_TIME.clone());
        let sum =
            |values: &dyn Fn(usize) -> f64| -> Vec<f64> { (0..self.steps).map(values).collect() };
        // Behind others who were followed.
        let behind = sum(&|step| {
            let own = self.own();
            own.map(|(thread, grown)| grown.behind_targets[step] * parts[&thread.id][step])
                .sum()
        });
        let caused = sum(&|step| self.others().map(|(_, grown)| grown.caused[step]).sum());
        let none = || vec![(0.0, 0.0); self.steps];
        let mut processes: BTreeMap<EntityId, Vec<(f64, f64)>> = BTreeMap::new();
        for (thread, grown) in self.others() {
            let own = processes.entry(thread.process).or_insert_with(none);
            for (step, own) in own.iter_mut().enumerate() {
                own.0 += grown.on_cpu[step];
                own.1 += ratio(grown.caused[step], caused[step]) * behind[step];
            }
        }
        // Behind the background: its delay is that of all targets together.
        let rest = sum(&|step| self.all().map(|(_, grown)| grown.behind_rest[step]).sum());
        let own = sum(&|step| self.own().map(|(_, grown)| grown.behind_rest[step]).sum());
        let background = timeline.table(&PROCESS_TIME.name);
        for process in background.into_iter().flat_map(TableData::entities) {
            if processes.contains_key(&process) {
                continue;
            }
            let counter = |column| timeline.series(&PROCESS_TIME.name, process, column);
            let of = |column| growth(counter(column), grid);
            let (on_cpu, delay) = (of("on_cpu_ns"), of("delay_caused_ns"));
            let steps = (0..self.steps)
                .map(|step| (on_cpu[step], delay[step] * ratio(own[step], rest[step])));
            processes.insert(process, steps.collect());
        }
        // Who lived too short for a row of its own held no CPU that is known of.
        for process in &self.background {
            processes.entry(*process).or_insert_with(none);
        }
        for (process, steps) in processes {
            let (mut on_cpu, mut delay) = (0.0, 0.0);
            rows.push(grid[0], process, &[0, 0]);
            for (step, time) in steps.iter().zip(&grid[1..]) {
                on_cpu += step.0;
                delay += step.1;
                rows.push(*time, process, &[on_cpu as i64, delay as i64]);
            }
        }
        rows
    }
}

fn ratio(part: f64, of: f64) -> f64 {
    if of > 0.0 { (part / of).min(1.0) } else { 0.0 }
}

/// The rows of threads, own waits behind others as behind the background.
fn moved(
    recorded: &TableData,
    held: &Held<'_>,
    grid: &[Timestamp],
    parts: &BTreeMap<EntityId, Vec<f64>>,
) -> TableData {
    let mut rows = TableData::new(recorded.table.clone());
    let place = |holder: Holder| recorded.table.position(holder.column_name());
    let places = place(Holder::Target).zip(place(Holder::Background));
    let own: BTreeMap<EntityId, &Grown> = held.own().map(|(it, grown)| (it.id, grown)).collect();
    let mut shares: BTreeMap<EntityId, Share<'_>> = BTreeMap::new();
    for row in 0..recorded.len() {
        let (time, entity) = recorded.key(row);
        let mut values: Vec<i64> = recorded.row(row).collect();
        if let (Some((target, rest)), Some(grown)) = (places, own.get(&entity))
            && values[target] != MISSING
            && values[rest] != MISSING
        {
            let share = shares.entry(entity);
            let share = share.or_insert_with(|| Share::new(grown, &parts[&entity]));
            let behind_others = share.of(values[target], time, grid);
            values[target] -= behind_others;
            values[rest] = values[rest].saturating_add(behind_others);
        }
        rows.push(time, entity, &values);
    }
    rows
}

/// Of a thread's waits behind targets, those behind others.
struct Share<'a> {
    /// At the beginning of each step: waits behind targets, and behind others, so far, ns.
    begun: Vec<(f64, f64)>,
    parts: &'a [f64],
}

impl<'a> Share<'a> {
    fn new(grown: &Grown, parts: &'a [f64]) -> Self {
        let mut so_far = (grown.begun, 0.0);
        let steps = grown.behind_targets.iter().zip(parts);
        let begun = steps.map(|(behind, part)| {
            let begun = so_far;
            so_far = (begun.0 + behind, begun.1 + behind * part);
            begun
        });
        Self {
            begun: begun.collect(),
            parts,
        }
    }

    /// Of so long a wait until an instant: it grows as that does, within a step too, and never faster.
    fn of(&self, behind_targets: i64, time: Timestamp, grid: &[Timestamp]) -> i64 {
        let passed = grid.partition_point(|at| *at <= time).saturating_sub(1);
        // The end belongs to the last step.
        let step = passed.min(self.parts.len().saturating_sub(1));
        let Some((targets, others)) = self.begun.get(step) else {
            return 0;
        };
        let in_step = (behind_targets as f64 - targets).max(0.0);
        ((others + self.parts[step] * in_step) as i64).clamp(0, behind_targets.max(0))
    }
}
