//! Parts of threads' accounts in tables of their own, because few threads have any of them: kernel waits by wait
//! site, and sleeps inside and outside of requests.

use std::collections::HashMap;

use model::{EntityId, Table, Timestamp};
use sensors::kernel_wait::{KERNEL_WAIT, WAIT_SITES};
use sensors::serving::{self, SERVING};

use super::monotonic::carry_over;
use crate::output::{Output, TableId, Tables};
use crate::table_buffer::{RowDeduplicator, TableBuffer};
use kernel::bpf::thread_time::Account;

/// Kernel waits by wait site.
pub(super) type KernelWaits = AccountSums<{ WAIT_SITES.len() }>;
/// Sleeps inside and outside of requests.
pub(super) type ServingSums = AccountSums<{ serving::WIDTH }>;

/// All threads from the first reading of their accounts: what is counted may come at any time.
pub(super) struct AccountSums<const WIDTH: usize> {
    by_thread: HashMap<EntityId, Sum<WIDTH>>,
    table: TableId,
    part: fn(&Account) -> [u64; WIDTH],
}

struct Sum<const WIDTH: usize> {
    last: RowDeduplicator,
    /// False as long as nothing of it was counted of the thread; then it has no rows.
    is_written: bool,
    /// Identifies the account: after an exec the tid may belong to another thread.
    known_since_ns: u64,
    /// Sums of earlier accounts under this tid, which rows include.
    base: [i64; WIDTH],
}

impl KernelWaits {
    pub(super) fn new(out: &mut Output) -> Self {
        Self::of(&KERNEL_WAIT, |account| account.kernel_wait_ns, out)
    }
}

impl ServingSums {
    pub(super) fn new(out: &mut Output) -> Self {
        let part = |account: &Account| {
            let mut row = [0; serving::WIDTH];
            let sleeps = account.inside_ns.iter().chain(&account.outside_ns);
            let counts = [account.answered, account.answered_for_others];
            let all = sleeps.chain(&counts);
            row.iter_mut().zip(all).for_each(|(to, from)| *to = *from);
            row
        };
        Self::of(&SERVING, part, out)
    }
}

impl<const WIDTH: usize> AccountSums<WIDTH> {
    fn of(table: &'static Table, part: fn(&Account) -> [u64; WIDTH], out: &mut Output) -> Self {
        Self {
            by_thread: HashMap::new(),
            table: out.open(table),
            part,
        }
    }

    /// Writes a thread's account; `times` are when it begins and when it ends.
    pub(super) fn take(
        &mut self,
        thread: EntityId,
        times: (Timestamp, Timestamp),
        account: &Account,
        tables: &mut Tables,
    ) {
        let part = (self.part)(account);
        let sum = of(&mut self.by_thread, thread, account);
        if sum.known_since_ns != account.known_since_ns {
            sum.known_since_ns = account.known_since_ns;
            if sum.is_written {
                sum.base.copy_from_slice(sum.last.values());
            }
        }
        let mut row = sum.with(part);
        carry_over(&mut row, sum.last.values());
        sum.write(times, &row, &mut tables[self.table]);
    }

    /// Adds the account of one of several exited threads that are reported as one.
    pub(super) fn add(
        &mut self,
        threads: EntityId,
        times: (Timestamp, Timestamp),
        account: &Account,
        tables: &mut Tables,
    ) {
        let part = (self.part)(account);
        let sum = of(&mut self.by_thread, threads, account);
        sum.base = sum.with(part);
        let row = sum.base;
        sum.write(times, &row, &mut tables[self.table]);
    }

    /// Forgets a thread of which no account will come any more. It may have left the registry long before: its last
    /// account comes when it has left the CPU for the last time.
    pub(super) fn forget(&mut self, thread: EntityId, tables: &mut Tables) {
        if let Some(mut sum) = self.by_thread.remove(&thread) {
            sum.last.finish(&mut tables[self.table]);
        }
    }

    /// Notes that nothing has changed up to `at`.
    pub(super) fn unchanged(&mut self, at: Timestamp) {
        let sums = self.by_thread.values_mut();
        sums.for_each(|sum| sum.last.unchanged(at));
    }

    /// Writes the last rows of unchanged values.
    pub(super) fn finish(&mut self, out: &mut Output) {
        let buffer = &mut out.tables[self.table];
        let sums = self.by_thread.values_mut();
        sums.for_each(|sum| sum.last.finish(buffer));
    }
}

/// The sums of a thread so far.
fn of<'a, const WIDTH: usize>(
    by_thread: &'a mut HashMap<EntityId, Sum<WIDTH>>,
    thread: EntityId,
    account: &Account,
) -> &'a mut Sum<WIDTH> {
    by_thread.entry(thread).or_insert_with(|| Sum {
        last: RowDeduplicator::new(thread, WIDTH),
        is_written: false,
        known_since_ns: account.known_since_ns,
        base: [0; WIDTH],
    })
}

impl<const WIDTH: usize> Sum<WIDTH> {
    fn with(&self, part: [u64; WIDTH]) -> [i64; WIDTH] {
        let mut row = self.base;
        let both = row.iter_mut().zip(part);
        both.for_each(|(to, ns)| *to += ns.cast_signed());
        row
    }

    fn write(
        &mut self,
        (since, until): (Timestamp, Timestamp),
        row: &[i64; WIDTH],
        buffer: &mut TableBuffer,
    ) {
        self.is_written |= row.iter().any(|ns| *ns != 0);
        if self.is_written {
            self.last.begin(since, row, buffer);
            self.last.take(until, row, buffer);
        }
    }
}
