//! New and exited processes, by files or as the walk lists them.

use model::{Entity, EntityId, EntityKind, Role, Timestamp, name_of};
use rustix::fs::SeekFrom;

use super::meter::{Counted, Meter};
use super::placing::{groups, place};
use super::roles::is_tracked;
use super::thread::Threads;
use super::{Newcomer, Process, Processes, end, rename};
use crate::cgroups::Cgroups;
use crate::output::Output;
use crate::probe::{Probe, Scratch};
use crate::registry::Registry;
use kernel::folder::each_number_in;

impl Processes {
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
            None => newcomers.push(Newcomer {
                pid,
                identity: None,
            }),
        });
        self.by_pid.retain(|_, process| {
            let alive = process.generation == generation;
            if !alive {
                end(process, now, out);
            }
            alive
        });
    }

    fn add(
        &mut self,
        newcomer: Newcomer,
        now: Timestamp,
        cgroups: &mut Cgroups,
        scratch: &mut Scratch,
        out: &mut Output,
    ) {
        let Newcomer { pid, identity } = newcomer;
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

    fn scan_threads(&mut self, now: Timestamp, scratch: &mut Scratch, out: &mut Output) {
        for process in self
            .by_pid
            .values_mut()
            .filter(|process| is_tracked(process.role))
        {
            if process.threads.is_none() {
                process.threads =
                    Threads::open(process.entity, &process.folder, process.is_walked());
            }
            if let Some(threads) = &mut process.threads {
                threads.scan(self.thread_sensor, now, scratch, out);
            }
        }
    }
}
