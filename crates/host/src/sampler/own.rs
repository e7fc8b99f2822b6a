//! What the sampler notes of itself: how late it woke, and what it cost.

use model::{Gap, GapReason, Timestamp, Window};

use super::{OVERRUN_TICKS, Sampler};
use crate::clock::process_cpu_ns;
use crate::handle::Harvest;
use crate::schedule::TICK_NS;

impl Sampler {
    pub(super) fn note_self(&mut self, now: Timestamp, lateness_ns: i64) {
        let cpu_ns = process_cpu_ns() - self.start_cpu_ns;
        let values = [
            lateness_ns,
            cpu_ns,
            TICK_NS * self.budget.near as i64,
            self.missed,
            self.budget.rest as i64,
        ];
        self.recorder.1.take(now, &values, &mut self.recorder.0);
        self.cost.cpu_ns = cpu_ns;
        self.cost.wall_ns = now.ns_since(self.started);
        self.cost.fast_period_ns = TICK_NS * self.budget.near as i64;
    }

    /// Deadlines passed, of which at most the last is served: how late that is, and a gap if it is.
    pub(super) fn note_missed(&mut self, passed: u64, late: Window, sink: &mut dyn FnMut(Harvest)) {
        self.missed += passed as i64 - 1;
        if passed > OVERRUN_TICKS {
            sink(overrun(late));
        }
        self.cost.late_ticks += u64::from(late.len_ns() > TICK_NS / 2);
        self.cost.lateness_max_ns = self.cost.lateness_max_ns.max(late.len_ns());
    }
}

pub(super) fn overrun(window: Window) -> Harvest {
    Harvest::Gap(Gap {
        table: "*".to_owned(),
        what: String::new(),
        window: Some(window),
        reason: GapReason::Overrun,
    })
}
