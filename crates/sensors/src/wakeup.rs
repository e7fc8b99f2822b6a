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

/// Columns behind those of the classes.
const OTHERS: [Column; WIDTH - CLASSES.len()] = [
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
    Column::gauge(
        "serving",
        Unit::Count,
        "Whether these waits were inside a request that the thread had read and not yet answered: 1 \
         inside, 2 outside, 0 not known.",
        "sched_switch, sock_recv_length, sock_send_length by BPF",
    ),
];

/// The ledger classes that have a column: in these a waker can have been.
pub const CLASSES: [LedgerClass; count()] = {
    let mut classes = [LedgerClass::OnCpu; count()];
    let (mut place, mut found) = (0, 0);
    while place < LedgerClass::ALL.len() {
        if LedgerClass::ALL[place].waker_column().is_some() {
            classes[found] = LedgerClass::ALL[place];
            found += 1;
        }
        place += 1;
    }
    classes
};
/// All columns.
pub const WIDTH: usize = CLASSES.len() + 6;

const fn count() -> usize {
    let (mut place, mut count) = (0, 0);
    while place < LedgerClass::ALL.len() {
        count += LedgerClass::ALL[place].waker_column().is_some() as usize;
        place += 1;
    }
    count
}

/// The classes come first.
static COLUMNS: [Column; WIDTH] = {
    let mut columns = [Column::BLANK; WIDTH];
    let mut place = 0;
    while place < CLASSES.len() {
        if let Some([name, help]) = CLASSES[place].waker_column() {
            let own = Column::counter(name, Unit::Nanoseconds, help, BEFORE);
            Column::put(&mut columns, place, [own.quality(Quality::Sampled)]);
        }
        place += 1;
    }
    Column::put(&mut columns, place, OTHERS);
    columns
};

/// How often it is read.
pub const PERIOD: Duration = Duration::from_secs(1);

/// Who ends waits, as the column `by` and `enum wakeup_by` number them; 0 is for a waker that is not known.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum By {
    /// A thread of a pool of target or generator.
    Pool = 1,
    /// A thread of another process.
    Background,
    /// An interrupt, or what one left to be done: a timer, a packet, a disk.
    Interrupt,
    /// A kernel thread.
    Kernel,
}

impl By {
    /// Every kind, in the order of their numbers.
    pub const ALL: [By; 4] = [By::Pool, By::Background, By::Interrupt, By::Kernel];

    /// As the table has it; `None` for what it never has.
    pub fn new(code: i64) -> Option<Self> {
        By::ALL.into_iter().find(|by| *by as i64 == code)
    }
}

/// The pairs.
pub static WAKEUP: Table = Table::new(
    "wakeup",
    EntityKind::Waker,
    "Who ended the waits of each thread pool of target and generator, and what the waker did \
     meanwhile.",
    &COLUMNS,
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
        for (class, column) in CLASSES.into_iter().zip(&COLUMNS) {
            let word = match class {
                LedgerClass::CpuWait => "ready",
                class => class.word(),
            };
            assert_eq!(column.name, format!("{word}_ns"));
        }
    }
}
