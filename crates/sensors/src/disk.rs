//! Operations, bytes and times of each block device, from /proc/diskstats
//! (Documentation/admin-guide/iostats.rst of the kernel).

use model::{Column, EntityKind, MISSING, Table, Unit};

use crate::bytes::{device, lines, number, scaled, words};
use crate::sensor::{Malformed, Missing, Period, Reading, Scope, Sensor, Source, Subject};

/// Sectors of /proc/diskstats are 512 bytes whatever the device's own are.
const SECTOR_BYTES: i64 = 512;
const NS_PER_MS: i64 = 1_000_000;

static COLUMNS: &[Column] = &[
    Column::counter(
        "reads",
        Unit::Count,
        "Reads completed.",
        "/proc/diskstats field 1",
    ),
    Column::counter(
        "read_bytes",
        Unit::Bytes,
        "Bytes read.",
        "/proc/diskstats field 3",
    ),
    Column::counter(
        "read_ns",
        Unit::Nanoseconds,
        "Time of all reads from queueing to completion, added up.",
        "/proc/diskstats field 4",
    ),
    Column::counter(
        "writes",
        Unit::Count,
        "Writes completed.",
        "/proc/diskstats field 5",
    ),
    Column::counter(
        "write_bytes",
        Unit::Bytes,
        "Bytes written.",
        "/proc/diskstats field 7",
    ),
    Column::counter(
        "write_ns",
        Unit::Nanoseconds,
        "Time of all writes, added up.",
        "/proc/diskstats field 8",
    ),
    Column::gauge(
        "in_flight",
        Unit::Count,
        "Operations in progress.",
        "/proc/diskstats field 9",
    ),
    Column::counter(
        "busy_ns",
        Unit::Nanoseconds,
        "Time with at least one operation in progress.",
        "/proc/diskstats field 10",
    ),
    Column::counter(
        "queue_ns",
        Unit::Nanoseconds,
        "Time of all operations, added up: its rate is the mean queue length.",
        "/proc/diskstats field 11",
    ),
    Column::counter(
        "discards",
        Unit::Count,
        "Discards completed.",
        "/proc/diskstats field 12",
    )
    .since("4.18"),
    Column::counter(
        "discard_ns",
        Unit::Nanoseconds,
        "Time of all discards, added up.",
        "/proc/diskstats field 15",
    )
    .since("4.18"),
    Column::counter(
        "flushes",
        Unit::Count,
        "Flushes completed.",
        "/proc/diskstats field 16",
    )
    .since("5.5"),
    Column::counter(
        "flush_ns",
        Unit::Nanoseconds,
        "Time of all flushes, added up.",
        "/proc/diskstats field 17",
    )
    .since("5.5"),
    Column::gauge(
        "device",
        Unit::Code,
        "Number of the device, major << 20 | minor: joins with cgroup_io.",
        "/proc/diskstats major and minor",
    ),
];

/// (field of the file counted from 1 behind the name, scale), in the order of the columns; `device` is
/// behind them.
const FIELDS: [(usize, i64); 13] = [
    (1, 1),
    (3, SECTOR_BYTES),
    (4, NS_PER_MS),
    (5, 1),
    (7, SECTOR_BYTES),
    (8, NS_PER_MS),
    (9, 1),
    (10, NS_PER_MS),
    (11, NS_PER_MS),
    (12, 1),
    (15, NS_PER_MS),
    (16, 1),
    (17, NS_PER_MS),
];

static TABLE: Table = Table::new(
    "disk",
    EntityKind::Disk,
    "Operations, bytes and times of each block device.",
    COLUMNS,
);

pub(crate) static SENSOR: Sensor = Sensor {
    table: &TABLE,
    scope: Scope::Machine,
    sources: &[Source::file("proc/diskstats", Missing::Usual)],
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
    for line in lines(text) {
        let mut fields = words(line);
        let number = device(fields.next(), fields.next());
        let (name, fields) = name_and_fields(line, fields.next())
            .ok_or(Malformed::expected("a device's name in /proc/diskstats"))?;
        let mut row = [MISSING; COLUMNS.len()];
        row[FIELDS.len()] = number.unwrap_or(MISSING);
        let (mut column, mut used) = (0, false);
        for (index, word) in fields.enumerate() {
            if column < FIELDS.len() && FIELDS[column].0 == index + 1 {
                row[column] = scaled(Some(word), FIELDS[column].1);
                used |= row[column] > 0;
                column += 1;
            }
        }
        // A device that never did anything (unused loop devices come by the dozen) has no row.
        if used {
            emit(Subject::Part(EntityKind::Disk, name), &row);
        }
    }
    Ok(())
}

/// A name may hold spaces (an md array's is its user's choice, and is written as it is): it ends at the
/// last word that is no number.
fn name_and_fields<'a>(
    line: &'a [u8],
    first: Option<&'a [u8]>,
) -> Option<(&'a [u8], impl Iterator<Item = &'a [u8]>)> {
    let place = |word: &[u8]| word.as_ptr() as usize - line.as_ptr() as usize;
    let start = place(first?);
    let after = start + first?.len();
    let more = words(&line[after..]).filter(|word| number(word).is_none());
    let end = more.last().map_or(after, |word| place(word) + word.len());
    Some((&line[start..end], words(&line[end..])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sensor::testing::{never_panics, rows};
    use expect_test::expect;
    use proptest::prelude::*;

    #[test]
    fn each_column_reads_the_field_that_its_source_names() {
        for (column, (field, _)) in COLUMNS.iter().zip(FIELDS) {
            assert!(
                column.source.ends_with(&format!(" {field}")),
                "{}",
                column.name
            );
        }
    }

    #[test]
    fn devices_that_did_something() {
        let text = include_bytes!("../fixtures/kernel/this-6.18/diskstats");
        expect![[r#"
            disk loop0: reads=155 read_bytes=1474560 read_ns=169000000 writes=1209 write_bytes=65334272 write_ns=1165000000 in_flight=0 busy_ns=1488000000 queue_ns=2393000000 discards=2 discard_ns=239000000 flushes=627 flush_ns=819000000 device=7340032
            disk vda: reads=656386 read_bytes=12814849024 read_ns=933128000000 writes=527702 write_bytes=26528899072 write_ns=495159000000 in_flight=0 busy_ns=149736000000 queue_ns=1456495000000 discards=52517 discard_ns=20778000000 flushes=75758 flush_ns=7428000000 device=266338304
        "#]].assert_eq(&rows(&SENSOR, &[Some(text)]));
    }

    #[test]
    fn a_kernel_before_discards_lacks_them() {
        expect![[r#"
            disk sda: reads=1 read_bytes=1536 read_ns=4000000 writes=5 write_bytes=3584 write_ns=8000000 in_flight=9 busy_ns=10000000 queue_ns=11000000 device=8388608
        "#]].assert_eq(&rows(
            &SENSOR,
            &[Some(b"8 0 sda 1 2 3 4 5 6 7 8 9 10 11\n")],
        ));
    }

    #[test]
    fn names_with_spaces_are_names() {
        expect![[r#"
            disk md_a b: reads=1 read_bytes=1536 read_ns=4000000 writes=5 write_bytes=3584 write_ns=8000000 in_flight=9 busy_ns=10000000 queue_ns=11000000 device=9437311
        "#]].assert_eq(&rows(
            &SENSOR,
            &[Some(b"   9     127 md_a b 1 2 3 4 5 6 7 8 9 10 11\n")],
        ));
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            never_panics(&SENSOR, &bytes);
        }
    }
}
