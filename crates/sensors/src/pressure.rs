//! Pressure-stall information: `total=` of /proc/pressure/* and of each v2 group's *.pressure.
//!
//! Only `total=` is taken. avg10/60/300 are exponential averages with those time constants, not
//! windows (kernel/sched/psi.c). Files are read every 2 s and no faster: each read folds the
//! kernel's per-CPU times for every reader, and intervals with less than a jiffy of activity are
//! lost for all of them.

use model::{Column, EntityKind, MISSING, Table, Unit};

use crate::bytes::{lines, scaled, words};
use crate::sensor::{
    Hierarchy, Malformed, Missing, Period, Reading, Scope, Sensor, Source, Subject,
};

/// The kernel's own averaging period (PSI_FREQ in kernel/sched/psi.c): what a pressure value is
/// folded over, and the only interval at which two values may be compared.
pub(crate) const FOLD_MS: u64 = 2_000;

const NS_PER_US: i64 = 1_000;

/// Position of `cpu_full_ns` among the columns.
const CPU_FULL: usize = 1;

macro_rules! stall {
    ($name:literal, $file:literal, $who:literal) => {
        Column::counter(
            $name,
            Unit::Nanoseconds,
            concat!("Time in which ", $who, "."),
            $file,
        )
    };
}

static COLUMNS: &[Column] = &[
    stall!(
        "cpu_some_ns",
        "cpu.pressure some total",
        "at least one task waited for a CPU, own quota throttling included"
    ),
    stall!(
        "cpu_full_ns",
        "cpu.pressure full total",
        "no task of the group ran and at least one waited for a CPU"
    )
    .since("5.13"),
    stall!(
        "memory_some_ns",
        "memory.pressure some total",
        "at least one task waited for memory"
    ),
    stall!(
        "memory_full_ns",
        "memory.pressure full total",
        "all non-idle tasks waited for memory"
    ),
    stall!(
        "io_some_ns",
        "io.pressure some total",
        "at least one task waited for I/O"
    ),
    stall!(
        "io_full_ns",
        "io.pressure full total",
        "all non-idle tasks waited for I/O"
    ),
    stall!(
        "irq_full_ns",
        "irq.pressure full total",
        "tasks were stalled by interrupts"
    )
    .since("6.1"),
];

static MACHINE_TABLE: Table = Table::new(
    "pressure",
    EntityKind::Machine,
    "Pressure-stall totals of the machine; read every 2 s, and at the end of the recording.",
    COLUMNS,
);

static CGROUP_TABLE: Table = Table::new(
    "cgroup_pressure",
    EntityKind::Cgroup,
    "Pressure-stall totals of each v2 control group; read every 2 s, and at the end of the \
     recording. For groups without pressure of the kernel's (v1, or where pressure is off) BPF \
     programs count the same at scheduler events, if target or generator are in them.",
    COLUMNS,
);

/// The machine's pressure.
pub static MACHINE: Sensor = Sensor {
    table: &MACHINE_TABLE,
    scope: Scope::Machine,
    sources: &[
        Source::file("proc/pressure/cpu", Missing::Pressure),
        Source::file("proc/pressure/memory", Missing::Pressure),
        Source::file("proc/pressure/io", Missing::Pressure),
        // Absent without IRQ time accounting, as on most machines: no news.
        Source::file("proc/pressure/irq", Missing::Usual),
    ],
    period: Period::of_ms(FOLD_MS, FOLD_MS),
    first_decides: false,
    parse: parse_machine,
};

/// Each v2 group's pressure.
pub static CGROUP: Sensor = Sensor {
    table: &CGROUP_TABLE,
    scope: Scope::Cgroup,
    sources: &[
        Source::group(Hierarchy::V2, "cpu.pressure"),
        Source::group(Hierarchy::V2, "memory.pressure"),
        Source::group(Hierarchy::V2, "io.pressure"),
        Source::group(Hierarchy::V2, "irq.pressure"),
    ],
    period: Period::of_ms(FOLD_MS, FOLD_MS),
    first_decides: false,
    parse: parse_group,
};

