//! What a poll found, as rows of the tables. Pure.

use model::MISSING;
use sensors::mysql::MYSQL;

use super::questions::{Look, Session};
use crate::{MOST_SESSIONS, Poll, SessionRow, Value};

const ACTIVE: i64 = 1;
const IDLE: i64 = 2;
const IDLE_IN_TRANSACTION: i64 = 3;
/// PostgreSQL's numbers of wait classes, which the table has for both.
const LOCK: i64 = 0x03;
const CLIENT: i64 = 0x06;
/// Variables that count in milliseconds.
const MILLISECONDS: &str = "Innodb_row_lock_time";

/// The rows of a look; `limit` sessions may be connected.
pub(crate) fn poll(look: &Look, limit: Option<i64>) -> Poll {
    let mut wanted: Vec<&Session> = look.sessions.iter().collect();
    wanted.sort_by_key(|session| urgency(session));
    let kept = wanted.len().min(MOST_SESSIONS);
    Poll {
        server: server(look, limit),
        sessions: wanted[..kept].iter().filter_map(|it| row(it)).collect(),
        series: Vec::new(),
        texts: Vec::new(),
        left_out: wanted.len() - kept,
    }
}

/// Each column's variable stands first in its source.
fn server(look: &Look, limit: Option<i64>) -> Vec<i64> {
    let value = |column: &model::Column| {
        let variable = column.source.split(' ').next().unwrap_or_default();
        let scale = if variable == MILLISECONDS {
            1_000_000
        } else {
            1
        };
        match variable {
            "max_connections" => limit,
            name => {
                let value = look.status.get(&name.to_ascii_lowercase())?;
                Some(value.saturating_mul(scale))
            }
        }
    };
    let columns = MYSQL.columns.iter();
    columns.map(|it| value(it).unwrap_or(MISSING)).collect()
}

/// `None` for a session that no thread serves now.
fn row(session: &Session) -> Option<SessionRow> {
    let age_ns = session.transaction.map(|transaction| transaction.age_ns);
    let blocker = session.blocked_by.map(Value::Task);
    let values = [
        Value::Number(state(session)),
        Value::Number(wait_class(session)),
        blocker.unwrap_or(Value::Number(MISSING)),
        Value::Number(age_ns.unwrap_or(MISSING)),
    ];
    Some(SessionRow {
        task: session.thread?,
        values: values.to_vec(),
    })
}

/// Those that wait for a lock first, then the active ones, then who keeps a transaction open.
fn urgency(session: &Session) -> u8 {
    match (wait_class(session), state(session)) {
        (LOCK, _) => 0,
        (_, ACTIVE) => 1,
        (_, IDLE_IN_TRANSACTION) => 2,
        _ => 3,
    }
}

fn state(session: &Session) -> i64 {
    match session.command.as_str() {
        "Sleep" if session.transaction.is_some() => IDLE_IN_TRANSACTION,
        "Sleep" => IDLE,
        command if command.starts_with("Binlog Dump") || command.starts_with("Slave_") => 0,
        "Replica_IO" | "Replica_SQL" | "Connect" | "Register Slave" => 0,
        _ => ACTIVE,
    }
}

fn wait_class(session: &Session) -> i64 {
    let state = session.state.as_str();
    // `Waiting for table metadata lock`, `Waiting for table level lock`, `User lock` of GET_LOCK().
    let waits = state.starts_with("Waiting for ") && state.ends_with(" lock");
    match session.transaction {
        Some(transaction) if transaction.waits => LOCK,
        _ if waits || state == "User lock" => LOCK,
        _ if session.command == "Sleep" => CLIENT,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::super::questions::Transaction;
    use super::*;

    fn session(command: &str, state: &str, waits: Option<bool>) -> Session {
        let transaction = waits.map(|waits| Transaction { waits, age_ns: 9 });
        Session {
            thread: Some(5),
            command: command.to_owned(),
            state: state.to_owned(),
            transaction,
            blocked_by: None,
        }
    }

    #[test]
    fn words_as_codes() {
        for (command, stage, waits, wanted) in [
            ("Query", "Updating", Some(true), (ACTIVE, LOCK)),
            ("Query", "Sending data", Some(false), (ACTIVE, 0)),
            (
                "Query",
                "Waiting for table metadata lock",
                None,
                (ACTIVE, LOCK),
            ),
            (
                "Query",
                "Waiting for room in worker thread event queue",
                None,
                (ACTIVE, 0),
            ),
            ("Sleep", "", None, (IDLE, CLIENT)),
            ("Sleep", "", Some(false), (IDLE_IN_TRANSACTION, CLIENT)),
            ("Binlog Dump GTID", "", None, (0, 0)),
        ] {
            let session = session(command, stage, waits);
            let codes = (state(&session), wait_class(&session));
            assert_eq!(codes, wanted, "{command} {stage}");
        }
    }

    #[test]
    fn variables_by_the_columns_that_name_them() {
        let mut look = Look::default();
        for (name, value) in [
            ("threads_connected", 7),
            ("innodb_row_lock_time", 3),
            ("innodb_deadlocks", 2),
        ] {
            look.status.insert(name.to_owned(), value);
        }
        let row = poll(&look, Some(151)).server;
        let of = |column| row[MYSQL.position(column).expect("there is such a column")];
        assert_eq!((of("sessions"), of("sessions_limit")), (7, 151));
        assert_eq!((of("row_lock_time_ns"), of("deadlocks")), (3_000_000, 2));
        assert_eq!(of("log_fsyncs"), MISSING);
    }

    #[test]
    fn who_waits_comes_first_and_a_session_without_a_thread_has_no_row() {
        let look = Look {
            sessions: vec![
                session("Sleep", "", None),
                Session {
                    thread: None,
                    ..session("Sleep", "", None)
                },
                Session {
                    blocked_by: Some(9),
                    ..session("Query", "", Some(true))
                },
            ],
            ..Look::default()
        };
        let rows = poll(&look, None).sessions;
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0].values[2], Value::Task(9));
    }
}
