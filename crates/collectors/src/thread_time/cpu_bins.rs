//! The CPUs' time in bins of 20 ms.

use kernel::bpf::thread_time::{CPU_BIN_NS, ThreadTime};
use model::GapReason;
use sensors::bins::CPU_BIN;
use sensors::thread_time::Holder;

use crate::output::{Output, TableId};
use crate::registry::MACHINE;

/// A row per bin that was counted whole.
pub(super) struct CpuRows {
    table: TableId,
}

impl CpuRows {
    pub(super) fn new(out: &mut Output) -> Self {
        Self {
            table: out.open(&CPU_BIN),
        }
    }

    pub(super) fn sample(&mut self, programs: &mut ThreadTime, out: &mut Output) {
        let rows = &mut out.tables[self.table].rows;
        let lost = programs.cpu_bins(|bin| {
            let held = |holder: Holder| bin.held_ns[holder as usize].cast_signed();
            let row = [
                CPU_BIN_NS.cast_signed(),
                held(Holder::Target),
                held(Holder::Generator),
                held(Holder::Background),
                bin.waited_ns.cast_signed(),
            ];
            rows.push(bin.from, MACHINE, &row);
        });
        if lost > 0 {
            let what = "bins of 20 ms that were read too late";
            out.gaps
                .report(&CPU_BIN.name, what, GapReason::Dropped(lost));
        }
    }
}
