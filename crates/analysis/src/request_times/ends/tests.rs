//! A load, and others who ask the same server.

use model::{Column, Entity, EntityEvent, EntityKind, EntityRecord, Table, Timestamp, Unit};
use sensors::request::{CALLS, REQUESTS, bound_ns};

use super::*;
use crate::request_times::bins;

const SERVER: EntityId = EntityId(1);
const GENERATOR: EntityId = EntityId(2);

static COLUMNS: [Column; 1] = [Column::gauge("rtt_min_ns", Unit::Nanoseconds, "", "")];
static WAYS: Table = Table::new("connection", EntityKind::Connection, "", &COLUMNS);

/// Adds a connection by its name, or a process.
fn add(timeline: &mut Timeline, id: EntityId, name: &str, parent: Option<EntityId>, role: Role) {
    let kind = match parent {
        Some(_) => EntityKind::Connection,
        None => EntityKind::Process,
    };
    let record = EntityRecord {
        role,
        parent,
        ..EntityRecord::new(id, Entity::new(kind, name, name), timeline.window.start)
    };
    let time = timeline.window.start;
    timeline.entities.apply(EntityEvent { time, record });
}

/// Ten seconds of requests, of so many ms each, all of them timed.
fn counted(timeline: &mut Timeline, table: &'static Table, id: EntityId, requests: i64, ms: i64) {
    let place = |name: &str| table.position(name).expect("it is a column");
    let mut row = vec![0; table.columns.len()];
    timeline
        .table_mut(table)
        .push(Timestamp::from_seconds(0.0), id, &row);
    row[place("requests")] = requests;
    row[place("timed")] = requests;
    row[place("timed_ns")] = requests * ms * 1_000_000;
    let mut columns = table.columns.iter();
    let above = |it: &Column| bound_ns(&it.name).is_some_and(|it| it > ms as f64 * 1e6);
    row[columns.position(above).expect("there is one")] = requests;
    timeline
        .table_mut(table)
        .push(Timestamp::from_seconds(10.0), id, &row);
}

/// A thousand requests of the load, of 10 ms each at the generator and 4 at the server, and so many of others.
fn beside(others: i64, ms: i64) -> Timeline {
    let (begin, end) = (Timestamp::from_seconds(0.0), Timestamp::from_seconds(10.0));
    let mut timeline = Timeline::new(Window::new(begin, end));
    add(&mut timeline, SERVER, "server", None, Role::Target);
    add(&mut timeline, GENERATOR, "load", None, Role::Generator);
    let [own, called, apart, way] = [3, 4, 5, 6].map(EntityId);
    let mut connection = |id, name, holder, role| {
        add(&mut timeline, id, name, Some(holder), role);
    };
    connection(own, "b:2-a:1", SERVER, Role::Target);
    connection(apart, "b:2-c:9", SERVER, Role::Target);
    connection(called, "requests", GENERATOR, Role::Generator);
    connection(way, "a:1-b:2", GENERATOR, Role::Generator);
    counted(&mut timeline, &REQUESTS, own, 1_000, 4);
    counted(&mut timeline, &REQUESTS, apart, others, ms);
    counted(&mut timeline, &CALLS, called, 1_000, 10);
    timeline.table_mut(&WAYS).push(begin, way, &[0]);
    timeline
}

#[test]
fn a_load_among_others_is_judged_by_its_own_requests() {
    let timeline = beside(1_000, 1);
    let end = nearest_end(&timeline);
    assert_eq!(end, Some(End::GeneratorAmongOthers));
    let bins = bins(&timeline, End::GeneratorAmongOthers);
    assert!(bins.iter().all(|it| (it.throughput - 100.0).abs() < 1e-6));
    assert!(bins.iter().all(|it| it.latency_ns == Some(10e6)));
    let ends = BothEnds::over(&timeline, 0.0, timeline.window).expect("both are known");
    assert_eq!(
        (ends.served_ns, ends.called_ns, ends.requests),
        (4e6, 10e6, 1_000.0)
    );
}

#[test]
fn over_unix_sockets_a_load_is_known_by_its_process() {
    let mut timeline = beside(1_000, 1);
    for record in timeline.entities.iter_mut() {
        match &*record.entity.name {
            "load" => record.entity.path = "pid:7@1".to_owned(),
            "b:2-a:1" => record.entity.name = unix_socket_of(7),
            "b:2-c:9" => record.entity.name = unix_socket_of(8),
            "a:1-b:2" => record.role = Role::Background,
            _ => {}
        }
    }
    assert_eq!(nearest_end(&timeline), Some(End::GeneratorAmongOthers));
}

#[test]
fn where_others_take_much_of_the_time_all_requests_are_judged() {
    assert_eq!(nearest_end(&beside(1_000, 2)), Some(End::Target));
    assert_eq!(
        BothEnds::over(&beside(1_000, 2), 0.0, beside(1_000, 2).window),
        None
    );
    assert_eq!(nearest_end(&beside(5, 1)), Some(End::Generator));
}
