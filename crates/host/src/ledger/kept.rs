//! What kept threads in the kernel, as rows of their own: few threads have any.

use std::collections::HashMap;

use model::{EntityId, Timestamp};
use sensors::kernel_wait::{CHANNELS, KERNEL_WAIT};

use super::carried::carry_over;
use crate::bpf::ledger::Account;
use crate::intake::{Intake, LastSeen};
use crate::registry::Registry;
use crate::stretched::times;

const WIDTH: usize = CHANNELS.len();

/// Each thread, from when its account is first read: something may keep it at any time.
pub(super) struct Kept {
    by_thread: HashMap<EntityId, Sum>,
    pub(super) intake: Intake,
}

struct Sum {
    last: LastSeen,
    /// Whether there are rows of it: as long as nothing kept it there are none.
    is_written: bool,
    /// Whose account it is that is read: one thread may take another's place by an exec.
    known_since_ns: u64,
    /// What rows have beyond that account.
    base: [i64; WIDTH],
    /// The account as it was read last, and at the mark before (`Turn::stretch`).
    read: [u64; WIDTH],
    marked: [u64; WIDTH],
    /// How much of pauses it has.
    beyond_ns: i64,
}

impl Kept {
    pub(super) fn new() -> Self {
        Self {
            by_thread: HashMap::new(),
            intake: Intake::new(&KERNEL_WAIT),
        }
    }

    /// Writes what a thread's account says, which begins at the first time and is up to the second.
    pub(super) fn take(
        &mut self,
        thread: EntityId,
        times: (Timestamp, Timestamp),
        account: &Account,
    ) {
        let sum = of(&mut self.by_thread, thread, account);
        if sum.known_since_ns != account.known_since_ns {
            sum.known_since_ns = account.known_since_ns;
            if sum.is_written {
                sum.base.copy_from_slice(sum.last.values());
            }
        }
        sum.read = account.kept_ns;
        let mut row = sum.with(account);
        carry_over(&mut row, sum.last.values());
        sum.write(times, &row, &mut self.intake);
    }

    /// A mark: so much in all stands for pauses, and is shared out by what was told since the mark before.
    pub(super) fn mark(&mut self, thread: EntityId, account: &Account, beyond_ns: i64) {
        let sum = of(&mut self.by_thread, thread, account);
        let ns = beyond_ns - std::mem::replace(&mut sum.beyond_ns, beyond_ns);
        let told = |it: usize| sum.read[it].saturating_sub(sum.marked[it]) as f64;
        let all: f64 = (0..WIDTH).map(told).sum();
        if ns > 0 && all > 0.0 {
            let parts: [i64; WIDTH] = std::array::from_fn(|it| times(ns, told(it) / all));
            sum.base
                .iter_mut()
                .zip(parts)
                .for_each(|(to, part)| *to += part);
        }
        sum.marked = account.kept_ns;
    }

    /// Adds the account of one of several threads that have ended and are told of as one.
    pub(super) fn add(
        &mut self,
        threads: EntityId,
        times: (Timestamp, Timestamp),
        account: &Account,
    ) {
        let sum = of(&mut self.by_thread, threads, account);
        sum.base = sum.with(account);
        let row = sum.base;
        sum.write(times, &row, &mut self.intake);
    }

    /// Lets those go that have vanished.
    pub(super) fn let_go(&mut self, registry: &Registry) {
        let intake = &mut self.intake;
        self.by_thread.retain(|thread, sum| {
            let stays = registry.get(*thread).is_some();
            if !stays {
                sum.last.finish(intake);
            }
            stays
        });
    }

    /// Writes the ends of unchanged stretches.
    pub(super) fn finish(&mut self) {
        let intake = &mut self.intake;
        let sums = self.by_thread.values_mut();
        sums.for_each(|sum| sum.last.finish(intake));
    }
}

/// What was counted of a thread so far.
fn of<'a>(
    by_thread: &'a mut HashMap<EntityId, Sum>,
    thread: EntityId,
    account: &Account,
) -> &'a mut Sum {
    by_thread.entry(thread).or_insert_with(|| Sum {
        last: LastSeen::new(thread, WIDTH),
        is_written: false,
        known_since_ns: account.known_since_ns,
        base: [0; WIDTH],
        read: [0; WIDTH],
        marked: [0; WIDTH],
        beyond_ns: 0,
    })
}

impl Sum {
    fn with(&self, account: &Account) -> [i64; WIDTH] {
        let mut row = self.base;
        let both = row.iter_mut().zip(account.kept_ns);
        both.for_each(|(to, ns)| *to += ns.cast_signed());
        row
    }

    fn write(
        &mut self,
        (since, until): (Timestamp, Timestamp),
        row: &[i64; WIDTH],
        intake: &mut Intake,
    ) {
        self.is_written |= row.iter().any(|ns| *ns != 0);
        if self.is_written {
            self.last.begin(since, row, intake);
            self.last.take(until, row, intake);
        }
    }
}
