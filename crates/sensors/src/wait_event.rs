//! Wait events: what a server says in its own memory that a thread of it waits for.
//!
//! A code means what its vendor says: each has a file here with its classes and its table of names.
//! PostgreSQL is the only one so far.

mod postgres;

use std::time::Duration;

use crate::THREAD_TIME_COVERAGE;
use model::{Column, EntityKind, Quality, Table, Unit};

pub use postgres::{
    CLIENT_WRITE, VERSIONS, WAL_WRITE, WaitClass, class, name, thread_time_class, title, versions,
};

const WORD: &str = "the wait event in the server's memory (PostgreSQL: wait_event_info) at sched_switch, sched_wakeup by BPF";

static COLUMNS: &[Column] = &[
    Column::counter(
        "wait_ns",
        Unit::Nanoseconds,
        "Time for which threads of the pool were blocked with this wait event, waits that go on \
         included; I/O that was served from memory blocks no thread.",
        WORD,
    )
    .quality(Quality::Sampled),
    Column::counter("waits", Unit::Count, "Number of waits that are over.", WORD)
        .quality(Quality::Sampled),
    Column::gauge(
        "wait_event",
        Unit::Code,
        "The wait event, numbered as in that version of the server (PostgreSQL: its class in the highest of four bytes).",
        WORD,
    ),
];

/// Each wait event by its name.
pub static WAIT_EVENT: Table = Table::new(
    "wait_event",
    EntityKind::WaitEvent,
    "Wait events of a server that keeps them in its memory (PostgreSQL), counted one by one, of each thread pool of target and generator.",
    COLUMNS,
)
.covered_by(THREAD_TIME_COVERAGE);

/// How often it is read.
pub const PERIOD: Duration = Duration::from_secs(1);

/// The code of a thread that waits for nothing.
pub const NOT_WAITING: u32 = 0;
