//! Call stacks of waits: the programs of thread times take them, the collector of stacks reads them.

use model::{GapReason, sentence};
use sensors::stack::WAIT_SAMPLE;

use super::ThreadTimeCollector;
use crate::output::Output;
use kernel::bpf::Refusal;
use kernel::bpf::thread_time::wait_stacks::{StackCounts, WaitStackRing, may_take_stacks};

impl ThreadTimeCollector {
    /// Where they come from.
    ///
    /// # Errors
    /// Why there are none here.
    pub(crate) fn wait_stacks(&self) -> Result<WaitStackRing, Refusal> {
        may_take_stacks()?;
        let ring = self.programs.wait_stacks()?;
        ring.ok_or_else(|| Refusal::new("they were not asked for"))
    }

    /// From which length on every wait is taken, ns.
    pub(crate) fn set_least_wait(&mut self, ns: u64) {
        self.programs.set_least_wait(ns);
    }

    /// How many there were so far.
    pub(crate) fn stack_counts(&self) -> StackCounts {
        self.programs.stack_counts()
    }

    /// Takes the stacks of waits that counting does not see the end of.
    pub(super) fn take_waits_in_progress(&mut self) {
        // If this fails, they are missing, as are those of waits that nobody chose.
        let _ = self.programs.look_at_waits();
    }

    /// Takes what is left, before the collector of stacks reads for the last time.
    pub(super) fn finish_wait_stacks(&mut self, out: &mut Output) {
        self.programs.end_on_window();
        self.take_waits_in_progress();
        let lost = self.programs.stack_counts().lost;
        if lost > 0 {
            let what = sentence!("waits with their call stacks");
            let reason = GapReason::Dropped(lost);
            out.gaps.report(&WAIT_SAMPLE.name, what, reason);
        }
    }
}
