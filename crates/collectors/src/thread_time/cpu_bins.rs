//! The CPUs' time in bins of 20 ms.

use kernel::bpf::thread_time::ThreadTime;
use model::GapReason;
use sensors::bins::{BIN_NS, CPU_BIN};
use sensors::thread_time::Holder;

use crate::output::{Output, TableId};
use crate::registry::MACHINE;

/// A row per bin that was counted whole.
pub(super) struct CpuRows {
    table: TableId,
    /// Bins that were overwritten before they were read.
    lost: u64,
}

impl CpuRows {
    pub(super) fn new(out: &mut Output) -> Self {
        Self {
            table: out.open(&CPU_BIN),
            lost: 0,
        }
    }

    pub(super) fn sample(&mut self, programs: &mut ThreadTime, out: &mut Output) {
        let rows = &mut out.tables[self.table].rows;
        self.lost += programs.cpu_bins(|bin| {
            let held = |holder: Holder| bin.held_ns[holder as usize].cast_signed();
            let row = [
                BIN_NS.cast_signed(),
                held(Holder::Target),
                held(Holder::Generator),
                held(Holder::Background),
                bin.waited_ns.cast_signed(),
            ];
            rows.push(bin.from, MACHINE, &row);
        });
    }

    pub(super) fn finish(&self, out: &mut Output) {
        if self.lost > 0 {
            let what = "bins of 20 ms that were read too late";
            let lost = GapReason::Dropped(self.lost);
            out.gaps.report(&CPU_BIN.name, what, lost);
        }
    }
}
