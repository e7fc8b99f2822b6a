//! Packets that each CPU took from the network, and those that it had to drop or leave for later;
//! from /proc/net/softnet_stat (net/core/net-procfs.c), whose numbers are hexadecimal.

use model::{Column, EntityKind, Table, Unit};

use crate::bytes::{lines, words};
use crate::sensor::{Malformed, Missing, Period, Reading, Scope, Sensor, Source, Subject};

static COLUMNS: &[Column] = &[
    Column::counter(
        "processed",
        Unit::Count,
        "Packets processed.",
        "/proc/net/softnet_stat column 1",
    ),
    Column::counter(
        "dropped",
        Unit::Count,
        "Packets dropped because the CPU's backlog was full.",
        "/proc/net/softnet_stat column 2",
    ),
    Column::counter(
        "squeezed",
        Unit::Count,
        "Times that packet processing stopped with work left because its time or budget was used \
         up.",
        "/proc/net/softnet_stat column 3",
    ),
];

/// Columns before this one tell nothing of which CPU it is; this one does since 5.10.
const CPU_COLUMN: usize = 12;

static TABLE: Table = Table::new(
    "softnet",
    EntityKind::Cpu,
    "Packets that each CPU received, dropped, or left for later.",
    COLUMNS,
);

pub(crate) static SENSOR: Sensor = Sensor {
    table: &TABLE,
    scope: Scope::Machine,
    sources: &[Source::file("proc/net/softnet_stat", Missing::Usual)],
    period: Period::of_ms(1_000, 1_000),
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
    for (line, order) in lines(text).zip(0..) {
        let mut row = [0i64; 3];
        let mut columns = words(line);
        for value in &mut row {
            *value = columns
                .next()
                .and_then(hexadecimal)
                .ok_or(Malformed::expected(
                    "three hexadecimal numbers in softnet_stat",
                ))?;
        }
        // The file skips CPUs that are off, so the order of lines tells the CPU only as long as none is.
        let cpu = columns
            .nth(CPU_COLUMN - row.len())
            .and_then(hexadecimal)
            .unwrap_or(order);
        let mut name = [0u8; NAME_BYTES];
        emit(
            Subject::Part(EntityKind::Cpu, cpu_name(cpu, &mut name)),
            &row,
        );
    }
    Ok(())
}

fn hexadecimal(word: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(word).ok()?;
    u32::from_str_radix(text, 16).ok().map(i64::from)
}

/// `cpu` and the ten digits of the largest number.
const NAME_BYTES: usize = 13;

/// The name that /proc/stat gives the CPU.
fn cpu_name(mut cpu: i64, name: &mut [u8; NAME_BYTES]) -> &[u8] {
    let mut start = NAME_BYTES;
    loop {
        start -= 1;
        name[start] = b'0' + (cpu % 10) as u8;
        cpu /= 10;
        if cpu == 0 {
            break;
        }
    }
    start -= 3;
    name[start..start + 3].copy_from_slice(b"cpu");
    &name[start..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sensor::testing::{never_panics, rows};
    use expect_test::expect;
    use proptest::prelude::*;

    #[test]
    fn one_row_per_cpu() {
        let text = include_bytes!("../fixtures/kernel/this-6.18/net.softnet_stat");
        expect![[r#"
            cpu cpu0: processed=6320445 dropped=0 squeezed=1
            cpu cpu1: processed=5857237 dropped=0 squeezed=0
        "#]]
        .assert_eq(&rows(&SENSOR, &[Some(text)]));
    }

    #[test]
    fn the_cpu_is_told_by_column_13_or_else_by_the_order_of_lines() {
        let new = b"0a 1 2 0 0 0 0 0 0 0 0 0 0000000b 0 0\n";
        expect![[r#"
            cpu cpu11: processed=10 dropped=1 squeezed=2
        "#]]
        .assert_eq(&rows(&SENSOR, &[Some(new)]));
        let old = b"0a 1 2 0 0 0 0 0 0 0 0\nff 0 0 0 0 0 0 0 0 0 0\n";
        expect![[r#"
            cpu cpu0: processed=10 dropped=1 squeezed=2
            cpu cpu1: processed=255 dropped=0 squeezed=0
        "#]]
        .assert_eq(&rows(&SENSOR, &[Some(old)]));
    }

    #[test]
    fn the_largest_number_has_a_name() {
        let mut name = [0; NAME_BYTES];
        assert_eq!(cpu_name(0, &mut name), b"cpu0");
        assert_eq!(cpu_name(i64::from(u32::MAX), &mut name), b"cpu4294967295");
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            never_panics(&SENSOR, &bytes);
        }
    }
}
