//! What block devices do, and for whom: counted by programs in the kernel at the block layer's tracepoints
//! (`bpf/block.bpf.c`). The sampler fills the table where they load; here is only what it holds.

use std::borrow::Cow;
use std::sync::LazyLock;

use model::{Column, ColumnKind, EntityKind, Quality, Table, Unit};

/// The buckets of times: by powers of two, from this one on (ns), the first for what is shorter, the last for what is
/// longer.
const FIRST_OCTAVE: u32 = 12;
/// Buckets of times.
pub const TIMES: usize = 25;
/// The buckets of sizes likewise (bytes).
const FIRST_SIZE: u32 = 12;
/// Buckets of sizes.
pub const SIZES: usize = 10;
/// Columns in front of the buckets: those of requests by queue time, by device time, and by size.
pub const BUCKETS_FROM: usize = 13;
/// Columns.
pub const WIDTH: usize = BUCKETS_FROM + 2 * TIMES + SIZES;

/// Whose requests a row counts (column `scope`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Scope {
    /// All of a disk.
    Device = 1,
    /// Those that are charged to a control group.
    Cgroup,
    /// Those that a process submits.
    Process,
    /// Those of a file's data.
    File,
    /// Those of a filesystem's journal.
    Journal,
    /// Those of a filesystem's other structures, or of the device opened as a file.
    Metadata,
    /// Those of a process whose file is not known.
    Unnamed,
}

impl Scope {
    /// Every scope, in declaration order.
    pub const ALL: [Self; 7] = [
        Self::Device,
        Self::Cgroup,
        Self::Process,
        Self::File,
        Self::Journal,
        Self::Metadata,
        Self::Unnamed,
    ];

    /// That of a code.
    pub fn of(code: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|it| *it as i64 == code)
    }

    /// Whether rows of this scope add up to those of the device.
    pub const fn is_part(self) -> bool {
        matches!(
            self,
            Self::File | Self::Journal | Self::Metadata | Self::Unnamed
        )
    }
}

/// What a row's requests do (column `operation`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Operation {
    /// Reads.
    Read = 1,
    /// Writes, with or without a flush before or FUA.
    Write,
    /// Flushes of the device's cache.
    Flush,
    /// Discards and secure erasure.
    Discard,
    /// Writing of zeroes, management of zones.
    Other,
}

impl Operation {
    /// Every operation, in declaration order.
    pub const ALL: [Self; 5] = [
        Self::Read,
        Self::Write,
        Self::Flush,
        Self::Discard,
        Self::Other,
    ];

    /// That of a code.
    pub fn of(code: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|it| *it as i64 == code)
    }

    /// The word in paths of entities and in JSON.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Flush => "flush",
            Self::Discard => "discard",
            Self::Other => "other",
        }
    }
}

const SOURCE: &str = "block_io_start, block_rq_issue, block_rq_complete by BPF";

fn column(name: impl Into<Cow<'static, str>>, unit: Unit, help: &'static str) -> Column {
    Column {
        name: name.into(),
        unit,
        kind: ColumnKind::Counter,
        quality: Quality::Exact,
        help: help.into(),
        source: SOURCE.into(),
        since: "5.12".into(),
    }
}

fn gauge(name: &'static str, unit: Unit, help: &'static str) -> Column {
    Column {
        kind: ColumnKind::Gauge,
        ..column(name, unit, help)
    }
}

/// Requests of block devices.
pub static BLOCK_IO: LazyLock<Table> = LazyLock::new(|| {
    Table {
    name: "block_io".into(),
    entity: EntityKind::BlockStream,
    help: "Requests that block devices completed, by device and operation: all of them, and those of single control groups, processes, files and journals. A request is what the device is given: what the block layer merged is one. Requests of partitions count at the whole disk; devices without requests of their own (device mapper, md, zram) have no rows, those below them have. What a throttle holds back is no request yet.".into(),
    columns: columns().into(),
    covered_by: "".into(),
        rows: model::RowKind::Readings,
}
});

