//! What each control group does to each block device, and what it may do.
//!
//! v2 tells a device's numbers in one line of `io.stat`, v1 in several lines of several files. Numbers
//! are of the group and those below it; limits are its own.

use model::{Column, EntityKind, MISSING, Table, Unit};

use crate::bytes::{device, lines, number, words};
use crate::sensor::{Hierarchy, Malformed, Period, Reading, Scope, Sensor, Source, Subject};

macro_rules! limit {
    ($name:literal, $unit:ident, $v2:literal, $v1:literal, $help:literal) => {
        Column::gauge(
            $name,
            Unit::$unit,
            $help,
            concat!("v2 io.max ", $v2, ", v1 blkio.throttle.", $v1, "_device"),
        )
    };
}

static COLUMNS: &[Column] = &[
    Column::counter(
        "read_bytes",
        Unit::Bytes,
        "Bytes read.",
        "v2 io.stat rbytes, v1 blkio.throttle.io_service_bytes_recursive Read",
    ),
    Column::counter(
        "write_bytes",
        Unit::Bytes,
        "Bytes written.",
        "v2 io.stat wbytes, v1 blkio.throttle.io_service_bytes_recursive Write",
    ),
    Column::counter(
        "reads",
        Unit::Count,
        "Reads.",
        "v2 io.stat rios, v1 blkio.throttle.io_serviced_recursive Read",
    ),
    Column::counter(
        "writes",
        Unit::Count,
        "Writes.",
        "v2 io.stat wios, v1 blkio.throttle.io_serviced_recursive Write",
    ),
    limit!(
        "limit_read_bytes",
        Bytes,
        "rbps",
        "read_bps",
        "Bytes per second that may be read; missing without a limit of the group's own."
    ),
    limit!(
        "limit_write_bytes",
        Bytes,
        "wbps",
        "write_bps",
        "Bytes per second that may be written; missing without a limit of the group's own."
    ),
    limit!(
        "limit_reads",
        Count,
        "riops",
        "read_iops",
        "Reads per second that are allowed; missing without a limit of the group's own."
    ),
    limit!(
        "limit_writes",
        Count,
        "wiops",
        "write_iops",
        "Writes per second that are allowed; missing without a limit of the group's own."
    ),
    Column::gauge(
        "device",
        Unit::Code,
        "Number of the device, major << 20 | minor: joins with disk.",
        "MAJOR:MINOR at the start of a line",
    ),
];

static TABLE: Table = Table::new(
    "cgroup_io",
    EntityKind::GroupDisk,
    "I/O of each control group on each block device, and its limits.",
    COLUMNS,
);

const BLKIO: Hierarchy = Hierarchy::V1("blkio");

pub(crate) static SENSOR: Sensor = Sensor {
    table: &TABLE,
    scope: Scope::Cgroup,
    sources: &[
        Source::group(Hierarchy::V2, "io.stat"),
        Source::group(Hierarchy::V2, "io.max"),
        // Since 4.16. The files without `_recursive` leave out the groups below.
        Source::group(BLKIO, "blkio.throttle.io_service_bytes_recursive"),
        Source::group(BLKIO, "blkio.throttle.io_serviced_recursive"),
        Source::group(BLKIO, "blkio.throttle.read_bps_device"),
        Source::group(BLKIO, "blkio.throttle.write_bps_device"),
        Source::group(BLKIO, "blkio.throttle.read_iops_device"),
        Source::group(BLKIO, "blkio.throttle.write_iops_device"),
    ],
    period: Period::of_ms(200, 2_000),
    // Without a byte moved there is no operation either, and a changed limit has had no effect yet.
    first_decides: true,
    parse,
};

/// Where numbers stand behind `MAJOR:MINOR`: (source, word in front of the number, column). In v2 the
/// word and the number are one, `rbytes=12`; an empty word: the number stands alone.
const V2: [(usize, &[u8], usize); 8] = [
    (0, b"rbytes=", 0),
    (0, b"wbytes=", 1),
    (0, b"rios=", 2),
    (0, b"wios=", 3),
    (1, b"rbps=", 4),
    (1, b"wbps=", 5),
    (1, b"riops=", 6),
    (1, b"wiops=", 7),
];
const V1: [(usize, &[u8], usize); 8] = [
    (2, b"Read", 0),
    (2, b"Write", 1),
    (3, b"Read", 2),
    (3, b"Write", 3),
    (4, b"", 4),
    (5, b"", 5),
    (6, b"", 6),
    (7, b"", 7),
];

