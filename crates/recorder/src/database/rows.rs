//! A look made into rows: sessions joined with the processes that serve them.

use model::{ColumnKind, MISSING, Monotone, Rollback, Rows, Table, Timestamp};
use sensors::postgres::{DATABASE, SESSION, state_code, wait_class_code};
use sources::postgres::{Counters, Look, Session};

use super::processes::Processes;

/// Rows of sessions per look; what a person could not read is not worth its cost.
pub(super) const MOST_SESSIONS: usize = 2_000;
const ACTIVE: i64 = 1;
const IDLE_IN_TRANSACTION: [i64; 2] = [3, 4];
const LOCK: i64 = 0x03;

/// The rows of the sessions of a server on this machine, and how many there was no room for.
pub(super) fn sessions(time: Timestamp, look: &Look, processes: &Processes) -> (Rows, usize) {
    let entity = |pid| processes.at(pid, time).map(|process| process.entity);
    let mut wanted: Vec<&Session> = look.sessions.iter().collect();
    wanted.sort_by_key(|session| urgency(session));
    let kept = wanted.len().min(MOST_SESSIONS);
    let mut rows = Rows::with_capacity(SESSION.columns.len(), kept);
    for session in &wanted[..kept] {
        let Some(served_by) = entity(session.pid) else {
            continue;
        };
        let blocker = session.blocked_by.and_then(entity);
        let values = [
            state_code(&session.state),
            wait_class_code(session.wait.as_deref()),
            blocker.map_or(MISSING, |blocker| i64::from(blocker.0)),
            session.transaction_age_ns.unwrap_or(MISSING),
        ];
        rows.push(time, served_by, &values);
    }
    (rows, wanted.len() - kept)
}

/// Those that wait for a lock first, then the active ones, then who keeps a transaction open.
fn urgency(session: &Session) -> u8 {
    let state = state_code(&session.state);
    match () {
        () if wait_class_code(session.wait.as_deref()) == LOCK => 0,
        () if state == ACTIVE => 1,
        () if IDLE_IN_TRANSACTION.contains(&state) => 2,
        () => 3,
    }
}

/// The counters of the database, held monotone: they may be reset, and a crash of the server loses
/// them.
pub(super) struct Held {
    counters: Vec<Option<Monotone>>,
    /// Readings that ran back, per column.
    pub(super) corrections: Vec<u64>,
}

impl Held {
    pub(super) fn new() -> Self {
        let width = DATABASE.columns.len();
        Self {
            counters: vec![None; width],
            corrections: vec![0; width],
        }
    }

    /// The row of the database.
    pub(super) fn row(&mut self, look: &Look, limit: Option<i64>) -> Vec<i64> {
        let counters = look.counters.as_ref().map_or([MISSING; 7], counters_of);
        let mut row: Vec<i64> = counters.into_iter().chain(gauges(look, limit)).collect();
        for (index, value) in row.iter_mut().enumerate() {
            if is_counter(&DATABASE, index) && *value != MISSING {
                *value = self.hold(index, *value);
            }
        }
        row
    }

    fn hold(&mut self, index: usize, raw: i64) -> i64 {
        let counter = self.counters[index].get_or_insert(Monotone::new(raw));
        let (held, rollback) = counter.advance(raw);
        self.corrections[index] += u64::from(rollback != Rollback::None);
        held
    }
}

fn is_counter(table: &Table, index: usize) -> bool {
    table.columns[index].kind == ColumnKind::Counter
}

/// In the order of the table's columns.
fn counters_of(counters: &Counters) -> [i64; 7] {
    [
        counters.commits,
        counters.rollbacks,
        counters.blocks_read,
        counters.blocks_hit,
        counters.temp_bytes,
        counters.deadlocks,
        counters.read_time_ns,
    ]
    .map(|value| value.unwrap_or(MISSING))
}

fn gauges(look: &Look, limit: Option<i64>) -> [i64; 5] {
    let count = |wanted: &dyn Fn(&Session) -> bool| {
        look.sessions
            .iter()
            .filter(|session| wanted(session))
            .count() as i64
    };
    // Of sessions that are hidden only their number is known.
    let known = |number| if look.hidden == 0 { number } else { MISSING };
    let own = 1;
    let clients = count(&|session| !session.parallel);
    let active = count(&|session| !session.parallel && state_code(&session.state) == ACTIVE);
    let waiting = count(&|session| wait_class_code(session.wait.as_deref()) == LOCK);
    let idle = count(&|session| IDLE_IN_TRANSACTION.contains(&state_code(&session.state)));
    [
        clients + i64::from(look.hidden) + own,
        known(active),
        limit.unwrap_or(MISSING),
        known(waiting),
        known(idle),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(state: &str, wait: Option<&str>) -> Session {
        Session {
            pid: 1,
            parallel: false,
            state: state.to_owned(),
            wait: wait.map(str::to_owned),
            transaction_age_ns: None,
            blocked_by: None,
        }
    }

    fn value(row: &[i64], column: &str) -> i64 {
        row[DATABASE.position(column).expect("there is such a column")]
    }

    #[test]
    fn sessions_in_numbers() {
        let mut look = Look {
            sessions: vec![
                session("active", Some("Lock")),
                session("active", None),
                session("idle in transaction (aborted)", Some("Client")),
                Session {
                    parallel: true,
                    ..session("active", Some("IPC"))
                },
            ],
            ..Look::default()
        };
        let row = Held::new().row(&look, Some(97));
        let wanted = [
            ("sessions", 4),
            ("active_sessions", 2),
            ("sessions_limit", 97),
            ("lock_waiters", 1),
            ("idle_in_transaction", 1),
            ("commits", MISSING),
        ];
        for (column, number) in wanted {
            assert_eq!(value(&row, column), number, "{column}");
        }
        look.hidden = 2;
        let row = Held::new().row(&look, None);
        assert_eq!(value(&row, "sessions"), 6);
        assert_eq!(value(&row, "active_sessions"), MISSING);
        assert_eq!(value(&row, "sessions_limit"), MISSING);
    }

    #[test]
    fn counters_that_were_reset_go_on() {
        let counters = |commits| Look {
            counters: Some(Counters {
                commits: Some(commits),
                rollbacks: None,
                blocks_read: None,
                blocks_hit: None,
                temp_bytes: None,
                deadlocks: None,
                read_time_ns: None,
            }),
            ..Look::default()
        };
        let mut held = Held::new();
        let seen = [1000, 1001, 2, 5].map(|n| value(&held.row(&counters(n), None), "commits"));
        assert_eq!(seen, [1000, 1001, 1003, 1006]);
        assert_eq!(held.corrections[0], 1);
    }

    #[test]
    fn who_waits_for_a_lock_comes_first() {
        let ranks = [
            session("active", Some("Lock")),
            session("active", Some("IO")),
            session("idle in transaction", Some("Client")),
            session("idle", Some("Client")),
        ];
        assert_eq!(ranks.map(|session| urgency(&session)), [0, 1, 2, 3]);
    }
}
