//! A store of metrics (Prometheus, or what speaks its query API): which questions to ask of it, and what its answers say of
//! each node, as the rows of a recording.
//!
//! Every question is a range query for plain values, no `rate()`: counters are read, and their differences are exact. A range
//! query answers with the newest value at or before each instant; how old that is says `timestamp()` of the same node, whose
//! metrics are all of one scrape. So values stand where they were scraped, however wide the grid is, and a scrape that is
//! missing is a gap and no repeated value.
//!
//! The names are node_exporter's (its collectors, <https://github.com/prometheus/node_exporter>), or what a map says.

mod answer;
mod counter;
mod metrics;
mod names;
mod nodes;
mod questions;
mod sorted;

pub use answer::{Answers, StoredSeries, series};
pub use counter::Backward;
pub use names::Names;
pub use nodes::{Node, Restart, Size, nodes};
pub use questions::{Question, Subject, hosts_regex, questions};
