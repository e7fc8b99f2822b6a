//! What a report says of the statements of a database server.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Time of the target's database processes in one statement, over the window; between statements they wait for their
/// clients, which is in none.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct StatementTime {
    /// Its text without values; `statement` and its id where the text is not known; `no statement` for time of active
    /// processes that belongs to none with an id: autovacuum, logins; `other statements` for those beyond what a
    /// recording tells apart.
    pub text: String,
    /// Its id, as in `pg_stat_statements.queryid`; `None` of time without one, and of other statements. A text, since it
    /// has up to 64 bits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query_id: Option<String>,
    /// How often it was seen to begin; several that follow each other without a sleep count as one.
    pub calls: f64,
    /// Its part of the time of all statements, that without one included, 0 to 1.
    pub share: f64,
    /// Its time, ns: the sum of those that follow.
    pub total_ns: f64,
    /// On a CPU, ns.
    pub on_cpu_ns: f64,
    /// Waiting for a CPU, ns, by who had it.
    pub queued: QueuedBehind,
    /// Waiting for memory, ns.
    pub memory_ns: f64,
    /// Waiting for a disk, except for stable storage, ns.
    pub disk_ns: f64,
    /// Waiting for stable storage (fsync, another session's flush of the log), ns.
    pub sync_ns: f64,
    /// Waiting for a row, table or transaction that another session had locked, ns.
    pub lock_ns: f64,
    /// Waiting for an internal lock of the server, ns.
    pub internal_lock_ns: f64,
    /// Waiting for its client in the middle of the statement, ns.
    pub client_ns: f64,
    /// Waiting for anything else, ns.
    pub other_ns: f64,
    /// What kind of rare statement it is that may start much: `GRANT, REVOKE`; `None` of others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rare: Option<String>,
    /// When a rare one began, in the window, ns after the report's `origin`; at most 100.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub began_ns: Vec<i64>,
}

/// Time of waits for a CPU by who had it, ns.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct QueuedBehind {
    /// A process that is neither target nor generator.
    pub rest_ns: f64,
    /// The target itself.
    pub target_ns: f64,
    /// The generator.
    pub generator_ns: f64,
    /// Nobody: the process was being woken.
    pub nobody_ns: f64,
}

impl QueuedBehind {
    /// All of it.
    pub fn total_ns(&self) -> f64 {
        self.rest_ns + self.target_ns + self.generator_ns + self.nobody_ns
    }
}
