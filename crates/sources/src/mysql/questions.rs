//! What is asked, by server, and how the answers are read. Pure.
//!
//! InnoDB's lists are copies that the server renews at most every 0.1 s, so those of one poll fit
//! together. They are joined here: the server would join them without an index.

use std::collections::HashMap;

use crate::blockers::root;

/// A row of an answer, as text.
pub(crate) type Row = Vec<Option<String>>;

/// Which of the two servers answers, as far as they are asked differently.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Flavour {
    /// MariaDB.
    MariaDb,
    /// MySQL 5.7, and those that say as little.
    MySql5,
    /// MySQL 8 and newer.
    MySql8,
}

impl Flavour {
    /// By what VERSION() answers: `10.11.6-MariaDB-0+deb12u1`, `8.4.3`.
    pub(super) fn of(version: &str) -> Self {
        let major = version.split('.').next().and_then(|it| it.parse().ok());
        match (version.contains("MariaDB"), major) {
            (true, _) => Self::MariaDb,
            (false, Some(8_u32..)) => Self::MySql8,
            (false, _) => Self::MySql5,
        }
    }

    /// Limits of the session, set as it starts.
    pub(super) fn limits(self) -> &'static str {
        match self {
            Self::MariaDb => {
                "SET SESSION max_statement_time = 2, lock_wait_timeout = 1, time_zone = 'SYSTEM'"
            }
            Self::MySql5 | Self::MySql8 => {
                "SET SESSION max_execution_time = 2000, lock_wait_timeout = 1, time_zone = 'SYSTEM'"
            }
        }
    }

    /// Sessions: number, thread of the operating system, command, state.
    pub(super) fn sessions(self) -> &'static str {
        match self {
            Self::MariaDb => {
                "SELECT id, tid, command, state FROM information_schema.processlist WHERE id <> CONNECTION_ID() AND command <> 'Daemon'"
            }
            Self::MySql5 | Self::MySql8 => {
                "SELECT processlist_id, thread_os_id, processlist_command, processlist_state FROM performance_schema.threads WHERE type = 'FOREGROUND' AND processlist_id <> CONNECTION_ID() AND processlist_command <> 'Daemon'"
            }
        }
    }

    /// Of each transaction that waits for a row lock, the oldest that blocks it.
    pub(super) fn lock_waits(self) -> &'static str {
        match self {
            Self::MariaDb | Self::MySql5 => {
                "SELECT requesting_trx_id, MIN(blocking_trx_id) FROM information_schema.innodb_lock_waits GROUP BY requesting_trx_id"
            }
            Self::MySql8 => {
                "SELECT requesting_engine_transaction_id, MIN(blocking_engine_transaction_id) FROM performance_schema.data_lock_waits GROUP BY requesting_engine_transaction_id"
            }
        }
    }

    /// What a user needs who asks for this and nothing else.
    pub(super) fn rights(self) -> &'static str {
        match self {
            Self::MariaDb => "GRANT PROCESS ON *.* TO this user",
            Self::MySql5 => {
                "GRANT PROCESS ON *.* and SELECT ON performance_schema.threads TO this user"
            }
            Self::MySql8 => {
                "GRANT PROCESS ON *.*, SELECT ON performance_schema.threads and SELECT ON performance_schema.data_lock_waits TO this user"
            }
        }
    }
}

/// Nothing that is asked here writes.
pub(super) const READ_ONLY: &str = "SET SESSION TRANSACTION READ ONLY";

/// Transactions: number, session, whether it waits for a row lock, age in us.
pub(super) const TRANSACTIONS: &str = "SELECT trx_id, trx_mysql_thread_id, trx_state = 'LOCK WAIT', TIMESTAMPDIFF(MICROSECOND, trx_started, SYSDATE()) FROM information_schema.innodb_trx";

/// Settings that are kept; those that a server does not have are left out.
pub(super) const SETTINGS: &str = "SHOW GLOBAL VARIABLES WHERE variable_name IN ('version', 'max_connections', 'thread_handling', 'innodb_buffer_pool_size', 'innodb_flush_log_at_trx_commit', 'innodb_flush_method', 'innodb_lock_wait_timeout', 'innodb_read_only', 'log_bin', 'performance_schema', 'sync_binlog')";

/// What one poll found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Look {
    /// Status variables by name, in small letters.
    pub(crate) status: HashMap<String, i64>,
    /// Sessions of clients and of replication; ours is left out.
    pub(crate) sessions: Vec<Session>,
}

/// One session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Session {
    /// The thread that serves it, as the operating system numbers it; `None` where none does now.
    pub(crate) thread: Option<u32>,
    /// The word for what it does: `Sleep`, `Query`.
    pub(crate) command: String,
    /// The word for the stage of its statement: `Waiting for table metadata lock`.
    pub(crate) state: String,
    /// Its transaction, as far as transactions were asked for.
    pub(crate) transaction: Option<Transaction>,
    /// The thread of the session at the root of what blocks it.
    pub(crate) blocked_by: Option<u32>,
}

/// A session's transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Transaction {
    /// Whether it waits for a row lock.
    pub(crate) waits: bool,
    /// How long it has lasted, ns.
    pub(crate) age_ns: i64,
}

