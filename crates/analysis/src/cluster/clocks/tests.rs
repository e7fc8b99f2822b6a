use model::{Entity, EntityEvent, EntityKind, EntityRecord, Meta, Timeline, Window};
use proptest::prelude::*;
use sensors::CONNECTION;

use super::super::tests::meta;
use super::*;

const MS: i64 = 1_000_000;
const S: i64 = 1_000 * MS;
const LENGTH: i64 = 60 * S;
/// When the nodes were booted by their own clocks: recordings of different machines begin at very different times.
const WALL: i64 = 1_700_000_000 * S;

/// Data that goes over the connection.
#[derive(Clone, Copy, Debug)]
struct Transfer {
    /// When it was sent, ns after the start, and when it arrived.
    sent: i64,
    arrived: i64,
    is_forth: bool,
    bytes: i64,
}

/// A node, and where its clocks are.
struct Made {
    name: &'static str,
    timeline: Timeline,
    meta: Meta,
}

/// One end of a connection as a node whose clock is `ahead` reads it once a second, first `phase` after the start.
fn end(
    name: &'static str,
    ends: &str,
    ahead: i64,
    phase: i64,
    transfers: &[(Transfer, bool)],
) -> Made {
    // Its own clock since boot is something else.
    let boot = 40_000 * S + phase * 7;
    let window = Window::new(Timestamp::from_ns(boot), Timestamp::from_ns(boot + LENGTH));
    let mut timeline = Timeline::new(window);
    call(&mut timeline, EntityId(1), ends);
    let table = timeline.table_mut(&CONNECTION);
    let mut before = Vec::new();
    for reading in (phase..LENGTH).step_by(S as usize) {
        let mut row = vec![MISSING; CONNECTION.columns.len()];
        let mut put =
            |name: &str, value: i64| row[CONNECTION.position(name).expect("a column")] = value;
        put("retransmitted_segments", 0);
        let directions = [
            ("bytes_sent", "last_sent_ns", true),
            ("bytes_received", "last_received_ns", false),
        ];
        for (bytes, last, is_own) in directions {
            let at = |it: &Transfer| if is_own { it.sent } else { it.arrived };
            let own = transfers
                .iter()
                .filter(|(it, own)| *own == is_own && at(it) <= reading);
            let own: Vec<&Transfer> = own.map(|it| &it.0).collect();
            put(bytes, own.iter().map(|it| it.bytes).sum());
            if let Some(newest) = own.iter().map(|it| at(it)).max() {
                // The kernel tells the age to a tick.
                let age = (reading - newest) / (4 * MS) * 4 * MS;
                put(last, boot + reading - age);
            }
        }
        if row != before {
            table.push(Timestamp::from_ns(boot + reading), EntityId(1), &row);
            before = row;
        }
    }
    Made {
        name,
        timeline,
        meta: meta(name, window, WALL + ahead),
    }
}

/// Both ends of it.
fn both(transfers: &[Transfer], ahead: [i64; 2], phases: [i64; 2]) -> [Made; 2] {
    let of = |is_first: bool| -> Vec<(Transfer, bool)> {
        transfers
            .iter()
            .map(|it| (*it, it.is_forth == is_first))
            .collect()
    };
    [
        end(
            "a",
            "10.0.0.1:5432-10.0.0.2:40312",
            ahead[0],
            phases[0],
            &of(true),
        ),
        end(
            "b",
            "10.0.0.2:40312-10.0.0.1:5432",
            ahead[1],
            phases[1],
            &of(false),
        ),
    ]
}

fn clocks_of(all: &[Made]) -> Vec<NodeClock> {
    let nodes: Vec<Node<'_>> = all.iter().map(node).collect();
    clocks(&nodes)
}

fn node(made: &Made) -> Node<'_> {
    Node {
        name: made.name,
        timeline: &made.timeline,
        meta: &made.meta,
        holes: &[],
        memory_bytes: None,
        sizes: &[],
        happened: Vec::new(),
        verdict: None,
        spikes: None,
        ahead_ns: 0,
    }
}

