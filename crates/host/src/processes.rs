//! Every process of the machine: identity, parent, role and sensors.
//!
//! Target and generator are process trees: a role given to a process goes to its descendants, future ones
//! included, and stays with them when they are orphaned.

mod known;
mod meter;
mod placing;
mod tracked_threads;
mod walk;

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use model::{Entity, EntityId, EntityKind, Role, Timestamp, name_of};
use rustix::fs::{Mode, OFlags, SeekFrom};
use sensors::{Scope, Sensor};

use crate::cgroups::Cgroups;
use crate::folder::each_number_in;
use crate::probe::{Presence, Probe, Scratch};
use crate::pulse::Pulse;
use crate::registry::Registry;
use crate::root;
use crate::table_buffer::TableBuffer;
use crate::thread::Threads;
use meter::{Counted, Identity, Meter};
use placing::{groups, place};

pub(crate) use known::TITLE_BYTES;
pub(crate) use walk::Walk;

struct Process {
    entity: EntityId,
    folder: PathBuf,
    /// The parent's pid when the process was first seen, and that parent's entity, because pids are reused.
    parent: u32,
    parent_entity: Option<EntityId>,
    role: Role,
    meter: Meter,
    threads: Option<Threads>,
    /// The process's slot in the walk over threads.
    slot: Option<u32>,
    /// The text of its /proc/PID/cgroup when its groups were last set; only for tracked processes.
    placed: Vec<u8>,
    /// Number of the scan that found it, and of the last one that did.
    born: u64,
    generation: u64,
}

