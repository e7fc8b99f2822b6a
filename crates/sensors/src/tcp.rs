//! Connections made, refused and lost, and segments sent twice, from /proc/net/snmp and
//! /proc/net/netstat: those of the recorder's own network namespace.
//!
//! Both files hold pairs of lines, names above and values below. Kernels insert names anywhere, so a
//! value is found by its name, never by its place.

use model::{Column, EntityKind, MISSING, Table, Unit};

use crate::bytes::{lines, scaled, words};
use crate::sensor::{Malformed, Missing, Period, Reading, Scope, Sensor, Source, Subject};

macro_rules! of_snmp {
    ($kind:ident, $name:literal, $field:literal, $help:literal) => {
        Column::$kind(
            $name,
            Unit::Count,
            $help,
            concat!("/proc/net/snmp ", $field),
        )
    };
}

macro_rules! of_netstat {
    ($name:literal, $field:literal, $help:literal) => {
        Column::counter(
            $name,
            Unit::Count,
            $help,
            concat!("/proc/net/netstat ", $field),
        )
    };
}

static COLUMNS: &[Column] = &[
    of_snmp!(
        counter,
        "active_opens",
        "Tcp ActiveOpens",
        "Connections opened by this machine."
    ),
    of_snmp!(
        counter,
        "passive_opens",
        "Tcp PassiveOpens",
        "Connections opened by the other end."
    ),
    of_snmp!(
        counter,
        "attempt_fails",
        "Tcp AttemptFails",
        "Connection attempts that failed."
    ),
    of_snmp!(
        counter,
        "resets",
        "Tcp EstabResets",
        "Established connections that were reset."
    ),
    of_snmp!(counter, "in_segments", "Tcp InSegs", "Segments received."),
    of_snmp!(
        counter,
        "out_segments",
        "Tcp OutSegs",
        "Segments sent, without retransmitted ones."
    ),
    of_snmp!(
        counter,
        "retransmitted_segments",
        "Tcp RetransSegs",
        "Segments retransmitted."
    ),
    of_snmp!(
        counter,
        "in_errors",
        "Tcp InErrs",
        "Segments received with errors."
    ),
    of_snmp!(counter, "out_resets", "Tcp OutRsts", "Resets sent."),
    of_netstat!(
        "listen_overflows",
        "TcpExt ListenOverflows",
        "Connections lost because a listener's accept queue was full."
    ),
    of_netstat!(
        "listen_drops",
        "TcpExt ListenDrops",
        "Connections lost at a listener, overflows included."
    ),
    of_netstat!(
        "backlog_drops",
        "TcpExt TCPBacklogDrop",
        "Segments dropped because a socket's backlog was full."
    ),
    of_netstat!("timeouts", "TcpExt TCPTimeouts", "Retransmission timeouts."),
    of_netstat!(
        "syn_retransmits",
        "TcpExt TCPSynRetrans",
        "SYN segments retransmitted."
    ),
    of_netstat!(
        "request_queue_drops",
        "TcpExt TCPReqQFullDrop",
        "SYN segments dropped because a listener's queue of half-open connections was full."
    ),
    of_snmp!(
        counter,
        "udp_receive_errors",
        "Udp InErrors",
        "Datagrams lost on arrival, most for lack of space in the socket (RcvbufErrors included)."
    ),
    of_snmp!(
        gauge,
        "established",
        "Tcp CurrEstab",
        "Connections established now."
    ),
];

/// What a column is called in its file: the word at the start of both lines, and the name.
type Field = (&'static [u8], &'static [u8]);

