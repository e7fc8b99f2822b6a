//! Memory of each control group: what it uses, what it may use, and what the limit costs it.
//!
//! Amounts and events are of the group and those below it. Limits are the group's own, and so is the
//! count of times that one was hit (v2 `memory.events.local`, v1 `failcnt`): a parent does not answer
//! for its child's.

use model::{Column, EntityKind, MISSING, Table, Unit};

use crate::bytes::{Key, fill, keyed, sole};
use crate::sensor::{Hierarchy, Malformed, Period, Reading, Scope, Sensor, Source, Subject};

static COLUMNS: &[Column] = &[
    Column::gauge(
        "usage_bytes",
        Unit::Bytes,
        "Memory charged to the group and those below it.",
        "v2 memory.current, v1 memory.usage_in_bytes",
    ),
    Column::gauge(
        "limit_bytes",
        Unit::Bytes,
        "Memory that the group may use; missing without a limit of its own.",
        "v2 memory.max, v1 memory.limit_in_bytes",
    ),
    Column::gauge(
        "high_bytes",
        Unit::Bytes,
        "Memory above which the group is throttled; missing without such a limit.",
        "v2 memory.high",
    ),
    Column::gauge(
        "anonymous_bytes",
        Unit::Bytes,
        "Anonymous memory: memory of programs without a file behind it.",
        "v2 memory.stat anon, v1 memory.stat total_rss",
    ),
    Column::gauge(
        "file_bytes",
        Unit::Bytes,
        "Page cache of files, shared memory included.",
        "v2 memory.stat file, v1 memory.stat total_cache",
    ),
    Column::gauge(
        "swap_bytes",
        Unit::Bytes,
        "Swap space used.",
        "v2 memory.swap.current, v1 memory.stat total_swap",
    ),
    Column::counter(
        "limit_events",
        Unit::Count,
        "Times that the group's own limit was hit.",
        "v2 memory.events.local max (memory.events before 5.2), v1 memory.failcnt",
    ),
    Column::counter(
        "high_events",
        Unit::Count,
        "Times that a task was throttled because the group was above its high limit.",
        "v2 memory.events.local high (memory.events before 5.2)",
    ),
    Column::counter(
        "oom_kills",
        Unit::Count,
        "Processes killed for lack of memory; v1 leaves out those of groups below.",
        "v2 memory.events oom_kill, v1 memory.oom_control oom_kill",
    ),
    Column::counter(
        "refault_anon",
        Unit::Count,
        "Anonymous pages that were swapped out and soon needed again (refaults).",
        "v2 memory.stat workingset_refault_anon, v1 memory.stat total_workingset_refault_anon",
    ),
    Column::counter(
        "refault_file",
        Unit::Count,
        "File pages that were evicted and soon needed again (refaults); before 5.9 anonymous \
         pages too.",
        "v2 memory.stat workingset_refault_file, v1 memory.stat total_workingset_refault_file",
    ),
    Column::counter(
        "faults",
        Unit::Count,
        "Page faults, major ones included.",
        "v2 memory.stat pgfault, v1 memory.stat total_pgfault",
    ),
    Column::counter(
        "major_faults",
        Unit::Count,
        "Page faults with I/O.",
        "v2 memory.stat pgmajfault, v1 memory.stat total_pgmajfault",
    ),
    Column::counter(
        "scan_direct",
        Unit::Count,
        "Pages scanned by direct reclaim: by tasks that needed memory.",
        "v2 memory.stat pgscan_direct",
    ),
    Column::counter(
        "steal_direct",
        Unit::Count,
        "Pages freed by direct reclaim: by tasks that needed memory.",
        "v2 memory.stat pgsteal_direct",
    ),
    Column::counter(
        "reclaimed",
        Unit::Count,
        "Pages freed, by tasks and in the background.",
        "v2 memory.stat pgsteal",
    ),
];

const LIMIT_EVENTS: usize = 6;
const HIGH_EVENTS: usize = 7;
const OOM_KILLS: usize = 8;

const V2_STAT: &[Key] = &[
    (b"anon", 3, 1),
    (b"file", 4, 1),
    (b"workingset_refault_anon", 9, 1),
    (b"workingset_refault_file", 10, 1),
    (b"workingset_refault", 10, 1),
    (b"pgfault", 11, 1),
    (b"pgmajfault", 12, 1),
    (b"pgscan_direct", 13, 1),
    (b"pgsteal_direct", 14, 1),
    (b"pgsteal", 15, 1),
];

