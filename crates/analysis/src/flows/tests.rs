//! Flows drawn by their name and what they transferred in a second.

use model::{Entity, EntityEvent, EntityId, EntityKind, EntityRecord, Timestamp};
use sensors::flow::{FLOW, OPEN, WIDTH};

use super::*;

/// A flow by its name, with its process's role, connections open and what its counters grew by.
struct Drawn<'a>(&'a str, Role, i64, &'a [(&'a str, i64)]);

fn window() -> Window {
    Window::new(Timestamp::default(), Timestamp::from_seconds(2.0))
}

fn add(timeline: &mut Timeline, record: EntityRecord) {
    let time = window().start;
    timeline.entities.apply(EntityEvent { time, record });
}

fn reported(drawn: &[Drawn<'_>]) -> Vec<PortReport> {
    ports(&timeline(drawn), window())
}

fn timeline(drawn: &[Drawn<'_>]) -> Timeline {
    let mut timeline = Timeline::new(window());
    for (number, Drawn(name, role, open, grown)) in (0..).zip(drawn) {
        let (process, flow) = (EntityId(2 * number), EntityId(2 * number + 1));
        let entity = Entity::new(EntityKind::Process, "p", format!("pid:{number}@1"));
        let mut record = EntityRecord::new(process, entity, window().start);
        record.role = *role;
        add(&mut timeline, record);
        let entity = Entity::new(EntityKind::Flow, *name, format!("flow:{number}"));
        let mut record = EntityRecord::new(flow, entity, window().start);
        record.parent = Some(process);
        add(&mut timeline, record);
        let mut row = [0; WIDTH];
        row[OPEN] = *open;
        let data = timeline.table_mut(&FLOW);
        data.push(window().start, flow, &row);
        for (column, value) in *grown {
            row[FLOW.position(column).expect("a column")] = *value;
        }
        data.push(window().end, flow, &row);
    }
    timeline
}

fn sentences(drawn: &[Drawn<'_>]) -> Vec<String> {
    reported(drawn).into_iter().map(|it| it.sentence).collect()
}

#[test]
fn traffic_that_was_counted_in_on_windows_is_that_of_all_the_time() {
    let drawn = [
        Drawn("postgres (7) -> 10.0.0.3:7100", Role::Target, 1, SOME),
        Drawn("resolver (8) -> 10.0.0.9:53/udp", Role::Target, 1, SOME),
    ];
    let mut timeline = timeline(&drawn);
    let machine = EntityId(1_000);
    let entity = Entity::new(EntityKind::Machine, "here", "machine");
    add(
        &mut timeline,
        EntityRecord::new(machine, entity, window().start),
    );
    let asked = |timeline: &Timeline| -> Vec<f64> {
        let mut all = ports(timeline, window());
        all.sort_by_key(|it| it.port);
        all.iter().map(|it| it.asked_bytes_per_second).collect()
    };
    assert_eq!(asked(&timeline), [1_000.0, 1_000.0]);
    let coverage = timeline.table_mut(&sensors::COVERAGE);
    for (time, on_ns) in [(window().start, 0), (window().end, 500_000_000)] {
        coverage.push(time, machine, &[on_ns, on_ns, on_ns]);
    }
    // By UDP port 53 a quarter of the time; TCP throughout.
    assert_eq!(asked(&timeline), [4_000.0, 1_000.0]);
}

const SOME: &[(&str, i64)] = &[("sent_bytes", 2_000), ("received_bytes", 6_000)];

#[test]
fn many_processes_that_call_one_port_are_counted_together() {
    let names: Vec<String> = (100..126)
        .map(|pid| format!("postgres ({pid}) -> 10.0.0.3:7100"))
        .collect();
    let drawn: Vec<_> = names
        .iter()
        .map(|it| Drawn(it, Role::Target, 1, SOME))
        .collect();
    let ports = reported(&drawn);
    assert_eq!(ports.len(), 1);
    let port = &ports[0];
    assert_eq!(
        port.sentence,
        "26 postgres processes -> port 7100 of 10.0.0.3"
    );
    assert_eq!(
        (port.client_processes, port.peer_count, port.is_served),
        (26, 1, false)
    );
    assert_eq!((port.open, port.asked_bytes_per_second), (26.0, 26_000.0));
    assert_eq!(port.answered_bytes_per_second, 78_000.0);
    assert_eq!(
        (port.rtt_ns, port.retransmitted, port.requests_per_second),
        (None, None, None)
    );
}

#[test]
fn a_port_that_is_served_here_has_its_clients_of_here_and_of_elsewhere() {
    let drawn = [
        Drawn(
            "postgres (1) :5432 <- 127.0.0.1",
            Role::Target,
            4,
            &[
                ("received_bytes", 2_000),
                ("sent_bytes", 8_000),
                ("requests", 100),
                ("rtt_ns", 3_000),
                ("rtts", 3),
                ("sends", 50),
                ("retransmitted", 5),
            ],
        ),
        Drawn("postgres (1) :5432 <- 10.0.0.7", Role::Target, 1, SOME),
        Drawn(
            "pgbench (2) -> 127.0.0.1:5432",
            Role::Generator,
            4,
            &[
                ("sent_bytes", 2_000),
                ("received_bytes", 8_000),
                ("opened", 4),
                ("refused", 2),
                ("connects", 4),
                ("connect_ns", 400),
            ],
        ),
        // The same port of another machine is another service.
        Drawn("postgres (1) -> 10.0.0.9:5432", Role::Target, 1, SOME),
    ];
    let ports = reported(&drawn);
    let said: Vec<&str> = ports.iter().map(|it| &*it.sentence).collect();
    assert_eq!(
        said,
        [
            "pgbench and 2 addresses -> port 5432 (postgres)",
            "postgres -> port 5432 of 10.0.0.9"
        ]
    );
    let served = &ports[0];
    assert!(served.is_served);
    assert_eq!(
        (
            served.asked_bytes_per_second,
            served.answered_bytes_per_second
        ),
        (4_000.0, 5_000.0)
    );
    assert_eq!(
        (served.open, served.refused, served.requests_per_second),
        (5.0, 2, Some(50.0))
    );
    assert_eq!(
        (served.rtt_ns, served.connect_ns),
        (Some(1_000.0), Some(100.0))
    );
    assert_eq!(served.retransmitted, Some(0.1));
}

#[test]
fn unix_sockets_and_datagrams_have_their_own_words() {
    let said = sentences(&[
        Drawn("postgres (1) <- /tmp/.s.PGSQL.5432", Role::Target, 2, SOME),
        Drawn("psql (2) -> /tmp/.s.PGSQL.5432", Role::Background, 1, SOME),
        Drawn("psql (3) -> /tmp/.s.PGSQL.5432", Role::Background, 1, SOME),
        Drawn("dig (4) -> 10.0.0.2:53/udp", Role::Background, 1, SOME),
        Drawn(
            "statsd (5) :8125/udp <- any",
            Role::Background,
            1,
            &[("received_bytes", 9)],
        ),
        Drawn(
            "x (6) -> any:0/udp",
            Role::Background,
            1,
            &[("sent_bytes", 8)],
        ),
    ]);
    assert_eq!(
        said,
        [
            "2 psql processes -> /tmp/.s.PGSQL.5432 (postgres)",
            "dig -> UDP port 53 of 10.0.0.2",
            "clients that are not known -> UDP port 8125 (statsd)",
            "x -> a UDP port that is not known"
        ]
    );
}

#[test]
fn what_is_idle_the_recorder_s_or_a_pair_is_left_out() {
    let said = sentences(&[
        Drawn("a (1) -> 10.0.0.1:80", Role::Target, 5, &[]),
        Drawn("stallscope (2) -> 10.0.0.1:80", Role::Recorder, 1, SOME),
        Drawn("b (3) -- socket pair", Role::Target, 2, SOME),
    ]);
    assert_eq!(said, Vec::<String>::new());
}

#[test]
fn names_beyond_the_first_are_a_number() {
    let said = sentences(&[
        Drawn("a (1) -> 10.0.0.1:80", Role::Target, 1, SOME),
        Drawn("b (2) -> 10.0.0.2:80", Role::Target, 1, SOME),
        Drawn("c (3) -> 10.0.0.2:80", Role::Target, 1, SOME),
        Drawn(
            "c (4) -> 10.0.0.2:80",
            Role::Target,
            1,
            &[("sent_bytes", 1)],
        ),
    ]);
    assert_eq!(
        said,
        ["2 c processes and a and 1 more -> port 80 of 2 addresses"]
    );
}

#[test]
fn a_load_whose_connections_are_reset_unanswered_is_turned_away() {
    let part = |asked: i64, answered: i64, port: u16| {
        let client = format!("python3 (7) -> 127.0.0.1:{port}");
        let grown = [
            ("opened", 100),
            ("sends", asked),
            ("receives", answered),
            ("reset", 28),
        ];
        let drawn = [
            Drawn("nginx (3) :80 <- 127.0.0.1", Role::Target, 1, SOME),
            Drawn(&client, Role::Generator, 0, &grown),
        ];
        TurnedAway::of(&timeline(&drawn), window()).map(|it| it.part())
    };
    assert_eq!(part(100, 72, 80), Some(0.28));
    // Each was answered; nothing was asked; many questions are asked on one connection; it is somebody else's port.
    assert_eq!(part(100, 100, 80), None);
    assert_eq!(part(0, 0, 80), None);
    assert_eq!(part(9_000, 8_990, 80), None);
    assert_eq!(part(100, 72, 81), None);
}

#[test]
fn a_load_that_may_ask_nothing_of_who_speaks_first_is_turned_away() {
    let part = |asked: i64, turned_away: i64| {
        let grown = [
            ("opened", 100),
            ("sends", 5 * asked),
            ("receives", 5 * asked + turned_away),
            ("turned_away", turned_away),
        ];
        let served = [("receives", 5 * asked), ("sends", 100)];
        let drawn = [
            Drawn("mariadbd (3) :3306 <- 127.0.0.1", Role::Target, 1, &served),
            Drawn("php (7) -> 127.0.0.1:3306", Role::Generator, 0, &grown),
        ];
        TurnedAway::of(&timeline(&drawn), window()).map(|it| (it.part(), it.by))
    };
    assert_eq!(part(94, 6), Some((0.06, ToldBy::Greeting)));
    assert_eq!(part(100, 0), None);
    // Nobody asks: it tells whoever comes, as a clock does.
    assert_eq!(part(0, 100), None);
}

#[test]
fn a_session_of_postgresql_that_asks_nothing_was_turned_away() {
    let part = |opened: i64, sends: i64, path: &str| {
        let (server, client) = (
            format!("pgbouncer (3) <- {path}"),
            format!("app (7) -> {path}"),
        );
        let grown = [
            ("opened", opened),
            ("sends", sends),
            ("receives", 9 * opened),
        ];
        let drawn = [
            Drawn(&server, Role::Target, 1, SOME),
            Drawn(&client, Role::Generator, 0, &grown),
        ];
        TurnedAway::of(&timeline(&drawn), window()).map(|it| it.part())
    };
    assert_eq!(part(100, 125, "/run/.s.PGSQL.6432"), Some(0.75));
    // Each asked one thing; few sessions; whoever only looks whether it listens; another protocol.
    assert_eq!(part(100, 200, "/run/.s.PGSQL.6432"), None);
    assert_eq!(part(9, 9, "/run/.s.PGSQL.6432"), None);
    assert_eq!(part(100, 0, "/run/.s.PGSQL.6432"), None);
    assert_eq!(part(100, 125, "/run/app.sock"), None);
}
