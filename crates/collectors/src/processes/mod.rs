//! Every process of the machine: identity, parent, role and sensors.
//!
//! Target and generator are process trees: a role given to a process goes to its descendants, future ones
//! included, and stays with them when they are orphaned.

mod by_walk;
mod known;
mod meter;
mod placing;
mod pulse;
mod roles;
mod scan;
mod split;
mod thread;
mod tracked_threads;
mod walk;

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use model::{EntityId, Role, Timestamp, name_of};
use rustix::fs::{Mode, OFlags};
use sensors::Scope;

use crate::output::{Output, Recorded};
use crate::probe::{Presence, Scratch};
use crate::processes::pulse::Pulse;
use crate::processes::thread::Threads;
use crate::registry::Registry;
use crate::tick::Tick;
use kernel::error::Error;
use kernel::root;
use meter::{Identity, Meter};
use roles::{DueRoles, is_tracked};

pub(crate) use known::TrackedProcess;
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

/// A process that is new.
struct Newcomer {
    pid: u32,
    /// If the walk found it.
    identity: Option<Identity>,
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
    newcomers: Vec<Newcomer>,
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
