//! Threads that exited before they were listed: their times are added up per process and reported as one
//! thread's, so that a server with a thread per request does not cost an entity for each.
//!
//! The times of a process that was never listed itself go to its parent, as its CPU time does (times(2)).

use std::collections::HashMap;

use model::{Entity, EntityId, EntityKind, MISSING, Timestamp};
use sensors::thread_time::WIDTH;

use super::thread::KNOWN_SINCE;
use crate::output::{Output, TableId, Tables};
use crate::processes::Processes;
use crate::table_buffer::RowDeduplicator;

/// Readings after a process is gone from the list in which its threads' last accounts still arrive.
pub(super) const LAST_ROUNDS: u64 = 20;

/// Processes with short-lived threads, by pid.
pub(super) struct ShortLived {
    by_pid: HashMap<u32, Sum>,
    table: TableId,
}

struct Sum {
    process: EntityId,
    last: RowDeduplicator,
    row: [i64; WIDTH],
    /// Readings since its process has gone.
    alone: u64,
}

impl ShortLived {
    /// None so far; their rows go to `table`, that of threads.
    pub(super) fn new(table: TableId) -> Self {
        Self {
            by_pid: HashMap::new(),
            table,
        }
    }

    /// Adds the account of a thread, whose account begins at `since`, to the first of these processes that is
    /// known. Returns the entity under which it is reported.
    pub(super) fn take(
        &mut self,
        pids: [u32; 2],
        since: Timestamp,
        row: &[i64; WIDTH],
        processes: &Processes,
        out: &mut Output,
    ) -> Option<EntityId> {
        for pid in pids {
            if !self.by_pid.contains_key(&pid)
                && let Some(process) = processes.tracked_entity(pid)
                && let Some(new) = Sum::new(process, since, self.table, out)
            {
                self.by_pid.insert(pid, new);
            }
            if let Some(sum) = self.by_pid.get_mut(&pid) {
                let both = sum.row.iter_mut().zip(row);
                both.take(KNOWN_SINCE).for_each(|(to, ns)| *to += ns);
                return Some(sum.last.entity());
            }
        }
        None
    }

    /// Writes the sums as of a reading, and evicts those of exited processes; `evicted` is called for each.
    pub(super) fn write_out(
        &mut self,
        now: Timestamp,
        processes: &Processes,
        out: &mut Output,
        mut evicted: impl FnMut(EntityId, &mut Tables),
    ) {
        let Output {
            tables, registry, ..
        } = out;
        self.by_pid.retain(|pid, sum| {
            let is_there = processes.entity(*pid) == Some(sum.process);
            sum.alone = if is_there { 0 } else { sum.alone + 1 };
            sum.last.take(now, &sum.row, &mut tables[self.table]);
            let stays = sum.alone < LAST_ROUNDS;
            if !stays {
                sum.last.finish(&mut tables[self.table]);
                evicted(sum.last.entity(), tables);
                registry.vanish(sum.last.entity(), now);
            }
            stays
        });
    }

    /// Notes that nothing has changed up to `at`.
    pub(super) fn unchanged(&mut self, at: Timestamp) {
        let sums = self.by_pid.values_mut();
        sums.for_each(|sum| sum.last.unchanged(at));
    }

    /// Writes the last rows of unchanged values.
    pub(super) fn finish(&mut self, out: &mut Output) {
        let buffer = &mut out.tables[self.table];
        let sums = self.by_pid.values_mut();
        sums.for_each(|sum| sum.last.finish(buffer));
    }
}

impl Sum {
    fn new(process: EntityId, since: Timestamp, table: TableId, out: &mut Output) -> Option<Self> {
        let Output {
            tables, registry, ..
        } = out;
        let path = format!("{}/tid:0", registry.get(process)?.entity.path);
        let entity = Entity::new(EntityKind::Thread, "(short-lived)", path);
        let entity = registry.add(entity, Some(process), since);
        let mut row = [0; WIDTH];
        // Several threads have no common beginning.
        row[KNOWN_SINCE..].fill(MISSING);
        let mut last = RowDeduplicator::new(entity, WIDTH);
        last.begin(since, &row, &mut tables[table]);
        Some(Self {
            process,
            last,
            row,
            alone: 0,
        })
    }
}
