//! Processes that are neither the target's nor the generator's: how long each had a CPU, and kept the target from
//! one.

use model::{EntityId, Timestamp};
use sensors::thread_time::PROCESS_TIME;

use crate::table_buffer::{RowDeduplicator, TableBuffer};

/// One process of the others.
pub(super) struct Process {
    pub(super) last: RowDeduplicator,
    /// On a CPU, and what it held up: of its threads so far, at this reading.
    pub(super) sums: [i64; 2],
    pub(super) round: u64,
}

impl Process {
    pub(super) fn new(entity: EntityId) -> Self {
        Self {
            last: RowDeduplicator::new(entity, PROCESS_TIME.columns.len()),
            sums: [0; 2],
            round: 0,
        }
    }

    /// A reading of its sums.
    pub(super) fn take(&mut self, now: Timestamp, buffer: &mut TableBuffer) {
        self.last.take(now, &self.sums, buffer);
    }
}
