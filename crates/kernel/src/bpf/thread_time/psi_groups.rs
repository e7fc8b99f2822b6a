//! PSI groups: sets of threads for which the thread-time programs count pressure as the kernel does for a
//! control group (`bpf/psi_group.h`).

use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::Typedef;

use super::{OpenThreadTimeSkel, ThreadTime, no_variables};
use crate::bpf::refusal::Refusal;
use crate::bpf::skeletons::thread_time::types::psi_group_reading;

/// Groups at one time (PSI_GROUP_MOST); numbered from 0 here and from 1 in the programs.
pub const MOST_PSI_GROUPS: usize = 128;
/// Bits per group in the programs' packed word (PSI_GROUP_BITS).
const BITS: usize = 16;

/// Stalled times of one CPU of a group, by our states, and the number of readings.
pub type Stall = psi_group_reading;

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

    /// Stalled times of one CPU of a group, as of the last reading.
    pub fn stall(&self, group: usize, cpu: usize) -> Option<Stall> {
        self.stalls.get(cpu * MOST_PSI_GROUPS + group)
    }

    /// Possible CPUs.
    pub fn cpus(&self) -> usize {
        self.cpus
    }

    pub fn online(&self) -> usize {
        self.online
    }

    /// Whether this kernel marks threads that stall for memory. It does not if it counts no pressure
    /// (psi_memstall_enter in kernel/sched/psi.c).
    pub fn knows_memory(&self) -> bool {
        let variables = self.programs.maps.bss_data.as_deref();
        self.counts_pressure && variables.is_some_and(|it| it.knows_memory != 0)
    }

    /// Whether the kernel counts the pressure of its control groups.
    pub fn counts_pressure(&self) -> bool {
        self.counts_pressure
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
