//! Sets the roles of processes in the programs.

use model::{EntityId, GapReason, Role, Timestamp};
use sensors::thread_time::THREAD_TIME;
use sensors::wait_event;

use super::ThreadTimeCollector;
use super::untracked::Process;
use crate::bpf::thread_time::Assigned;
use crate::bpf::thread_time::psi_groups::Membership;
use crate::cgroups::Cgroups;
use crate::gaps::Gaps;
use crate::processes::Processes;
use crate::registry::Registry;
use crate::remote_memory::{EventPlace, RemoteMemory, RemoteRead};

/// Settings of a process: entity, role, where its wait event is, PSI groups.
pub(super) type Part = (EntityId, Role, Option<EventPlace>, Membership);

impl ThreadTimeCollector {
    /// Sets role, wait event address and PSI groups of the processes for which they have changed.
    pub(crate) fn follow(
        &mut self,
        now: Timestamp,
        processes: &Processes,
        around: (&Cgroups, &mut Registry),
        remote_memory: &mut RemoteMemory,
        gaps: &mut Gaps,
    ) {
        let mut changed = false;
        self.psi_groups
            .follow(now, &self.programs, processes, around, gaps);
        for (pid, entity, role, word) in processes.parts() {
            let place = word.and_then(|word| remote_memory.place(word));
            let membership = self.psi_groups.membership(pid);
            let part = (entity, role, place, membership);
            if self.parts.get(&pid) == Some(&part) {
                continue;
            }
            let said = match word.map(|word| remote_memory.read(word)) {
                Some(RemoteRead::Value(said)) => u32::from_ne_bytes(said),
                _ => wait_event::NOT_WAITING,
            };
            let assigned = Assigned {
                role,
                place,
                said,
                membership,
            };
            if self.programs.assign(pid, assigned).is_err() {
                let what = "threads of more processes than there is room for";
                gaps.say(&THREAD_TIME.name, what, GapReason::Dropped(1));
                continue;
            }
            self.parts.insert(pid, part);
            changed = true;
        }
        for (pid, entity, membership) in self.psi_groups.others() {
            let part = (entity, Role::Rest, None, membership);
            if self.parts.get(&pid) == Some(&part) {
                continue;
            }
            let assigned = Assigned {
                role: Role::Rest,
                place: None,
                said: 0,
                membership,
            };
            if self.programs.assign(pid, assigned).is_ok() {
                self.parts.insert(pid, part);
                changed = true;
            }
        }
        let programs = &self.programs;
        self.parts.retain(|pid, (entity, ..)| {
            let is_there = processes.entity(*pid) == Some(*entity);
            // The kernel may give the pid to another process.
            is_there || programs.forget(*pid).is_err()
        });
        if changed {
            self.programs.publish();
        }
        self.track(processes);
    }

    /// Makes room for new processes and evicts exited ones.
    fn track(&mut self, processes: &Processes) {
        let buffer = &mut self.buffers[1];
        self.others.retain(|pid, process| {
            let is_there = processes.entity(*pid) == Some(process.last.entity());
            if !is_there {
                process.last.finish(buffer);
            }
            is_there
        });
        for (pid, entity) in processes.all() {
            let others = self.others.entry(pid);
            others.or_insert_with(|| Process::new(entity));
        }
    }
}
