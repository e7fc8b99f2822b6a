//! One target or generator thread: its rows, and the cross-check of its account with the kernel's counters.

use model::{CrossCheck, EntityId, MISSING, Timestamp};
use sensors::thread_time::{CLASSES, HOLDERS, WIDTH};

use crate::table_buffer::{RowDeduplicator, TableBuffer};
use kernel::bpf::thread_time::{Account, Record};

use super::monotonic::carry_over;

/// Tolerance of the cross-check between two readings: this, or a thousandth of the time between them.
const APART_NS: i64 = 20_000;

/// The kernel's counters less ours as of a reading.
#[derive(Clone, Copy)]
pub(super) struct Difference {
    until: Timestamp,
    run_ns: i64,
    wait_ns: i64,
    slices: i64,
}

pub(super) struct Thread {
    pub(super) last: RowDeduplicator,
    /// When the account begins, ns of the programs' clock; distinguishes threads with the same tid.
    pub(super) known_since_ns: Option<u64>,
    /// Sums of an earlier thread that had the tid before an exec; rows include them.
    pub(super) base: [i64; KNOWN_SINCE + 1],
    /// The account as of the last reading.
    read: [i64; WIDTH],
    /// Whether its last account has arrived.
    pub(super) exited: bool,
    pub(super) diff: Option<Difference>,
    /// Whether its slice count differed from the kernel's at the last reading. Once means nothing: the event
    /// comes just before the kernel counts the slice.
    pub(super) suspected: bool,
    pub(super) round: u64,
}

impl Thread {
    pub(super) fn new(entity: EntityId, round: u64) -> Self {
        Self {
            last: RowDeduplicator::new(entity, WIDTH),
            known_since_ns: None,
            base: [0; KNOWN_SINCE + 1],
            read: [0; WIDTH],
            exited: false,
            diff: None,
            suspected: false,
            round,
        }
    }

    /// Whether the account belongs to this thread; the first one always does.
    pub(super) fn is_of(&mut self, account: &Account) -> bool {
        let known = *self.known_since_ns.get_or_insert(account.known_since_ns);
        known == account.known_since_ns
    }

    /// The tid now belongs to another thread of the same entity: a thread other than the first did an exec.
    /// The earlier thread's times stay in the rows as `base`.
    pub(super) fn follow(&mut self, account: &Account, row: &[i64; WIDTH]) {
        self.known_since_ns = Some(account.known_since_ns);
        for (base, (written, own)) in self.base.iter_mut().zip(self.last.values().iter().zip(row)) {
            *base = written - own;
        }
        self.exited = false;
        self.diff = None;
    }

    /// Timeslices since the last reading.
    pub(super) fn slices_since(&self, row: &[i64; WIDTH]) -> u64 {
        (row[SLICES] - self.read[SLICES]).max(0).cast_unsigned()
    }

    pub(super) fn take(
        &mut self,
        until: Timestamp,
        mut row: [i64; WIDTH],
        buffer: &mut TableBuffer,
    ) {
        self.read = row;
        row.iter_mut()
            .zip(self.base)
            .for_each(|(own, base)| *own += base);
        let since = Timestamp::from_ns(row[KNOWN_SINCE]);
        self.last.begin(since, &row, buffer);
        let times = &mut row[..CLASSES + HOLDERS];
        carry_over(times, &self.last.values()[..CLASSES + HOLDERS]);
        self.last.take_times(until, &row, buffer);
    }

    /// Compares the growth of both accounts since the last reading at which neither had a state in progress.
    pub(super) fn compare(
        &mut self,
        record: &Record,
        until: Timestamp,
        agreement: &mut CrossCheck,
    ) {
        if record.compared == 0 {
            return;
        }
        let now = Difference {
            until,
            run_ns: record.run_diff_ns,
            wait_ns: record.wait_diff_ns,
            slices: record.slices_diff,
        };
        let Some(before) = self.diff else {
            self.diff = Some(now);
            return;
        };
        if now.slices != before.slices {
            if std::mem::replace(&mut self.suspected, true) {
                agreement.compared += 1;
                agreement.diff += 1;
                self.suspected = false;
                self.diff = Some(now);
            }
            return;
        }
        let diff_ns = (now.run_ns - before.run_ns)
            .abs()
            .max((now.wait_ns - before.wait_ns).abs());
        let most_ns = APART_NS.max(until.ns_since(before.until) / 1_000);
        agreement.compared += 1;
        agreement.diff += u64::from(diff_ns > most_ns);
        agreement.worst_ns = agreement.worst_ns.max(diff_ns);
        self.suspected = false;
        self.diff = Some(now);
    }
}

/// Column: timeslices.
const SLICES: usize = CLASSES + HOLDERS + 2;
/// Column: when the account begins; the cross-check columns follow.
pub(super) const KNOWN_SINCE: usize = WIDTH - 3;
pub(super) const DIFFERENCE: usize = WIDTH - 2;

/// A row of the table of threads.
pub(super) fn row(record: &Record, known_since: Timestamp) -> [i64; WIDTH] {
    let mut row = account_row(&record.account, known_since);
    row[DIFFERENCE..].copy_from_slice(&[record.run_diff_ns, record.wait_diff_ns]);
    row
}

/// The same without the cross-check columns.
pub(super) fn account_row(account: &Account, known_since: Timestamp) -> [i64; WIDTH] {
    let mut row = [MISSING; WIDTH];
    let (times, rest) = row.split_at_mut(CLASSES + HOLDERS);
    let counted = account.ns.iter().chain(&account.queued_ns);
    for (to, ns) in times.iter_mut().zip(counted) {
        *to = ns.cast_signed();
    }
    rest[..4].copy_from_slice(&[
        account.delay_caused_ns.cast_signed(),
        account.hidden_ns,
        account.slices.cast_signed(),
        known_since.as_ns(),
    ]);
    row
}

#[cfg(test)]
mod tests {
    use sensors::thread_time::THREAD_TIME;

    use super::*;

    #[test]
    fn the_places_are_those_of_the_columns() {
        for (column, name) in [(SLICES, "slices"), (KNOWN_SINCE, "known_since_ns")] {
            assert_eq!(THREAD_TIME.columns[column].name, name);
        }
    }
}
