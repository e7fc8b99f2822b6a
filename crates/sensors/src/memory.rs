//! What memory is used for, from /proc/meminfo.

use model::{Column, EntityKind, MISSING, Table, Unit};

use crate::bytes::{BYTES_PER_KB, lines, scaled, words};
use crate::sensor::{Malformed, Missing, Period, Reading, Scope, Sensor, Source, Subject};

macro_rules! amount {
    ($name:literal, $key:literal, $help:literal) => {
        Column::gauge($name, Unit::Bytes, $help, concat!("/proc/meminfo ", $key))
    };
}

static COLUMNS: &[Column] = &[
    amount!("total_bytes", "MemTotal", "Memory of the machine."),
    amount!("free_bytes", "MemFree", "Unused memory."),
    amount!(
        "available_bytes",
        "MemAvailable",
        "Memory available to new programs without swapping."
    ),
    amount!("buffers_bytes", "Buffers", "Page cache of block devices."),
    amount!(
        "cached_bytes",
        "Cached",
        "Page cache of files, shared memory included."
    ),
    amount!(
        "swap_cached_bytes",
        "SwapCached",
        "Pages both in memory and in swap."
    ),
    amount!(
        "anonymous_bytes",
        "AnonPages",
        "Anonymous memory: memory of programs without a file behind it."
    ),
    amount!("shared_bytes", "Shmem", "Shared memory and tmpfs."),
    amount!("dirty_bytes", "Dirty", "Waiting to be written back."),
    amount!("writeback_bytes", "Writeback", "Being written back."),
    amount!(
        "reclaimable_bytes",
        "SReclaimable",
        "Kernel caches that can be reclaimed."
    ),
    amount!(
        "unreclaimable_bytes",
        "SUnreclaim",
        "Kernel memory that cannot be reclaimed."
    ),
    amount!("swap_total_bytes", "SwapTotal", "Swap space."),
    amount!("swap_free_bytes", "SwapFree", "Unused swap space."),
    amount!(
        "committed_bytes",
        "Committed_AS",
        "Memory promised to programs."
    ),
];

/// The keys, in the order of the columns and of the file (3.14 and later have all of them).
const KEYS: [&[u8]; 15] = [
    b"MemTotal:",
    b"MemFree:",
    b"MemAvailable:",
    b"Buffers:",
    b"Cached:",
    b"SwapCached:",
    b"AnonPages:",
    b"Shmem:",
    b"Dirty:",
    b"Writeback:",
    b"SReclaimable:",
    b"SUnreclaim:",
    b"SwapTotal:",
    b"SwapFree:",
    b"Committed_AS:",
];

static TABLE: Table = Table::new(
    "memory",
    EntityKind::Machine,
    "What the machine's memory is used for.",
    COLUMNS,
);

pub(crate) static SENSOR: Sensor = Sensor {
    table: &TABLE,
    scope: Scope::Machine,
    sources: &[Source::file("proc/meminfo", Missing::Usual)],
    period: Period::of_ms(200, 200),
    first_decides: false,
    parse,
};

fn parse(
    reading: &Reading<'_>,
    emit: &mut dyn FnMut(Subject<'_>, &[i64]),
) -> Result<(), Malformed> {
    let Some(text) = reading.source(0) else {
        return Ok(());
    };
    let mut row = [MISSING; 15];
    for line in lines(text) {
        let mut words = words(line);
        let key = words.next().unwrap_or_default();
        if let Some(index) = KEYS.iter().position(|wanted| *wanted == key) {
            row[index] = scaled(words.next(), BYTES_PER_KB);
        }
    }
    if row[0] == MISSING {
        return Err(Malformed::expected("`MemTotal:` in /proc/meminfo"));
    }
    emit(Subject::Own, &row);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sensor::testing::{never_panics, rows};
    use expect_test::expect;
    use proptest::prelude::*;

    #[test]
    fn each_column_reads_the_key_that_its_source_names() {
        for (column, key) in COLUMNS.iter().zip(KEYS) {
            let named = column
                .source
                .rsplit(' ')
                .next()
                .expect("a source names its key");
            assert_eq!(format!("{named}:").as_bytes(), key);
        }
    }

    #[test]
    fn kilobytes_become_bytes() {
        let text = include_bytes!("../fixtures/kernel/this-6.18/meminfo");
        expect![[r#"
            own: total_bytes=25276510208 free_bytes=15096692736 available_bytes=22569713664 buffers_bytes=169725952 cached_bytes=6887546880 swap_cached_bytes=0 anonymous_bytes=1752416256 shared_bytes=238727168 dirty_bytes=63496192 writeback_bytes=98304 reclaimable_bytes=994357248 unreclaimable_bytes=106954752 swap_total_bytes=0 swap_free_bytes=0 committed_bytes=2327183360
        "#]].assert_eq(&rows(&SENSOR, &[Some(text)]));
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            never_panics(&SENSOR, &bytes);
        }
    }
}
