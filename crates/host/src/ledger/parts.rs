//! Who has which part, as the programs are told.

use model::{EntityId, GapReason, Role, Timestamp};
use sensors::ledger::THREAD_LEDGER;
use sensors::wait_event;

use super::Books;
use super::others::Process;
use crate::bpf::ledger::Assigned;
use crate::bpf::ledger::sets::Within;
use crate::cgroups::Cgroups;
use crate::gaps::Gaps;
use crate::processes::Processes;
use crate::registry::Registry;
use crate::words::{Told, WordPlace, Words};

/// What the programs were told of a process: which it is, its part, where it has its word, and its sets.
pub(super) type Part = (EntityId, Role, Option<WordPlace>, Within);

impl Books {
    /// Tells the programs who has which part, where its word is, and in which sets it is, where that has
    /// changed.
    pub(crate) fn follow(
        &mut self,
        now: Timestamp,
        processes: &Processes,
        around: (&Cgroups, &mut Registry),
        words: &mut Words,
        gaps: &mut Gaps,
    ) {
        let mut changed = false;
        self.sets
            .follow(now, &self.programs, processes, around, gaps);
        for (pid, entity, role, word) in processes.parts() {
            let place = word.and_then(|word| words.place(word));
            let within = self.sets.within(pid);
            let part = (entity, role, place, within);
            if self.parts.get(&pid) == Some(&part) {
                continue;
            }
            let said = match word.map(|word| words.read(word)) {
                Some(Told::Value(said)) => u32::from_ne_bytes(said),
                _ => wait_event::NOT_WAITING,
            };
            let assigned = Assigned {
                role,
                place,
                said,
                within,
            };
            if self.programs.assign(pid, assigned).is_err() {
                let what = "threads of more processes than there is room for";
                gaps.say(&THREAD_LEDGER.name, what, GapReason::Dropped(1));
                continue;
            }
            self.parts.insert(pid, part);
            changed = true;
        }
        for (pid, entity, within) in self.sets.others() {
            let part = (entity, Role::Rest, None, within);
            if self.parts.get(&pid) == Some(&part) {
                continue;
            }
            let assigned = Assigned {
                role: Role::Rest,
                place: None,
                said: 0,
                within,
            };
            if self.programs.assign(pid, assigned).is_ok() {
                self.parts.insert(pid, part);
                changed = true;
            }
        }
        let programs = &self.programs;
        self.parts.retain(|pid, (entity, ..)| {
            let is_there = processes.entity(*pid) == Some(*entity);
            // Its number may come round again, and to somebody else.
            is_there || programs.forget(*pid).is_err()
        });
        if changed {
            self.programs.heed();
        }
        self.meet(processes);
    }

    /// Makes room for processes that have come, and lets those go that have ended.
    fn meet(&mut self, processes: &Processes) {
        let intake = &mut self.intakes[1];
        self.others.retain(|pid, process| {
            let is_there = processes.entity(*pid) == Some(process.last.entity());
            if !is_there {
                process.last.finish(intake);
            }
            is_there
        });
        for (pid, entity) in processes.all() {
            let others = self.others.entry(pid);
            others.or_insert_with(|| Process::new(entity));
        }
    }
}