/// The answers of one poll.
#[derive(Default)]
pub(crate) struct Answers {
    /// SHOW GLOBAL STATUS.
    pub(crate) status: Vec<Row>,
    /// `Flavour::sessions`.
    pub(crate) sessions: Vec<Row>,
    /// `TRANSACTIONS`.
    pub(crate) transactions: Vec<Row>,
    /// `Flavour::lock_waits`.
    pub(crate) lock_waits: Vec<Row>,
}

/// Reads the answers of one poll; rows of another form are passed over.
pub(crate) fn read(answers: &Answers) -> Look {
    let (transactions, blockers) = transactions(answers);
    let threads: HashMap<u64, u32> = answers
        .sessions
        .iter()
        .filter_map(|row| Some((cell(row, 0)?, thread(row)?)))
        .collect();
    let session = |row: &Row| {
        let id: u64 = cell(row, 0)?;
        let blocker = root(id, &blockers).filter(|id| *id != 0);
        Some(Session {
            thread: thread(row),
            command: row.get(2)?.clone().unwrap_or_default(),
            state: row.get(3)?.clone().unwrap_or_default(),
            transaction: transactions.get(&id).copied(),
            blocked_by: blocker.and_then(|id| threads.get(&id).copied()),
        })
    };
    Look {
        status: status(&answers.status),
        sessions: answers.sessions.iter().filter_map(session).collect(),
    }
}

/// Status variables by name, in small letters; those that are no numbers are left out.
pub(super) fn status(rows: &[Row]) -> HashMap<String, i64> {
    let variable = |row: &Row| Some((row.first()?.as_ref()?.to_ascii_lowercase(), cell(row, 1)?));
    rows.iter().filter_map(variable).collect()
}

/// Transactions by session, and which session blocks which; session 0 stands for a prepared transaction.
fn transactions(answers: &Answers) -> (HashMap<u64, Transaction>, HashMap<u64, u64>) {
    let mut by_session = HashMap::new();
    let mut session_of: HashMap<&str, u64> = HashMap::new();
    for row in &answers.transactions {
        let (Some(Some(number)), Some(session)) = (row.first(), cell(row, 1)) else {
            continue;
        };
        session_of.insert(number, session);
        let age_us: i64 = cell(row, 3).unwrap_or(0);
        let transaction = Transaction {
            waits: cell(row, 2) == Some(1),
            age_ns: age_us.max(0).saturating_mul(1_000),
        };
        by_session.insert(session, transaction);
    }
    let pair = |row: &Row| {
        let session = |at: usize| session_of.get(row.get(at)?.as_deref()?).copied();
        Some((session(0)?, session(1)?))
    };
    let blockers = answers.lock_waits.iter().filter_map(pair).collect();
    (by_session, blockers)
}

/// The thread of a session's row. A pool of threads has none for a session that does nothing.
fn thread(row: &Row) -> Option<u32> {
    cell(row, 1).filter(|thread| *thread != 0)
}

fn cell<N: std::str::FromStr>(row: &Row, at: usize) -> Option<N> {
    row.get(at)?.as_ref()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Vec<Row> {
        let cell = |cell: &str| (cell != "-").then(|| cell.to_owned());
        let row = |line: &str| line.trim().split('|').map(cell).collect();
        text.lines().map(row).collect()
    }

    #[test]
    fn who_waits_for_a_row_lock_names_the_thread_of_the_root() {
        // What MariaDB 10.11 answered to two updates of a row behind an open transaction, and a prepared one.
        let look = read(&Answers {
            status: rows("Innodb_row_lock_current_waits|2\nThreads_running|5\nRsa_public_key|-"),
            sessions: rows(
                "6|19022|Sleep|
                 7|19033|Query|Updating
                 8|19035|Query|Updating
                 9|0|Sleep|
                 10|19040|Query|Updating
                 x|1|Sleep|",
            ),
            transactions: rows(
                "41|6|0|2978097
                 42|7|1|1978095
                 43|8|1|-5
                 44|0|0|9000000
                 45|10|1|7",
            ),
            lock_waits: rows("42|41\n43|42\n45|44\n99|41"),
        });
        let blockers: Vec<_> = look.sessions.iter().map(|it| it.blocked_by).collect();
        assert_eq!(blockers, [None, Some(19022), Some(19022), None, None]);
        let waits: Vec<_> = look
            .sessions
            .iter()
            .map(|it| it.transaction.map(|it| (it.waits, it.age_ns)))
            .collect();
        assert_eq!(
            waits,
            [
                Some((false, 2_978_097_000)),
                Some((true, 1_978_095_000)),
                Some((true, 0)),
                None,
                Some((true, 7_000))
            ]
        );
        assert_eq!(look.sessions[3].thread, None);
        assert_eq!(look.status["innodb_row_lock_current_waits"], 2);
        assert_eq!(look.status.len(), 2);
    }

    #[test]
    fn servers_differ_in_what_they_are_asked() {
        let of = Flavour::of;
        assert_eq!(of("10.11.6-MariaDB-0+deb12u1"), Flavour::MariaDb);
        assert_eq!(of("5.7.44-log"), Flavour::MySql5);
        assert_eq!(of("8.4.3"), Flavour::MySql8);
        assert_eq!(of(""), Flavour::MySql5);
        assert!(of("9.1.0").lock_waits().contains("data_lock_waits"));
        assert!(
            of("8.4.3")
                .sessions()
                .contains("performance_schema.threads")
        );
    }
}
