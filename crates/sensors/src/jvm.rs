//! What a Java virtual machine counts about itself in the file that it maps at its start, `hsperfdata`.
//!
//! The format: prologue and entries in HotSpot's `share/runtime/perfMemory.hpp`, read by the JDK's own
//! `sun.jvmstat.perfdata.monitor.v2_0`. Numbers stand in the byte order of the machine, which the fifth byte
//! tells; a name ends with a zero. What is not in a table of names here is passed over, so that a version may
//! have more or less. Reading allocates nothing.

use std::time::Duration;

use model::{Column, EntityKind, MISSING, Quality, Table, Unit};

/// How often it is read.
pub const JVM_PERIOD: Duration = Duration::from_secs(1);

const MAGIC: u32 = 0xcafe_c0c0;
const MAJOR_VERSION: u8 = 2;
const PROLOGUE_BYTES: usize = 32;
const ENTRY_BYTES: usize = 20;
/// The type of an entry that holds one number of 64 bits.
const NUMBER: u8 = b'J';

#[rustfmt::skip]
static COLUMNS: &[Column] = &[
    time("collector0_ns", "Time of the collections of the first garbage collector, which is the one of the young generation where there is one; pauses and what ran beside the application alike.", "sun.gc.collector.0.time"),
    time("collector1_ns", "The same of the second, which is the one of the old generation or of the whole heap.", "sun.gc.collector.1.time"),
    time("collector2_ns", "The same of the third; with G1 the pauses of its concurrent cycles.", "sun.gc.collector.2.time"),
    count("collector0_collections", "Collections of the first garbage collector.", "sun.gc.collector.0.invocations"),
    count("collector1_collections", "Collections of the second.", "sun.gc.collector.1.invocations"),
    count("collector2_collections", "Collections of the third.", "sun.gc.collector.2.invocations"),
    time("safepoint_ns", "Time in safepoints, while no thread runs Java code: most pauses for garbage collection are in it, and every other reason to stop all threads.", "sun.rt.safepointTime"),
    time("safepoint_sync_ns", "The part of it, or the time before it, that threads took to stop.", "sun.rt.safepointSyncTime"),
    count("safepoints", "Safepoints.", "sun.rt.safepoints"),
    time("application_ns", "Time outside safepoints; counted as each begins.", "sun.rt.applicationTime"),
    time("compile_ns", "Time of the compilers, summed over their threads.", "java.ci.totalTime"),
    count("contended_locks", "Attempts to enter a Java monitor that another thread held (inflated monitors).", "sun.rt._sync_ContendedLockAttempts"),
    bytes("heap_used_bytes", "Heap in use; written at the end of a collection.", "sun.gc.generation.N.space.N.used"),
    bytes("heap_capacity_bytes", "Heap that is there to be used; written at the end of a collection.", "sun.gc.generation.N.space.N.capacity"),
    bytes("metaspace_used_bytes", "Memory of classes in use.", "sun.gc.metaspace.used"),
    Column::gauge("threads", Unit::Count, "Java threads that live.", "java.threads.live").quality(Quality::Sampled),
];

const fn time(name: &'static str, help: &'static str, source: &'static str) -> Column {
    Column::counter(name, Unit::Nanoseconds, help, source)
}

const fn count(name: &'static str, help: &'static str, source: &'static str) -> Column {
    Column::counter(name, Unit::Count, help, source)
}

const fn bytes(name: &'static str, help: &'static str, source: &'static str) -> Column {
    Column::gauge(name, Unit::Bytes, help, source).quality(Quality::Sampled)
}

/// A row per second about each Java virtual machine among target, dependencies and generator.
pub static JVM: Table = Table::new(
    "jvm",
    EntityKind::Process,
    "Garbage collections, safepoints, heap and threads of a Java virtual machine (HotSpot), as it counts them.",
    COLUMNS,
);

/// Columns of the table.
pub const WIDTH: usize = 16;