/// In the order of the columns.
const FIELDS: [Field; 17] = [
    (b"Tcp:", b"ActiveOpens"),
    (b"Tcp:", b"PassiveOpens"),
    (b"Tcp:", b"AttemptFails"),
    (b"Tcp:", b"EstabResets"),
    (b"Tcp:", b"InSegs"),
    (b"Tcp:", b"OutSegs"),
    (b"Tcp:", b"RetransSegs"),
    (b"Tcp:", b"InErrs"),
    (b"Tcp:", b"OutRsts"),
    (b"TcpExt:", b"ListenOverflows"),
    (b"TcpExt:", b"ListenDrops"),
    (b"TcpExt:", b"TCPBacklogDrop"),
    (b"TcpExt:", b"TCPTimeouts"),
    (b"TcpExt:", b"TCPSynRetrans"),
    (b"TcpExt:", b"TCPReqQFullDrop"),
    (b"Udp:", b"InErrors"),
    (b"Tcp:", b"CurrEstab"),
];

static TABLE: Table = Table::new(
    "tcp",
    EntityKind::Machine,
    "TCP connections made, refused and lost, and segments retransmitted.",
    COLUMNS,
);

pub(crate) static SENSOR: Sensor = Sensor {
    table: &TABLE,
    scope: Scope::Machine,
    sources: &[
        Source::file("proc/net/snmp", Missing::Usual),
        Source::file("proc/net/netstat", Missing::Usual),
    ],
    period: Period::of_ms(200, 200),
    first_decides: false,
    parse,
};

fn parse(
    reading: &Reading<'_>,
    emit: &mut dyn FnMut(Subject<'_>, &[i64]),
) -> Result<(), Malformed> {
    let mut row = [MISSING; FIELDS.len()];
    for text in [reading.source(0), reading.source(1)].into_iter().flatten() {
        take_pairs(text, &mut row);
    }
    if row.iter().any(|value| *value != MISSING) {
        emit(Subject::Own, &row);
    }
    Ok(())
}

/// Takes the wanted values out of pairs of lines that begin with the same word.
fn take_pairs(text: &[u8], row: &mut [i64; FIELDS.len()]) {
    let mut lines = lines(text);
    while let Some(names) = lines.next() {
        let mut names = words(names);
        let Some(group) = names.next() else { continue };
        if !FIELDS.iter().any(|(of, _)| *of == group) {
            continue;
        }
        let Some(values) = lines.next() else { return };
        let mut values = words(values);
        if values.next() != Some(group) {
            continue;
        }
        for (name, value) in names.zip(values) {
            let field = FIELDS.iter().position(|field| *field == (group, name));
            if let Some(column) = field {
                row[column] = scaled(Some(value), 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sensor::testing::{never_panics, rows};
    use expect_test::expect;
    use proptest::prelude::*;

    #[test]
    fn each_column_reads_the_field_that_its_source_names() {
        for (column, (group, name)) in COLUMNS.iter().zip(FIELDS) {
            let text = |bytes| std::str::from_utf8(bytes).expect("a name is text");
            let named = format!("{} {}", text(group).trim_end_matches(':'), text(name));
            assert!(column.source.ends_with(&named), "{}", column.name);
        }
    }

    #[test]
    fn a_real_machine() {
        let snmp = include_bytes!("../fixtures/kernel/this-6.18/net.snmp");
        let netstat = include_bytes!("../fixtures/kernel/this-6.18/net.netstat");
        expect![[r#"
            own: active_opens=898 passive_opens=797 attempt_fails=1 resets=60 in_segments=12177426 out_segments=12171932 retransmitted_segments=101 in_errors=0 out_resets=103 listen_overflows=0 listen_drops=0 backlog_drops=0 timeouts=3 syn_retransmits=0 request_queue_drops=0 udp_receive_errors=0 established=0
        "#]].assert_eq(&rows(&SENSOR, &[Some(snmp), Some(netstat)]));
    }

    #[test]
    fn values_are_found_by_name_and_what_is_not_there_is_missing() {
        let text = b"Tcp: InSegs MaxConn New CurrEstab\nTcp: 7 -1 5 3\nUdp: InErrors\n";
        expect![[r#"
            own: in_segments=7 established=3
        "#]]
        .assert_eq(&rows(&SENSOR, &[Some(text), None]));
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            never_panics(&SENSOR, &bytes);
        }
    }
}
