//! An account that grows, as rows of its side's table.

use model::{EntityId, MISSING, Timestamp};
use sensors::request::{FIRST_LONG, WIDTH};

use crate::registry::Registry;
use crate::table_buffer::{RowDeduplicator, TableBuffer};
use kernel::bpf::requests::{Account, Open, Side};

/// An account that is in use.
pub(super) struct Counted {
    pub(super) last: RowDeduplicator,
    /// What it held when its entity got it.
    before: [i64; WIDTH],
    /// When it was last seen to grow.
    pub(super) grew: Timestamp,
    /// Requests under way at the last look: all, the long ones, and how old those were together, ns.
    open: [i64; 3],
}

/// Where a side's row has requests under way.
fn open_place(side: Side) -> usize {
    match side {
        Side::Server => 3,
        Side::Client => 1,
    }
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
        let mut counted = Self {
            last: RowDeduplicator::new(entity, width),
            before,
            grew: since,
            open: [MISSING; 3],
        };
        counted.take(since, &before, buffer);
        counted
    }

    /// A look at the requests under way; the next row has it.
    pub(super) fn look(&mut self, open: Open) {
        self.open = [open.requests, open.longs, open.long_ns].map(u64::cast_signed);
    }

    pub(super) fn take(&mut self, now: Timestamp, row: &[i64; WIDTH], buffer: &mut TableBuffer) {
        let mut grown = *row;
        let growth = grown.iter_mut().zip(&self.before);
        growth.for_each(|(value, before)| *value -= before);
        let width = self.last.values().len();
        let side = match width {
            WIDTH => Side::Server,
            _ => Side::Client,
        };
        let open = open_place(side);
        grown[open..open + 3].copy_from_slice(&self.open);
        let grown = &grown[..width];
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

/// A row of a side's table; what is beyond its width is nothing. `take` adds the requests under way.
pub(super) fn row(account: &Account, side: Side) -> [i64; WIDTH] {
    let besides: &[u64] = match side {
        Side::Server => &[account.pipelined, account.unsolicited],
        Side::Client => &[],
    };
    let timed = [
        0,
        0,
        0,
        account.timed_by_bucket.iter().sum(),
        account.ns + account.long_ns,
        account.timed_by_bucket[FIRST_LONG..].iter().sum(),
        account.long_ns,
    ];
    let counts = [&account.requests].into_iter().chain(besides);
    let counts = counts.chain(&timed).chain(&account.timed_by_bucket);
    let mut row = [0; WIDTH];
    for (to, count) in row.iter_mut().zip(counts) {
        *to = count.cast_signed();
    }
    row
}