/// A question and its answer, each so many ms after the start.
fn asked(ms: &[i64]) -> Vec<Transfer> {
    let both = ms.iter().flat_map(|at| {
        let (sent, answered) = (at * MS, at * MS + 2 * MS);
        [
            Transfer {
                sent,
                arrived: sent + MS / 5,
                is_forth: true,
                bytes: 100,
            },
            Transfer {
                sent: answered,
                arrived: answered + MS / 5,
                is_forth: false,
                bytes: 4_000,
            },
        ]
    });
    both.collect()
}

#[test]
fn a_connection_that_rests_shows_a_clock_to_some_ticks() {
    let made = both(
        &asked(&[3_400, 21_700, 40_050]),
        [0, 300 * MS],
        [120 * MS, 830 * MS],
    );
    let [clock] = &*clocks_of(&made) else {
        panic!("two nodes");
    };
    assert!((clock.ahead_ns - 300 * MS).abs() < 5 * MS, "{clock:?}");
    assert_eq!(
        clock.sentence.split(" ms").next(),
        Some("b's clock is 300"),
        "{}",
        clock.sentence
    );
    let made = both(&asked(&[3_400]), [0, -3 * MS], [120 * MS, 830 * MS]);
    let clock = &clocks_of(&made)[0];
    assert_eq!(clock.ahead_ns, 0, "what may be right is: {clock:?}");
    assert!(
        clock
            .sentence
            .starts_with("b's clock agrees with a's within"),
        "{}",
        clock.sentence
    );
}

#[test]
fn without_data_in_both_directions_a_clock_is_taken_to_be_right() {
    let forth: Vec<Transfer> = asked(&[3_400])
        .into_iter()
        .filter(|it| it.is_forth)
        .collect();
    for transfers in [forth, Vec::new()] {
        let clock = &clocks_of(&both(&transfers, [0, 9 * S], [0, 0]))[0];
        assert_eq!((clock.ahead_ns, clock.least_ns), (0, None), "{clock:?}");
    }
}

#[test]
fn clocks_that_drift_apart_are_both_ends_of_the_drift() {
    let mut made = both(
        &asked(&[3_400, 50_000]),
        [0, 300 * MS],
        [120 * MS, 830 * MS],
    );
    // b's clock was set back by 200 ms in the middle.
    let late = end("b", "10.0.0.2:40312-10.0.0.1:5432", 100 * MS, 830 * MS, &[]);
    let back = 200 * MS;
    let table = made[1].timeline.table_mut(&CONNECTION).clone();
    let moved = made[1].timeline.table_mut(&CONNECTION);
    *moved = TableData::new(CONNECTION.clone());
    let times =
        ["last_sent_ns", "last_received_ns"].map(|it| CONNECTION.position(it).expect("a column"));
    for row in 0..table.len() {
        let (time, entity) = table.key(row);
        let mut values: Vec<i64> = table.row(row).collect();
        if time.ns_since(late.timeline.window.start) > LENGTH / 2 {
            times.iter().for_each(|it| values[*it] -= back);
        }
        moved.push(time, entity, &values);
    }
    let clock = &clocks_of(&made)[0];
    let (least, most) = (
        clock.least_ns.expect("known"),
        clock.most_ns.expect("known"),
    );
    assert!(
        least <= 101 * MS && most >= 299 * MS && most - least < 250 * MS,
        "{clock:?}"
    );
}

