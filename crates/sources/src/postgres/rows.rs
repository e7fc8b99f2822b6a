//! A look made into rows.

use model::MISSING;
use sensors::postgres::{state_code, wait_class_code};

use super::queries::{Counters, Look, Session};
use crate::{MOST_SESSIONS, Poll, SessionRow, Value};

const ACTIVE: i64 = 1;
const IDLE_IN_TRANSACTION: [i64; 2] = [3, 4];
const LOCK: i64 = 0x03;

/// The rows of a look; `limit` sessions may be there for ordinary roles.
pub(crate) fn poll(look: &Look, limit: Option<i64>) -> Poll {
    let counters = look.counters.as_ref().map_or([MISSING; 7], counters_of);
    let mut wanted: Vec<&Session> = look.sessions.iter().collect();
    wanted.sort_by_key(|session| urgency(session));
    let kept = wanted.len().min(MOST_SESSIONS);
    Poll {
        server: counters.into_iter().chain(gauges(look, limit)).collect(),
        sessions: wanted[..kept].iter().map(|session| row(session)).collect(),
        series: Vec::new(),
        texts: Vec::new(),
        left_out: wanted.len() - kept,
    }
}

fn row(session: &Session) -> SessionRow {
    let values = [
        Value::Number(state_code(&session.state)),
        Value::Number(wait_class_code(session.wait.as_deref())),
        session
            .blocked_by
            .map_or(Value::Number(MISSING), Value::Task),
        Value::Number(session.transaction_age_ns.unwrap_or(MISSING)),
        Value::Number(session.statement.unwrap_or(MISSING)),
    ];
    SessionRow {
        task: session.pid,
        values: values.to_vec(),
    }
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
    use sensors::postgres::DATABASE;

    fn session(state: &str, wait: Option<&str>) -> Session {
        Session {
            pid: 1,
            parallel: false,
            state: state.to_owned(),
            wait: wait.map(str::to_owned),
            transaction_age_ns: None,
            blocked_by: None,
            statement: None,
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
        let row = poll(&look, Some(97)).server;
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
        let row = poll(&look, None).server;
        assert_eq!(value(&row, "sessions"), 6);
        assert_eq!(value(&row, "active_sessions"), MISSING);
        assert_eq!(value(&row, "sessions_limit"), MISSING);
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
