//! Sets the roles of processes in the programs.

use std::collections::HashMap;

use model::{EntityId, GapReason, Role, Timestamp, sentence};
use sensors::statement::STATEMENT;
use sensors::thread_time::THREAD_TIME;
use sensors::{statement, wait_event};

use super::psi_groups::BackgroundMember;
use super::untracked::Process;
use super::{Assignment, ThreadTimeCollector};
use crate::gaps::Gaps;
use crate::output::Output;
use crate::processes::Processes;
use crate::scene::Scene;
use kernel::bpf::thread_time::psi_groups::Membership;
use kernel::bpf::thread_time::{Assigned, ThreadTime};
use kernel::remote_memory::{RemoteMemory, RemoteRead, StatementPlace, Statements};

impl ThreadTimeCollector {
    /// Sets role, wait event address and PSI groups of the processes for which they have changed.
    pub(crate) fn follow(&mut self, now: Timestamp, scene: &mut Scene, out: &mut Output) {
        let Scene {
            processes,
            cgroups,
            scratch,
        } = scene;
        self.psi_groups
            .follow(now, &self.programs, processes, cgroups, out);
        let tracked = self.assign_tracked(processes, &mut scratch.remote_memory, &mut out.gaps);
        let background = self.assign_background(processes);
        let programs = &self.programs;
        self.assignments.retain(|pid, assignment| {
            let is_there = processes.entity(*pid) == Some(assignment.entity);
            // The kernel may give the pid to another process.
            is_there || programs.forget(*pid).is_err()
        });
        if tracked || background {
            self.programs.publish();
        }
        self.track(processes, out);
    }

    /// Assigns the tracked processes; whether an assignment has changed.
    fn assign_tracked(
        &mut self,
        processes: &Processes,
        remote_memory: &mut RemoteMemory,
        gaps: &mut Gaps,
    ) -> bool {
        let mut changed = false;
        for process in processes.tracked_roles() {
            let cell = process.wait_event;
            let statements = cell.map(|cell| remote_memory.statements(cell));
            let assignment = Assignment {
                entity: process.entity,
                role: process.role,
                place: cell.and_then(|cell| remote_memory.place(cell)),
                statement: statements.and_then(|it| statement_place(it, gaps)),
                membership: self.psi_groups.membership(process.pid),
            };
            if self.assignments.get(&process.pid) == Some(&assignment) {
                continue;
            }
            let wait_event = match cell.map(|cell| remote_memory.read(cell)) {
                Some(RemoteRead::Value(wait_event)) => u32::from_ne_bytes(wait_event),
                _ => wait_event::NOT_WAITING,
            };
            let assigned = assignment.beginning_with(wait_event);
            if self.programs.assign(process.pid, assigned).is_err() {
                let what = "threads of more processes than there is room for";
                gaps.report(&THREAD_TIME.name, what, GapReason::Dropped(1));
                continue;
            }
            self.assignments.insert(process.pid, assignment);
            changed = true;
        }
        changed
    }

    /// Assigns the background processes that share a PSI group with tracked ones, and the recorder's own; whether an
    /// assignment has changed.
    fn assign_background(&mut self, processes: &Processes) -> bool {
        let mut changed = false;
        for process in self.psi_groups.background() {
            let BackgroundMember {
                pid,
                entity,
                membership,
            } = process;
            let assignment = Assignment::background(entity, membership);
            changed |= assign(&mut self.assignments, &mut self.programs, pid, assignment);
        }
        // A server process that answers the recorder has had its parent's role in the programs since its fork.
        for (pid, entity) in processes.recorders() {
            let known = self.assignments.get(&pid).map(|it| it.role);
            if known != Some(Role::Background) {
                let assignment = Assignment::background(entity, Membership::default());
                changed |= assign(&mut self.assignments, &mut self.programs, pid, assignment);
            }
        }
        changed
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

/// Where a process has its statements; a version whose layout is not known is a gap.
fn statement_place(statements: Statements, gaps: &mut Gaps) -> Option<StatementPlace> {
    let version = match statements {
        Statements::At(place) => return Some(place),
        Statements::None => return None,
        Statements::OfVersion(version) => version,
    };
    let (first, last) = statement::VERSIONS.into_inner();
    let what = match version {
        Some(version) => sentence!(
            "PostgreSQL {} keeps them in a place that is not known here: versions {} to {} are",
            version,
            first,
            last
        ),
        None => sentence!("the data folder of this PostgreSQL does not say which version it is"),
    };
    gaps.report(&STATEMENT.name, "", GapReason::Unsupported(what));
    None
}

/// Assigns a process unless it is so already; whether the programs have another assignment now.
fn assign(
    assignments: &mut HashMap<u32, Assignment>,
    programs: &mut ThreadTime,
    pid: u32,
    assignment: Assignment,
) -> bool {
    if assignments.get(&pid) == Some(&assignment) {
        return false;
    }
    let assigned = assignment.beginning_with(wait_event::NOT_WAITING);
    let is_done = programs.assign(pid, assigned).is_ok();
    if is_done {
        assignments.insert(pid, assignment);
    }
    is_done
}

impl Assignment {
    /// Of a process whose own time is not accounted.
    fn background(entity: EntityId, membership: Membership) -> Self {
        Self {
            entity,
            role: Role::Background,
            place: None,
            statement: None,
            membership,
        }
    }

    /// For the programs, with the wait event that the process is in now.
    fn beginning_with(self, wait_event: u32) -> Assigned {
        let Self {
            entity: _,
            role,
            place,
            statement,
            membership,
        } = self;
        Assigned {
            role,
            place,
            wait_event,
            statement,
            membership,
        }
    }
}
