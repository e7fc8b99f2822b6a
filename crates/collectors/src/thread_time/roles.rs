//! Sets the roles of processes in the programs.

use model::{GapReason, Role, Timestamp};
use sensors::thread_time::THREAD_TIME;
use sensors::wait_event;

use super::untracked::Process;
use super::{Assignment, ThreadTimeCollector};
use crate::output::Output;
use crate::processes::Processes;
use crate::scene::Scene;
use kernel::bpf::thread_time::Assigned;
use kernel::remote_memory::RemoteRead;

impl ThreadTimeCollector {
    /// Sets role, wait event address and PSI groups of the processes for which they have changed.
    pub(crate) fn follow(&mut self, now: Timestamp, scene: &mut Scene, out: &mut Output) {
        let Scene {
            processes,
            cgroups,
            scratch,
        } = scene;
        let remote_memory = &mut scratch.remote_memory;
        let mut changed = false;
        self.psi_groups
            .follow(now, &self.programs, processes, cgroups, out);
        for (pid, entity, role, cell) in processes.tracked_roles() {
            let place = cell.and_then(|cell| remote_memory.place(cell));
            let membership = self.psi_groups.membership(pid);
            let assignment = Assignment {
                entity,
                role,
                place,
                membership,
            };
            if self.assignments.get(&pid) == Some(&assignment) {
                continue;
            }
            let wait_event = match cell.map(|cell| remote_memory.read(cell)) {
                Some(RemoteRead::Value(wait_event)) => u32::from_ne_bytes(wait_event),
                _ => wait_event::NOT_WAITING,
            };
            let assigned = Assigned {
                role,
                place,
                wait_event,
                membership,
            };
            if self.programs.assign(pid, assigned).is_err() {
                let what = "threads of more processes than there is room for";
                out.gaps
                    .report(&THREAD_TIME.name, what, GapReason::Dropped(1));
                continue;
            }
            self.assignments.insert(pid, assignment);
            changed = true;
        }
        for (pid, entity, membership) in self.psi_groups.background() {
            let assignment = Assignment {
                entity,
                role: Role::Background,
                place: None,
                membership,
            };
            if self.assignments.get(&pid) == Some(&assignment) {
                continue;
            }
            let assigned = Assigned {
                role: Role::Background,
                place: None,
                wait_event: 0,
                membership,
            };
            if self.programs.assign(pid, assigned).is_ok() {
                self.assignments.insert(pid, assignment);
                changed = true;
            }
        }
        let programs = &self.programs;
        self.assignments.retain(|pid, assignment| {
            let is_there = processes.entity(*pid) == Some(assignment.entity);
            // The kernel may give the pid to another process.
            is_there || programs.forget(*pid).is_err()
        });
        if changed {
            self.programs.publish();
        }
        self.track(processes, out);
    }

    /// Makes room for new processes and evicts exited ones.
    fn track(&mut self, processes: &Processes, out: &mut Output) {
        let buffer = &mut out.tables[self.process_table];
        self.background.retain(|pid, process| {
            let is_there = processes.entity(*pid) == Some(process.last.entity());
            if !is_there {
                process.last.finish(buffer);
            }
            is_there
        });
        for (pid, entity) in processes.all() {
            let known = self.background.entry(pid);
            known.or_insert_with(|| Process::new(entity));
        }
    }
}
