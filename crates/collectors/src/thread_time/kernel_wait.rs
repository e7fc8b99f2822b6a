//! Kernel waits of threads by wait site, in rows of their own: few threads have any.

use std::collections::HashMap;

use model::{EntityId, Timestamp};
use sensors::kernel_wait::{KERNEL_WAIT, WAIT_SITES};

use super::monotonic::carry_over;
use crate::output::{Output, TableId, Tables};
use crate::table_buffer::{RowDeduplicator, TableBuffer};
use kernel::bpf::thread_time::Account;

const WIDTH: usize = WAIT_SITES.len();

/// All threads from the first reading of their accounts: a kernel wait may come at any time.
pub(super) struct KernelWaits {
    by_thread: HashMap<EntityId, Sum>,
    table: TableId,
}

struct Sum {
    last: RowDeduplicator,
    /// False as long as the thread has had no kernel wait; then it has no rows.
    is_written: bool,
    /// Identifies the account: after an exec the tid may belong to another thread.
    known_since_ns: u64,
    /// Sums of earlier accounts under this tid, which rows include.
    base: [i64; WIDTH],
}

impl KernelWaits {
    pub(super) fn new(out: &mut Output) -> Self {
        Self {
            by_thread: HashMap::new(),
            table: out.open(&KERNEL_WAIT),
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
        let sum = of(&mut self.by_thread, thread, account);
        if sum.known_since_ns != account.known_since_ns {
            sum.known_since_ns = account.known_since_ns;
            if sum.is_written {
                sum.base.copy_from_slice(sum.last.values());
            }
        }
        let mut row = sum.with(account);
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
        let sum = of(&mut self.by_thread, threads, account);
        sum.base = sum.with(account);
        let row = sum.base;
        sum.write(times, &row, &mut tables[self.table]);
    }

    /// Forgets entities that have vanished from the registry.
    pub(super) fn evict(&mut self, out: &mut Output) {
        let Output {
            tables, registry, ..
        } = out;
        let buffer = &mut tables[self.table];
        self.by_thread.retain(|thread, sum| {
            let stays = registry.get(*thread).is_some();
            if !stays {
                sum.last.finish(buffer);
            }
            stays
        });
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
fn of<'a>(
    by_thread: &'a mut HashMap<EntityId, Sum>,
    thread: EntityId,
    account: &Account,
) -> &'a mut Sum {
    by_thread.entry(thread).or_insert_with(|| Sum {
        last: RowDeduplicator::new(thread, WIDTH),
        is_written: false,
        known_since_ns: account.known_since_ns,
        base: [0; WIDTH],
    })
}

impl Sum {
    fn with(&self, account: &Account) -> [i64; WIDTH] {
        let mut row = self.base;
        let both = row.iter_mut().zip(account.kernel_wait_ns);
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
