//! PSI groups: sets of threads for which the thread-time programs count pressure as the kernel does for a
//! control group (`bpf/psi_group.h`).

use std::ops::Range;

use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::Typedef;
use model::MISSING;

use super::{OpenThreadTimeSkel, ThreadTime, no_variables};
use crate::bpf::psi_group::{Reading, StallSource};
use crate::bpf::refusal::Refusal;

/// Groups at one time (PSI_GROUP_MOST); numbered from 0 here and from 1 in the programs.
pub const MOST_PSI_GROUPS: usize = 128;
/// Bits per group in the programs' packed word (PSI_GROUP_BITS).
const BITS: usize = 16;

/// The states of memory, and that of interrupts.
const MEMORY: Range<usize> = 2..4;
const IRQ: usize = 6;

/// PSI groups of a process's threads, inherited by processes that it forks.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Membership {
    pub service: Option<usize>,
    pub group: Option<usize>,
    /// Group of an ancestor of `group`.
    pub around: Option<usize>,
}

impl Membership {
    fn all(self) -> [Option<usize>; 3] {
        [self.service, self.group, self.around]
    }

    /// The packed word that the programs use.
    pub(super) fn packed(self) -> u64 {
        let groups = (0..).zip(self.all());
        let each = groups.filter_map(|(place, group)| Some(number(group?) << (place * BITS)));
        each.sum()
    }
}

/// A group's number in the programs.
fn number(group: usize) -> u64 {
    group as u64 + 1
}

/// Leaves out the programs on reclaim tracepoints that this kernel does not have: control groups may be
/// configured out, and memory tracepoints come and go between versions.
pub(super) fn leave_out_absent(open: &mut OpenThreadTimeSkel<'_>) {
    let kernel = Btf::from_vmlinux().ok();
    let has = |name: &str| {
        let name = format!("btf_trace_mm_vmscan_{name}");
        let found = kernel
            .as_ref()
            .map(|it| it.type_by_name::<Typedef<'_>>(&name));
        found.flatten().is_some()
    };
    let programs = &mut open.progs;
    for (program, name) in [
        (&mut programs.on_reclaim, "direct_reclaim_begin"),
        (&mut programs.on_reclaimed, "direct_reclaim_end"),
        (&mut programs.on_group_reclaim, "memcg_reclaim_begin"),
        (&mut programs.on_group_reclaimed, "memcg_reclaim_end"),
    ] {
        program.set_autoload(has(name));
    }
}

impl ThreadTime {
    /// Extends the range of PSI groups that the programs read to these.
    pub(super) fn reach(&mut self, membership: Membership) -> Result<(), Refusal> {
        let variables = self.programs.maps.bss_data.as_deref_mut();
        let variables = variables.ok_or_else(no_variables)?;
        let groups = membership.all().into_iter().flatten();
        let highest = groups.max().map_or(0, |group| group as u32 + 1);
        variables.groups = variables.groups.max(highest);
        Ok(())
    }

    /// Whether this kernel marks threads that stall for memory. It does not if it counts no pressure
    /// (psi_memstall_enter in kernel/sched/psi.c).
    fn knows_memory(&self) -> bool {
        let variables = self.programs.maps.bss_data.as_deref();
        self.counts_pressure && variables.is_some_and(|it| it.knows_memory != 0)
    }

    /// Whether the kernel counts the pressure of its control groups.
    pub fn counts_pressure(&self) -> bool {
        self.counts_pressure
    }
}

impl StallSource for ThreadTime {
    fn cpus(&self) -> usize {
        self.cpus
    }

    fn online(&self) -> usize {
        self.online
    }

    fn reading(&self, place: usize, cpu: usize) -> Option<Reading> {
        self.stalls.get(cpu * MOST_PSI_GROUPS + place)
    }

    fn growth(from: u64, to: u64) -> i64 {
        to.wrapping_sub(from).cast_signed()
    }

    /// The scheduler raises no event for interrupts.
    fn mark_missing(&self, row: &mut [i64]) {
        row[IRQ] = MISSING;
        if !self.knows_memory() {
            row[MEMORY].fill(MISSING);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn membership_is_packed_by_kind() {
        let membership = Membership {
            service: Some(0),
            group: None,
            around: Some(127),
        };
        assert_eq!(membership.packed(), 0x0080_0000_0001);
        assert_eq!(Membership::default().packed(), 0);
    }
}