/// A sensor with its index in `sensors::all()`, which is also the index of its buffer.
type Placed = (usize, &'static Sensor);

/// The processes of the machine.
pub(crate) struct Processes {
    proc: PathBuf,
    /// The recorder's own pid, if it is visible here.
    own: Option<u32>,
    folder: OwnedFd,
    /// Replaces files where BPF programs are available.
    walk: Option<Walk>,
    process_sensor: Placed,
    thread_sensor: Placed,
    by_pid: HashMap<u32, Process>,
    /// Pids of new processes, with their identity if the walk found them.
    newcomers: Vec<(u32, Option<Identity>)>,
    generation: u64,
    pulse: Pulse,
    placings: usize,
}

impl Processes {
    /// # Errors
    /// When /proc cannot be opened.
    pub(crate) fn new(root: &Path, walk: Option<Walk>) -> Result<Self, crate::Error> {
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
            walk,
            process_sensor: placed(Scope::Process),
            thread_sensor: placed(Scope::Thread),
            by_pid: HashMap::new(),
            newcomers: Vec::new(),
            generation: 0,
            pulse: Pulse::new(&root.join("proc")),
            placings: 0,
        })
    }

    /// Looks for new and exited processes.
    pub(crate) fn scan(
        &mut self,
        now: Timestamp,
        scratch: &mut Scratch,
        cgroups: &mut Cgroups,
        buffers: &mut [TableBuffer],
        registry: &mut Registry,
    ) {
        self.generation += 1;
        let moved = self.pulse.moved();
        if self.walk.is_none() {
            if moved {
                self.list(now, buffers, registry);
            }
        } else if moved || self.has_young() {
            let hidden = self.list_first();
            self.list_by_walk(now, scratch, buffers, registry);
            self.add_hidden(hidden);
        }
        self.look_again(now, scratch, registry);
        // Lowest pid first: most children have a higher pid than their parent.
        self.newcomers.reverse();
        while let Some(newcomer) = self.newcomers.pop() {
            self.add(newcomer, now, scratch, cgroups, registry);
        }
        self.find_parents(now, registry);
        self.inherit_roles(now, registry);
        self.follow_tracked(&mut scratch.gaps);
        self.scan_threads(now, scratch, registry);
    }

    /// Lists the processes, notes new ones and removes exited ones.
    fn list(&mut self, now: Timestamp, buffers: &mut [TableBuffer], registry: &mut Registry) {
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
            None => newcomers.push((pid, None)),
        });
        let sensors = (self.process_sensor.0, self.thread_sensor.0);
        self.by_pid.retain(|_, process| {
            let alive = process.generation == generation;
            if !alive {
                end(process, now, buffers, sensors, registry);
            }
            alive
        });
    }

    /// Gives a role to processes and all their descendants, whatever role those had. The recorder's own keep
    /// theirs, such as the server process that answers it.
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

    /// Index of the thread sensor among all sensors.
    pub(crate) fn thread_sensor_index(&self) -> usize {
        self.thread_sensor.0
    }

    /// The entity of a process, if it has been seen.
    pub(crate) fn entity(&self, pid: u32) -> Option<EntityId> {
        self.by_pid.get(&pid).map(|process| process.entity)
    }

    /// Reads the process sensor of tracked processes, or of all.
    pub(crate) fn sample(
        &mut self,
        stamp: &mut dyn FnMut() -> Timestamp,
        due: &dyn Fn(&Sensor, bool) -> bool,
        scratch: &mut Scratch,
        buffers: &mut [TableBuffer],
        registry: &mut Registry,
    ) {
        let (index, sensor) = self.process_sensor;
        let (tracked_due, background_due) = (due(sensor, true), due(sensor, false));
        if !tracked_due && !background_due {
            return;
        }
        if self.walk.is_some() {
            self.sample_by_walk(
                stamp(),
                (tracked_due, background_due),
                scratch,
                buffers,
                registry,
            );
        }
        let thread_index = self.thread_sensor.0;
        self.by_pid.retain(|_, process| {
            let Meter::Files(probe) = &mut process.meter else {
                return true;
            };
            if !is_due(process.role, (tracked_due, background_due))
                || (!is_tracked(process.role) && probe.skips_deadline(scratch.look))
            {
                return true;
            }
            let now = stamp();
            if probe.sample(now, scratch, &mut buffers[index], registry) == Presence::Gone {
                end(process, now, buffers, (index, thread_index), registry);
                return false;
            }
            rename(process.entity, scratch.source(0), now, registry);
            true
        });
    }

    /// Reads the thread sensor of tracked processes.
    pub(crate) fn sample_threads(
        &mut self,
        stamp: &mut dyn FnMut() -> Timestamp,
        scratch: &mut Scratch,
        buffers: &mut [TableBuffer],
        registry: &mut Registry,
    ) {
        if self.walk.is_some() {
            self.sample_threads_by_walk(scratch, buffers, registry);
        }
        for process in self.by_pid.values_mut().filter(|it| !it.is_walked()) {
            if let Some(threads) = &mut process.threads {
                threads.sample(stamp, scratch, &mut buffers[self.thread_sensor.0], registry);
            }
        }
    }

    pub(crate) fn finish(&mut self, scratch: &mut Scratch, buffers: &mut [TableBuffer]) {
        scratch.report_unplaced(self.thread_sensor.1);
        for process in self.by_pid.values_mut() {
            process.meter.finish(&mut buffers[self.process_sensor.0]);
            if let Some(threads) = &mut process.threads {
                threads.finish(&mut buffers[self.thread_sensor.0]);
            }
        }
    }

    fn add(
        &mut self,
        (pid, identity): (u32, Option<Identity>),
        now: Timestamp,
        scratch: &mut Scratch,
        cgroups: &mut Cgroups,
        registry: &mut Registry,
    ) {
        // If it has exited since the listing, that costs no error and no row.
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
            Role::Background
        };
        registry.change(id, now, |record| {
            place(record, groups);
            record.role = role;
        });
        let sensor = self.process_sensor.1;
        let place = |source: usize| Some(folder.join(sensor.sources[source].path));
        let meter = match identity {
            Some(identity) => Some(Meter::Walk(Counted::new(identity, id))),
            None => Probe::open(sensor, id, place, &mut scratch.gaps).map(Meter::Files),
        };
        match meter {
            Some(meter) => {
                let process = Process {
                    entity: id,
                    folder,
                    parent,
                    parent_entity,
                    role,
                    meter,
                    threads: None,
                    slot: None,
                    placed: Vec::new(),
                    born: self.generation,
                    generation: self.generation,
                };
                self.by_pid.insert(pid, process);
            }
            None => registry.vanish(id, now),
        }
    }

    /// Most processes are found between fork and exec or soon after. The next scan finds the name that they
    /// go by then, even of those that exit before their sensor is read again.
    fn look_again(&mut self, now: Timestamp, scratch: &mut Scratch, registry: &mut Registry) {
        let young = self
            .by_pid
            .values()
            .filter(|it| it.is_young(self.generation));
        for process in young {
            if let Meter::Files(probe) = &process.meter
                && probe.read_source(0, scratch).is_ok()
            {
                rename(process.entity, scratch.source(0), now, registry);
            }
        }
    }

    fn has_young(&self) -> bool {
        let mut all = self.by_pid.values();
        all.any(|it| it.is_young(self.generation))
    }

    /// Finds the parents of new processes whose parent was seen later: pids wrap around at the highest.
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

    /// Children of tracked processes inherit the role. Repeated until nothing changes: each pass covers one
    /// generation.
    fn inherit_roles(&mut self, now: Timestamp, registry: &mut Registry) {
        loop {
            let heirs = self.by_pid.iter().filter_map(|(pid, process)| {
                let parent = self.by_pid.get(&process.parent)?;
                let inherits = process.role == Role::Background
                    && is_tracked(parent.role)
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
            .filter(|process| is_tracked(process.role))
        {
            if process.threads.is_none() {
                process.threads = Threads::open(&process.folder, process.is_walked());
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

impl Process {
    /// Whether its rows come from the walk.
    fn is_walked(&self) -> bool {
        matches!(self.meter, Meter::Walk(_))
    }

    /// Whether the scan before the present one found it.
    fn is_young(&self, generation: u64) -> bool {
        self.born + 1 == generation
    }
}

/// Whether a process with this role is to be read, given whether tracked and background ones are.
fn is_due(role: Role, (tracked, background): (bool, bool)) -> bool {
    if is_tracked(role) {
        tracked
    } else {
        background
    }
}

/// Whether processes with this role are measured thread by thread.
fn is_tracked(role: Role) -> bool {
    matches!(role, Role::Target | Role::Generator | Role::Dependency)
}

fn end(
    process: &mut Process,
    now: Timestamp,
    buffers: &mut [TableBuffer],
    (index, thread_index): (usize, usize),
    registry: &mut Registry,
) {
    if let Some(threads) = &mut process.threads {
        threads.vanish(now, &mut buffers[thread_index], registry);
    }
    process.meter.finish(&mut buffers[index]);
    registry.vanish(process.entity, now);
}

/// Takes over the new name after an exec.
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
