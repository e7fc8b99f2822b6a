//! How many files processes have open, of how many they may: who has no more left can accept no connection
//! (EMFILE, accept(2)), and its clients wait at the listener.
//!
//! The kernel counts them since Linux 6.2 (the size of `/proc/PID/fd`, `proc_readfd_count` in fs/proc/fd.c); to list
//! them costs a microsecond each, which nobody who has many of them open would want.

use std::time::Duration;

use model::{Column, EntityKind, MISSING, Table, Unit};

use crate::bytes::{lines, number, words};

/// How often they are counted.
pub const OPEN_FILES_PERIOD: Duration = Duration::from_secs(1);

static COLUMNS: &[Column] = &[
    Column::gauge(
        "open",
        Unit::Count,
        "Descriptors in use: files, sockets, pipes.",
        "st_size of /proc/PID/fd",
    )
    .since("6.2"),
    Column::gauge(
        "allowed",
        Unit::Count,
        "How many it may have open (the soft limit); missing where there is none.",
        "/proc/PID/limits Max open files",
    ),
];

/// A row per second about each process of target, dependencies and generator.
pub static OPEN_FILES: Table = Table::new(
    "open_files",
    EntityKind::Process,
    "Files that processes have open, and how many they may.",
    COLUMNS,
);

/// The soft limit of open files in the text of /proc/PID/limits; `MISSING` where it says `unlimited`, or nothing.
pub fn allowed(limits: &[u8]) -> i64 {
    let rest = lines(limits).find_map(|line| line.strip_prefix(b"Max open files"));
    let soft = rest.and_then(|it| words(it).next());
    soft.and_then(number).unwrap_or(MISSING)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_soft_limit_is_read() {
        let text = include_bytes!("../fixtures/kernel/this-6.18/limits");
        assert_eq!(allowed(text), 1_024);
        let unlimited =
            b"Max open files            unlimited            unlimited            files     \n";
        assert_eq!(allowed(unlimited), MISSING);
        assert_eq!(allowed(b""), MISSING);
        assert_eq!(allowed(b"Max open files"), MISSING);
    }
}
