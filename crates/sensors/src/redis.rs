//! What Redis and Valkey report about themselves. Who asks is elsewhere.
//!
//! The fields: <https://redis.io/docs/latest/commands/info/>, and for spikes
//! <https://redis.io/docs/latest/operate/oss_and_stack/management/optimization/latency-monitor/>.

use model::{Column, EntityKind, Quality, Table, Unit};

const fn count(name: &'static str, help: &'static str, source: &'static str) -> Column {
    Column::counter(name, Unit::Count, help, source)
}

const fn gauge(name: &'static str, unit: Unit, help: &'static str, source: &'static str) -> Column {
    Column::gauge(name, unit, help, source).quality(Quality::Sampled)
}

/// The newest spike of an event, as long as it is new.
const fn spike(name: &'static str, help: &'static str, source: &'static str) -> Column {
    gauge(name, Unit::Nanoseconds, help, source)
}

static COLUMNS: &[Column] = &[
    gauge(
        "connected_clients",
        Unit::Count,
        "Clients that are connected, Stallscope's own connection included; replicas are not.",
        "INFO connected_clients",
    ),
    gauge(
        "blocked_clients",
        Unit::Count,
        "Clients that wait in a blocking command (BLPOP, XREAD BLOCK, WAIT): they wait by their own wish.",
        "INFO blocked_clients",
    ),
    gauge(
        "clients_limit",
        Unit::Count,
        "Clients that may be connected; the next one is rejected.",
        "INFO maxclients (Redis 6.2 or newer)",
    ),
    count(
        "connections",
        "Connections accepted.",
        "INFO total_connections_received",
    ),
    count(
        "rejected_connections",
        "Connections rejected because of the limit.",
        "INFO rejected_connections",
    ),
    count(
        "commands",
        "Commands processed, four a second of them Stallscope's own.",
        "INFO total_commands_processed",
    ),
    Column::counter(
        "command_time_ns",
        Unit::Nanoseconds,
        "Time that the main thread spent in commands, summed over all commands; reading requests and writing replies are not in it. One second a second means that it does nothing else.",
        "INFO commandstats, usec",
    ),
    count(
        "loop_cycles",
        "Rounds of the event loop.",
        "INFO eventloop_cycles (Redis 7.2, Valkey 7.2 or newer)",
    ),
    Column::counter(
        "loop_time_ns",
        Unit::Nanoseconds,
        "Time of the event loop's rounds without its waits for requests, as the clock goes: waits for a CPU are in it.",
        "INFO eventloop_duration_sum (Redis 7.2, Valkey 7.2 or newer)",
    ),
    Column::counter(
        "loop_command_time_ns",
        Unit::Nanoseconds,
        "The part of it in commands.",
        "INFO eventloop_duration_cmd_sum (Redis 7.2, Valkey 7.2 or newer)",
    ),
    Column::counter(
        "received_bytes",
        Unit::Bytes,
        "Bytes of requests.",
        "INFO total_net_input_bytes",
    ),
    Column::counter(
        "sent_bytes",
        Unit::Bytes,
        "Bytes of replies, some 10,000 a second of them to Stallscope.",
        "INFO total_net_output_bytes",
    ),
    count(
        "keyspace_hits",
        "Look-ups that found the key.",
        "INFO keyspace_hits",
    ),
    count(
        "keyspace_misses",
        "Look-ups that found no key.",
        "INFO keyspace_misses",
    ),
    count(
        "expired_keys",
        "Keys removed because their time was over.",
        "INFO expired_keys",
    ),
    count(
        "evicted_keys",
        "Keys removed for the memory limit.",
        "INFO evicted_keys",
    ),
    gauge(
        "used_memory_bytes",
        Unit::Bytes,
        "Memory that the server allocated.",
        "INFO used_memory",
    ),
    gauge(
        "memory_limit_bytes",
        Unit::Bytes,
        "The memory beyond which keys are evicted or writes refused; null where there is no limit.",
        "INFO maxmemory",
    ),
    count(
        "forks",
        "Child processes made, for snapshots and rewrites.",
        "INFO total_forks (Redis 6.2 or newer)",
    ),
    gauge(
        "last_fork_ns",
        Unit::Nanoseconds,
        "How long the last fork(2) stopped the main thread; 0 before the first.",
        "INFO latest_fork_usec",
    ),
    gauge(
        "saving_children",
        Unit::Count,
        "Child processes that write a snapshot or rewrite the append-only file.",
        "INFO rdb_bgsave_in_progress, aof_rewrite_in_progress",
    ),
    count(
        "delayed_fsyncs",
        "Writes to the append-only file that the main thread delayed, or was blocked in, because the fsync before was not done; null without that file.",
        "INFO aof_delayed_fsync",
    ),
    gauge(
        "slowlog_length",
        Unit::Count,
        "Entries in the log of slow commands, which has a limit of its own (slowlog-max-len). The entries are not read.",
        "SLOWLOG LEN",
    ),
    spike(
        "command_spike_ns",
        "The longest command in the second of the newest latency spike, in whole milliseconds; 0 when there was none since the query before; null when there never was one, as while latency-monitor-threshold is 0.",
        "LATENCY LATEST command",
    ),
    spike(
        "fast_command_spike_ns",
        "As command_spike_ns, of commands that should take constant or logarithmic time: the machine delayed it, not the command.",
        "LATENCY LATEST fast-command",
    ),
    spike(
        "fork_spike_ns",
        "As command_spike_ns, of fork(2).",
        "LATENCY LATEST fork",
    ),
    spike(
        "aof_write_spike_ns",
        "As command_spike_ns, of write(2) to the append-only file, whatever it waited for.",
        "LATENCY LATEST aof-write-pending-fsync, aof-write-active-child, aof-write-alone",
    ),
    spike(
        "aof_fsync_spike_ns",
        "As command_spike_ns, of fsync(2) in the main thread, with appendfsync always.",
        "LATENCY LATEST aof-fsync-always",
    ),
    spike(
        "expire_spike_ns",
        "As command_spike_ns, of a cycle that removes expired keys.",
        "LATENCY LATEST expire-cycle",
    ),
    spike(
        "eviction_spike_ns",
        "As command_spike_ns, of a cycle that evicts keys, or of one removal in it.",
        "LATENCY LATEST eviction-cycle, eviction-del",
    ),
];

/// A row per poll, about the server's process. For a server without a process on this machine it stands
/// at the workload, or at the machine where there is none.
pub static REDIS: Table = Table::new(
    "redis",
    EntityKind::Process,
    "Counters and states that Redis or Valkey report.",
    COLUMNS,
);