#[expect(clippy::too_many_lines, reason = "a table")]
fn columns() -> Vec<Column> {
    let mut all = vec![
        gauge(
            "device",
            Unit::Code,
            "Number of the whole disk, major << 20 | minor: joins with disk and cgroup_io.",
        ),
        gauge(
            "scope",
            Unit::Code,
            "Whose requests these are: 1 all of the device, 2 a control group's, 3 a process's (kernel threads together), 4 a file's, 5 a filesystem's journal's, 6 those of a filesystem's other structures or of the device opened as a file, 7 a process's whose file is not known. Rows of 4 to 7 add up to those of 1, but for flushes: the kernel may ask the device once for many that were asked for.",
        ),
        gauge(
            "operation",
            Unit::Code,
            "What they do: 1 read, 2 write, 3 flush, 4 discard, 5 other.",
        ),
        column("requests", Unit::Count, "Requests completed."),
        column("bytes", Unit::Bytes, "Bytes read, written or discarded."),
        column("errors", Unit::Count, "Of the requests, those that failed."),
        column(
            "sequential",
            Unit::Count,
            "Of the requests, those that began within the one issued before in this row, or right behind it, and ended no earlier.",
        ),
        column(
            "synced",
            Unit::Count,
            "Of the writes, those that somebody waits for on stable storage: with FUA or a flush in front, by fsync or O_SYNC from the page cache, or direct ones that a flush of the same thread follows; the latter count in rows of scope 4 to 7 only.",
        ),
        column(
            "fua",
            Unit::Count,
            "Of the writes, those with FUA: they go past the device's cache.",
        ),
        column(
            "queue_ns",
            Unit::Nanoseconds,
            "Time from a request's beginning to its issue to the device, of all requests together; of a write with a flush in front with the time of that flush.",
        ),
        column(
            "device_ns",
            Unit::Nanoseconds,
            "Time from the issue to the completion, of all requests together. A flush that a process asked for is at the device from its beginning.",
        ),
        column(
            "busy_ns",
            Unit::Nanoseconds,
            "Time with any request under way, queued or at the device, up to the last completion. queue_ns and device_ns divided by this are the mean depth.",
        ),
        gauge(
            "in_flight_most",
            Unit::Count,
            "Most requests under way at a time since the reading before.",
        ),
    ];
    debug_assert_eq!(all.len(), BUCKETS_FROM, "the buckets come behind");
    all.extend(buckets(
        "queue",
        "ns",
        FIRST_OCTAVE,
        TIMES,
        "Requests whose queue time was less than this bound, and not less than the bound before.",
    ));
    all.extend(buckets(
        "device",
        "ns",
        FIRST_OCTAVE,
        TIMES,
        "The same of the time at the device.",
    ));
    all.extend(buckets(
        "size",
        "bytes",
        FIRST_SIZE,
        SIZES,
        "Requests of less than so many bytes, and not less than the bound before.",
    ));
    all
}

fn buckets(
    of: &'static str,
    unit: &'static str,
    first: u32,
    count: usize,
    help: &'static str,
) -> impl Iterator<Item = Column> {
    (0..count).map(move |bucket| {
        let bound = upper(first, count, bucket);
        let name = match bound {
            Some(bound) => format!("{of}_under_{bound}_{unit}"),
            None => format!("{of}_above"),
        };
        column(name, Unit::Count, help)
    })
}

fn upper(first: u32, count: usize, bucket: usize) -> Option<u64> {
    (bucket + 1 < count).then(|| 1 << (first as usize + bucket))
}

/// What times in a bucket are below, ns; `None` for the last.
pub fn time_bound(bucket: usize) -> Option<u64> {
    upper(FIRST_OCTAVE, TIMES, bucket)
}

/// What sizes in a bucket are below, bytes; `None` for the last.
pub fn size_bound(bucket: usize) -> Option<u64> {
    upper(FIRST_SIZE, SIZES, bucket)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_powers_of_two_from_4_us_to_34_s_and_from_4_kib_to_1_mib() {
        let columns = &BLOCK_IO.columns;
        assert_eq!(columns.len(), WIDTH);
        let name = |place: usize| &*columns[place].name;
        assert_eq!(name(BUCKETS_FROM), "queue_under_4096_ns");
        assert_eq!(name(BUCKETS_FROM + TIMES - 1), "queue_above");
        assert_eq!(name(BUCKETS_FROM + TIMES), "device_under_4096_ns");
        assert_eq!(
            name(BUCKETS_FROM + 2 * TIMES - 2),
            "device_under_34359738368_ns"
        );
        assert_eq!(name(BUCKETS_FROM + 2 * TIMES), "size_under_4096_bytes");
        assert_eq!(name(WIDTH - 2), "size_under_1048576_bytes");
        assert_eq!(time_bound(TIMES - 2), Some(1 << 35));
        assert_eq!((time_bound(TIMES - 1), size_bound(SIZES - 1)), (None, None));
    }

    #[test]
    fn codes_are_those_of_the_help() {
        for scope in Scope::ALL {
            assert_eq!(Scope::of(scope as i64), Some(scope));
        }
        for operation in Operation::ALL {
            assert_eq!(Operation::of(operation as i64), Some(operation));
            let help = &BLOCK_IO.columns[2].help;
            let said = format!("{} {}", operation as i64, operation.word());
            assert!(help.contains(&said), "{said}");
        }
        assert_eq!((Scope::of(0), Operation::of(6)), (None, None));
    }
}
