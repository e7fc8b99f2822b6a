//! What PostgreSQL says of itself: the tables, and the codes of its words. Who asks is elsewhere.
//!
//! The words: <https://www.postgresql.org/docs/current/monitoring-stats.html>.

use model::{Column, EntityKind, MISSING, Quality, Table, Unit};

static SESSION_COLUMNS: &[Column] = &[
    Column::gauge(
        "state",
        Unit::Code,
        "1 active, 2 idle, 3 idle in transaction, 4 idle in transaction (aborted), 5 fastpath function call, 6 disabled (track_activities is off), 0 any other.",
        "pg_stat_activity.state",
    )
    .quality(Quality::Sampled),
    Column::gauge(
        "wait_class",
        Unit::Code,
        "PostgreSQL's number of the wait event type: 1 LWLock, 3 Lock, 4 BufferPin, 5 Activity, 6 Client, 7 Extension, 8 IPC, 9 Timeout, 10 IO; 0 while it does not wait, null for a class that this version does not know.",
        "pg_stat_activity.wait_event_type",
    )
    .quality(Quality::Sampled),
    Column::gauge(
        "blocked_by",
        Unit::Code,
        "The number of the process that blocks it: the first of its blockers, followed to the one that waits for no lock itself. Null when nothing blocks it, when a prepared transaction does, and beyond the 100 sessions that have waited longest.",
        "pg_blocking_pids(), of sessions that wait for a Lock",
    )
    .quality(Quality::Sampled),
    Column::gauge(
        "transaction_age_ns",
        Unit::Nanoseconds,
        "How long its transaction has lasted; null outside one.",
        "pg_stat_activity.xact_start",
    )
    .quality(Quality::Sampled),
    Column::gauge(
        "query_id",
        Unit::Code,
        "The id of the statement that it runs, or ran last, as pg_stat_statements.queryid has it; null before version 14, and where statements have no ids (compute_query_id).",
        "pg_stat_activity.query_id",
    )
    .quality(Quality::Sampled),
];

/// A row per session and look, whether it changed or not.
pub static SESSION: Table = Table::new(
    "session",
    EntityKind::Process,
    "Client sessions and parallel workers, as PostgreSQL reports them; at most 2,000 per query, \
     those first that wait for a lock, then the active ones.",
    SESSION_COLUMNS,
);

static DATABASE_COLUMNS: &[Column] = &[
    Column::counter(
        "commits",
        Unit::Count,
        "Transactions committed in the database, one a second of them Stallscope's own; PostgreSQL counts up to a second late.",
        "pg_stat_database.xact_commit",
    ),
    Column::counter(
        "rollbacks",
        Unit::Count,
        "Transactions rolled back.",
        "pg_stat_database.xact_rollback",
    ),
    Column::counter(
        "blocks_read",
        Unit::Count,
        "Blocks that were not in shared buffers; the kernel's cache may have had them.",
        "pg_stat_database.blks_read",
    ),
    Column::counter(
        "blocks_hit",
        Unit::Count,
        "Blocks found in shared buffers.",
        "pg_stat_database.blks_hit",
    ),
    Column::counter(
        "temp_bytes",
        Unit::Bytes,
        "Written to temporary files by queries.",
        "pg_stat_database.temp_bytes",
    ),
    Column::counter(
        "deadlocks",
        Unit::Count,
        "Deadlocks that PostgreSQL resolved.",
        "pg_stat_database.deadlocks",
    ),
    Column::counter(
        "read_time_ns",
        Unit::Nanoseconds,
        "Time that backends spent reading blocks; null while track_io_timing is off.",
        "pg_stat_database.blk_read_time",
    ),
    Column::gauge(
        "sessions",
        Unit::Count,
        "Sessions of clients in all databases, Stallscope's own included.",
        "pg_stat_activity",
    )
    .quality(Quality::Sampled),
    Column::gauge(
        "active_sessions",
        Unit::Count,
        "Those that run a statement, Stallscope's own left out; null while sessions are hidden from its role.",
        "pg_stat_activity.state",
    )
    .quality(Quality::Sampled),
    Column::gauge(
        "sessions_limit",
        Unit::Count,
        "Sessions that ordinary roles may have in all.",
        "max_connections - superuser_reserved_connections - reserved_connections",
    ),
    Column::gauge(
        "lock_waiters",
        Unit::Count,
        "Sessions and parallel workers that wait for a heavyweight lock; null while sessions are hidden.",
        "pg_stat_activity.wait_event_type",
    )
    .quality(Quality::Sampled),
    Column::gauge(
        "idle_in_transaction",
        Unit::Count,
        "Sessions that hold a transaction open and run nothing, aborted ones included; null while sessions are hidden.",
        "pg_stat_activity.state",
    )
    .quality(Quality::Sampled),
];

/// A row per look, about the server's first process. For a server without a process on
/// this machine it stands at the workload, or at the machine where there is none.
pub static DATABASE: Table = Table::new(
    "database",
    EntityKind::Process,
    "Counters of the database that is queried, and counts of the server's sessions.",
    DATABASE_COLUMNS,
);

/// The code of a session's state.
pub fn state_code(word: &str) -> i64 {
    match word {
        "active" => 1,
        "idle" => 2,
        "idle in transaction" => 3,
        "idle in transaction (aborted)" => 4,
        "fastpath function call" => 5,
        "disabled" => 6,
        _ => 0,
    }
}

/// The code of a class of waits, as in PostgreSQL's `utils/wait_event.h` (`utils/wait_classes.h` since
/// version 17); version 9.6 had two words for lightweight locks.
pub fn wait_class_code(word: Option<&str>) -> i64 {
    match word {
        None => 0,
        Some("LWLock" | "LWLockNamed" | "LWLockTranche") => 0x01,
        Some("Lock") => 0x03,
        Some("BufferPin" | "Buffer") => 0x04,
        Some("Activity") => 0x05,
        Some("Client") => 0x06,
        Some("Extension") => 0x07,
        Some("IPC") => 0x08,
        Some("Timeout") => 0x09,
        Some("IO") => 0x0A,
        Some(_) => MISSING,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_class_of_waits_is_missing_and_no_wait_is_zero() {
        assert_eq!(wait_class_code(None), 0);
        assert_eq!(wait_class_code(Some("Lock")), 3);
        assert_eq!(wait_class_code(Some("LWLockTranche")), 1);
        assert_eq!(wait_class_code(Some("InjectionPoint")), MISSING);
    }

    #[test]
    fn states() {
        let words = ["active", "idle", "idle in transaction", "starting"];
        assert_eq!(words.map(state_code), [1, 2, 3, 0]);
    }
}
