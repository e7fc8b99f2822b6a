//! CPU used, and CPU withheld, of each control group: v2 tells usage, v1 `cpu` tells throttling on
//! machines where that controller still lives there.

use model::{Column, EntityKind, MISSING, Table, Unit};

use crate::bytes::{NS_PER_US, keyed, sole};
use crate::sensor::{Hierarchy, Malformed, Period, Reading, Scope, Sensor, Source, Subject};

static COLUMNS: &[Column] = &[
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
        "Quota periods in which the group was throttled.",
        "cpu.stat nr_throttled",
    ),
    Column::counter(
        "throttled_ns",
        Unit::Nanoseconds,
        "Time for which the group's run queues were throttled, summed over CPUs.",
        "v2 cpu.stat throttled_usec, v1 cpu.stat throttled_time",
    ),
];

static TABLE: Table = Table::new(
    "cgroup_cpu",
    EntityKind::Cgroup,
    "CPU time and throttling of each control group.",
    COLUMNS,
);

pub(crate) static SENSOR: Sensor = Sensor {
    table: &TABLE,
    scope: Scope::Cgroup,
    sources: &[
        Source::group(Hierarchy::V2, "cpu.stat"),
        Source::group(Hierarchy::V1("cpuacct"), "cpuacct.usage"),
        Source::group(Hierarchy::V1("cpu"), "cpu.stat"),
    ],
    period: Period::of_ms(200, 1_000),
    first_decides: false,
    parse,
};

fn parse(
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
        .assert_eq(&rows(&SENSOR, &[Some(stat), None, None]));
    }

    #[test]
    fn hybrid_group_takes_usage_from_v2_and_throttling_from_v1() {
        let v2 = include_bytes!("../../fixtures/kernel/this-6.18/cgroup.cpu.stat");
        let v1 = b"nr_periods 200\nnr_throttled 200\nthrottled_time 7850000000\n";
        expect![[r#"
            own: usage_ns=2157413000 periods=200 throttled_periods=200 throttled_ns=7850000000
        "#]]
        .assert_eq(&rows(&SENSOR, &[Some(v2), Some(b"2157400000\n"), Some(v1)]));
    }

    #[test]
    fn v1_only() {
        let v1 = b"nr_periods 0\nnr_throttled 0\nthrottled_time 0\n";
        expect![[r#"
            own: usage_ns=2157400000 periods=0 throttled_periods=0 throttled_ns=0
        "#]]
        .assert_eq(&rows(&SENSOR, &[None, Some(b"2157400000\n"), Some(v1)]));
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            never_panics(&SENSOR, &bytes);
        }
    }
}
