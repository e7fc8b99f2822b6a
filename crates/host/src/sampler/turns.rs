//! When what happens at events is counted, and when the programs that do so are off their hooks.

use crate::clock::boottime;
use crate::ledger::Books;
use crate::probe::Scratch;
use crate::processes::Processes;
use crate::requests::Meters;
use crate::schedule::Look;
use crate::spells::{Spells, Told, Turn};

/// Finds out what this turn is; a pause that it ends does so here, before anything is read.
pub(super) fn begin_turn(
    spells: &mut Spells,
    look: Look,
    (mut books, mut meters): (Option<&mut Books>, Option<&mut Meters>),
    processes: &Processes,
    scratch: &mut Scratch,
) -> Turn {
    let (events, slices) = books.as_ref().map_or((0, 0), |it| it.told());
    let told = Told {
        events,
        slices,
        requests: meters.as_ref().map_or(0, |it| it.told()),
    };
    let turn = spells.turn(boottime(), told, look == Look::Last);
    let Scratch { words, gaps, .. } = scratch;
    if matches!(turn, Turn::Resume(_)) {
        // That takes a millisecond: they count from when all are there, both kinds together.
        if let Some(books) = &mut books {
            books.attach(gaps);
        }
        if let Some(meters) = &mut meters {
            meters.attach(gaps);
        }
        if let Some(books) = books {
            books.resume(processes, words, gaps);
        }
        if let Some(meters) = meters {
            meters.resume();
        }
        spells.resumed(boottime());
    }
    turn
}

/// A pause begins, for both kinds at one moment.
pub(super) fn begin_pause(
    spells: &mut Spells,
    books: Option<&mut Books>,
    meters: Option<&mut Meters>,
) {
    if let Some(books) = books {
        books.pause();
    }
    if let Some(meters) = meters {
        meters.pause();
    }
    spells.paused(boottime());
}

/// All is read.
pub(super) fn end_turn(turn: Turn, books: Option<&mut Books>, meters: Option<&mut Meters>) {
    if turn != Turn::Pause {
        return;
    }
    if let Some(books) = books {
        books.detach();
    }
    if let Some(meters) = meters {
        meters.detach();
    }
}
