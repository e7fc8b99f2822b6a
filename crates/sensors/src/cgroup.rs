//! CPU used, and CPU withheld, of each control group; v1, v2 and hybrid layouts.
//!
//! A group of one path in several hierarchies is one entity: v2 tells usage, v1 `cpu` tells
//! throttling on machines where that controller still lives there.

use model::{Column, EntityKind, MISSING, Table, Unit};

use crate::bytes::{keyed, number, sole, words};
use crate::sensor::{Hierarchy, Malformed, Period, Reading, Scope, Sensor, Source, Subject};

const NS_PER_US: i64 = 1_000;

static CPU_COLUMNS: &[Column] = &[
    Column::counter(
        "usage_ns",
        Unit::Nanoseconds,
        "CPU time used by the group and those below it.",
        "v2 cpu.stat usage_usec, v1 cpuacct.usage",
    ),
    Column::counter(
        "periods",
        Unit::Count,
        "Quota periods in which the group was runnable.",
        "cpu.stat nr_periods",
    ),
    Column::counter(
        "throttled_periods",
        Unit::Count,
        "Quota periods in which it ran out.",
        "cpu.stat nr_throttled",
    ),
    Column::counter(
        "throttled_ns",
        Unit::Nanoseconds,
        "Time for which the group's run queues were held back, added up over CPUs.",
        "v2 cpu.stat throttled_usec, v1 cpu.stat throttled_time",
    ),
];

static CPU_TABLE: Table = Table::new(
    "cgroup_cpu",
    EntityKind::Cgroup,
    "CPU used and withheld of each control group.",
    CPU_COLUMNS,
);

pub(crate) static CPU: Sensor = Sensor {
    table: &CPU_TABLE,
    scope: Scope::Cgroup,
    sources: &[
        Source::group(Hierarchy::V2, "cpu.stat"),
        Source::group(Hierarchy::V1("cpuacct"), "cpuacct.usage"),
        Source::group(Hierarchy::V1("cpu"), "cpu.stat"),
    ],
    period: Period::of_ms(200, 1_000),
    first_decides: false,
    parse: parse_cpu,
};

static LIMIT_COLUMNS: &[Column] = &[
    Column::gauge(
        "quota_ns",
        Unit::Nanoseconds,
        "CPU time allowed per period; missing without a limit.",
        "v2 cpu.max, v1 cpu.cfs_quota_us",
    ),
    Column::gauge(
        "period_ns",
        Unit::Nanoseconds,
        "Length of a quota period.",
        "v2 cpu.max, v1 cpu.cfs_period_us",
    ),
    Column::gauge(
        "cpus",
        Unit::Count,
        "CPUs that the group's cpuset allows.",
        "v2 cpuset.cpus.effective, v1 cpuset.effective_cpus",
    ),
];

static LIMIT_TABLE: Table = Table::new(
    "cgroup_limit",
    EntityKind::Cgroup,
    "CPU limits of each control group.",
    LIMIT_COLUMNS,
);

pub(crate) static LIMIT: Sensor = Sensor {
    table: &LIMIT_TABLE,
    scope: Scope::Cgroup,
    sources: &[
        Source::group(Hierarchy::V2, "cpu.max"),
        Source::group(Hierarchy::V1("cpu"), "cpu.cfs_quota_us"),
        Source::group(Hierarchy::V1("cpu"), "cpu.cfs_period_us"),
        Source::group(Hierarchy::V2, "cpuset.cpus.effective"),
        Source::group(Hierarchy::V1("cpuset"), "cpuset.effective_cpus"),
    ],
    period: Period::of_ms(1_000, 5_000),
    first_decides: false,
    parse: parse_limit,
};

