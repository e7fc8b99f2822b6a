//! The files that threads of target and generator wait for. Which one a thread is at is told by its system call,
//! looked at at every tick, so the collector fills this table; here is only what it holds.

use model::{Column, EntityKind, Quality, Table, Unit};

static COLUMNS: &[Column] = &[
    Column::counter(
        "sync_ns",
        Unit::Nanoseconds,
        "Time of threads in fsync and its family on this file: one that is met there counts for the time since the \
         look before.",
        "/proc/PID/task/TID/syscall, /proc/PID/fd",
    )
    .quality(Quality::Sampled),
    Column::counter(
        "syncs_met",
        Unit::Count,
        "How often a thread was met there.",
        "/proc/PID/task/TID/syscall, /proc/PID/fd",
    )
    .quality(Quality::Sampled),
    Column::counter(
        "io_ns",
        Unit::Nanoseconds,
        "Time of threads in uninterruptible sleep in a read or write of this file, counted the same way.",
        "/proc/PID/task/TID/syscall, /proc/PID/fd",
    )
    .quality(Quality::Sampled),
    Column::counter(
        "ios_met",
        Unit::Count,
        "How often a thread was met there.",
        "/proc/PID/task/TID/syscall, /proc/PID/fd",
    )
    .quality(Quality::Sampled),
];

/// The files that somebody was met waiting for.
pub static FILE_WAIT: Table = Table::new(
    "file_wait",
    EntityKind::File,
    "Waits of target, dependencies and generator for a file, by file: where a call names one (a page fault, msync, libaio \
     and io_uring name none).",
    COLUMNS,
);
