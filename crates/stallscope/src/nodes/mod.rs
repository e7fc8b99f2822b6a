//! `run --on`: other machines recorded over ssh while a workload runs here, without an agent on them.
//!
//! One `stallscope node` per machine (`recorder.rs`), at the end of one ssh (`connection.rs`). Each has a thread here
//! (`attendant.rs`) for as long as the run takes. A node's failure is a gap of the run's recording and never its end.
//! What could not be fetched stays on the node, and `fetch` goes on from there. Nothing listens anywhere.

mod attendant;
mod clock_offset;
mod connection;
mod destination;
mod during_run;
mod fetch;
mod greeting;
mod pending;
mod protocol;
mod recorder;
mod remote;

pub(crate) use destination::Destination;
pub(crate) use during_run::Nodes;
pub(crate) use fetch::fetch;
pub(crate) use recorder::node;

/// The table that gaps of whole nodes name; no recording has one of that name.
pub(crate) const TABLE: &str = "node";
