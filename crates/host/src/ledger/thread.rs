//! One thread of target or generator: its rows, and how its account and the kernel's agree.

use std::ops::Range;

use model::{Agreement, EntityId, MISSING, Timestamp};
use sensors::ledger::{CLASSES, HOLDERS, WIDTH};

use crate::bpf::ledger::{Account, Record};
use crate::intake::{Intake, LastSeen};

use crate::stretched::times;

use super::carried::carry_over;

/// The two accounts of a thread may differ by so much between two readings, or by a thousandth of the
/// time between.
const APART_NS: i64 = 20_000;

/// The kernel's account less ours at a reading.
#[derive(Clone, Copy)]
pub(super) struct Apart {
    until: Timestamp,
    run_ns: i64,
    wait_ns: i64,
    slices: i64,
}

/// One thread of target or generator.
pub(super) struct Thread {
    pub(super) last: LastSeen,
    /// Since when it is counted, ns as the programs have it: numbers of threads come round again.
    pub(super) known_since_ns: Option<u64>,
    /// What rows have beyond its account: who had its number before it by an exec.
    pub(super) base: [i64; KNOWN_SINCE + 1],
    /// Its account as it was read last, and at the mark before (`Turn::stretch`).
    read: [i64; WIDTH],
    marked: [i64; WIDTH],
    /// Whether its last was told.
    pub(super) ended: bool,
    pub(super) apart: Option<Apart>,
    /// Whether its slices were seen to be other than the kernel's. Once is nothing: a switch is told of
    /// just before the kernel counts it.
    pub(super) suspected: bool,
    pub(super) round: u64,
}

impl Thread {
    pub(super) fn new(entity: EntityId, round: u64) -> Self {
        Self {
            last: LastSeen::new(entity, WIDTH),
            known_since_ns: None,
            base: [0; KNOWN_SINCE + 1],
            read: [0; WIDTH],
            marked: [0; WIDTH],
            ended: false,
            apart: None,
            suspected: false,
            round,
        }
    }

    /// Whether the account is of this thread; the first is.
    pub(super) fn is_of(&mut self, account: &Account) -> bool {
        let known = *self.known_since_ns.get_or_insert(account.known_since_ns);
        known == account.known_since_ns
    }

    /// Another thread has its number, and is listed as the same one: it did an exec beside the first thread of
    /// its process. What it had before is in rows of its own.
    pub(super) fn follow(&mut self, account: &Account, row: &[i64; WIDTH]) {
        self.known_since_ns = Some(account.known_since_ns);
        for (base, (written, own)) in self.base.iter_mut().zip(self.last.values().iter().zip(row)) {
            *base = written - own;
        }
        self.ended = false;
        self.apart = None;
    }

    /// A mark: what the books know of a pause but not what for is shared out by what was told since the mark
    /// before, of which the rest stands for it so many times.
    pub(super) fn mark(&mut self, row: &[i64; WIDTH], stretch: f64) {
        if stretch > 0.0 {
            self.share_out_pause(row);
            let told = self.read[HELD_UP] - self.marked[HELD_UP];
            self.base[HELD_UP] += times(told, stretch);
        }
        self.marked = *row;
    }

    /// What the books know of a pause is shared out; the row is the first since the last reading before it.
    pub(super) fn share_out_pause(&mut self, row: &[i64; WIDTH]) {
        if self.known_since_ns.is_none() {
            return;
        }
        let told: [i64; WIDTH] = std::array::from_fn(|it| self.read[it] - self.marked[it]);
        let [unknown, queued] = [UNKNOWN, QUEUED.start].map(|it| row[it] - self.read[it]);
        let waits = std::iter::once(THROTTLED).chain(QUEUED);
        self.share_out(UNKNOWN, unknown, BLOCKED, &told);
        self.share_out(QUEUED.start, queued, waits, &told);
    }

    /// Moves what is in a column to those among which it belongs, as they were told of.
    fn share_out(
        &mut self,
        from: usize,
        ns: i64,
        among: impl Iterator<Item = usize> + Clone,
        told: &[i64; WIDTH],
    ) {
        let all: i64 = among.clone().map(|it| told[it].max(0)).sum();
        if ns <= 0 || all == 0 {
            return;
        }
        for column in among {
            let part = times(ns, told[column].max(0) as f64 / all as f64);
            self.base[column] += part;
            self.base[from] -= part;
        }
    }

    /// How often it got a CPU since the last reading.
    pub(super) fn slices_since(&self, row: &[i64; WIDTH]) -> i64 {
        (row[SLICES] - self.read[SLICES]).max(0)
    }

    /// What rows have beyond the account in some columns.
    pub(super) fn beyond(&self, columns: Range<usize>) -> i64 {
        self.base[columns].iter().sum()
    }

    pub(super) fn take(&mut self, until: Timestamp, mut row: [i64; WIDTH], intake: &mut Intake) {
        self.read = row;
        row.iter_mut()
            .zip(self.base)
            .for_each(|(own, base)| *own += base);
        let since = Timestamp::from_ns(row[KNOWN_SINCE]);
        self.last.begin(since, &row, intake);
        let times = &mut row[..CLASSES + HOLDERS];
        carry_over(times, &self.last.values()[..CLASSES + HOLDERS]);
        self.last.take_times(until, &row, intake);
    }

