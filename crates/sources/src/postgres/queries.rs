//! What is asked, by server version, and how the answers are read. Pure.
//!
//! Versions 9.6 (the first with `wait_event_type` and `pg_blocking_pids`) to 18 and later. Sources:
//! <https://www.postgresql.org/docs/current/monitoring-stats.html>, and for `pg_blocking_pids`
//! <https://www.postgresql.org/docs/current/functions-info.html>: "Frequent calls to this function
//! could have some impact on database performance, because it needs exclusive access to the lock
//! manager's shared state for a short time."

use std::collections::{HashMap, HashSet};

use sensors::statement::without_values;

use crate::blockers::root;

/// The oldest version that can be asked.
pub(super) const OLDEST: u32 = 90_600;
/// Since then `pg_stat_activity` tells what a backend is, and shows more than clients.
pub(super) const BACKEND_TYPES: u32 = 100_000;
/// Since then it has the ids of statements.
const STATEMENT_IDS: u32 = 140_000;
/// Characters of a text that are asked for; without its values it is cut further.
const LONGEST_TEXT: u32 = 2_000;
/// Blockers are asked for at most so many sessions a look, those first that have waited longest.
const MOST_BLOCKED: usize = 100;

/// Settings that are kept; those that a version does not have are left out.
pub(super) const SETTINGS: &str = "SELECT name, current_setting(name) FROM pg_settings WHERE name IN ('max_connections', 'superuser_reserved_connections', 'reserved_connections', 'shared_buffers', 'synchronous_commit', 'fsync', 'wal_sync_method', 'max_wal_size', 'checkpoint_timeout', 'autovacuum', 'track_io_timing', 'server_version')";

/// Who answers: the backend's pid and age (us), and whether it sees the sessions of other roles.
pub(super) fn who(version: u32) -> String {
    // pg_monitor holds pg_read_all_stats; before version 10 there is neither.
    let member = if version >= BACKEND_TYPES {
        "pg_has_role(current_user, 'pg_read_all_stats', 'USAGE')"
    } else {
        "false"
    };
    format!(
        "SELECT pg_backend_pid(), (extract(epoch FROM clock_timestamp() - backend_start) * 1e6)::bigint, current_setting('is_superuser') = 'on' OR {member} FROM pg_stat_activity WHERE pid = pg_backend_pid()"
    )
}

/// One look, in one transaction: the sessions, then the counters of this database.
pub(super) fn look(version: u32) -> String {
    let (kind, wanted) = if version >= BACKEND_TYPES {
        (
            "backend_type",
            // A session that may not be looked into shows no type; only those of clients have a database.
            "(backend_type IN ('client backend', 'parallel worker') OR backend_type IS NULL AND datid IS NOT NULL)",
        )
    } else {
        ("'client backend'", "true")
    };
    let statement = match version >= STATEMENT_IDS {
        true => "query_id",
        false => "NULL",
    };
    format!(
        "SELECT pid, {kind}, state, wait_event_type, \
           (extract(epoch FROM clock_timestamp() - xact_start) * 1e6)::bigint, \
           CASE WHEN wait_event_type = 'Lock' AND row_number() OVER \
             (PARTITION BY wait_event_type ORDER BY query_start) <= {MOST_BLOCKED} \
             THEN array_to_string(pg_blocking_pids(pid), ',') END, {statement} \
         FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND {wanted}; \
         SELECT xact_commit, xact_rollback, blks_read, blks_hit, temp_bytes, deadlocks, \
           CASE WHEN current_setting('track_io_timing')::boolean \
             THEN (blk_read_time * 1e6)::bigint END \
         FROM pg_stat_database WHERE datname = current_database()"
    )
}

/// The texts of what these sessions run, or ran last, beside their ids.
pub(super) fn texts(pids: &[u32]) -> String {
    let pids: Vec<String> = pids.iter().map(u32::to_string).collect();
    format!(
        "SELECT query_id, left(query, {LONGEST_TEXT}) FROM pg_stat_activity \
         WHERE query_id IS NOT NULL AND pid IN ({})",
        pids.join(", ")
    )
}

