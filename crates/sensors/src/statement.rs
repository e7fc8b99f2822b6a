//! Statements of a database server: whose time its processes spent, by the id that the server itself gives each.
//!
//! PostgreSQL (14 and later) is the only server so far: what its memory holds is in `postgres`, how a text loses its
//! values in `text`, and which statements are rare and start much in `rare`.

mod postgres;
mod rare;
mod text;

use std::time::Duration;

use crate::THREAD_TIME_COVERAGE;
use model::{Column, EntityKind, LedgerClass, Quality, Table, ThreadTimeClass, Unit};

pub use postgres::{LAYOUTS, Layout, POINTER, VERSIONS, layout, since_unix_us};
pub use rare::Rare;
pub use text::{LONGEST, without_values};

/// What time without a statement is called, and that of more statements than have an entity of their own.
pub const NO_STATEMENT: &str = "no statement";
/// See `NO_STATEMENT`.
pub const OTHER_STATEMENTS: &str = "other statements";

/// The last part of the path of a statement's entity.
pub fn path_of(id: i64) -> String {
    format!("statement:{id}")
}

/// The id of a statement by the path of its entity.
pub fn id_of(path: &str) -> Option<i64> {
    path.rsplit_once('/')?
        .1
        .strip_prefix("statement:")?
        .parse()
        .ok()
}

/// What a statement is called whose text is not known.
pub fn unknown(id: i64) -> String {
    format!("statement {id}")
}

/// How often they are read.
pub const PERIOD: Duration = Duration::from_secs(1);

const SWITCH: &str = "the entry in the server's memory (PostgreSQL: PgBackendStatus.st_query_id) at sched_switch and at 97 samples a second of each CPU by BPF";

/// Parts of a statement's time, in the order of the columns. In C: `enum statement_part`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Part {
    /// On a CPU.
    OnCpu,
    /// Waiting for a CPU that a process other than target and generator held.
    QueuedRest,
    /// Waiting for a CPU that the target held.
    QueuedTarget,
    /// Waiting for a CPU that the generator held.
    QueuedGenerator,
    /// Waiting for a CPU that was idle.
    QueuedNobody,
    /// Waiting for memory.
    Memory,
    /// Waiting for a disk, except for stable storage.
    Disk,
    /// Waiting for stable storage: its own fsync, or another session's flush of the log.
    Sync,
    /// Waiting for a row, table or transaction that another session has locked.
    Lock,
    /// Waiting for an internal lock of the server, or a buffer that others use.
    InternalLock,
    /// Waiting for its client in the middle of a statement.
    Client,
    /// Anything else: other processes of the server, timers, a CPU quota.
    Other,
}

impl Part {
    /// Every part.
    pub const ALL: [Self; 12] = [
        Self::OnCpu,
        Self::QueuedRest,
        Self::QueuedTarget,
        Self::QueuedGenerator,
        Self::QueuedNobody,
        Self::Memory,
        Self::Disk,
        Self::Sync,
        Self::Lock,
        Self::InternalLock,
        Self::Client,
        Self::Other,
    ];

    /// The part that time in a class belongs to; `None` where a server process has no work.
    pub fn of(class: ThreadTimeClass) -> Option<Self> {
        if class == ThreadTimeClass::EventActivity {
            return None;
        }
        Some(match class.ledger() {
            LedgerClass::OnCpu => Self::OnCpu,
            LedgerClass::Reclaim => Self::Memory,
            LedgerClass::Uninterruptible | LedgerClass::PageFault | LedgerClass::ReadWrite => {
                Self::Disk
            }
            LedgerClass::Sync | LedgerClass::SyncQueue => Self::Sync,
            LedgerClass::DatabaseLock => Self::Lock,
            LedgerClass::InternalLock | LedgerClass::Futex => Self::InternalLock,
            LedgerClass::Output | LedgerClass::Input => Self::Client,
            _ => Self::Other,
        })
    }

    /// Its column.
    pub fn column_name(self) -> &'static str {
        &STATEMENT.columns[self as usize].name
    }
}

const fn time(name: &'static str, help: &'static str) -> Column {
    Column::counter(name, Unit::Nanoseconds, help, SWITCH).quality(Quality::Sampled)
}