    /// Compares how both accounts have grown since they last stood still.
    pub(super) fn compare(&mut self, record: &Record, until: Timestamp, agreement: &mut Agreement) {
        if record.compared == 0 {
            return;
        }
        let now = Apart {
            until,
            run_ns: record.run_apart_ns,
            wait_ns: record.wait_apart_ns,
            slices: record.slices_apart,
        };
        let Some(before) = self.apart else {
            self.apart = Some(now);
            return;
        };
        if now.slices != before.slices {
            if std::mem::replace(&mut self.suspected, true) {
                agreement.compared += 1;
                agreement.apart += 1;
                self.suspected = false;
                self.apart = Some(now);
            }
            return;
        }
        let apart_ns = (now.run_ns - before.run_ns)
            .abs()
            .max((now.wait_ns - before.wait_ns).abs());
        let most_ns = APART_NS.max(until.ns_since(before.until) / 1_000);
        agreement.compared += 1;
        agreement.apart += u64::from(apart_ns > most_ns);
        agreement.worst_ns = agreement.worst_ns.max(apart_ns);
        self.suspected = false;
        self.apart = Some(now);
    }
}

/// Where a row has the time by a quota, and what a thread is blocked in otherwise, of which the last is not known;
/// its waits for a CPU; what it held up, and how often it got one.
const THROTTLED: usize = 1;
const BLOCKED: Range<usize> = 2..CLASSES;
/// Those of them in which the kernel keeps it.
pub(super) const KEPT: Range<usize> = 2..14;
const UNKNOWN: usize = 19;
const QUEUED: Range<usize> = CLASSES..CLASSES + HOLDERS;
const HELD_UP: usize = CLASSES + HOLDERS;
const SLICES: usize = HELD_UP + 2;
/// Where a row has since when its thread is counted, and behind it how the accounts agree.
pub(super) const KNOWN_SINCE: usize = WIDTH - 3;
pub(super) const APART: usize = WIDTH - 2;

/// A row of the table of threads.
pub(super) fn row(record: &Record, known_since: Timestamp) -> [i64; WIDTH] {
    let mut row = account_row(&record.account, known_since);
    row[APART..].copy_from_slice(&[record.run_apart_ns, record.wait_apart_ns]);
    row
}

/// The same without how the accounts agree.
pub(super) fn account_row(account: &Account, known_since: Timestamp) -> [i64; WIDTH] {
    let mut row = [MISSING; WIDTH];
    let (times, rest) = row.split_at_mut(CLASSES + HOLDERS);
    let counted = account.ns.iter().chain(&account.queued_ns);
    for (to, ns) in times.iter_mut().zip(counted) {
        *to = ns.cast_signed();
    }
    rest[..4].copy_from_slice(&[
        account.held_up_ns.cast_signed(),
        account.hidden_ns,
        account.slices.cast_signed(),
        known_since.as_ns(),
    ]);
    row
}

#[cfg(test)]
mod tests {
    use sensors::ledger::THREAD_LEDGER;

    use super::*;

    const FUTEX: usize = 14;
    const INPUT: usize = 16;

    #[test]
    fn the_places_are_those_of_the_columns() {
        for (column, name) in [
            (THROTTLED, "throttled_ns"),
            (KEPT.start, "memory_other_ns"),
            (KEPT.end, "futex_ns"),
            (UNKNOWN, "unknown_ns"),
            (QUEUED.start, "queued_rest_ns"),
            (HELD_UP, "held_up_ns"),
            (SLICES, "slices"),
        ] {
            assert_eq!(THREAD_LEDGER.columns[column].name, name);
        }
    }

    #[test]
    fn what_a_pause_is_not_known_for_is_shared_out_as_it_was_told_before_and_the_sum_stays() {
        let mut intake = Intake::new(&THREAD_LEDGER);
        let mut thread = Thread::new(EntityId(7), 0);
        thread.known_since_ns = Some(1);
        let mut row = [0; WIDTH];
        let mut step =
            |thread: &mut Thread, row: &[i64; WIDTH], until: i64, stretch: Option<f64>| {
                if let Some(stretch) = stretch {
                    thread.mark(row, stretch);
                }
                thread.take(Timestamp::from_ns(until), *row, &mut intake);
                thread.last.values().to_vec()
            };
        step(&mut thread, &row, 0, Some(0.0));
        // A spell: a quarter in each of two waits, the rest in line behind another of the target's.
        (row[FUTEX], row[INPUT], row[QUEUED.start + 1]) = (25, 25, 50);
        row[HELD_UP] = 10;
        step(&mut thread, &row, 100, None);
        // A pause of nine times that: 600 not known, 300 in line behind nobody knows whom.
        (row[UNKNOWN], row[QUEUED.start]) = (600, 300);
        let known = step(&mut thread, &row, 1_000, Some(9.0));
        assert_eq!((known[FUTEX], known[INPUT], known[UNKNOWN]), (325, 325, 0));
        assert_eq!((known[QUEUED.start], known[QUEUED.start + 1]), (0, 350));
        assert_eq!(known[HELD_UP], 100);
        assert_eq!(known[..CLASSES + HOLDERS].iter().sum::<i64>(), 1_000);
        // In the next spell it only runs; of the pause after that nothing else is known either.
        row[0] = 100;
        step(&mut thread, &row, 1_100, None);
        row[UNKNOWN] += 900;
        let known = step(&mut thread, &row, 2_000, Some(9.0));
        assert_eq!((known[0], known[UNKNOWN]), (100, 900));
        assert_eq!(known[..CLASSES + HOLDERS].iter().sum::<i64>(), 2_000);
    }
}
