//! The text of INFO, and its fields as a row. Pure.

use std::collections::HashMap;

use model::MISSING;

use super::resp::Reply;

/// Events of the latency monitor, by column.
const SPIKES: [(&str, &[&str]); 7] = [
    ("command_spike_ns", &["command"]),
    ("fast_command_spike_ns", &["fast-command"]),
    ("fork_spike_ns", &["fork"]),
    (
        "aof_write_spike_ns",
        &[
            "aof-write-pending-fsync",
            "aof-write-active-child",
            "aof-write-alone",
        ],
    ),
    ("aof_fsync_spike_ns", &["aof-fsync-always"]),
    ("expire_spike_ns", &["expire-cycle"]),
    ("eviction_spike_ns", &["eviction-cycle", "eviction-del"]),
];

/// The fields of INFO, by name.
pub(crate) struct Info<'t>(HashMap<&'t str, &'t str>);

impl<'t> Info<'t> {
    /// Reads `name:value` lines; headings and lines of another form are passed over.
    pub(crate) fn read(text: &'t str) -> Self {
        let fields = text.lines().filter_map(|line| line.split_once(':'));
        Self(fields.collect())
    }

    /// The text of a field.
    pub(super) fn text(&self, name: &str) -> Option<&'t str> {
        self.0.get(name).copied()
    }

    /// The number in a field.
    pub(super) fn number(&self, name: &str) -> Option<i64> {
        self.text(name)?.parse().ok()
    }

    /// Microseconds of all commands together, from the section `commandstats`.
    fn command_time_us(&self) -> Option<i64> {
        let commands = self
            .0
            .iter()
            .filter(|(name, _)| name.starts_with("cmdstat_"));
        let times = commands.filter_map(|(_, stats)| {
            let mut parts = stats.split(',');
            parts.find_map(|part| part.strip_prefix("usec=")?.parse::<i64>().ok())
        });
        times.reduce(i64::saturating_add)
    }
}

/// The answers of one poll.
pub(crate) struct Answers<'t> {
    /// INFO and INFO commandstats.
    pub(crate) info: Info<'t>,
    /// SLOWLOG LEN.
    pub(crate) slowlog: Option<i64>,
    /// LATENCY LATEST.
    pub(crate) spikes: Vec<Spike>,
    /// The server's clock at the poll before, s since 1970: spikes of before are old.
    pub(crate) since_s: i64,
}

/// The newest latency spike of an event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Spike {
    event: String,
    /// The second that it was in, s since 1970.
    at_s: i64,
    longest_ms: i64,
}

/// The spikes in a reply of LATENCY LATEST.
pub(crate) fn spikes(reply: &Reply) -> Vec<Spike> {
    let Reply::List(events) = reply else {
        return Vec::new();
    };
    let spike = |event: &Reply| match event {
        Reply::List(parts) => match parts.as_slice() {
            [
                Reply::Text(event),
                Reply::Number(at_s),
                Reply::Number(longest_ms),
                ..,
            ] => Some(Spike {
                event: event.clone(),
                at_s: *at_s,
                longest_ms: *longest_ms,
            }),
            _ => None,
        },
        _ => None,
    };
    events.iter().filter_map(spike).collect()
}

/// A row of the table, each value with the name of its column.
pub(crate) fn row(answers: &Answers<'_>) -> Vec<(&'static str, i64)> {
    let info = &answers.info;
    let number = |name| info.number(name);
    let us = |name| Some(number(name)?.saturating_mul(1_000));
    let children = || {
        let snapshots = number("rdb_bgsave_in_progress")?;
        Some(snapshots.saturating_add(number("aof_rewrite_in_progress")?))
    };
    let command_time = info.command_time_us().map(|us| us.saturating_mul(1_000));
    let values = [
        ("connected_clients", number("connected_clients")),
        ("blocked_clients", number("blocked_clients")),
        ("clients_limit", number("maxclients")),
        ("connections", number("total_connections_received")),
        ("rejected_connections", number("rejected_connections")),
        ("commands", number("total_commands_processed")),
        ("command_time_ns", command_time),
        ("loop_cycles", number("eventloop_cycles")),
        ("loop_time_ns", us("eventloop_duration_sum")),
        ("loop_command_time_ns", us("eventloop_duration_cmd_sum")),
        ("received_bytes", number("total_net_input_bytes")),
        ("sent_bytes", number("total_net_output_bytes")),
        ("keyspace_hits", number("keyspace_hits")),
        ("keyspace_misses", number("keyspace_misses")),
        ("expired_keys", number("expired_keys")),
        ("evicted_keys", number("evicted_keys")),
        ("used_memory_bytes", number("used_memory")),
        (
            "memory_limit_bytes",
            number("maxmemory").filter(|limit| *limit != 0),
        ),
        ("forks", number("total_forks")),
        ("last_fork_ns", us("latest_fork_usec")),
        ("saving_children", children()),
        ("delayed_fsyncs", number("aof_delayed_fsync")),
        ("slowlog_length", answers.slowlog),
    ];
    let spikes = SPIKES.map(|(column, events)| (column, answers.spike_ns(events)));
    let all = values.into_iter().chain(spikes);
    all.map(|(column, value)| (column, value.unwrap_or(MISSING)))
        .collect()
}