/// Columns.
pub const WIDTH: usize = Part::ALL.len() + 4;
/// Index of the columns behind the times.
pub const CALLS: usize = Part::ALL.len();

static COLUMNS: [Column; WIDTH] = [
    time("on_cpu_ns", "On a CPU."),
    time(
        "queued_rest_ns",
        "Waiting for a CPU that processes other than target and generator held.",
    ),
    time(
        "queued_target_ns",
        "Waiting for a CPU that a thread of the target held.",
    ),
    time(
        "queued_generator_ns",
        "Waiting for a CPU that the generator held.",
    ),
    time(
        "queued_nobody_ns",
        "Waiting for a CPU that was idle: the process was being woken.",
    ),
    time("memory_ns", "Waiting for memory."),
    time("disk_ns", "Waiting for a disk, except for stable storage."),
    time(
        "sync_ns",
        "Waiting for stable storage: in fsync, or for another session's flush of the log.",
    ),
    time(
        "lock_ns",
        "Waiting for a row, table or transaction that another session had locked.",
    ),
    time(
        "internal_lock_ns",
        "Waiting for an internal lock of the server, or for a buffer that others used.",
    ),
    time(
        "client_ns",
        "Waiting for its client in the middle of the statement: to take rows, or to send those of COPY.",
    ),
    time(
        "other_ns",
        "Waiting for anything else: other processes of the server, a timer, a CPU quota.",
    ),
    Column::counter(
        "calls",
        Unit::Count,
        "How often it was seen to begin: several that follow each other without a sleep between them count as one.",
        "PgBackendStatus.st_activity_start_timestamp",
    )
    .quality(Quality::Sampled),
    Column::gauge(
        "started_ns",
        Unit::Nanoseconds,
        "When it began last, on CLOCK_BOOTTIME; missing of time without a statement.",
        "PgBackendStatus.st_activity_start_timestamp",
    ),
    Column::gauge(
        "query_id",
        Unit::Code,
        "The statement's id, as pg_stat_statements.queryid has it; 0 for time of active processes that belongs to no \
         statement with an id.",
        "PgBackendStatus.st_query_id",
    ),
    Column::gauge(
        "rare",
        Unit::Code,
        "What a statement is that is rare and may start much: 1 GRANT or REVOKE, 2 a definition (CREATE, ALTER, DROP, \
         COMMENT), 3 CHECKPOINT, 4 VACUUM, 5 ANALYZE, 6 REINDEX or CLUSTER, 7 TRUNCATE, 8 LOCK, 9 REFRESH; 0 any other, \
         and where its text is not known.",
        "PgBackendStatus.st_activity_raw",
    ),
];

/// Each statement of a server.
pub static STATEMENT: Table = Table::new(
    "statement",
    EntityKind::Statement,
    "Time of the target's database processes by statement (PostgreSQL 14 and later). Time between two statements is \
     in none.",
    &COLUMNS,
)
.covered_by(THREAD_TIME_COVERAGE);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_has_the_column_of_its_name() {
        let names = Part::ALL.map(Part::column_name);
        assert_eq!(names[0], "on_cpu_ns");
        assert_eq!(names[Part::Lock as usize], "lock_ns");
        assert_eq!(names[Part::Other as usize], "other_ns");
        assert_eq!(&*STATEMENT.columns[CALLS].name, "calls");
    }

    #[test]
    fn waits_are_in_the_part_that_a_person_looks_for() {
        for (class, part) in [
            (ThreadTimeClass::OnCpu, Part::OnCpu),
            (ThreadTimeClass::IoSync, Part::Sync),
            (ThreadTimeClass::KernelSync, Part::Sync),
            (ThreadTimeClass::EventLog, Part::Sync),
            (ThreadTimeClass::IoReadWrite, Part::Disk),
            (ThreadTimeClass::EventLock, Part::Lock),
            (ThreadTimeClass::EventLwlock, Part::InternalLock),
            (ThreadTimeClass::EventClient, Part::Client),
            (ThreadTimeClass::Output, Part::Client),
            (ThreadTimeClass::EventIpc, Part::Other),
            (ThreadTimeClass::Throttled, Part::Other),
        ] {
            assert_eq!(Part::of(class), Some(part), "{class:?}");
        }
        assert_eq!(Part::of(ThreadTimeClass::EventActivity), None);
    }
}
