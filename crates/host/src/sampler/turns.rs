//! Programs at events, taken to and from their hooks.

use crate::clock::boottime;
use crate::ledger::Books;
use crate::probe::Scratch;
use crate::processes::Processes;
use crate::requests::Meters;
use crate::schedule::Look;
use crate::spells::{Spells, Told, Turn};

/// Finds out what this turn is, and makes the change that it asks for.
pub(super) fn take_turn(
    spells: &mut Spells,
    look: Look,
    (books, meters): (Option<&mut Books>, Option<&mut Meters>),
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
    match turn {
        Turn::Resume(_) => {
            if let Some(books) = books {
                books.resume(processes, words, gaps);
            }
            if let Some(meters) = meters {
                meters.resume(gaps);
            }
        }
        Turn::Pause => {
            if let Some(books) = books {
                books.pause();
            }
            if let Some(meters) = meters {
                meters.pause();
            }
        }
        Turn::Read | Turn::Mark | Turn::Rest => return turn,
    }
    spells.changed(boottime());
    turn
}