/// The machine's cpu `full` is 0 by definition and a meaningless figure on 5.13 to 5.17: undefined.
fn parse_machine(
    reading: &Reading<'_>,
    emit: &mut dyn FnMut(Subject<'_>, &[i64]),
) -> Result<(), Malformed> {
    let mut row = totals(reading)?;
    row[CPU_FULL] = MISSING;
    if row.iter().any(|value| *value != MISSING) {
        emit(Subject::Own, &row);
    }
    Ok(())
}

fn parse_group(
    reading: &Reading<'_>,
    emit: &mut dyn FnMut(Subject<'_>, &[i64]),
) -> Result<(), Malformed> {
    let row = totals(reading)?;
    if row.iter().any(|value| *value != MISSING) {
        emit(Subject::Own, &row);
    }
    Ok(())
}

fn totals(reading: &Reading<'_>) -> Result<[i64; 7], Malformed> {
    let [cpu, memory, io, irq] = [0, 1, 2, 3].map(|index| reading.source(index).map(totals_of));
    let [cpu, memory, io, irq] = [
        cpu.transpose()?,
        memory.transpose()?,
        io.transpose()?,
        irq.transpose()?,
    ]
    .map(|pair| pair.unwrap_or((MISSING, MISSING)));
    Ok([cpu.0, cpu.1, memory.0, memory.1, io.0, io.1, irq.1])
}

/// (some, full) of one file in ns; `MISSING` for a line that is not there: 4.18 to 5.12 have no cpu
/// full, irq has full only.
fn totals_of(text: &[u8]) -> Result<(i64, i64), Malformed> {
    let (mut some, mut full) = (MISSING, MISSING);
    for line in lines(text) {
        let mut words = words(line);
        let kind = words.next();
        let total = words.find_map(|word| word.strip_prefix(b"total="));
        let total = scaled(total, NS_PER_US);
        if total == MISSING {
            return Err(Malformed::expected(
                "`total=` with a number in a pressure file",
            ));
        }
        match kind {
            Some(b"some") => some = total,
            Some(b"full") => full = total,
            _ => {
                return Err(Malformed::expected(
                    "`some` or `full` at the start of a pressure line",
                ));
            }
        }
    }
    if some == MISSING && full == MISSING {
        return Err(Malformed::expected("a line in the pressure file"));
    }
    Ok((some, full))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sensor::testing::{never_panics, rows};
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    macro_rules! kernel {
        ($path:literal) => {
            Some(include_bytes!(concat!("../fixtures/kernel/", $path)).as_slice())
        };
    }

    fn check(sensor: &Sensor, sources: &[Option<&[u8]>], expected: &Expect) {
        expected.assert_eq(&rows(sensor, sources));
    }

    #[test]
    fn totals_are_taken_and_averages_left_alone() {
        check(
            &CGROUP,
            &[
                kernel!("this-6.18/cgroup.cpu.pressure"),
                kernel!("this-6.18/cgroup.memory.pressure"),
                kernel!("this-6.18/cgroup.io.pressure"),
                None,
            ],
            &expect![[r#"
                own: cpu_some_ns=4520863000 cpu_full_ns=3288819000 memory_some_ns=0 memory_full_ns=0 io_some_ns=44062000 io_full_ns=44062000
            "#]],
        );
    }

    #[test]
    fn full_of_the_machines_cpu_is_undefined_whatever_the_kernel_shows() {
        check(
            &MACHINE,
            &[kernel!("v5.13-v5.17-early/pressure.cpu"), None, None, None],
            &expect![[r#"
                own: cpu_some_ns=933490489000
            "#]],
        );
    }

    #[test]
    fn kernels_before_5_13_have_no_cpu_full() {
        check(
            &CGROUP,
            &[kernel!("v4.20-v5.12/pressure.cpu"), None, None, None],
            &expect![[r#"
                own: cpu_some_ns=157656722000
            "#]],
        );
    }

    #[test]
    fn irq_has_full_only() {
        check(
            &MACHINE,
            &[None, None, None, kernel!("v6.1-plus-irqtime/pressure.irq")],
            &expect![[r#"
                own: irq_full_ns=1234567000
            "#]],
        );
    }

    #[test]
    fn without_psi_there_is_no_row_and_no_zero() {
        check(&MACHINE, &[None, None, None, None], &expect![""]);
    }

    #[test]
    fn nonsense_is_said_and_not_zero() {
        check(
            &MACHINE,
            &[Some(b"some avg10=1.00 total=abc\n"), None, None, None],
            &expect![[r#"
                malformed: expected `total=` with a number in a pressure file
            "#]],
        );
    }

    #[test]
    fn files_are_read_every_two_seconds_and_no_faster() {
        for sensor in [&MACHINE, &CGROUP] {
            assert!(
                sensor.period.tracked.as_millis() >= 2_000
                    && sensor.period.background.as_millis() >= 2_000
            );
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            never_panics(&MACHINE, &bytes);
            never_panics(&CGROUP, &bytes);
        }
    }
}
