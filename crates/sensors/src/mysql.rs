//! What MySQL and MariaDB report about themselves. Who asks is elsewhere.
//!
//! The variables: <https://mariadb.com/kb/en/server-status-variables/>,
//! <https://mariadb.com/kb/en/innodb-status-variables/> and
//! <https://dev.mysql.com/doc/refman/8.4/en/server-status-variables.html>.

use model::{Column, EntityKind, Quality, Table, Unit};

const fn count(name: &'static str, help: &'static str, source: &'static str) -> Column {
    Column::counter(name, Unit::Count, help, source)
}

const fn bytes(name: &'static str, help: &'static str, source: &'static str) -> Column {
    Column::counter(name, Unit::Bytes, help, source)
}

const fn gauge(name: &'static str, unit: Unit, help: &'static str, source: &'static str) -> Column {
    Column::gauge(name, unit, help, source).quality(Quality::Sampled)
}

static SESSION_COLUMNS: &[Column] = &[
    gauge(
        "state",
        Unit::Code,
        "1 active, 2 idle, 3 idle in a transaction, 0 any other (replication). Transactions are asked for only while somebody waits for a row lock: until then 3 is 2.",
        "PROCESSLIST.COMMAND, INNODB_TRX",
    ),
    gauge(
        "wait_class",
        Unit::Code,
        "As in the table session: 3 Lock (a row, table or user lock that another session holds), 6 Client (its next statement); 0 otherwise.",
        "INNODB_TRX.TRX_STATE, PROCESSLIST.STATE, PROCESSLIST.COMMAND",
    ),
    gauge(
        "blocked_by",
        Unit::Code,
        "The number of the thread whose session blocks it by a row lock: the oldest transaction that does, followed to the one that waits for no row lock itself. Null when nothing blocks it, when a prepared transaction without a session does, and for locks that are not InnoDB's.",
        "INNODB_LOCK_WAITS (MySQL 8: data_lock_waits), INNODB_TRX",
    ),
    gauge(
        "transaction_age_ns",
        Unit::Nanoseconds,
        "How long its transaction has lasted, to a second; null outside one, and while nobody waits for a row lock.",
        "INNODB_TRX.TRX_STARTED",
    ),
];

/// A row per session and query, whether it changed or not.
pub static SESSION: Table = Table::new(
    "mysql_session",
    EntityKind::Thread,
    "Sessions of MySQL or MariaDB, each about the thread of the server that serves it; at most 2,000 per \
     query, those first that wait for a lock, then the active ones.",
    SESSION_COLUMNS,
);

#[rustfmt::skip]
static COLUMNS: &[Column] = &[
    gauge("sessions", Unit::Count, "Sessions that are connected, Stallscope's own included.", "Threads_connected"),
    gauge("active_sessions", Unit::Count, "Sessions that run a statement, Stallscope's own included.", "Threads_running"),
    gauge("sessions_limit", Unit::Count, "Sessions that may be connected.", "max_connections"),
    gauge("row_lock_waiters", Unit::Count, "Sessions that wait for a row lock.", "Innodb_row_lock_current_waits"),
    count("connections", "Attempts to connect, failed ones included.", "Connections"),
    count("refused_connections", "Connections refused because of the limit.", "Connection_errors_max_connections"),
    count("questions", "Statements that clients sent, some five a second of them Stallscope's own.", "Questions"),
    count("slow_queries", "Statements that took longer than long_query_time.", "Slow_queries"),
    count("commits", "Statements COMMIT; a statement that commits by itself is none.", "Com_commit"),
    count("rollbacks", "Statements ROLLBACK.", "Com_rollback"),
    count("row_lock_waits", "Times that a session had to wait for a row lock.", "Innodb_row_lock_waits"),
    Column::counter("row_lock_time_ns", Unit::Nanoseconds, "Time that sessions waited for row locks, summed over sessions; counted as each wait ends, in whole milliseconds.", "Innodb_row_lock_time"),
    count("deadlocks", "Deadlocks that InnoDB resolved; null in MySQL.", "Innodb_deadlocks (MariaDB)"),
    count("table_lock_waits", "Times that a statement had to wait for a table lock.", "Table_locks_waited"),
    count("pages_read", "Pages that were not in the buffer pool; the kernel's cache may have had them.", "Innodb_buffer_pool_reads"),
    count("page_requests", "Pages asked of the buffer pool.", "Innodb_buffer_pool_read_requests"),
    count("free_page_waits", "Times that a session waited for a free page of the buffer pool, which had to be written first.", "Innodb_buffer_pool_wait_free"),
    gauge("dirty_pages", Unit::Count, "Pages of the buffer pool that are to be written.", "Innodb_buffer_pool_pages_dirty"),
    count("log_fsyncs", "Calls of fsync(2) for the redo log; null where the server does not count them (MariaDB 10.8 or newer).", "Innodb_os_log_fsyncs"),
    count("log_waits", "Times that the log buffer was too small and had to be written first.", "Innodb_log_waits"),
    bytes("log_bytes", "Bytes written to the redo log.", "Innodb_os_log_written"),
    count("data_fsyncs", "Calls of fsync(2) by InnoDB.", "Innodb_data_fsyncs"),
    count("disk_temporary_tables", "Temporary tables of statements that were written to disk.", "Created_tmp_disk_tables"),
    bytes("received_bytes", "Bytes from clients.", "Bytes_received"),
    bytes("sent_bytes", "Bytes to clients.", "Bytes_sent"),
];

/// A row per query, about the server's process. For a server without a process on this machine it stands
/// at the workload, or at the machine where there is none.
pub static MYSQL: Table = Table::new(
    "mysql",
    EntityKind::Process,
    "Counters and states that MySQL or MariaDB report.",
    COLUMNS,
);