/// What one look found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Look {
    /// Sessions of clients, and workers of their parallel queries; ours is left out.
    pub(super) sessions: Vec<Session>,
    /// Sessions that this role may not look into; they are not among `sessions`.
    pub(super) hidden: u32,
    /// The database's counters; `None` when it was dropped meanwhile.
    pub(super) counters: Option<Counters>,
}

/// One session, as `pg_stat_activity` shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Session {
    /// The process that serves it.
    pub(super) pid: u32,
    /// Whether it is a worker of another session's query, not a client's own.
    pub(super) parallel: bool,
    /// The word for its state: `idle in transaction`.
    pub(super) state: String,
    /// The word for what it waits for: `Lock`; `None` when it does not wait.
    pub(super) wait: Option<String>,
    /// How long its transaction has lasted, ns; `None` outside one.
    pub(super) transaction_age_ns: Option<i64>,
    /// The process at the root of what blocks it: the first of its blockers, and theirs in turn;
    /// `None` when nothing does, or when a prepared transaction without a process does.
    pub(super) blocked_by: Option<u32>,
    /// The id of the statement that it runs, or ran last.
    pub(super) statement: Option<i64>,
}

/// Counters of one database since they were last reset, as `pg_stat_database` shows them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Counters {
    /// Transactions committed, our own looks among them.
    pub(super) commits: Option<i64>,
    /// Transactions rolled back.
    pub(super) rollbacks: Option<i64>,
    /// Blocks asked of the operating system.
    pub(super) blocks_read: Option<i64>,
    /// Blocks found in shared buffers.
    pub(super) blocks_hit: Option<i64>,
    /// Bytes written to temporary files.
    pub(super) temp_bytes: Option<i64>,
    /// Deadlocks resolved.
    pub(super) deadlocks: Option<i64>,
    /// Time that backends spent reading blocks, ns; `None` unless `track_io_timing` is on.
    pub(super) read_time_ns: Option<i64>,
}

/// A row of an answer, as text.
pub(crate) type Row = Vec<Option<String>>;

/// The answers of `look`.
pub(crate) fn read_look(sessions: &[Row], counters: &[Row]) -> Option<Look> {
    let mut look = Look::default();
    let mut blockers: HashMap<u32, u32> = HashMap::new();
    for row in sessions {
        let [pid, kind, state, wait, age_us, blocked_by, statement] = row.as_slice() else {
            return None;
        };
        let pid = pid.as_ref()?.parse().ok()?;
        let Some(state) = state else {
            look.hidden += 1;
            continue;
        };
        let blocked_by = blocked_by.as_deref().and_then(first);
        if let Some(blocker) = blocked_by {
            blockers.insert(pid, blocker);
        }
        look.sessions.push(Session {
            pid,
            parallel: kind.as_deref() == Some("parallel worker"),
            state: state.clone(),
            wait: wait.clone(),
            transaction_age_ns: number(age_us).map(|us| us.max(0).saturating_mul(1_000)),
            blocked_by,
            statement: number(statement).filter(|id| *id != 0),
        });
    }
    for session in &mut look.sessions {
        session.blocked_by = root(session.pid, &blockers).filter(|pid| *pid != 0);
    }
    look.counters = counters.first().and_then(read_counters);
    Some(look)
}

impl Look {
    /// Sessions that wait behind another, and those others, whose statements are not among those `known`: at most twice
    /// `MOST_BLOCKED`.
    pub(super) fn unknown(&self, known: &HashSet<i64>) -> Vec<u32> {
        let waiting = self.sessions.iter().filter(|it| it.blocked_by.is_some());
        let mut pids: Vec<u32> = waiting
            .flat_map(|it| [Some(it.pid), it.blocked_by])
            .flatten()
            .collect();
        pids.sort_unstable();
        pids.dedup();
        let is_unknown = |pid: &u32| {
            let mut own = self.sessions.iter().filter(|it| it.pid == *pid);
            own.any(|it| it.statement.is_some_and(|id| !known.contains(&id)))
        };
        pids.retain(is_unknown);
        pids
    }
}

/// The answer of `texts`: by id, without their values.
pub(super) fn read_texts(rows: &[Row]) -> Vec<(i64, String)> {
    let read = |row: &Row| {
        let text = without_values(row.get(1)?.as_ref()?.as_bytes());
        let id = number(row.first()?).filter(|id| *id != 0)?;
        (!text.is_empty()).then_some((id, text))
    };
    rows.iter().filter_map(read).collect()
}

