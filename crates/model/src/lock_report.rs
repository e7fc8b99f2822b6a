//! What a report says of who holds the locks of a database that others wait for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Sessions that held locks alike while others waited for them: what they ran, and who waited.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LockHolder {
    /// Whether they ran nothing: a transaction was open, and waited for its client.
    pub is_idle: bool,
    /// The statement that they ran, or had run last; `None` where the server did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statement: Option<NamedStatement>,
    /// Sessions that waited behind them, on average over the window.
    pub sessions: f64,
    /// The part of all these waits, 0 to 1.
    pub share: f64,
    /// Who waited, those first that did so most.
    pub waiters: Vec<LockWaiter>,
}

/// Sessions that waited for the locks of a `LockHolder`, by what they wanted to run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LockWaiter {
    /// The statement that waited; `None` where the server did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statement: Option<NamedStatement>,
    /// Sessions that waited in it, on average over the window.
    pub sessions: f64,
    /// The part of all waits of the report, 0 to 1.
    pub share: f64,
}

/// A statement by its text and id.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema)]
pub struct NamedStatement {
    /// Its text without values; `statement` and its id where that is not known.
    pub text: String,
    /// Its id, as in `pg_stat_statements.queryid`. A text, since it has up to 64 bits.
    pub query_id: String,
}