/// The numbers without `total_` leave out the groups below. `total_rss` is anonymous memory only.
const V1_STAT: &[Key] = &[
    (b"total_rss", 3, 1),
    (b"total_cache", 4, 1),
    (b"total_swap", 5, 1),
    (b"total_workingset_refault_anon", 9, 1),
    (b"total_workingset_refault_file", 10, 1),
    (b"total_workingset_refault", 10, 1),
    (b"total_pgfault", 11, 1),
    (b"total_pgmajfault", 12, 1),
];

/// v1 writes "no limit" as the largest number of pages in bytes: 9223372036854771712 with pages of
/// 4 KiB, less with larger ones. Nobody has an exbibyte.
const NO_LIMIT: i64 = 1 << 60;

static TABLE: Table = Table::new(
    "cgroup_memory",
    EntityKind::Cgroup,
    "Memory use, limits and reclaim of each control group.",
    COLUMNS,
);

pub(crate) static SENSOR: Sensor = Sensor {
    table: &TABLE,
    scope: Scope::Cgroup,
    sources: &[
        Source::group(Hierarchy::V2, "memory.current"),
        Source::group(Hierarchy::V2, "memory.max"),
        Source::group(Hierarchy::V2, "memory.high"),
        Source::group(Hierarchy::V2, "memory.stat"),
        Source::group(Hierarchy::V2, "memory.events"),
        Source::group(Hierarchy::V2, "memory.events.local"),
        Source::group(Hierarchy::V2, "memory.swap.current"),
        Source::group(MEMORY, "memory.usage_in_bytes"),
        Source::group(MEMORY, "memory.limit_in_bytes"),
        Source::group(MEMORY, "memory.stat"),
        Source::group(MEMORY, "memory.failcnt"),
        Source::group(MEMORY, "memory.oom_control"),
    ],
    period: Period::of_ms(200, 2_000),
    // Where usage stands still hardly anything happens. (A group held at its limit may refault without
    // end at the same usage: its rows come late then, but whole.)
    first_decides: true,
    parse,
};

const MEMORY: Hierarchy = Hierarchy::V1("memory");