/// The values of a row; `None` where the bytes are no such file, or where the virtual machine has not finished to write
/// it. A counter that it does not have is `MISSING`.
pub fn parse(bytes: &[u8]) -> Option<[i64; WIDTH]> {
    let file = File::open(bytes)?;
    let mut values = [MISSING; WIDTH];
    let mut frequency = MISSING;
    file.each(|name, value| {
        if name == b"sun.os.hrt.frequency" {
            frequency = value;
        } else if let Some(at) = column(name) {
            let sum = values[at];
            values[at] = if sum == MISSING {
                value
            } else {
                sum.saturating_add(value)
            };
        }
    });
    for (column, value) in COLUMNS.iter().zip(&mut values) {
        if column.unit == Unit::Nanoseconds && *value != MISSING {
            *value = nanoseconds(*value, frequency);
        }
        // Sizes begin at a word before they are known.
        if *value != MISSING && *value < 0 {
            *value = MISSING;
        }
    }
    Some(values)
}

/// The column of a counter's name. Those of spaces add up to the heap.
fn column(name: &[u8]) -> Option<usize> {
    let space =
        name.starts_with(b"sun.gc.generation.") && name.windows(7).any(|it| it == b".space.");
    let wanted: &[u8] = match space {
        true if name.ends_with(b".used") => b"sun.gc.generation.N.space.N.used",
        true if name.ends_with(b".capacity") => b"sun.gc.generation.N.space.N.capacity",
        _ => name,
    };
    COLUMNS
        .iter()
        .position(|column| column.source.as_bytes() == wanted)
}

/// Ticks of a clock as nanoseconds.
fn nanoseconds(ticks: i64, frequency: i64) -> i64 {
    if frequency <= 0 {
        return MISSING;
    }
    let ns = i128::from(ticks) * 1_000_000_000 / i128::from(frequency);
    i64::try_from(ns).unwrap_or(MISSING)
}

/// The entries of a file.
struct File<'b> {
    entries: &'b [u8],
    count: usize,
    is_little: bool,
}

impl<'b> File<'b> {
    fn open(bytes: &'b [u8]) -> Option<Self> {
        let prologue = bytes.get(..PROLOGUE_BYTES)?;
        // The magic stands in the order of the machine as bytes do; a 1 behind it says little endian.
        let magic = u32::from_be_bytes(prologue[..4].try_into().ok()?);
        let (order, major, is_accessible) = (prologue[4], prologue[5], prologue[7]);
        if magic != MAGIC || major != MAJOR_VERSION || order > 1 || is_accessible == 0 {
            return None;
        }
        let is_little = order == 1;
        let first = number(bytes, 24, is_little)?;
        Some(Self {
            entries: bytes.get(first.max(PROLOGUE_BYTES)..)?,
            count: number(bytes, 28, is_little)?,
            is_little,
        })
    }

