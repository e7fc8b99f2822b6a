//! Time of each CPU by state, from /proc/stat.
//!
//! The kernel accounts these by ticks on most machines; iowait and steal are known to run backwards
//! and are held monotone on the way in, each correction counted.

use model::{Column, EntityKind, MISSING, Quality, Table, Unit};

use crate::bytes::{lines, scaled, words};
use crate::sensor::{Malformed, Missing, Period, Reading, Scope, Sensor, Source, Subject};

macro_rules! state {
    ($name:literal, $field:literal, $help:literal) => {
        Column::counter(
            $name,
            Unit::Nanoseconds,
            $help,
            concat!("/proc/stat cpuN field ", $field),
        )
        .quality(Quality::Estimated)
    };
}

static COLUMNS: &[Column] = &[
    state!("user_ns", "1", "Running user code, guests included."),
    state!("nice_ns", "2", "Running user code at a lowered priority."),
    state!("system_ns", "3", "Running the kernel."),
    state!("idle_ns", "4", "Idle without outstanding I/O."),
    state!(
        "iowait_ns",
        "5",
        "Idle while a task that last ran here waits for I/O."
    ),
    state!("irq_ns", "6", "Serving interrupts."),
    state!("softirq_ns", "7", "Serving soft interrupts."),
    state!(
        "steal_ns",
        "8",
        "Runnable, and the hypervisor ran something else."
    ),
    state!("guest_ns", "9", "Running a guest; part of user_ns."),
];

static TABLE: Table = Table::new(
    "cpu",
    EntityKind::Cpu,
    "Time of each CPU by state.",
    COLUMNS,
);

pub(crate) static SENSOR: Sensor = Sensor {
    table: &TABLE,
    scope: Scope::Machine,
    sources: &[Source::file(
        "proc/stat",
        Missing::Say("no CPU times: mount /proc"),
    )],
    period: Period::of_ms(100, 100),
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
    let mut seen = false;
    // The CPUs' lines come first; the interrupt line behind them is kilobytes long.
    for line in lines(text).take_while(|line| line.starts_with(b"cpu")) {
        let mut words = words(line);
        let name = words.next().unwrap_or_default();
        seen = true;
        if name == b"cpu" {
            continue;
        }
        let mut row = [MISSING; 9];
        for value in &mut row {
            *value = scaled(words.next(), reading.facts.tick_ns);
        }
        emit(Subject::Part(EntityKind::Cpu, name), &row);
    }
    if seen {
        Ok(())
    } else {
        Err(Malformed::expected(
            "lines that begin with `cpu` in /proc/stat",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sensor::testing::{never_panics, rows};
    use expect_test::expect;
    use proptest::prelude::*;

    #[test]
    fn one_row_per_cpu_and_none_for_the_sum() {
        let text = include_bytes!("../fixtures/kernel/this-6.18/stat");
        expect![[r#"
            cpu cpu0: user_ns=1462160000000 nice_ns=113820000000 system_ns=391410000000 idle_ns=564950000000 iowait_ns=2460000000 irq_ns=0 softirq_ns=12500000000 steal_ns=22580000000 guest_ns=0
            cpu cpu1: user_ns=1448820000000 nice_ns=103690000000 system_ns=413310000000 idle_ns=541630000000 iowait_ns=7550000000 irq_ns=0 softirq_ns=27770000000 steal_ns=25780000000 guest_ns=0
        "#]]
        .assert_eq(&rows(&SENSOR, &[Some(text)]));
    }

    #[test]
    fn fields_that_an_old_kernel_lacks_are_missing() {
        expect![[r#"
            cpu cpu0: user_ns=10000000 nice_ns=20000000 system_ns=30000000 idle_ns=40000000
        "#]]
        .assert_eq(&rows(
            &SENSOR,
            &[Some(b"cpu  1 2 3 4\ncpu0 1 2 3 4\nintr 5\n")],
        ));
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            never_panics(&SENSOR, &bytes);
        }
    }
}
