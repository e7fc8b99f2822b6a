//! Sets of threads whose waiting the thread-time programs count as the kernel counts that of a control group
//! (`bpf/groups.h`).

use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::Typedef;
use libbpf_rs::{MapCore as _, MapFlags, ProgramInput};

use super::{OpenThreadTimeSkel, ThreadTime, no_variables};
use crate::bpf::Refusal;
use crate::bpf::skeletons::thread_time::types::sets_reading;

/// Sets at one time (SETS_MOST); they are numbered from 0 here and from 1 by the programs.
pub(crate) const MOST_SETS: usize = 128;
/// Room for each of a thread's sets in the programs' word (SETS_BITS); the lowest is that of its pool.
const BITS: usize = 16;

/// What one CPU lost of a set's time, by our states, and how often that was read.
pub(crate) type Stall = sets_reading;

/// Which sets the threads of a process are in, and those of what it forks, until it is told otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Membership {
    pub(crate) service: Option<usize>,
    pub(crate) group: Option<usize>,
    /// Of a group around that one.
    pub(crate) around: Option<usize>,
}

impl Membership {
    fn all(self) -> [Option<usize>; 3] {
        [self.service, self.group, self.around]
    }

    /// As the programs have it.
    pub(super) fn word(self) -> u64 {
        let groups = (1..).zip(self.all());
        let each = groups.filter_map(|(place, set)| Some(number(set?) << (place * BITS)));
        each.sum()
    }
}

/// A set as the programs number it.
fn number(set: usize) -> u64 {
    set as u64 + 1
}

/// Does without the hooks of reclaim that this kernel does not have: groups may be configured out, and
/// tracepoints of memory have come and gone.
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
    /// Has the programs read the PSI groups that somebody was put into.
    pub(super) fn reach(&mut self, groups: impl IntoIterator<Item = usize>) -> Result<(), Refusal> {
        let variables = self.programs.maps.bss_data.as_deref_mut();
        let variables = variables.ok_or_else(no_variables)?;
        let highest = groups.into_iter().max().map_or(0, |set| set as u32 + 1);
        variables.groups = variables.groups.max(highest);
        Ok(())
    }

    pub(super) fn reach_within(&mut self, membership: Membership) -> Result<(), Refusal> {
        self.reach(membership.all().into_iter().flatten())
    }

    /// Looks which pool each thread is of, and in which set those are.
    pub(crate) fn find_pools(&self) -> Result<(), Refusal> {
        let input = ProgramInput::default();
        self.programs.progs.find_pools.test_run(input)?;
        Ok(())
    }

    /// Puts the threads of a pool into a set, by the pool's number, or into none; from their first event
    /// after they are looked for on.
    pub(crate) fn put_pool(&mut self, pool: u64, set: Option<usize>) -> Result<(), Refusal> {
        let (map, key) = (&self.programs.maps.set_by_pool, pool.to_ne_bytes());
        match set {
            Some(set) => map.update(&key, &(set as u32 + 1).to_ne_bytes(), MapFlags::ANY)?,
            None => map.delete(&key)?,
        }
        self.reach(set)?;
        let variables = self.programs.maps.bss_data.as_deref_mut();
        variables.ok_or_else(no_variables)?.pools_told += 1;
        Ok(())
    }

    /// What a CPU lost of a set's time, as of the last reading.
    pub(crate) fn stall(&self, set: usize, cpu: usize) -> Option<Stall> {
        self.stalls.get(cpu * MOST_SETS + set)
    }

    /// CPUs that there may be.
    pub(crate) fn cpus(&self) -> usize {
        self.cpus
    }

    /// Those of them that are online.
    pub(crate) fn online(&self) -> usize {
        self.online
    }

    /// Whether this kernel notes who stalls for memory. Where it counts no pressure it does not
    /// (psi_memstall_enter in kernel/sched/psi.c).
    pub(crate) fn knows_memory(&self) -> bool {
        let variables = self.programs.maps.bss_data.as_deref();
        self.counts_pressure && variables.is_some_and(|it| it.knows_memory != 0)
    }

    /// Whether the kernel counts the pressure of its groups.
    pub(crate) fn counts_pressure(&self) -> bool {
        self.counts_pressure
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_its_place_in_the_word_above_that_of_the_pool() {
        let membership = Membership {
            service: Some(0),
            group: None,
            around: Some(127),
        };
        assert_eq!(membership.word(), 0x0080_0000_0001_0000);
        assert_eq!(Membership::default().word(), 0);
    }
}
