//! Statements of a database that nobody ran: for what a page shows of them.

use model::{
    Entity, EntityEvent, EntityId, EntityKind, EntityRecord, MISSING, Role, TableData, Timeline,
};
use recording::Recording;
use sensors::postgres::SESSION;
use sensors::statement::STATEMENT;

use super::made::HOSTILE;

const SECOND_NS: i64 = 1_000_000_000;
/// The number of the pool that runs them; theirs follow it.
const POOL: u32 = 910_000;

/// ms of each second on a CPU, waiting for one, in fsync, in locks, and for the client.
type Parts = [i64; 5];

/// Statements of a database: one whose sessions wait for a lock that another session holds while it is idle, one that
/// computes, one that waits for its client, one that grants; and nine more.
pub(super) fn with_statements(mut recording: Recording) -> Recording {
    let timeline = &mut recording.timeline;
    let of_target = |it: &&EntityRecord| it.role == Role::Target;
    let processes = timeline.entities.of_kind(EntityKind::Process);
    let processes: Vec<EntityId> = processes.filter(of_target).map(|it| it.id).collect();
    let (holder, waiter) = (processes[0], processes[processes.len() - 1]);
    add(timeline, POOL, EntityKind::Pool, holder, "postgres");
    let many = |it: usize| format!("SELECT {}", "a".repeat(it * 30 + 1));
    let others: Vec<String> = (0..9).map(many).collect();
    let mut statements: Vec<(&str, Parts, i64)> = vec![
        (
            "UPDATE accounts SET balance = balance + ? WHERE id = ?",
            [100, 80, 220, 400, 0],
            0,
        ),
        (
            "SELECT count(*) FROM history WHERE day > ?",
            [500, 90, 0, 0, 0],
            0,
        ),
        (HOSTILE[0], [40, 20, 0, 0, 200], 0),
        ("GRANT SELECT ON accounts TO somebody", [1, 1, 2, 0, 0], 1),
    ];
    statements.extend(others.iter().map(|it| (&**it, [9, 1, 0, 0, 0], 0)));
    let times = times(timeline, &statements);
    timeline.insert(times);
    let sessions = sessions(timeline, holder, waiter);
    timeline.insert(sessions);
    recording
}

fn add(timeline: &mut Timeline, number: u32, kind: EntityKind, parent: EntityId, name: &str) {
    let path = format!("pool:1/statement:{}", number - POOL);
    let time = timeline.window.start;
    let record = EntityRecord {
        parent: Some(parent),
        ..EntityRecord::new(EntityId(number), Entity::new(kind, name, path), time)
    };
    timeline.entities.apply(EntityEvent { time, record });
}

/// What the statements took, once a second; each has the id of its place, from 1 on.
fn times(timeline: &mut Timeline, statements: &[(&str, Parts, i64)]) -> TableData {
    let mut seen = TableData::new(STATEMENT.clone());
    let window = timeline.window;
    for (id, (text, parts, rare)) in (1..).zip(statements) {
        let number = POOL + id as u32;
        add(
            timeline,
            number,
            EntityKind::Statement,
            EntityId(POOL),
            text,
        );
        let [on_cpu, queued, sync, lock, client] = *parts;
        let ms = [on_cpu, 0, queued, 0, 0, 0, 0, sync, lock, 0, client, 0];
        for second in 0..=window.len_ns() / SECOND_NS {
            let began = window.start + second * SECOND_NS;
            let others = [second * 7, began.as_ns(), id, *rare];
            let time = ms.into_iter().map(|ms| ms * second * 1_000_000);
            let row: Vec<i64> = time.chain(others).collect();
            seen.push(began, EntityId(number), &row);
        }
    }
    seen
}

/// Both sessions ran the first statement: one is idle in transaction, and the other waits for it.
fn sessions(timeline: &Timeline, holder: EntityId, waiter: EntityId) -> TableData {
    let mut seen = TableData::new(SESSION.clone());
    let window = timeline.window;
    for second in 0..window.len_ns() / SECOND_NS {
        let at = window.start + second * SECOND_NS;
        let mut look = [
            (holder, [3, 6, MISSING, SECOND_NS, 1]),
            (waiter, [1, 3, i64::from(holder.0), MISSING, 1]),
        ];
        look.sort();
        for (session, row) in look {
            seen.push(at, session, &row);
        }
    }
    seen
}
