//! Pauses of the ledger, in which switches and wake-ups are not counted.

use model::GapReason;
use sensors::ledger::THREAD_LEDGER;

use super::Books;
use crate::bpf::Refusal;
use crate::bpf::ledger::Assigned;
use crate::gaps::Gaps;
use crate::processes::Processes;
use crate::words::{Told, Words};

impl Books {
    /// What the programs told of so far: events, and slices of target and generator.
    pub(crate) fn told(&self) -> (u64, u64) {
        (self.programs.events(), self.slices.told().cast_unsigned())
    }

    /// From now on switches and wake-ups are not counted.
    pub(crate) fn pause(&mut self) {
        self.programs.pause();
    }

    /// In a pause: the programs leave their hooks.
    pub(crate) fn detach(&mut self) {
        self.programs.detach();
    }

    /// And come back to them.
    pub(crate) fn attach(&mut self, gaps: &mut Gaps) {
        if let Err(why) = self.programs.attach() {
            say_of_programs(&why, gaps);
        }
    }

    /// The pause ends: the books are brought up to now.
    pub(crate) fn resume(&mut self, processes: &Processes, words: &mut Words, gaps: &mut Gaps) {
        for (pid, _, role, word) in processes.parts() {
            let known = self.parts.get(&pid);
            if let (Some(word), Some((_, _, Some(place), within))) = (word, known)
                && let Told::Value(said) = words.read(word)
            {
                let assigned = Assigned {
                    role,
                    place: Some(*place),
                    said: u32::from_ne_bytes(said),
                    within: *within,
                };
                // Without it, who sleeps now is told by its system call.
                let _ = self.programs.assign(pid, assigned);
            }
        }
        if let Err(why) = self.programs.resume() {
            say_of_programs(&why, gaps);
        }
    }
}

/// They are not at their hooks, or do not go on.
fn say_of_programs(why: &Refusal, gaps: &mut Gaps) {
    let reason = GapReason::Unsupported(format!("the programs that count: {why}"));
    gaps.say(&THREAD_LEDGER.name, "", reason);
}