fn parse(
    reading: &Reading<'_>,
    emit: &mut dyn FnMut(Subject<'_>, &[i64]),
) -> Result<(), Malformed> {
    for source in 0..SENSOR.sources.len() {
        let mut before: &[u8] = b"";
        for (name, _) in reading.source(source).into_iter().flat_map(devices) {
            // v1 has several lines for a device, one behind the other.
            if name == before || (0..source).any(|earlier| names(reading, earlier, name)) {
                continue;
            }
            before = name;
            let row = row_of(reading, name);
            let used = row[..4].iter().any(|value| *value > 0);
            if used || row[4..8].iter().any(|limit| *limit != MISSING) {
                emit(Subject::Part(EntityKind::GroupDisk, name), &row);
            }
        }
    }
    Ok(())
}

/// The lines of a file that are about a device: its name, `MAJOR:MINOR`, and what stands behind it.
fn devices(text: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    lines(text).filter_map(|line| {
        let name = words(line).next()?;
        number_of(name)?;
        let start = line.iter().position(|byte| !byte.is_ascii_whitespace())?;
        Some((name, &line[start + name.len()..]))
    })
}

fn number_of(name: &[u8]) -> Option<i64> {
    let colon = name.iter().position(|byte| *byte == b':')?;
    device(Some(&name[..colon]), Some(&name[colon + 1..]))
}

fn names(reading: &Reading<'_>, source: usize, name: &[u8]) -> bool {
    let mut known = reading.source(source).into_iter().flat_map(devices);
    known.any(|(device, _)| device == name)
}

fn row_of(reading: &Reading<'_>, name: &[u8]) -> [i64; 9] {
    let mut row = [MISSING; 9];
    for source in 0..SENSOR.sources.len() {
        let Some(text) = reading.source(source) else {
            continue;
        };
        for (_, rest) in devices(text).filter(|(device, _)| *device == name) {
            for (_, word, column) in V2.iter().filter(|(of, ..)| *of == source) {
                take(
                    &mut row[*column],
                    words(rest).find_map(|w| w.strip_prefix(*word)),
                );
            }
            for (_, word, column) in V1.iter().filter(|(of, ..)| *of == source) {
                let mut rest = words(rest);
                if word.is_empty() || rest.next() == Some(*word) {
                    take(&mut row[*column], rest.next());
                }
            }
        }
    }
    row[8] = number_of(name).unwrap_or(MISSING);
    row
}

/// `max` is no number and leaves the cell missing.
fn take(cell: &mut i64, word: Option<&[u8]>) {
    if let Some(value) = word.and_then(number) {
        *cell = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sensor::testing::{never_panics, rows};
    use expect_test::expect;
    use proptest::prelude::*;

    fn v2(stat: &[u8], max: Option<&[u8]>) -> String {
        let mut all = [None; 8];
        (all[0], all[1]) = (Some(stat), max);
        rows(&SENSOR, &all)
    }

    fn v1(sources: [Option<&[u8]>; 6]) -> String {
        let mut all = [None; 8];
        all[2..].copy_from_slice(&sources);
        rows(&SENSOR, &all)
    }

    #[test]
    fn a_v1_group_with_a_limit() {
        let bytes = include_bytes!(
            "../../fixtures/kernel/this-6.18/v1.blkio.throttle.io_service_bytes_recursive"
        );
        let serviced = include_bytes!(
            "../../fixtures/kernel/this-6.18/v1.blkio.throttle.io_serviced_recursive"
        );
        let limit =
            include_bytes!("../../fixtures/kernel/this-6.18/v1.blkio.throttle.read_bps_device");
        expect![[r#"
            group_disk 254:0: read_bytes=3164311552 write_bytes=3984965632 reads=44005 writes=213370 limit_read_bytes=1048576 limit_reads=100 device=266338304
            group_disk 7:0: limit_reads=5 device=7340032
        "#]].assert_eq(&v1([
            Some(bytes),
            Some(serviced),
            Some(limit),
            Some(b""),
            Some(b"254:0 100\n7:0 5\n"),
            Some(b""),
        ]));
    }

    #[test]
    fn a_v1_device_without_use_has_no_row() {
        let nothing = b"254:0 Read 0\n254:0 Write 0\n254:0 Total 0\nTotal 0\n";
        expect![[""]].assert_eq(&v1([
            Some(nothing),
            Some(nothing),
            Some(b""),
            Some(b""),
            Some(b""),
            Some(b""),
        ]));
    }

    #[test]
    fn a_v2_group_with_limits() {
        let stat = b"8:16 rbytes=1459200 wbytes=314773504 rios=192 wios=353 dbytes=0 dios=0\n8:0 rbytes=90430464 wbytes=299008000 rios=8950 wios=1252 dbytes=50331648 dios=3021\n8:32 \n(unknown) rbytes=5\n";
        let max = b"8:16 rbps=2097152 wbps=max riops=max wiops=120\n8:48 rbps=max wbps=max riops=7 wiops=max\n";
        expect![[r#"
            group_disk 8:16: read_bytes=1459200 write_bytes=314773504 reads=192 writes=353 limit_read_bytes=2097152 limit_writes=120 device=8388624
            group_disk 8:0: read_bytes=90430464 write_bytes=299008000 reads=8950 writes=1252 device=8388608
            group_disk 8:48: limit_reads=7 device=8388656
        "#]].assert_eq(&v2(stat, Some(max)));
        expect![[r#"
            group_disk 8:16: read_bytes=1 write_bytes=0 reads=1 writes=0 device=8388624
        "#]]
        .assert_eq(&v2(b"8:16 rbytes=1 wbytes=0 rios=1 wios=0\n", None));
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            never_panics(&SENSOR, &bytes);
        }

        #[test]
        fn any_lines_of_devices_are_survived(text in "([0-9]{1,9}:[0-9]{1,3} (Read|rbps=|max)? ?[0-9]{0,20}\n){0,8}") {
            never_panics(&SENSOR, text.as_bytes());
        }
    }
}
