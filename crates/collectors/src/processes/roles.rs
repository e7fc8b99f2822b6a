//! Roles: given to processes with all their descendants, inherited by those to come.

use model::{Role, Timestamp};

use super::Processes;
use crate::registry::Registry;

impl Processes {
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

    /// Children of tracked processes inherit the role. Repeated until nothing changes: each pass covers one
    /// generation.
    pub(super) fn inherit_roles(&mut self, now: Timestamp, registry: &mut Registry) {
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
}

/// Whose processes are read.
#[derive(Clone, Copy)]
pub(super) struct DueRoles {
    pub(super) tracked: bool,
    pub(super) background: bool,
}

impl DueRoles {
    pub(super) fn has(self, role: Role) -> bool {
        if is_tracked(role) {
            self.tracked
        } else {
            self.background
        }
    }
}

/// Whether processes with this role are measured thread by thread.
pub(super) fn is_tracked(role: Role) -> bool {
    matches!(role, Role::Target | Role::Generator | Role::Dependency)
}
