//! What PgBouncer reports about its pools. Who asks is elsewhere.
//!
//! The fields: <https://www.pgbouncer.org/usage.html#show-commands>. A pool is of one database and one
//! user; its own, for the console, is left out.

use model::{Column, EntityKind, Quality, Table, Unit};

const fn count(name: &'static str, help: &'static str, source: &'static str) -> Column {
    Column::counter(name, Unit::Count, help, source)
}

const fn time(name: &'static str, help: &'static str, source: &'static str) -> Column {
    Column::counter(name, Unit::Nanoseconds, help, source)
}

const fn gauge(name: &'static str, help: &'static str, source: &'static str) -> Column {
    Column::gauge(name, Unit::Count, help, source).quality(Quality::Sampled)
}

static COLUMNS: &[Column] = &[
    gauge("pools", "Pools, each of one database and one user.", "SHOW POOLS"),
    gauge(
        "pools_waiting",
        "Pools in which a client waits for a server connection.",
        "SHOW POOLS cl_waiting",
    ),
    gauge(
        "clients_active",
        "Clients with a server connection, and idle ones that wait for none.",
        "SHOW POOLS cl_active",
    ),
    gauge(
        "clients_waiting",
        "Clients that have sent a query and wait for a server connection.",
        "SHOW POOLS cl_waiting",
    ),
    gauge(
        "clients_login",
        "Clients that log in.",
        "SHOW LISTS login_clients",
    ),
    gauge(
        "clients_limit",
        "Clients that may be connected.",
        "SHOW CONFIG max_client_conn",
    ),
    gauge(
        "servers_active",
        "Server connections that serve a client, or a request to cancel.",
        "SHOW POOLS sv_active, sv_active_cancel, sv_being_canceled",
    ),
    gauge(
        "servers_idle",
        "Server connections that are free or will be after a check.",
        "SHOW POOLS sv_idle, sv_used, sv_tested",
    ),
    gauge(
        "servers_login",
        "Server connections that log in.",
        "SHOW POOLS sv_login",
    ),
    Column::gauge(
        "longest_wait_ns",
        Unit::Nanoseconds,
        "How long the client that has waited longest for a server connection has waited; 0 while none waits.",
        "SHOW POOLS maxwait, maxwait_us",
    )
    .quality(Quality::Sampled),
    count("transactions", "Transactions pooled.", "SHOW STATS total_xact_count"),
    count("queries", "Queries pooled.", "SHOW STATS total_query_count"),
    Column::counter(
        "received_bytes",
        Unit::Bytes,
        "Bytes from clients.",
        "SHOW STATS total_received",
    ),
    Column::counter(
        "sent_bytes",
        Unit::Bytes,
        "Bytes to clients.",
        "SHOW STATS total_sent",
    ),
    time(
        "transaction_time_ns",
        "Time in transactions, summed over server connections; counted as each ends.",
        "SHOW STATS total_xact_time",
    ),
    time(
        "query_time_ns",
        "Time in queries, summed over server connections; counted as each ends.",
        "SHOW STATS total_query_time",
    ),
    time(
        "wait_time_ns",
        "Time that clients waited for a server connection, summed over clients; counted as each wait ends.",
        "SHOW STATS total_wait_time",
    ),
];

/// A row per poll, about PgBouncer's process. For one without a process on this machine it stands at the
/// workload, or at the machine where there is none.
pub static PGBOUNCER: Table = Table::new(
    "pgbouncer",
    EntityKind::Process,
    "States and counters of PgBouncer's pools, summed over all of them.",
    COLUMNS,
);