    /// Calls `each` with the name and value of each entry that holds one number.
    fn each(&self, mut each: impl FnMut(&'b [u8], i64)) {
        let mut rest = self.entries;
        for _ in 0..self.count {
            let length = number(rest, 0, self.is_little).filter(|it| *it >= ENTRY_BYTES);
            let Some(entry) = length.and_then(|length| rest.get(..length)) else {
                return;
            };
            if let Some((name, value)) = self.entry(entry) {
                each(name, value);
            }
            rest = &rest[entry.len()..];
        }
    }

    fn entry(&self, entry: &'b [u8]) -> Option<(&'b [u8], i64)> {
        let is_one = number(entry, 8, self.is_little)? == 0;
        if !is_one || entry[12] != NUMBER {
            return None;
        }
        let name = entry.get(number(entry, 4, self.is_little)?..)?;
        let name = name.split(|byte| *byte == 0).next()?;
        let value = entry.get(number(entry, 16, self.is_little)?..)?.get(..8)?;
        let value: [u8; 8] = value.try_into().ok()?;
        let value = match self.is_little {
            true => i64::from_le_bytes(value),
            false => i64::from_be_bytes(value),
        };
        Some((name, value))
    }
}

/// A length or an offset; `None` where it is negative or not there.
fn number(bytes: &[u8], at: usize, is_little: bool) -> Option<usize> {
    let bytes: [u8; 4] = bytes.get(at..)?.get(..4)?.try_into().ok()?;
    let number = match is_little {
        true => i32::from_le_bytes(bytes),
        false => i32::from_be_bytes(bytes),
    };
    usize::try_from(number).ok()
}

/// The path of the file in a process's list of mappings, and its inode; `None` for a process that has none,
/// and for one whose file is gone.
pub fn mapped_file(maps: &str) -> Option<(&str, u64)> {
    maps.lines().find_map(|line| {
        let mut words = line.splitn(6, ' ');
        let inode = words.nth(4)?.parse().ok()?;
        let path = words.next()?.trim_start();
        let (folder, pid) = path.rsplit_once('/')?;
        let is_it = folder.rsplit('/').next()?.starts_with("hsperfdata_")
            && pid.bytes().all(|byte| byte.is_ascii_digit());
        is_it.then_some((path, inode))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// OpenJDK 17.0.21 with G1 and a heap of 64 MiB, after three seconds of allocating.
    const CAPTURED: &[u8] = include_bytes!("../fixtures/jvm/openjdk-17.0.21.hsperfdata");

    #[test]
    fn what_openjdk_17_counted() {
        let values = parse(CAPTURED).expect("it is such a file");
        let lines = COLUMNS.iter().zip(values);
        let lines: Vec<String> = lines
            .map(|(column, value)| format!("{}={value}", column.name))
            .collect();
        expect_test::expect![[r#"
            collector0_ns=1993207055
            collector1_ns=43967177
            collector2_ns=78527302
            collector0_collections=601
            collector1_collections=7
            collector2_collections=183
            safepoint_ns=2168451454
            safepoint_sync_ns=54695416
            safepoints=788
            application_ns=787527135
            compile_ns=23764695
            contended_locks=0
            heap_used_bytes=50188872
            heap_capacity_bytes=67108896
            metaspace_used_bytes=79008
            threads=6"#]]
        .assert_eq(&lines.join("\n"));
        assert_eq!(COLUMNS.len(), WIDTH);
    }

    #[test]
    fn what_is_no_such_file_or_not_finished_is_none() {
        assert_eq!(parse(b""), None);
        assert_eq!(parse(&CAPTURED[..31]), None);
        for (at, byte) in [(0, 0), (4, 2), (5, 1), (7, 0)] {
            let mut bytes = CAPTURED.to_vec();
            bytes[at] = byte;
            assert_eq!(parse(&bytes), None, "byte {at}");
        }
        let cut = parse(&CAPTURED[..2_000]).expect("it begins well");
        assert!(cut.contains(&MISSING));
    }

    #[test]
    fn ticks_are_nanoseconds_by_their_frequency() {
        assert_eq!(nanoseconds(3_000, 1_000_000), 3_000_000);
        assert_eq!(nanoseconds(3, 0), MISSING);
        assert_eq!(nanoseconds(i64::MAX, 1), MISSING);
    }

    #[test]
    fn the_file_is_found_among_the_mappings() {
        let maps = "7f24a8000000-7f24a8021000 rw-p 00000000 00:00 0 \n\
            7f24b0a4d000-7f24b0a55000 rw-s 00000000 fe:00 1310731                    /tmp/hsperfdata_root/4538\n\
            7f24b0a55000-7f24b0a56000 r--p 00000000 00:00 0                          [anon]\n";
        assert_eq!(
            mapped_file(maps),
            Some(("/tmp/hsperfdata_root/4538", 1_310_731))
        );
        assert_eq!(mapped_file(&maps.replace("4538", "4538 (deleted)")), None);
        assert_eq!(mapped_file(&maps.replace("hsperfdata", "other")), None);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(
            at in 0..CAPTURED.len(),
            bytes in prop::collection::vec(any::<u8>(), 1..9),
            length in 0..CAPTURED.len(),
        ) {
            let mut damaged = CAPTURED.to_vec();
            let end = (at + bytes.len()).min(damaged.len());
            damaged[at..end].copy_from_slice(&bytes[..end - at]);
            let _ = parse(&damaged);
            let _ = parse(&damaged[..length]);
        }
    }
}
