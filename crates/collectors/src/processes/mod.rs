//! Every process of the machine: identity, parent, role and sensors.
//!
//! Target and generator are process trees: a role given to a process goes to its descendants, future ones
//! included, and stays with them when they are orphaned.

mod by_walk;
mod known;
mod meter;
mod placing;
mod pulse;
mod split;
mod thread;
mod tracked_threads;
mod walk;

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use model::{Entity, EntityId, EntityKind, Role, Timestamp, name_of};
use rustix::fs::{Mode, OFlags, SeekFrom};
use sensors::Scope;

use crate::cgroups::Cgroups;
use crate::output::{Output, Recorded};
use crate::probe::{Presence, Probe, Scratch};
use crate::processes::pulse::Pulse;
use crate::processes::thread::Threads;
use crate::registry::Registry;
use crate::tick::Tick;
use kernel::error::Error;
use kernel::folder::each_number_in;
use kernel::root;
use meter::{Counted, Identity, Meter};
use placing::{groups, place};

pub(crate) use walk::Walk;

/// Bytes of a process title that are read: the name of a PostgreSQL cluster comes before what the
/// process does.
pub(crate) const TITLE_BYTES: usize = 256;

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

/// The processes of the machine.
pub(crate) struct Processes {
    proc: PathBuf,
    /// The recorder's own pid, if it is visible here.
    own: Option<u32>,
    folder: OwnedFd,
    /// Replaces files where BPF programs are available.
    walk: Option<Walk>,
    process_sensor: Recorded,
    thread_sensor: Recorded,
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
    pub(crate) fn new(root: &Path, walk: Option<Walk>, out: &mut Output) -> Result<Self, Error> {
        let proc = root.join("proc");
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder =
            rustix::fs::open(&proc, flags, Mode::empty()).map_err(|errno| Error::Read {
                path: proc.clone(),
                cause: errno.into(),
            })?;
        let mut recorded = |scope| {
            let sensor = out.recorded_of(scope).pop();
            sensor.expect("there is a sensor of processes and one of threads")
        };
        Ok(Self {
            own: root::own_pid(root),
            proc,
            folder,
            walk,
            process_sensor: recorded(Scope::Process),
            thread_sensor: recorded(Scope::Thread),
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
        cgroups: &mut Cgroups,
        scratch: &mut Scratch,
        out: &mut Output,
    ) {
        self.generation += 1;
        let moved = self.pulse.moved();
        if self.walk.is_none() {
            if moved {
                self.list(now, out);
            }
        } else if moved || self.has_young() {
            let hidden = self.list_first();
            self.list_by_walk(now, scratch, out);
            self.add_hidden(hidden);
        }
        self.look_again(now, scratch, &mut out.registry);
        // Lowest pid first: most children have a higher pid than their parent.
        self.newcomers.reverse();
        while let Some(newcomer) = self.newcomers.pop() {
            self.add(newcomer, now, cgroups, scratch, out);
        }
        self.find_parents(now, &mut out.registry);
        self.inherit_roles(now, &mut out.registry);
        self.follow_tracked(&mut out.gaps);
        self.scan_threads(now, scratch, out);
    }

    /// Lists the processes, notes new ones and removes exited ones.
    fn list(&mut self, now: Timestamp, out: &mut Output) {
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
        self.by_pid.retain(|_, process| {
            let alive = process.generation == generation;
            if !alive {
                end(process, now, out);
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

    /// The entity of a process, if it has been seen.
    pub(crate) fn entity(&self, pid: u32) -> Option<EntityId> {
        self.by_pid.get(&pid).map(|process| process.entity)
    }

    /// Reads the process sensor of tracked processes, or of all.
    pub(crate) fn sample(&mut self, tick: &Tick, scratch: &mut Scratch, out: &mut Output) {
        let sensor = self.process_sensor.sensor;
        let due = DueRoles {
            tracked: tick.reads(sensor, true),
            background: tick.reads(sensor, false),
        };
        if !due.tracked && !due.background {
            return;
        }
        if self.walk.is_some() {
            self.sample_by_walk(tick.stamp(), due, scratch, out);
        }
        self.by_pid.retain(|_, process| {
            let Meter::Files(probe) = &mut process.meter else {
                return true;
            };
            if !due.has(process.role)
                || (!is_tracked(process.role) && probe.skips_deadline(tick.look()))
            {
                return true;
            }
            let now = tick.stamp();
            if probe.sample(now, scratch, out) == Presence::Gone {
                end(process, now, out);
                return false;
            }
            rename(process.entity, scratch.source(0), now, &mut out.registry);
            true
        });
    }

    /// Reads the thread sensor of tracked processes, if it is due.
    pub(crate) fn sample_threads(&mut self, tick: &Tick, scratch: &mut Scratch, out: &mut Output) {
        if !tick.reads(self.thread_sensor.sensor, true) {
            return;
        }
        if self.walk.is_some() {
            self.sample_threads_by_walk(scratch, out);
        }
        for process in self.by_pid.values_mut().filter(|it| !it.is_walked()) {
            if let Some(threads) = &mut process.threads {
                threads.sample(tick, scratch, out);
            }
        }
    }

    /// Ends the series of processes and threads.
    pub(crate) fn finish(&mut self, scratch: &Scratch, out: &mut Output) {
        scratch.report_unplaced(self.thread_sensor.sensor, &mut out.gaps);
        for process in self.by_pid.values_mut() {
            process.meter.finish(out);
            if let Some(threads) = &mut process.threads {
                threads.finish(out);
            }
        }
    }

    fn add(
        &mut self,
        (pid, identity): (u32, Option<Identity>),
        now: Timestamp,
        cgroups: &mut Cgroups,
        scratch: &mut Scratch,
        out: &mut Output,
    ) {
        let sensor = self.process_sensor.sensor;
        // If it has exited since the listing, that costs no error and no row.
        let gaps = &mut out.gaps;
        let Some(text) = scratch.first_look(sensor, &self.proc, pid, gaps) else {
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
        let id = out.registry.add(entity, parent_entity, now);
        let groups = groups(&folder, now, cgroups, scratch, out);
        let role = if Some(pid) == self.own {
            Role::Recorder
        } else {
            Role::Background
        };
        out.registry.change(id, now, |record| {
            place(record, groups);
            record.role = role;
        });
        let place = |source: usize| Some(folder.join(sensor.sources[source].path));
        let meter = match identity {
            Some(identity) => {
                let table = self.process_sensor.table;
                Some(Meter::Walk(Counted::new(identity, id, table)))
            }
            None => Probe::open(self.process_sensor, id, place, &mut out.gaps).map(Meter::Files),
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
            None => out.registry.vanish(id, now),
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

    fn scan_threads(&mut self, now: Timestamp, scratch: &mut Scratch, out: &mut Output) {
        for process in self
            .by_pid
            .values_mut()
            .filter(|process| is_tracked(process.role))
        {
            if process.threads.is_none() {
                process.threads = Threads::open(&process.folder, process.is_walked());
            }
            if let Some(threads) = &mut process.threads {
                let of = (process.folder.as_path(), process.entity);
                threads.scan(of, self.thread_sensor, now, scratch, out);
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

/// Whose processes are read.
#[derive(Clone, Copy)]
struct DueRoles {
    tracked: bool,
    background: bool,
}

impl DueRoles {
    fn has(self, role: Role) -> bool {
        if is_tracked(role) {
            self.tracked
        } else {
            self.background
        }
    }
}

/// Whether processes with this role are measured thread by thread.
fn is_tracked(role: Role) -> bool {
    matches!(role, Role::Target | Role::Generator | Role::Dependency)
}

fn end(process: &mut Process, now: Timestamp, out: &mut Output) {
    if let Some(threads) = &mut process.threads {
        threads.vanish(now, out);
    }
    process.meter.finish(out);
    out.registry.vanish(process.entity, now);
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
