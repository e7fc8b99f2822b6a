//! Wake-ups: who ended the waits of whom, and what that one did meanwhile.
//!
//! Kept between pools: the threads of one process, and of those above it that go by its name, which are
//! called alike when digits do not count. A pair is an entity of its own, whose parent is the pool that
//! waited. Waits for a disk and for a time are left out: it is known who ends them.

use std::time::Duration;

use model::{Column, EntityKind, LedgerClass, Quality, Table, Unit};

use crate::THREAD_TIME_COVERAGE;

const WAKING: &str = "sched_waking, sched_wakeup by BPF";
const BEFORE: &str = "sched_switch, sched_wakeup by BPF";

macro_rules! time {
    ($name:literal, $help:literal) => {
        Column::counter($name, Unit::Nanoseconds, $help, BEFORE).quality(Quality::Sampled)
    };
}

static COLUMNS: &[Column] = &[
    time!(
        "on_cpu_ns",
        "Part of these waits in which the waker was on a CPU, since it was last blocked itself."
    ),
    time!("ready_ns", "Part in which the waker waited for a CPU."),
    time!(
        "uninterruptible_ns",
        "Part in which the waker, the last time before, was uninterruptible, in none of the next."
    ),
    time!(
        "page_fault_ns",
        "Part in which the waker was blocked in a page fault."
    ),
    time!("reclaim_ns", "Part in which the waker waited for memory."),
    time!(
        "sync_ns",
        "Part in which the waker was in fsync and its family: a thread that waits for it waits \
         for the disk."
    ),
    time!(
        "sync_queue_ns",
        "Part in which the waker waited for another backend's WAL flush."
    ),
    time!(
        "read_write_ns",
        "Part in which the waker waited for a disk in read, write and their families, or for a \
         PostgreSQL process that does so."
    ),
    time!(
        "database_lock_ns",
        "Part in which the waker had a wait event of type Lock."
    ),
    time!(
        "internal_lock_ns",
        "Part in which the waker had a wait event of type LWLock."
    ),
    time!("futex_ns", "Part in which the waker was blocked in futex."),
    time!(
        "output_ns",
        "Part in which the waker was blocked in sending."
    ),
    time!("input_ns", "Part in which the waker waited for input."),
    time!("sleep_ns", "Part in which the waker was in a timed sleep."),
    time!(
        "other_call_ns",
        "Part in which the waker was blocked in another system call."
    ),
    time!(
        "unknown_ns",
        "Part in which the waker was blocked, reason not known."
    ),
    Column::counter(
        "wait_ns",
        Unit::Nanoseconds,
        "The waits that it ended. What is in no other column was before the waker's own last \
         wait, or is not known.",
        WAKING,
    )
    .quality(Quality::Sampled),
    Column::counter("waits", Unit::Count, "Number of these waits.", WAKING)
        .quality(Quality::Sampled),
    Column::gauge(
        "class",
        Unit::Count,
        "Class of these waits: the column of this table that is named after it, counted from 0.",
        "sched_switch by BPF",
    ),
    Column::gauge(
        "by",
        Unit::Count,
        "Kind of waker: 1 a pool of target or generator, 2 another process, 3 an interrupt (a \
         timer, a packet, a disk), 4 a kernel thread.",
        WAKING,
    ),
    Column::gauge(
        "waker",
        Unit::Count,
        "Entity number of that pool or process.",
        WAKING,
    ),
];

/// The classes by their columns, which come first.
pub const CLASSES: [LedgerClass; 16] = [
    LedgerClass::OnCpu,
    LedgerClass::CpuWait,
    LedgerClass::Uninterruptible,
    LedgerClass::PageFault,
    LedgerClass::Reclaim,
    LedgerClass::Sync,
    LedgerClass::SyncQueue,
    LedgerClass::ReadWrite,
    LedgerClass::DatabaseLock,
    LedgerClass::InternalLock,
    LedgerClass::Futex,
    LedgerClass::Output,
    LedgerClass::Input,
    LedgerClass::Sleep,
    LedgerClass::OtherCall,
    LedgerClass::Unknown,
];
/// All columns.
pub const WIDTH: usize = 21;
/// How often it is read.
pub const PERIOD: Duration = Duration::from_secs(1);

/// Who ends waits; as `by` tells it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum By {
    /// A thread of a pool of target or generator.
    Pool,
    /// Another process.
    Other,
    /// An interrupt, or what one left to be done.
    Interrupt,
    /// A kernel thread.
    Kernel,
}

impl By {
    /// As the table has it; `None` for what it never has.
    pub fn new(code: i64) -> Option<Self> {
        Some(match code {
            1 => By::Pool,
            2 => By::Other,
            3 => By::Interrupt,
            4 => By::Kernel,
            _ => return None,
        })
    }
}

/// The pairs.
pub static WAKEUP: Table = Table::new(
    "wakeup",
    EntityKind::Waker,
    "Who ended the waits of each thread pool of target and generator, and what the waker did \
     meanwhile.",
    COLUMNS,
)
.covered_by(THREAD_TIME_COVERAGE);

static POOL_COLUMNS: &[Column] = &[Column::gauge(
    "pool",
    Unit::Count,
    "Entity number of its pool.",
    "task_struct comm, real_parent by BPF",
)];

/// Which pool each thread is of.
pub static THREAD_POOL: Table = Table::new(
    "thread_pool",
    EntityKind::Thread,
    "The thread pool of each thread of target and generator: threads with the same name but for \
     digits, of one process and of its ancestors of the same name.",
    POOL_COLUMNS,
);

/// The place of a class among the columns.
pub fn place(class: LedgerClass) -> Option<usize> {
    CLASSES.iter().position(|it| *it == class)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_class_has_the_column_that_is_named_after_it() {
        assert_eq!(WAKEUP.columns.len(), WIDTH);
        for (class, column) in CLASSES.into_iter().zip(COLUMNS) {
            let word = match class {
                LedgerClass::CpuWait => "ready",
                class => class.word(),
            };
            assert_eq!(column.name, format!("{word}_ns"));
        }
    }
}
