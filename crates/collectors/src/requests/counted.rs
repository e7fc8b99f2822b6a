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
    /// Columns that are no growth of an account, and what they hold: requests under way at the last look, first of
    /// all.
    others: Vec<(usize, i64)>,
}

impl Counted {
    /// From a time on at which its account held that much already. `others` are the further columns that are no growth of
    /// an account: they hold what `set` says, and nothing before.
    pub(super) fn new(
        entity: EntityId,
        before: [i64; WIDTH],
        since: Timestamp,
        buffer: &mut TableBuffer,
        others: impl IntoIterator<Item = usize>,
    ) -> Self {
        let width = buffer.table.columns.len();
        let open = buffer.table.position("open");
        let open = open.expect("tables of requests have it");
        let mut counted = Self {
            last: RowDeduplicator::new(entity, width),
            before,
            grew: since,
            others: (open..open + 3)
                .chain(others)
                .map(|it| (it, MISSING))
                .collect(),
        };
        counted.take(since, &before, buffer);
        counted
    }

    /// A look at the requests under way: all, the long ones, and how old those were together, ns. The next row has it.
    pub(super) fn look(&mut self, open: Open) {
        let open = [open.requests, open.longs, open.long_ns].map(u64::cast_signed);
        self.others
            .iter_mut()
            .zip(open)
            .for_each(|(to, now)| to.1 = now);
    }

    /// What a column of those holds from the next row on.
    pub(super) fn set(&mut self, column: usize, value: i64) {
        let own = self.others.iter_mut().filter(|it| it.0 == column);
        own.for_each(|it| it.1 = value);
    }

    pub(super) fn take(&mut self, now: Timestamp, row: &[i64; WIDTH], buffer: &mut TableBuffer) {
        let mut grown = *row;
        let growth = grown.iter_mut().zip(&self.before);
        growth.for_each(|(value, before)| *value -= before);
        for (column, value) in &self.others {
            grown[*column] = *value;
        }
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

/// A row of a side's table; what is beyond its width is nothing. `take` adds the requests under way.
pub(super) fn row(account: &Account, side: Side) -> [i64; WIDTH] {
    let besides: &[u64] = match side {
        Side::Server => &[account.pipelined, account.unsolicited],
        Side::Client => &[account.between_ns, account.unread_ns],
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

#[cfg(test)]
mod tests {
    use sensors::request::PEER_CALLS;

    use super::*;

    #[test]
    fn what_is_no_growth_is_not_known_before_it_is_said() {
        let mut buffer = TableBuffer::new(&PEER_CALLS);
        let process = PEER_CALLS.position("process").expect("a column");
        let since = Timestamp::from_ns(1);
        let mut counted = Counted::new(EntityId(7), [0; WIDTH], since, &mut buffer, [process]);
        counted.set(process, 5);
        counted.take(Timestamp::from_ns(2), &[3; WIDTH], &mut buffer);
        let rows: Vec<_> = buffer.rows.iter().collect();
        let of = |row: usize| (rows[row].2[0], rows[row].2[process]);
        assert_eq!([of(0), of(1)], [(0, MISSING), (3, 5)]);
    }
}