#[test]
fn a_node_without_connections_to_the_first_is_known_over_another() {
    let third = both(&asked(&[7_000]), [300 * MS, -40 * MS], [0, 500 * MS]);
    let [first, second] = both(&asked(&[3_400]), [0, 300 * MS], [120 * MS, 830 * MS]);
    let [_, mut third] = third;
    third.name = "c";
    // b has an end of both connections.
    let mut b = second;
    call(&mut b.timeline, EntityId(2), "10.0.0.1:5432-10.0.0.2:40312");
    let own = both(&asked(&[7_000]), [300 * MS, -40 * MS], [830 * MS, 500 * MS]);
    let rows: Vec<(Timestamp, Vec<i64>)> = {
        let table = own[0].timeline.table("connection").expect("rows");
        (0..table.len())
            .map(|row| (table.key(row).0, table.row(row).collect()))
            .collect()
    };
    for (time, values) in rows {
        b.timeline
            .table_mut(&CONNECTION)
            .push(time, EntityId(2), &values);
    }
    // The first connection's other end must not be taken for it.
    let mut a = first;
    call(&mut a.timeline, EntityId(1), "10.0.0.7:5432-10.0.0.8:1");
    call(&mut b.timeline, EntityId(1), "10.0.0.8:1-10.0.0.7:5432");
    let clocks = clocks_of(&[a, b, third]);
    assert!(
        (clocks[0].ahead_ns - 300 * MS).abs() < 10 * MS,
        "{clocks:?}"
    );
    assert!((clocks[1].ahead_ns + 40 * MS).abs() < 20 * MS, "{clocks:?}");
    assert_eq!(clocks[1].of, "a");
}

/// Calls a connection by its ends.
fn call(timeline: &mut Timeline, id: EntityId, ends: &str) {
    let time = timeline.window.start;
    let path = format!("net:1/{ends}@{}", id.0);
    let entity = Entity::new(EntityKind::Connection, ends, path);
    let record = EntityRecord::new(id, entity, time);
    timeline.entities.apply(EntityEvent { time, record });
}

#[test]
fn what_was_measured_over_ssh_counts_too() {
    let mut made = both(&[], [0, 0], [0, 0]);
    made[0].meta.identity.recording_id = "r-1".to_owned();
    let said = [
        (CLOCK_AHEAD, "-250000000"),
        (CLOCK_AHEAD_WITHIN, "1500000"),
        (CLOCK_AHEAD_OF, "r-1"),
    ];
    made[1]
        .meta
        .environment
        .extend(said.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let clock = &clocks_of(&made)[0];
    assert_eq!(
        (clock.ahead_ns, clock.shown_by.as_deref()),
        (-250 * MS, Some("ssh"))
    );
    made[1]
        .meta
        .environment
        .insert(CLOCK_AHEAD.to_owned(), "-9223372036854775808".to_owned());
    made[1].meta.environment.insert(
        CLOCK_AHEAD_WITHIN.to_owned(),
        "9223372036854775807".to_owned(),
    );
    clocks_of(&made);
}

proptest! {
    #[test]
    fn the_bounds_hold_what_clocks_are_apart(
        gaps in prop::collection::vec((1..4_000i64, 0..60i64, any::<bool>(), 1..5_000i64), 1..60),
        ahead in -2_000..2_000i64,
        phases in (0..1_000i64, 0..1_000i64),
    ) {
        let mut at = 0;
        let mut transfers: Vec<Transfer> = Vec::new();
        let mut arrived = [0; 2];
        for (gap, way, is_forth, bytes) in gaps {
            at += gap * MS;
            // TCP gives data on in order.
            let last = &mut arrived[usize::from(is_forth)];
            *last = (at + way * MS).max(*last);
            transfers.push(Transfer { sent: at, arrived: *last, is_forth, bytes });
        }
        let made = both(&transfers, [0, ahead * MS], [phases.0 * MS, phases.1 * MS]);
        let clock = &clocks_of(&made)[0];
        if let Some((least, most)) = clock.least_ns.zip(clock.most_ns) {
            prop_assert!(least <= ahead * MS && ahead * MS <= most, "{clock:?}");
            prop_assert!((least..=most).contains(&clock.ahead_ns));
        }
    }
}