impl Answers<'_> {
    /// The longest new spike of these events; 0 when all are old, `None` when there never was one.
    fn spike_ns(&self, events: &[&str]) -> Option<i64> {
        let known = self.spikes.iter();
        let known = known.filter(|spike| events.contains(&spike.event.as_str()));
        known
            .map(|spike| match spike.at_s >= self.since_s {
                true => spike.longest_ms.saturating_mul(1_000_000),
                false => 0,
            })
            .max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use sensors::redis::REDIS;

    const REDIS_7_0: &str = include_str!("fixtures/redis-7.0.15.txt");
    const VALKEY_8_1: &str = include_str!("fixtures/valkey-8.1.1.txt");

    fn answers(text: &str) -> Answers<'_> {
        Answers {
            info: Info::read(text),
            slowlog: Some(1),
            spikes: Vec::new(),
            since_s: 100,
        }
    }

    fn shown(row: &[(&str, i64)]) -> Vec<String> {
        let known = row.iter().filter(|(_, value)| *value != MISSING);
        known
            .map(|(name, value)| format!("{name}={value}"))
            .collect()
    }

    #[test]
    fn a_row_has_the_tables_columns() {
        let row = row(&answers(REDIS_7_0));
        let names: Vec<&str> = row.iter().map(|(name, _)| *name).collect();
        let columns: Vec<&str> = REDIS.columns.iter().map(|it| &*it.name).collect();
        assert_eq!(names, columns);
    }

    #[test]
    fn what_redis_7_0_reports() {
        expect_test::expect![[r#"
            connected_clients=1
            blocked_clients=0
            clients_limit=10000
            connections=27
            rejected_connections=0
            commands=6003
            command_time_ns=2618000
            received_bytes=234107
            sent_bytes=40971
            keyspace_hits=2000
            keyspace_misses=0
            expired_keys=0
            evicted_keys=0
            used_memory_bytes=1051816
            memory_limit_bytes=67108864
            forks=1
            last_fork_ns=350000
            saving_children=0
            delayed_fsyncs=0
            slowlog_length=1"#]]
        .assert_eq(&shown(&row(&answers(REDIS_7_0))).join("\n"));
    }

    #[test]
    fn what_valkey_8_1_reports() {
        expect_test::expect![[r#"
            connected_clients=1
            blocked_clients=0
            clients_limit=10000
            connections=19
            rejected_connections=0
            commands=4003
            command_time_ns=976000
            loop_cycles=1467
            loop_time_ns=16443000
            loop_command_time_ns=848000
            received_bytes=162105
            sent_bytes=28056
            keyspace_hits=2000
            keyspace_misses=0
            expired_keys=0
            evicted_keys=0
            used_memory_bytes=1011344
            forks=0
            last_fork_ns=0
            saving_children=0
            slowlog_length=1"#]]
        .assert_eq(&shown(&row(&answers(VALKEY_8_1))).join("\n"));
    }

    #[test]
    fn a_spike_counts_while_it_is_new_and_the_longest_of_a_kind_counts() {
        let event = |name: &str, at_s, ms| {
            let name = Reply::Text(name.to_owned());
            let numbers = [at_s, ms, 999].map(Reply::Number);
            Reply::List([vec![name], numbers.to_vec()].concat())
        };
        let reply = Reply::List(vec![
            event("command", 100, 7),
            event("fork", 99, 40),
            event("aof-write-alone", 101, 3),
            event("aof-write-active-child", 101, 5),
            Reply::Nothing,
        ]);
        let answers = Answers {
            spikes: spikes(&reply),
            ..answers("")
        };
        let of = |events: &[&str]| answers.spike_ns(events);
        assert_eq!(of(&["command"]), Some(7_000_000));
        assert_eq!(of(&["fork"]), Some(0));
        assert_eq!(of(SPIKES[3].1), Some(5_000_000));
        assert_eq!(of(&["expire-cycle"]), None);
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[a-z_0-9:,=\r\n-]{0,200}") {
            row(&answers(&text));
        }
    }
}
