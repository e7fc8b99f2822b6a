//! Membership of processes in control groups.

use std::path::Path;

use model::{EntityId, EntityRecord, Timestamp, name_of};

use super::Processes;
use super::roles::is_tracked;
use crate::cgroups::Cgroups;
use crate::output::Output;
use crate::probe::Scratch;
use kernel::hierarchies::{Placement, groups_of};

/// With more processes their groups are read in turns: a move is rare, and a reading costs 10 us.
const MOST_PLACED: usize = 64;

impl Processes {
    /// Reads the groups of tracked processes, which may have moved.
    pub(crate) fn place_in_groups(
        &mut self,
        now: Timestamp,
        cgroups: &mut Cgroups,
        scratch: &mut Scratch,
        out: &mut Output,
    ) {
        self.placings += 1;
        let count = self
            .by_pid
            .values()
            .filter(|process| is_tracked(process.role))
            .count();
        let (turns, turn) = (1 + count / MOST_PLACED, self.placings);
        for (pid, process) in &mut self.by_pid {
            let is_new = process.placed.is_empty();
            if !is_tracked(process.role) || !(is_new || *pid as usize % turns == turn % turns) {
                continue;
            }
            let text = scratch.read_once(&process.folder, "cgroup");
            if text.is_empty() || process.placed == text {
                continue;
            }
            process.placed = text.to_vec();
            let groups = groups_of(&process.placed);
            let entities = groups.map(|path| cgroups.ensure(&name_of(path), now, out));
            out.registry
                .change(process.entity, now, |record| place(record, entities));
            let tracked = [groups.cpu, groups.memory, groups.io, groups.v2];
            let tracked = tracked.into_iter().flatten().map(name_of);
            cgroups.mark_tracked(tracked, &mut out.gaps);
        }
    }
}

pub(super) fn groups(
    process: &Path,
    now: Timestamp,
    cgroups: &mut Cgroups,
    scratch: &mut Scratch,
    out: &mut Output,
) -> Placement<EntityId> {
    let text = scratch.read_once(process, "cgroup");
    groups_of(text).map(|path| cgroups.ensure(&name_of(path), now, out))
}

/// Sets a process's groups; those that could not be read stay as they were.
pub(super) fn place(record: &mut EntityRecord, groups: Placement<EntityId>) {
    record.group = groups.cpu.or(groups.v2).or(record.group);
    record.memory_group = groups.memory.or(groups.v2).or(record.memory_group);
    record.io_group = groups.io.or(groups.v2).or(record.io_group);
    record.pressure_group = groups.v2.or(record.pressure_group);
}