fn parse(
    reading: &Reading<'_>,
    emit: &mut dyn FnMut(Subject<'_>, &[i64]),
) -> Result<(), Malformed> {
    let mut row = [MISSING; COLUMNS.len()];
    let v2 = (0..7).any(|source| reading.source(source).is_some());
    if v2 {
        of_v2(reading, &mut row);
    } else {
        of_v1(reading, &mut row);
    }
    if row.iter().any(|value| *value != MISSING) {
        emit(Subject::Own, &row);
    }
    Ok(())
}

fn of_v2(reading: &Reading<'_>, row: &mut [i64]) {
    let alone = |source| reading.source(source).map_or(MISSING, |text| sole(text, 1));
    row[0] = alone(0);
    // `max` is no number and so stays missing.
    row[1] = alone(1);
    row[2] = alone(2);
    row[5] = alone(6);
    if let Some(text) = reading.source(3) {
        fill(row, text, V2_STAT);
    }
    if let Some(text) = reading.source(5).or(reading.source(4)) {
        row[LIMIT_EVENTS] = keyed(text, b"max", 1);
        row[HIGH_EVENTS] = keyed(text, b"high", 1);
    }
    if let Some(text) = reading.source(4) {
        row[OOM_KILLS] = keyed(text, b"oom_kill", 1);
    }
}

fn of_v1(reading: &Reading<'_>, row: &mut [i64]) {
    let alone = |source| reading.source(source).map_or(MISSING, |text| sole(text, 1));
    row[0] = alone(7);
    let limit = alone(8);
    if limit < NO_LIMIT {
        row[1] = limit;
    }
    if let Some(text) = reading.source(9) {
        fill(row, text, V1_STAT);
    }
    row[LIMIT_EVENTS] = alone(10);
    if let Some(text) = reading.source(11) {
        row[OOM_KILLS] = keyed(text, b"oom_kill", 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sensor::testing::{never_panics, rows};
    use expect_test::expect;
    use proptest::prelude::*;

    fn v2(sources: [Option<&[u8]>; 7]) -> String {
        let mut all = [None; 12];
        all[..7].copy_from_slice(&sources);
        rows(&SENSOR, &all)
    }

    fn v1(sources: [Option<&[u8]>; 5]) -> String {
        let mut all = [None; 12];
        all[7..].copy_from_slice(&sources);
        rows(&SENSOR, &all)
    }

    #[test]
    fn each_key_is_named_by_its_column() {
        for (key, column, _) in V2_STAT.iter().chain(V1_STAT) {
            let key = std::str::from_utf8(key).expect("a key is text");
            let source = &COLUMNS[*column].source;
            assert!(source.contains(&format!("memory.stat {key}")), "{key}");
        }
    }

    #[test]
    fn a_v1_group_without_a_limit() {
        let usage = include_bytes!("../../fixtures/kernel/this-6.18/v1.memory.usage_in_bytes");
        let limit = include_bytes!("../../fixtures/kernel/this-6.18/v1.memory.limit_in_bytes");
        let stat = include_bytes!("../../fixtures/kernel/this-6.18/v1.memory.stat");
        let failcnt = include_bytes!("../../fixtures/kernel/this-6.18/v1.memory.failcnt");
        let oom = include_bytes!("../../fixtures/kernel/this-6.18/v1.memory.oom_control");
        expect![[r#"
            own: usage_bytes=6621794304 anonymous_bytes=47136768 file_bytes=6574788608 swap_bytes=0 limit_events=0 oom_kills=0 refault_anon=0 refault_file=7646895 faults=207006945 major_faults=80263
        "#]].assert_eq(&v1([
            Some(usage),
            Some(limit),
            Some(stat),
            Some(failcnt),
            Some(oom),
        ]));
    }

    #[test]
    fn a_limited_v1_group_of_an_older_kernel() {
        let stat = b"cache 1\nrss 2\nhierarchical_memory_limit 4096\ntotal_cache 10\ntotal_rss 20\ntotal_pgfault 5\n";
        expect![[r#"
            own: usage_bytes=30 limit_bytes=1073741824 anonymous_bytes=20 file_bytes=10 limit_events=7 faults=5
        "#]].assert_eq(&v1([
            Some(b"30\n"),
            Some(b"1073741824\n"),
            Some(stat),
            Some(b"7\n"),
            Some(b"oom_kill_disable 0\nunder_oom 0\n"),
        ]));
    }

    #[test]
    fn a_v2_group_answers_for_its_own_limit_only() {
        let stat = b"anon 100\nfile 200\nfile_mapped 3\nworkingset_refault_anon 4\nworkingset_refault_file 5\npgscan 9\npgsteal 8\npgscan_direct 6\npgsteal_direct 7\npgfault 11\npgmajfault 2\n";
        let events = b"low 0\nhigh 5\nmax 90\noom 1\noom_kill 3\noom_group_kill 0\n";
        let local = b"low 0\nhigh 4\nmax 9\noom 1\noom_kill 1\noom_group_kill 0\n";
        expect![[r#"
            own: usage_bytes=310 high_bytes=300 anonymous_bytes=100 file_bytes=200 swap_bytes=0 limit_events=9 high_events=4 oom_kills=3 refault_anon=4 refault_file=5 faults=11 major_faults=2 scan_direct=6 steal_direct=7 reclaimed=8
        "#]].assert_eq(&v2([
            Some(b"310\n"),
            Some(b"max\n"),
            Some(b"300\n"),
            Some(stat),
            Some(events),
            Some(local),
            Some(b"0\n"),
        ]));
    }

    #[test]
    fn the_v2_root_and_kernels_without_local_events() {
        expect![[r#"
            own: anonymous_bytes=1 refault_file=5
        "#]]
        .assert_eq(&v2([
            None,
            None,
            None,
            Some(b"anon 1\nworkingset_refault 5\n"),
            None,
            None,
            None,
        ]));
        expect![[r#"
            own: usage_bytes=1 limit_bytes=2 limit_events=2 high_events=1 oom_kills=3
        "#]]
        .assert_eq(&v2([
            Some(b"1\n"),
            Some(b"2\n"),
            Some(b"max\n"),
            None,
            Some(b"high 1\nmax 2\noom_kill 3\n"),
            None,
            None,
        ]));
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            never_panics(&SENSOR, &bytes);
            let text = Some(bytes.as_slice());
            v1([text; 5]);
        }
    }
}
