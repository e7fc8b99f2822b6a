//! Bytes, packets, errors and drops of each network interface, from /proc/net/dev: those of the
//! recorder's own network namespace.

use model::{Column, EntityKind, MISSING, Table, Unit};

use crate::bytes::{lines, scaled, words};
use crate::sensor::{Malformed, Missing, Period, Reading, Scope, Sensor, Source, Subject};

macro_rules! field {
    ($name:literal, $unit:ident, $field:literal, $help:literal) => {
        Column::counter(
            $name,
            Unit::$unit,
            $help,
            concat!("/proc/net/dev field ", $field),
        )
    };
}

static COLUMNS: &[Column] = &[
    field!("rx_bytes", Bytes, "1", "Bytes received."),
    field!("rx_packets", Count, "2", "Packets received."),
    field!("rx_errors", Count, "3", "Packets received with errors."),
    field!(
        "rx_drops",
        Count,
        "4",
        "Packets received and dropped for lack of space."
    ),
    field!("tx_bytes", Bytes, "9", "Bytes sent."),
    field!("tx_packets", Count, "10", "Packets sent."),
    field!("tx_errors", Count, "11", "Packets that could not be sent."),
    field!("tx_drops", Count, "12", "Packets dropped before sending."),
];

/// Fields of the file counted from 1 behind the name, in the order of the columns.
const FIELDS: [usize; 8] = [1, 2, 3, 4, 9, 10, 11, 12];

static TABLE: Table = Table::new(
    "network",
    EntityKind::Interface,
    "Bytes, packets, errors and drops of each network interface.",
    COLUMNS,
);

pub(crate) static SENSOR: Sensor = Sensor {
    table: &TABLE,
    scope: Scope::Machine,
    sources: &[Source::file("proc/net/dev", Missing::Usual)],
    period: Period::of_ms(200, 200),
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
    // Two lines of headings, which hold bars and no colon.
    for line in lines(text).skip(2) {
        // The first number stood right behind the colon once.
        let colon = line.iter().rposition(|byte| *byte == b':');
        let (colon, name) = colon
            .map(|colon| (colon, line[..colon].trim_ascii()))
            .filter(|(_, name)| !name.is_empty())
            .ok_or(Malformed::expected("`interface:` in /proc/net/dev"))?;
        let mut row = [MISSING; FIELDS.len()];
        let (mut column, mut used) = (0, false);
        for (word, field) in words(&line[colon + 1..]).zip(1..) {
            if FIELDS.get(column) == Some(&field) {
                row[column] = scaled(Some(word), 1);
                used |= row[column] > 0;
                column += 1;
            }
        }
        // An interface that never did anything has no row.
        if used {
            emit(Subject::Part(EntityKind::Interface, name), &row);
        }
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
    fn each_column_reads_the_field_that_its_source_names() {
        for (column, field) in COLUMNS.iter().zip(FIELDS) {
            assert!(
                column.source.ends_with(&format!(" {field}")),
                "{}",
                column.name
            );
        }
    }

    #[test]
    fn interfaces_that_did_something() {
        let text = include_bytes!("../fixtures/kernel/this-6.18/net.dev");
        expect![[r#"
            interface lo: rx_bytes=1247229563 rx_packets=12162780 rx_errors=0 rx_drops=0 tx_bytes=1247229563 tx_packets=12162780 tx_errors=0 tx_drops=0
            interface eth0: rx_bytes=569396944 rx_packets=14870 rx_errors=0 rx_drops=0 tx_bytes=832820 tx_packets=9421 tx_errors=0 tx_drops=0
        "#]].assert_eq(&rows(&SENSOR, &[Some(text)]));
    }

    #[test]
    fn the_first_number_may_touch_the_name() {
        let text =
            b"Inter-|   Receive\n face |bytes\neth0:12 1 0 3 0 0 0 0 5 2 0 4 0 0 0 0\nnonsense\n";
        expect![[r#"
            interface eth0: rx_bytes=12 rx_packets=1 rx_errors=0 rx_drops=3 tx_bytes=5 tx_packets=2 tx_errors=0 tx_drops=4
            malformed: expected `interface:` in /proc/net/dev
        "#]].assert_eq(&rows(&SENSOR, &[Some(text)]));
    }

    #[test]
    fn an_interface_has_a_name() {
        let text = b"Inter-|   Receive\n face |bytes\n : 12 1 0 3 0 0 0 0 5 2 0 4 0 0 0 0\n";
        expect![[r#"
            malformed: expected `interface:` in /proc/net/dev
        "#]]
        .assert_eq(&rows(&SENSOR, &[Some(text)]));
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            never_panics(&SENSOR, &bytes);
        }
    }
}
