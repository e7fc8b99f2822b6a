//! Time that runnable tasks waited for a CPU, of the whole machine: what a store of metrics may have of it.
//!
//! No sensor reads it here: per thread it is in `thread` and `thread_time`, and /proc/schedstat grows with the square of the
//! number of CPUs (a mask per scheduling domain).

use model::{Column, EntityKind, Quality, Table, Unit};

static COLUMNS: &[Column] = &[Column::counter(
    "waiting_ns",
    Unit::Nanoseconds,
    "Time that runnable tasks waited for a CPU, added up over tasks: per second it is how many wait on average.",
    "/proc/schedstat cpuN field 8",
)
.quality(Quality::Sampled)];

/// A row per scrape, from a store of metrics alone.
pub static RUN_QUEUE: Table = Table::new(
    "run_queue",
    EntityKind::Machine,
    "Run-queue delay of all tasks of the machine, as a store of metrics has it.",
    COLUMNS,
);
