//! Processes as the walk of BPF programs finds them.
//!
//! A new process is looked up in /proc once, for its name and its groups; so is one whose name has changed.

use std::collections::HashSet;

use model::Timestamp;

use super::meter::{Identity, Meter};
use super::roles::DueRoles;
use super::{Newcomer, Process, Processes, end, rename};
use crate::output::{Output, Recorded};
use crate::probe::Scratch;
use crate::registry::Registry;
use kernel::bpf::tasks::Counts;
use kernel::folder::each_number_in;

impl Processes {
    /// Notes new processes and changed names, and removes exited processes.
    pub(super) fn list_by_walk(&mut self, now: Timestamp, scratch: &mut Scratch, out: &mut Output) {
        let table = &self.process_sensor.sensor.table.name;
        let Self {
            walk,
            by_pid,
            newcomers,
            generation,
            ..
        } = self;
        let Some(walk) = walk else {
            return;
        };
        if !walk.read(table, &mut out.gaps) {
            return;
        }
        for (_, counts) in walk.processes() {
            let known = by_pid.get_mut(&counts.pid);
            if let Some(known) = known.filter(|it| it.is(&counts)) {
                known.generation = *generation;
                known.note_name(&counts, now, scratch, &mut out.registry);
                continue;
            }
            // The pid may have been reused.
            if let Some(mut former) = by_pid.remove(&counts.pid) {
                end(&mut former, now, out);
            }
            newcomers.push(Newcomer {
                pid: counts.pid,
                identity: Some(Identity::of(&counts)),
            });
        }
        if !walk.is_whole {
            return;
        }
        by_pid.retain(|_, process| {
            let alive = !process.is_walked() || process.generation == *generation;
            if !alive {
                end(process, now, out);
            }
            alive
        });
    }

    /// Pids in /proc before the first walk: those that the walk then does not have are hidden from it or have
    /// exited, and are not new.
    pub(super) fn list_first(&self) -> HashSet<u32> {
        let mut pids = HashSet::new();
        if self.generation == 1 {
            each_number_in(&self.folder, |pid| {
                pids.insert(pid);
            });
        }
        pids
    }

    /// Some machines hide their first process from BPF programs. Such processes are read from /proc.
    pub(super) fn add_hidden(&mut self, mut pids: HashSet<u32>) {
        for walked in &self.newcomers {
            pids.remove(&walked.pid);
        }
        self.newcomers.extend(pids.into_iter().map(|pid| Newcomer {
            pid,
            identity: None,
        }));
    }

    /// Takes in the walk's processes that are due, and removes those that it no longer has: an exit changes
    /// no counter by which a scan would be started.
    pub(super) fn sample_by_walk(
        &mut self,
        now: Timestamp,
        due: DueRoles,
        scratch: &mut Scratch,
        out: &mut Output,
    ) {
        let Recorded { sensor, table } = self.process_sensor;
        let Some(walk) = &mut self.walk else {
            return;
        };
        if !walk.is_fresh(now) && !walk.read(&sensor.table.name, &mut out.gaps) {
            return;
        }
        for (at, counts) in walk.processes() {
            // An unknown process will be found by the next scan.
            let Some(process) = self.by_pid.get_mut(&counts.pid) else {
                continue;
            };
            if !process.is(&counts) {
                continue;
            }
            let is_due = due.has(process.role);
            if is_due {
                process.note_name(&counts, now, scratch, &mut out.registry);
            }
            if let Meter::Walk(counted) = &mut process.meter {
                counted.round = walk.round;
                if is_due && counts.torn == 0 {
                    let row = counted.row(&counts, scratch.facts);
                    counted.last.take(at, &row, &mut out.tables[table]);
                }
            }
        }
        if !walk.is_whole {
            return;
        }
        self.by_pid.retain(|_, process| {
            let alive = !matches!(&process.meter, Meter::Walk(it) if it.round != walk.round);
            if !alive {
                end(process, now, out);
            }
            alive
        });
    }
}

impl Process {
    /// Whether an entry of the walk is this process.
    fn is(&self, counts: &Counts) -> bool {
        matches!(&self.meter, Meter::Walk(it) if it.identity.start_ns == counts.start_ns)
    }

    /// Reads the name again if it has changed: /proc shows more of some names than the walk.
    fn note_name(
        &mut self,
        counts: &Counts,
        now: Timestamp,
        scratch: &mut Scratch,
        registry: &mut Registry,
    ) {
        let Meter::Walk(counted) = &mut self.meter else {
            return;
        };
        if counted.identity.name != counts.name {
            counted.identity.name = counts.name;
            let stat = scratch.read_once(&self.folder, "stat");
            rename(self.entity, stat, now, registry);
        }
    }
}
