//! CPU limits of each control group.

use model::{Column, EntityKind, MISSING, Table, Unit};

use crate::affinity::count_of;
use crate::bytes::{NS_PER_US, scaled, sole, whole, words};
use crate::sensor::{Hierarchy, Malformed, Period, Reading, Scope, Sensor, Source, Subject};

static COLUMNS: &[Column] = &[
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

static TABLE: Table = Table::new(
    "cgroup_limit",
    EntityKind::Cgroup,
    "CPU limits of each control group.",
    COLUMNS,
);

pub(crate) static SENSOR: Sensor = Sensor {
    table: &TABLE,
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
    parse,
};

fn parse(
    reading: &Reading<'_>,
    emit: &mut dyn FnMut(Subject<'_>, &[i64]),
) -> Result<(), Malformed> {
    let mut row = [MISSING; 3];
    if let Some(text) = reading.source(0) {
        let mut max = words(whole(text));
        row[0] = scaled(max.next(), NS_PER_US);
        row[1] = scaled(max.next(), NS_PER_US);
    } else if let Some(text) = reading.source(1) {
        // v1 writes -1 for "no limit", which is no number here and so stays missing.
        row[0] = sole(text, NS_PER_US);
        row[1] = reading
            .source(2)
            .map_or(MISSING, |text| sole(text, NS_PER_US));
    }
    if let Some(text) = reading.source(3).or(reading.source(4)) {
        row[2] = count_of(whole(text)).unwrap_or(MISSING);
    }
    if row.iter().any(|value| *value != MISSING) {
        emit(Subject::Own, &row);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sensor::testing::{never_panics, rows};
    use expect_test::expect;
    use proptest::prelude::*;

    #[test]
    fn no_limit_is_missing_and_not_a_number() {
        expect![[r#"
            own: period_ns=100000000
        "#]]
        .assert_eq(&rows(
            &SENSOR,
            &[Some(b"max 100000\n"), None, None, None, None],
        ));
        expect![[r#"
            own: period_ns=100000000 cpus=2
        "#]]
        .assert_eq(&rows(
            &SENSOR,
            &[None, Some(b"-1\n"), Some(b"100000\n"), None, Some(b"0-1\n")],
        ));
        expect![[r#"
            own: quota_ns=50000000 period_ns=100000000
        "#]]
        .assert_eq(&rows(
            &SENSOR,
            &[Some(b"50000 100000\n"), None, None, None, None],
        ));
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            never_panics(&SENSOR, &bytes);
        }
    }
}
