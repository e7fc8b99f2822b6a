//! Every process of the machine: who it is, whose child, which part it plays, and its sensors.
//!
//! Target and generator are trees: a part given to a process goes to its descendants, those yet to
//! be born included, and stays with them when they are orphaned.

mod known;

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use model::{Entity, EntityId, EntityKind, EntityRecord, Role, Timestamp, name_of};
use rustix::fs::{Mode, OFlags, SeekFrom};
use sensors::{Scope, Sensor};

use crate::cgroups::Cgroups;
use crate::folder::each_number_in;
use crate::hierarchies::{Placement, groups_of};
use crate::intake::Intake;
use crate::probe::{Presence, Probe, Scratch};
use crate::pulse::Pulse;
use crate::registry::Registry;
use crate::root;
use crate::thread::Threads;

struct Process {
    entity: EntityId,
    folder: PathBuf,
    /// Its parent's number when it was met, and which process that was: numbers come round again.
    parent: u32,
    parent_entity: Option<EntityId>,
    role: Role,
    probe: Probe,
    threads: Option<Threads>,
    /// The text of its groups when it was last put into them, as one of target or generator.
    placed: Vec<u8>,
    /// The look that found it, and the last one that did.
    born: u64,
    generation: u64,
}

/// A sensor with its position in `sensors::all()`, which is also its intake's.
type Placed = (usize, &'static Sensor);

/// The processes of the machine.
pub(crate) struct Processes {
    proc: PathBuf,
    /// The recorder itself, if it is among them.
    own: Option<u32>,
    folder: OwnedFd,
    process_sensor: Placed,
    thread_sensor: Placed,
    by_pid: HashMap<u32, Process>,
    newcomers: Vec<u32>,
    generation: u64,
    pulse: Pulse,
    placings: usize,
}

/// Of more processes than these the groups are read in turns: a move is rare, and a reading costs 10 us.
const MOST_PLACED: usize = 64;

impl Processes {
    pub(crate) fn new(root: &Path) -> Result<Self, crate::Error> {
        let proc = root.join("proc");
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder =
            rustix::fs::open(&proc, flags, Mode::empty()).map_err(|errno| crate::Error::Read {
                path: proc.clone(),
                cause: errno.into(),
            })?;
        let placed = |scope| {
            let position = sensors::all()
                .iter()
                .position(|sensor| sensor.scope == scope);
            position
                .map(|index| (index, sensors::all()[index]))
                .expect("there is a sensor of processes and one of threads")
        };
        Ok(Self {
            own: root::own_pid(root),
            proc,
            folder,
            process_sensor: placed(Scope::Process),
            thread_sensor: placed(Scope::Thread),
            by_pid: HashMap::new(),
            newcomers: Vec::new(),
            generation: 0,
            pulse: Pulse::new(&root.join("proc")),
            placings: 0,
        })
    }

    /// Looks for processes that came and went.
    pub(crate) fn scan(
        &mut self,
        now: Timestamp,
        scratch: &mut Scratch,
        cgroups: &mut Cgroups,
        intakes: &mut [Intake],
        registry: &mut Registry,
    ) {
        self.generation += 1;
        if self.pulse.moved() {
            self.list(now, intakes, registry);
        }
        self.look_again(now, scratch, registry);
        // The lowest number first: most children have a higher one than their parent.
        self.newcomers.reverse();
        while let Some(pid) = self.newcomers.pop() {
            self.add(pid, now, scratch, cgroups, registry);
        }
        self.find_parents(now, registry);
        self.inherit_roles(now, registry);
        self.scan_threads(now, scratch, registry);
    }

    /// Lists the processes: notes the newcomers, and lets those go that have ended.
    fn list(&mut self, now: Timestamp, intakes: &mut [Intake], registry: &mut Registry) {
        let generation = self.generation;
        let Self {
            folder,
            by_pid,
            newcomers,
            ..
        } = self;
        if rustix::fs::seek(&*folder, SeekFrom::Start(0)).is_err() {
            return;
        }
        each_number_in(folder, |pid| match by_pid.get_mut(&pid) {
            Some(known) => known.generation = generation,
            None => newcomers.push(pid),
        });
        let sensors = (self.process_sensor.0, self.thread_sensor.0);
        self.by_pid.retain(|_, process| {
            let alive = process.generation == generation;
            if !alive {
                end(process, now, intakes, sensors, registry);
            }
            alive
        });
    }

    /// Gives a part to processes and to all their descendants, whatever part those had. Only what
    /// belongs to the recorder stays its own: the process by which a server answers it, say.
    pub(crate) fn assign(
        &mut self,
        pids: &[u32],
        role: Role,
        now: Timestamp,
        registry: &mut Registry,
    ) {
        let mut tree: Vec<u32> = pids.to_vec();
        let mut next = 0;
        while let Some(pid) = tree.get(next).copied() {
            next += 1;
            let Some(process) = self.by_pid.get_mut(&pid) else {
                continue;
            };
            process.role = role;
            let entity = process.entity;
            registry.change(entity, now, |record| record.role = role);
            let children = self.by_pid.iter().filter(|(pid, child)| {
                child.parent_entity == Some(entity)
                    && child.role != Role::Recorder
                    && !tree.contains(pid)
            });
            let children: Vec<u32> = children.map(|(pid, _)| *pid).collect();
            tree.extend(children);
        }
    }

    /// Marks the processes that hold a connection of the generator.
    pub(crate) fn mark_serving(&mut self, pids: &[u32], now: Timestamp, registry: &mut Registry) {
        for pid in pids {
            if let Some(process) = self.by_pid.get(pid) {
                registry.change(process.entity, now, |record| record.serving = true);
            }
        }
    }

    /// Position of the thread sensor among all sensors.
    pub(crate) fn thread_sensor_index(&self) -> usize {
        self.thread_sensor.0
    }

    /// The entity of a process, if it has been seen.
    pub(crate) fn entity(&self, pid: u32) -> Option<EntityId> {
        self.by_pid.get(&pid).map(|process| process.entity)
    }

    /// Reads which groups the processes of target and generator are in; they may have moved.
    pub(crate) fn place_in_groups(
        &mut self,
        now: Timestamp,
        scratch: &mut Scratch,
        cgroups: &mut Cgroups,
        registry: &mut Registry,
    ) {
        self.placings += 1;
        let count = self
            .by_pid
            .values()
            .filter(|process| is_near(process.role))
            .count();
        let (turns, turn) = (1 + count / MOST_PLACED, self.placings);
        for (pid, process) in &mut self.by_pid {
            let is_new = process.placed.is_empty();
            if !is_near(process.role) || !(is_new || *pid as usize % turns == turn % turns) {
                continue;
            }
            let text = scratch.read_once(&process.folder, "cgroup");
            if text.is_empty() || process.placed == text {
                continue;
            }
            process.placed = text.to_vec();
            let groups = groups_of(&process.placed);
            let entities =
                groups.map(|path| cgroups.ensure(&name_of(path), now, scratch, registry));
            registry.change(process.entity, now, |record| place(record, entities));
            let near = [groups.cpu, groups.memory, groups.io, groups.v2];
            let near = near.into_iter().flatten().map(name_of);
            cgroups.mark_near(near, &mut scratch.gaps);
        }
    }

    /// Reads the process sensor, of target and generator or of all.
    pub(crate) fn sample(
        &mut self,
        stamp: &mut dyn FnMut() -> Timestamp,
        due: &dyn Fn(&Sensor, bool) -> bool,
        scratch: &mut Scratch,
        intakes: &mut [Intake],
        registry: &mut Registry,
    ) {
        let (index, sensor) = self.process_sensor;
        let (near_due, rest_due) = (due(sensor, true), due(sensor, false));
        if !near_due && !rest_due {
            return;
        }
        let thread_index = self.thread_sensor.0;
        self.by_pid.retain(|_, process| {
            if !(if is_near(process.role) {
                near_due
            } else {
                rest_due
            }) {
                return true;
            }
            if !is_near(process.role) && process.probe.rests(scratch.look) {
                return true;
            }
            let now = stamp();
            if process
                .probe
                .sample(now, scratch, &mut intakes[index], registry)
                == Presence::Gone
            {
                end(process, now, intakes, (index, thread_index), registry);
                return false;
            }
            rename(process.entity, scratch.source(0), now, registry);
            true
        });
    }

    /// Reads the thread sensor of target and generator.
    pub(crate) fn sample_threads(
        &mut self,
        stamp: &mut dyn FnMut() -> Timestamp,
        scratch: &mut Scratch,
        intakes: &mut [Intake],
        registry: &mut Registry,
    ) {
        for process in self.by_pid.values_mut() {
            if let Some(threads) = &mut process.threads {
                threads.sample(stamp, scratch, &mut intakes[self.thread_sensor.0], registry);
            }
        }
    }

    pub(crate) fn finish(&mut self, scratch: &mut Scratch, intakes: &mut [Intake]) {
        scratch.say_unplaced(self.thread_sensor.1);
        for process in self.by_pid.values_mut() {
            process.probe.finish(&mut intakes[self.process_sensor.0]);
            if let Some(threads) = &mut process.threads {
                threads.finish(&mut intakes[self.thread_sensor.0]);
            }
        }
    }

    fn add(
        &mut self,
        pid: u32,
        now: Timestamp,
        scratch: &mut Scratch,
        cgroups: &mut Cgroups,
        registry: &mut Registry,
    ) {
        // Gone between the listing and here: it costs no error and no row.
        let Some(text) = scratch.first_look(self.process_sensor.1, &self.proc, pid) else {
            return;
        };
        let Ok(stat) = sensors::parse_stat(text) else {
            return;
        };
        let folder = self.proc.join(pid.to_string());
        let parent = u32::try_from(stat.parent).unwrap_or(0);
        let parent_entity = self.by_pid.get(&parent).map(|process| process.entity);
        let name = name_of(stat.name).into_owned();
        let entity = Entity::new(
            EntityKind::Process,
            name,
            format!("pid:{pid}@{}", stat.start),
        );
        let id = registry.add(entity, parent_entity, now);
        let groups = groups(&folder, now, scratch, cgroups, registry);
        let role = if Some(pid) == self.own {
            Role::Recorder
        } else {
            Role::Rest
        };
        registry.change(id, now, |record| {
            place(record, groups);
            record.role = role;
        });
        let sources = self.process_sensor.1.sources;
        let place = |source: usize| Some(folder.join(sources[source].path));
        match Probe::open(self.process_sensor.1, id, place, &mut scratch.gaps) {
            Some(probe) => {
                let process = Process {
                    entity: id,
                    folder,
                    parent,
                    parent_entity,
                    role,
                    probe,
                    threads: None,
                    placed: Vec::new(),
                    born: self.generation,
                    generation: self.generation,
                };
                self.by_pid.insert(pid, process);
            }
            None => registry.vanish(id, now),
        }
    }

    /// Most processes are found between fork and exec or soon after: the look after that finds the
    /// name that they go by, also of those that end before their sensor is read again.
    fn look_again(&mut self, now: Timestamp, scratch: &mut Scratch, registry: &mut Registry) {
        let generation = self.generation;
        let young = |process: &&Process| process.born + 1 == generation;
        for process in self.by_pid.values().filter(young) {
            if process.probe.read_source(0, scratch).is_ok() {
                rename(process.entity, scratch.source(0), now, registry);
            }
        }
    }

    /// Newcomers whose parent was met after them: numbers begin again at the highest.
    fn find_parents(&mut self, now: Timestamp, registry: &mut Registry) {
        let orphans = self.by_pid.iter().filter(|(_, process)| {
            process.born == self.generation && process.parent_entity.is_none()
        });
        let found: Vec<(u32, EntityId)> = orphans
            .filter_map(|(pid, process)| Some((*pid, self.by_pid.get(&process.parent)?.entity)))
            .collect();
        for (pid, parent) in found {
            if let Some(process) = self.by_pid.get_mut(&pid) {
                process.parent_entity = Some(parent);
                registry.change(process.entity, now, |record| record.parent = Some(parent));
            }
        }
    }

    /// A child of target or generator plays its parent's part. Repeated until nothing changes: each
    /// time one generation inherits.
    fn inherit_roles(&mut self, now: Timestamp, registry: &mut Registry) {
        loop {
            let heirs = self.by_pid.iter().filter_map(|(pid, process)| {
                let parent = self.by_pid.get(&process.parent)?;
                let inherits = process.role == Role::Rest
                    && is_near(parent.role)
                    && process.parent_entity == Some(parent.entity);
                inherits.then_some((*pid, parent.role))
            });
            let heirs: Vec<(u32, Role)> = heirs.collect();
            if heirs.is_empty() {
                return;
            }
            for (pid, role) in heirs {
                if let Some(process) = self.by_pid.get_mut(&pid) {
                    process.role = role;
                    registry.change(process.entity, now, |record| record.role = role);
                }
            }
        }
    }

    fn scan_threads(&mut self, now: Timestamp, scratch: &mut Scratch, registry: &mut Registry) {
        for process in self
            .by_pid
            .values_mut()
            .filter(|process| is_near(process.role))
        {
            if process.threads.is_none() {
                process.threads = Threads::open(&process.folder);
            }
            if let Some(threads) = &mut process.threads {
                threads.scan(
                    (&process.folder, process.entity),
                    self.thread_sensor.1,
                    now,
                    scratch,
                    registry,
                );
            }
        }
    }
}

/// Whether a part is measured thread by thread.
fn is_near(role: Role) -> bool {
    matches!(role, Role::Target | Role::Generator | Role::Dependency)
}

fn end(
    process: &mut Process,
    now: Timestamp,
    intakes: &mut [Intake],
    (index, thread_index): (usize, usize),
    registry: &mut Registry,
) {
    if let Some(threads) = &mut process.threads {
        threads.vanish(now, &mut intakes[thread_index], registry);
    }
    process.probe.finish(&mut intakes[index]);
    registry.vanish(process.entity, now);
}

fn groups(
    process: &Path,
    now: Timestamp,
    scratch: &mut Scratch,
    cgroups: &mut Cgroups,
    registry: &mut Registry,
) -> Placement<EntityId> {
    let text = scratch.read_once(process, "cgroup").to_vec();
    groups_of(&text).map(|path| cgroups.ensure(&name_of(path), now, scratch, registry))
}

/// Writes down where a process is; what could not be read stays as it was.
fn place(record: &mut EntityRecord, groups: Placement<EntityId>) {
    record.group = groups.cpu.or(groups.v2).or(record.group);
    record.memory_group = groups.memory.or(groups.v2).or(record.memory_group);
    record.io_group = groups.io.or(groups.v2).or(record.io_group);
    record.pressure_group = groups.v2.or(record.pressure_group);
}

/// An exec changes a process's name.
fn rename(id: EntityId, stat: &[u8], now: Timestamp, registry: &mut Registry) {
    if let Ok(stat) = sensors::parse_stat(stat)
        && registry
            .get(id)
            .is_some_and(|record| record.entity.name != name_of(stat.name))
    {
        let name = name_of(stat.name).into_owned();
        registry.change(id, now, |record| record.entity.name = name);
    }
}

#[cfg(test)]
mod tests;
