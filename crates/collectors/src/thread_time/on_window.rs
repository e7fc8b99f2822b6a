//! The edges of the on-windows in which switches and wake-ups are counted.

use model::{GapReason, Timestamp, sentence};
use sensors::thread_time::THREAD_TIME;

use super::ThreadTimeCollector;
use crate::gaps::Gaps;
use crate::scene::Scene;
use kernel::bpf::Refusal;
use kernel::bpf::thread_time::Assigned;
use kernel::remote_memory::RemoteRead;

impl ThreadTimeCollector {
    /// Events that the programs have counted so far, and timeslices of target and generator threads.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.programs.events(), self.slices)
    }

    /// Ends the on-window; returns when counting stopped.
    pub(crate) fn end_on_window(&mut self) -> Timestamp {
        let at = self.programs.end_on_window();
        self.take_waits_in_progress();
        at
    }

    /// Detaches the programs, in an off-window.
    pub(crate) fn detach(&mut self) {
        self.programs.detach();
    }

    /// Attaches the programs again; whether they are at their hooks. A refusal becomes a gap, and nothing is counted.
    pub(crate) fn attach(&mut self, gaps: &mut Gaps) -> bool {
        self.programs.attach().unwrap_or_else(|why| {
            note_refusal(&why, gaps);
            false
        })
    }

    /// Begins the next on-window: all counters continue from the end of the last one.
    pub(crate) fn resume(&mut self, at: Timestamp, scene: &mut Scene, gaps: &mut Gaps) {
        let Scene {
            processes, scratch, ..
        } = scene;
        let remote_memory = &mut scratch.remote_memory;
        for process in processes.tracked_roles() {
            let known = self.assignments.get(&process.pid);
            if let (Some(cell), Some(known)) = (process.wait_event, known)
                && known.place.is_some()
                && let RemoteRead::Value(wait_event) = remote_memory.read(cell)
            {
                let assigned = Assigned {
                    role: process.role,
                    place: known.place,
                    wait_event: u32::from_ne_bytes(wait_event),
                    statement: known.statement,
                    membership: known.membership,
                };
                // If this fails, the class of a present sleep follows from the system call.
                let _ = self.programs.assign(process.pid, assigned);
            }
        }
        if let Err(why) = self.programs.resume() {
            note_refusal(&why, gaps);
        }
        for thread in self.threads.values_mut() {
            thread.last.unchanged(at);
            thread.diff = None;
            thread.suspected = false;
        }
        self.short_lived.unchanged(at);
        self.kernel_waits.unchanged(at);
        self.serving.unchanged(at);
        self.psi_groups.unchanged(at);
        // What was not read when the last on-window ended has grown since it was read, nobody knows when.
        if !self.is_whole {
            return;
        }
        self.background
            .values_mut()
            .for_each(|it| it.last.unchanged(at));
        self.wakeups.unchanged(at);
        self.events.unchanged(at);
        self.statements.unchanged(at);
    }
}

/// Records that the programs could not be attached or resumed.
fn note_refusal(why: &Refusal, gaps: &mut Gaps) {
    let reason = GapReason::Unsupported(sentence!("the programs that count: {}", why));
    gaps.report(&THREAD_TIME.name, "", reason);
}
