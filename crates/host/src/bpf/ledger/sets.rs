//! Sets of threads whose waiting the ledger's programs count as the kernel counts that of a control group
//! (`bpf/sets.h`).

use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::Typedef;
use libbpf_rs::{MapCore as _, MapFlags};

use super::{Ledger, OpenLedgerSkel, no_variables};
use crate::bpf::Refusal;
use crate::bpf::skeletons::ledger::types::pressure_stall;

/// Sets at one time (SETS_MOST); they are numbered from 0 here and from 1 by the programs.
pub(crate) const MOST_SETS: usize = 64;
/// Added to the number of a thread that is meant alone (SETS_THREAD).
const THREAD: u64 = 1 << 32;

/// What one CPU lost of a set's time, by our states, and how often that was read.
pub(crate) type Stall = pressure_stall;

/// Who is put into a set.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Member {
    /// A process, and what its threads fork from then on.
    Process(u32),
    /// A thread by itself, whatever its process is in; and what it forks.
    #[cfg_attr(not(test), expect(dead_code, reason = "pools are not told apart yet"))]
    Thread(u32),
}

/// Does without the hooks of reclaim that this kernel does not have: groups may be configured out, and
/// tracepoints of memory have come and gone.
pub(super) fn leave_out_absent(open: &mut OpenLedgerSkel<'_>) {
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

impl Ledger {
    /// Puts somebody with a part in the measurement into a set, or forgets one that has ended; it is
    /// heeded after `heed`.
    pub(crate) fn put(&mut self, member: Member, set: Option<usize>) -> Result<(), Refusal> {
        let key = match member {
            Member::Process(pid) => u64::from(pid),
            Member::Thread(tid) => u64::from(tid) | THREAD,
        };
        let (map, key) = (&self.programs.maps.set_by_member, key.to_ne_bytes());
        let Some(set) = set else {
            return Ok(map.delete(&key)?);
        };
        let number = set as u32 + 1;
        map.update(&key, &number.to_ne_bytes(), MapFlags::ANY)?;
        let variables = self.programs.maps.bss_data.as_deref_mut();
        let variables = variables.ok_or_else(no_variables)?;
        variables.sets = variables.sets.max(number);
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

    /// Whether this kernel notes who stalls for memory.
    pub(crate) fn knows_memory(&self) -> bool {
        let variables = self.programs.maps.bss_data.as_deref();
        variables.is_some_and(|it| it.knows_memory != 0)
    }
}
