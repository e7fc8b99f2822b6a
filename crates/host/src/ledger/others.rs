//! Processes that are neither the target's nor the generator's: how long each had a CPU, and kept the target from
//! one.

use model::{EntityId, Timestamp};
use sensors::ledger::PROCESS_LEDGER;

use crate::intake::{Intake, LastSeen};
use crate::stretched::Stretched;

/// One process of the others.
pub(super) struct Process {
    pub(super) last: LastSeen,
    /// On a CPU, and what it held up: of its threads so far, at this reading.
    pub(super) sums: [i64; 2],
    stretched: Stretched<2>,
    pub(super) round: u64,
}

impl Process {
    pub(super) fn new(entity: EntityId) -> Self {
        Self {
            last: LastSeen::new(entity, PROCESS_LEDGER.columns.len()),
            sums: [0; 2],
            stretched: Stretched::new([0; 2]),
            round: 0,
        }
    }

    /// A reading of its sums, which grew in a part of the time: that stands for all of it.
    pub(super) fn take(&mut self, now: Timestamp, factor: f64, intake: &mut Intake) {
        self.stretched.take(&mut self.sums, Some(factor - 1.0));
        self.last.take(now, &self.sums, intake);
    }
}
