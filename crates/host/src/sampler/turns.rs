//! What programs at hooks have counted is read in turns, some of which begin or end a pause (`spells.rs`).

use model::Timestamp;

use super::Sampler;
use crate::clock::boottime;
use crate::ledger::Books;
use crate::probe::Scratch;
use crate::schedule::Look;
use crate::spells::{Told, Turn};

impl Sampler {
    /// One turn; `rest` wants the other processes read too.
    pub(super) fn sample_events(
        &mut self,
        look: Look,
        rest: bool,
        stamp: &mut dyn FnMut() -> Timestamp,
    ) {
        let turn = self.begin_turn(look);
        if turn == Turn::Pause {
            // Accounts of who hardly rests can be compared only while all is told.
            self.read_books(Turn::Read, false, stamp());
            self.begin_pause();
        }
        self.read_books(turn, rest, stamp());
        if let Some(request_collector) = &mut self.request_collector {
            let gaps = &mut self.scratch.gaps;
            request_collector.sample(stamp(), &self.processes, gaps, &mut self.registry);
            request_collector.time(self.spells.times_requests(), gaps);
        }
        if turn == Turn::Pause {
            self.leave_hooks();
        }
    }

    /// Finds out what this turn is; a pause that it ends does so here, before anything is read.
    fn begin_turn(&mut self, look: Look) -> Turn {
        let (events, slices) = self.books.as_ref().map_or((0, 0), Books::told);
        let told = Told {
            events,
            slices,
            requests: self
                .request_collector
                .as_ref()
                .map_or(0, |it| it.with_timing()),
        };
        let turn = self.spells.turn(boottime(), told, look == Look::Last);
        if matches!(turn, Turn::Resume(_)) {
            self.resume();
        }
        turn
    }

    fn read_books(&mut self, turn: Turn, rest: bool, now: Timestamp) {
        if let Some(books) = &mut self.books {
            let turn = (turn, self.spells.told_ns(now));
            let around = (&mut self.scratch.gaps, &mut self.registry);
            books.sample(now, rest, turn, &self.processes, around);
        }
    }

    /// A pause begins.
    fn begin_pause(&mut self) {
        if let Some(books) = &mut self.books {
            books.pause();
        }
        self.spells.paused(boottime());
    }

    /// All is read that was seen in the on-window.
    fn leave_hooks(&mut self) {
        if let Some(books) = &mut self.books {
            books.detach();
        }
    }

    /// A pause ends.
    fn resume(&mut self) {
        let Scratch { words, gaps, .. } = &mut self.scratch;
        // To come to the hooks takes a millisecond: they count from when all are there, both kinds together.
        if let Some(books) = &mut self.books {
            books.attach(gaps);
        }
        if let Some(books) = &mut self.books {
            books.resume(&self.processes, words, gaps);
        }
        self.spells.resumed(boottime());
    }
}