fn parse_cpu(
    reading: &Reading<'_>,
    emit: &mut dyn FnMut(Subject<'_>, &[i64]),
) -> Result<(), Malformed> {
    let mut row = [MISSING; 4];
    if let Some(text) = reading.source(0) {
        row[0] = keyed(text, b"usage_usec", NS_PER_US);
        row[1] = keyed(text, b"nr_periods", 1);
        row[2] = keyed(text, b"nr_throttled", 1);
        row[3] = keyed(text, b"throttled_usec", NS_PER_US);
    }
    if let (MISSING, Some(text)) = (row[0], reading.source(1)) {
        row[0] = sole(text, 1);
    }
    if let (MISSING, Some(text)) = (row[1], reading.source(2)) {
        row[1] = keyed(text, b"nr_periods", 1);
        row[2] = keyed(text, b"nr_throttled", 1);
        row[3] = keyed(text, b"throttled_time", 1);
    }
    if row.iter().any(|value| *value != MISSING) {
        emit(Subject::Own, &row);
    }
    Ok(())
}

fn parse_limit(
    reading: &Reading<'_>,
    emit: &mut dyn FnMut(Subject<'_>, &[i64]),
) -> Result<(), Malformed> {
    let mut row = [MISSING; 3];
    if let Some(text) = reading.source(0) {
        let mut max = words(text);
        row[0] = max
            .next()
            .and_then(number)
            .map_or(MISSING, |us| us.saturating_mul(NS_PER_US));
        row[1] = max
            .next()
            .and_then(number)
            .map_or(MISSING, |us| us.saturating_mul(NS_PER_US));
    } else if let Some(text) = reading.source(1) {
        // v1 writes -1 for "no limit", which is no number here and so stays missing.
        row[0] = sole(text, NS_PER_US);
        row[1] = reading
            .source(2)
            .map_or(MISSING, |text| sole(text, NS_PER_US));
    }
    if let Some(text) = reading.source(3).or(reading.source(4)) {
        row[2] = cpus_in(text).unwrap_or(MISSING);
    }
    if row.iter().any(|value| *value != MISSING) {
        emit(Subject::Own, &row);
    }
    Ok(())
}

/// How many CPUs a list like `0-3,8` names; `None` when it names none.
pub(crate) fn cpus_in(text: &[u8]) -> Option<i64> {
    let list = words(text).next()?;
    let mut count = 0i64;
    for range in list.split(|byte| *byte == b',') {
        let mut ends = range.split(|byte| *byte == b'-');
        let first = number(ends.next()?)?;
        let last = ends.next().map_or(Some(first), number)?;
        count = count.saturating_add(last.checked_sub(first)?.checked_add(1).filter(|n| *n > 0)?);
    }
    (count > 0).then_some(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sensor::testing::{never_panics, rows};
    use expect_test::expect;
    use proptest::prelude::*;

    #[test]
    fn v2_group_with_a_quota() {
        let stat = b"usage_usec 100\nuser_usec 60\nsystem_usec 40\nnr_periods 20\nnr_throttled 5\nthrottled_usec 700\n";
        expect![[r#"
            own: usage_ns=100000 periods=20 throttled_periods=5 throttled_ns=700000
        "#]]
        .assert_eq(&rows(&CPU, &[Some(stat), None, None]));
    }

    #[test]
    fn hybrid_group_takes_usage_from_v2_and_throttling_from_v1() {
        let v2 = include_bytes!("../fixtures/kernel/this-6.18/cgroup.cpu.stat");
        let v1 = b"nr_periods 200\nnr_throttled 200\nthrottled_time 7850000000\n";
        expect![[r#"
            own: usage_ns=2157413000 periods=200 throttled_periods=200 throttled_ns=7850000000
        "#]]
        .assert_eq(&rows(&CPU, &[Some(v2), Some(b"2157400000\n"), Some(v1)]));
    }

    #[test]
    fn v1_only() {
        let v1 = b"nr_periods 0\nnr_throttled 0\nthrottled_time 0\n";
        expect![[r#"
            own: usage_ns=2157400000 periods=0 throttled_periods=0 throttled_ns=0
        "#]]
        .assert_eq(&rows(&CPU, &[None, Some(b"2157400000\n"), Some(v1)]));
    }

    #[test]
    fn no_limit_is_missing_and_not_a_number() {
        expect![[r#"
            own: period_ns=100000000
        "#]]
        .assert_eq(&rows(
            &LIMIT,
            &[Some(b"max 100000\n"), None, None, None, None],
        ));
        expect![[r#"
            own: period_ns=100000000 cpus=2
        "#]]
        .assert_eq(&rows(
            &LIMIT,
            &[None, Some(b"-1\n"), Some(b"100000\n"), None, Some(b"0-1\n")],
        ));
        expect![[r#"
            own: quota_ns=50000000 period_ns=100000000
        "#]]
        .assert_eq(&rows(
            &LIMIT,
            &[Some(b"50000 100000\n"), None, None, None, None],
        ));
    }

    #[test]
    fn cpu_lists() {
        assert_eq!(cpus_in(b"0-3,8\n"), Some(5));
        assert_eq!(cpus_in(b"0\n"), Some(1));
        assert_eq!(cpus_in(b"\n"), None);
        assert_eq!(cpus_in(b"3-1\n"), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            never_panics(&CPU, &bytes);
            never_panics(&LIMIT, &bytes);
        }
    }
}
