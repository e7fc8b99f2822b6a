//! Background processes: how long each was on CPU, and the delay it caused the target.

use model::{EntityId, Timestamp};
use sensors::thread_time::PROCESS_TIME;

use crate::table_buffer::{RowDeduplicator, TableBuffer};

pub(super) struct Process {
    pub(super) last: RowDeduplicator,
    /// Time on CPU and delay caused, ns: sums over its threads as of this reading.
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

    /// Writes a row as of a reading.
    pub(super) fn take(&mut self, now: Timestamp, buffer: &mut TableBuffer) {
        self.last.take(now, &self.sums, buffer);
    }
}