fn read_counters(row: &Row) -> Option<Counters> {
    let [commits, rollbacks, read, hit, temp, deadlocks, read_time] = row.as_slice() else {
        return None;
    };
    Some(Counters {
        commits: number(commits),
        rollbacks: number(rollbacks),
        blocks_read: number(read),
        blocks_hit: number(hit),
        temp_bytes: number(temp),
        deadlocks: number(deadlocks),
        read_time_ns: number(read_time),
    })
}

fn number(text: &Option<String>) -> Option<i64> {
    text.as_ref()?.parse().ok()
}

/// The first of `1,2,3`; pid 0 stands for a prepared transaction.
fn first(pids: &str) -> Option<u32> {
    pids.split(',').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn row(text: &str) -> Row {
        let cell = |cell: &str| (cell != "-").then(|| cell.to_owned());
        text.split('|').map(cell).collect()
    }

    fn rows(text: &str) -> Vec<Row> {
        text.lines().map(|line| row(line.trim())).collect()
    }

    #[test]
    fn sessions_with_their_root_blockers() {
        let sessions = rows(
            "10|client backend|active|Lock|1500|11,12|-7
             11|client backend|active|Lock|900|12|8
             12|client backend|idle in transaction|Client|2000000|-|9
             13|parallel worker|active|-|-3|-|10
             14|-|-|-|-|-|-
             15|client backend|active|Lock|5|0|11
             16|client backend|active|Lock|5||0",
        );
        let look = read_look(&sessions, &rows("5|1|2|3|0|0|-")).expect("it is understood");
        let blockers: Vec<_> = look.sessions.iter().map(|it| it.blocked_by).collect();
        assert_eq!(blockers, [Some(12), Some(12), None, None, None, None]);
        assert_eq!(look.hidden, 1);
        assert_eq!(look.sessions[0].transaction_age_ns, Some(1_500_000));
        assert_eq!(look.sessions[3].transaction_age_ns, Some(0));
        assert!(look.sessions[3].parallel && !look.sessions[2].parallel);
        let ids: Vec<_> = look.sessions.iter().map(|it| it.statement).collect();
        let expected = [Some(-7), Some(8), Some(9), Some(10), Some(11), None];
        assert_eq!(ids, expected);
        assert_eq!(look.unknown(&HashSet::new()), [10, 11, 12]);
        assert_eq!(look.unknown(&HashSet::from([-7, 9])), [11]);
        let counters = look.counters.expect("there are some");
        assert_eq!((counters.commits, counters.read_time_ns), (Some(5), None));
    }

    #[test]
    fn a_circle_of_blockers_ends_at_the_direct_one() {
        let sessions = rows(
            "1|client backend|active|Lock|1|2|-
             2|client backend|active|Lock|1|1|-
             3|client backend|active|Lock|1|1|-",
        );
        let look = read_look(&sessions, &[]).expect("it is understood");
        let blockers: Vec<_> = look.sessions.iter().map(|it| it.blocked_by).collect();
        assert_eq!(blockers, [Some(2), Some(1), Some(1)]);
        assert_eq!(look.counters, None, "the database is gone");
    }

    #[test]
    fn old_servers_are_not_asked_for_what_they_lack() {
        assert!(!look(90_600).contains("backend_type") && !who(90_600).contains("pg_read_all"));
        assert!(look(100_000).contains("backend_type") && who(180_000).contains("pg_read_all"));
        assert!(!look(130_000).contains("query_id") && look(140_000).contains("query_id"));
    }

    #[test]
    fn texts_lose_their_values_and_have_an_id() {
        let answer = rows("-7|select 'Xq7' from t\n8|-\n0|begin\n-|commit\n9|");
        assert_eq!(read_texts(&answer), [(-7, "select ? from t".to_owned())]);
    }

    proptest! {
        #[test]
        fn no_answer_makes_it_panic(
            sessions in prop::collection::vec(prop::collection::vec(prop::option::of("[0-9,a-z]{0,4}"), 5..9), 0..8),
        ) {
            let _ = read_look(&sessions, &sessions).map(|it| it.unknown(&HashSet::new()));
            let _ = read_texts(&sessions);
        }
    }
}
