//! What a recording was asked for: a part of `meta.json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Sentence;

/// What was asked for.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Plan {
    /// `run` or `record`.
    pub command: String,
    /// The targets as the user named them.
    pub targets: Vec<Sentence>,
    /// Period of the target's threads, ns.
    pub fast_period_ns: i64,
    /// The whole command line as it was typed, secrets replaced; empty where an older version recorded.
    #[serde(default)]
    pub typed: Vec<String>,
    /// How often each table is read, by name, unless that costs too much; empty in older recordings.
    #[serde(default)]
    pub periods: BTreeMap<String, ReadEvery>,
    /// Whether switches and wake-ups were to be traced all the time, whatever that takes.
    #[serde(default, alias = "no_pauses")]
    pub trace_all: bool,
    /// How often a second each CPU was to be looked at for its stack; missing for never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack_rate: Option<u32>,
    /// From which length on every wait was recorded with its call stack, ns; `None` where the budget decided that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_wait_ns: Option<u64>,
    /// The user's goals for latency.
    #[serde(default)]
    pub goals: Vec<crate::Goal>,
}

/// How often something is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ReadEvery {
    /// Of the machine, and of what belongs to target and generator, ns.
    pub near_ns: i64,
    /// Of all else, ns.
    pub rest_ns: i64,
}
