//! The one place where clock, machine, workload and disk meet.
//!
//! `run` starts a workload and records while it lives; `record` attaches to what is there. Both end
//! with the recording read back from disk and diagnosed: what is shown is what is kept.

mod bounded_sender;
mod command;
mod database;
mod finish;
mod gaps;
mod latency_log;
mod plan;
mod privacy;
mod record;
mod run;
mod search;
mod session;
mod workload;

pub(crate) use privacy::redact_again;
pub(crate) use record::record;
pub(crate) use run::run;
