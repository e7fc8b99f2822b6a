//! An account that grows, as rows of its side's table.

use model::{EntityId, Timestamp};
use sensors::request::WIDTH;

use crate::bpf::requests::{Account, Side};
use crate::registry::Registry;
use crate::table_buffer::{RowDeduplicator, TableBuffer};

/// An account that is in use.
pub(super) struct Counted {
    pub(super) last: RowDeduplicator,
    /// What it held when its entity got it.
    before: [i64; WIDTH],
    /// When it was last seen to grow.
    pub(super) grew: Timestamp,
}

impl Counted {
    /// From a time on at which its account held that much already.
    pub(super) fn new(
        entity: EntityId,
        before: [i64; WIDTH],
        since: Timestamp,
        buffer: &mut TableBuffer,
    ) -> Self {
        let width = buffer.table.columns.len();
        let mut last = RowDeduplicator::new(entity, width);
        last.take(since, &[0; WIDTH][..width], buffer);
        Self {
            last,
            before,
            grew: since,
        }
    }

    pub(super) fn take(&mut self, now: Timestamp, row: &[i64; WIDTH], buffer: &mut TableBuffer) {
        let mut grown = *row;
        let growth = grown.iter_mut().zip(&self.before);
        growth.for_each(|(value, before)| *value -= before);
        let grown = &grown[..self.last.values().len()];
        if self.last.values() != grown {
            self.grew = now;
        }
        self.last.take(now, grown, buffer);
    }

    /// Ends its series, and its entity.
    pub(super) fn end(mut self, now: Timestamp, buffer: &mut TableBuffer, registry: &mut Registry) {
        self.last.finish(buffer);
        registry.vanish(self.last.entity(), now);
    }
}

/// A row of a side's table; what is beyond its width is nothing.
pub(super) fn row(account: &Account, side: Side) -> [i64; WIDTH] {
    let besides: &[u64] = match side {
        Side::Server => &[account.pipelined, account.unsolicited],
        Side::Client => &[],
    };
    let timed = [account.timed_by_bucket.iter().sum(), account.ns];
    let counts = [&account.requests].into_iter().chain(besides);
    let counts = counts.chain(&timed).chain(&account.timed_by_bucket);
    let mut row = [0; WIDTH];
    for (to, count) in row.iter_mut().zip(counts) {
        *to = count.cast_signed();
    }
    row
}
