//! Statements drawn by their text and what they took in a second.

use model::{Entity, EntityEvent, MISSING};
use proptest::prelude::*;
use sensors::statement::{CALLS, NO_STATEMENT, WIDTH};

use super::*;

const POOL: EntityId = EntityId(1);

fn at(seconds: f64) -> Timestamp {
    Timestamp::from_seconds(seconds)
}

fn window() -> Window {
    Window::new(at(0.0), at(10.0))
}

fn add(timeline: &mut Timeline, record: EntityRecord) {
    let time = window().start;
    timeline.entities.apply(EntityEvent { time, record });
}

/// A recording of a server of this role.
fn recording(role: Role) -> Timeline {
    let mut timeline = Timeline::new(window());
    let process = Entity::new(EntityKind::Process, "postgres", "pid:1@1");
    let mut process = EntityRecord::new(EntityId(0), process, window().start);
    process.role = role;
    add(&mut timeline, process);
    let pool = Entity::new(EntityKind::Pool, "postgres", "pid:1@1/pool:1");
    let mut pool = EntityRecord::new(POOL, pool, window().start);
    pool.parent = Some(EntityId(0));
    add(&mut timeline, pool);
    timeline
}

/// Adds a statement that takes `ns` by part over the window, with when it began.
fn draw(timeline: &mut Timeline, text: &str, id: i64, ns: [i64; 12], rare: i64, began: &[f64]) {
    let number = EntityId(timeline.entities.iter().count() as u32);
    let entity = Entity::new(
        EntityKind::Statement,
        text,
        format!("statement:{}", number.0),
    );
    let mut record = EntityRecord::new(number, entity, window().start);
    record.parent = Some(POOL);
    add(timeline, record);
    let data = timeline.table_mut(&STATEMENT);
    let mut row = [0; WIDTH];
    row[CALLS + 1..].copy_from_slice(&[MISSING, id, rare]);
    data.push(window().start, number, &row);
    for began in began {
        row[CALLS] += 1;
        row[CALLS + 1] = at(*began).as_ns();
        data.push(at(began.ceil()), number, &row);
    }
    row[..12].copy_from_slice(&ns);
    data.push(window().end, number, &row);
}

fn one(part: Part, ns: i64) -> [i64; 12] {
    let mut all = [0; 12];
    all[part as usize] = ns;
    all
}

#[test]
fn the_longest_come_first_and_the_time_of_none_among_them() {
    let mut timeline = recording(Role::Target);
    draw(&mut timeline, "SELECT ?", 7, one(Part::OnCpu, 300), 0, &[]);
    draw(
        &mut timeline,
        NO_STATEMENT,
        0,
        one(Part::OnCpu, 100),
        0,
        &[],
    );
    draw(
        &mut timeline,
        "UPDATE t",
        -9,
        one(Part::Lock, 600),
        0,
        &[1.5, 2.5],
    );
    draw(&mut timeline, "idle", 11, [0; 12], 0, &[]);
    let found = statements(&timeline, window(), window().start);
    let told: Vec<_> = found
        .iter()
        .map(|it| (&*it.text, it.query_id.as_deref(), it.share, it.calls))
        .collect();
    assert_eq!(
        told,
        [
            ("UPDATE t", Some("-9"), 0.6, 2.0),
            ("SELECT ?", Some("7"), 0.3, 0.0),
            (NO_STATEMENT, None, 0.1, 0.0),
        ]
    );
    assert_eq!(found[0].lock_ns, 600.0);
}

#[test]
fn another_servers_statements_are_not_the_targets() {
    let mut timeline = recording(Role::Background);
    draw(&mut timeline, "SELECT ?", 7, one(Part::OnCpu, 300), 0, &[]);
    assert_eq!(statements(&timeline, window(), window().start), []);
}

#[test]
fn rare_statements_have_times_and_those_of_a_kind_are_told_together() {
    let mut timeline = recording(Role::Target);
    let grant = Rare::Grant as i64;
    draw(
        &mut timeline,
        "GRANT a",
        1,
        one(Part::Sync, 5),
        grant,
        &[1.25, 6.5],
    );
    draw(&mut timeline, "GRANT b", 2, [0; 12], grant, &[3.75]);
    let found = statements(&timeline, window(), at(1.0));
    assert_eq!(found[0].began_ns, [250_000_000, 5_500_000_000]);
    assert_eq!(found[0].rare.as_deref(), Some("GRANT, REVOKE"));
    assert_eq!(found[1].began_ns, [2_750_000_000]);
    let streams = rare_statements(&timeline).into_iter();
    let streams: Vec<_> = streams
        .map(|it| (it.0, it.1.is_some(), it.2.len()))
        .collect();
    assert_eq!(
        streams,
        [
            ("GRANT, REVOKE".to_owned(), false, 3),
            ("GRANT a".to_owned(), true, 2),
            ("GRANT b".to_owned(), true, 1),
        ]
    );
    for (text, id) in [("GRANT c", 3), ("GRANT d", 4)] {
        draw(&mut timeline, text, id, [0; 12], grant, &[8.0]);
    }
    let streams = rare_statements(&timeline);
    assert_eq!(streams.len(), 1);
    assert_eq!(streams[0].0, "GRANT, REVOKE (4 statements)");
    assert_eq!(streams[0].2.len(), 5);
}

proptest! {
    #[test]
    fn parts_add_up_to_each_statement_and_statements_to_all(
        drawn in prop::collection::vec(prop::array::uniform12(0..1_000_000_i64), 1..40),
    ) {
        let mut timeline = recording(Role::Target);
        for (id, ns) in (0..).zip(&drawn) {
            draw(&mut timeline, "s", id, *ns, 0, &[]);
        }
        let found = statements(&timeline, window(), window().start);
        let all: i64 = drawn.iter().flatten().sum();
        let total: f64 = found.iter().map(|it| it.total_ns).sum();
        prop_assert!((total - all as f64).abs() < 1.0);
        for it in &found {
            let parts = it.on_cpu_ns + it.queued.total_ns() + it.memory_ns + it.disk_ns + it.sync_ns
                + it.lock_ns + it.internal_lock_ns + it.client_ns + it.other_ns;
            prop_assert!((parts - it.total_ns).abs() < 1.0);
        }
        if all > 0 {
            let shares: f64 = found.iter().map(|it| it.share).sum();
            prop_assert!((shares - 1.0).abs() < 1e-6);
        }
    }
}
