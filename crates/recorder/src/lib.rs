//! Makes a recording: from a plan that is complete before anything happens to a closed folder on disk.
//!
//! `Plan::new` reads the machine and decides; `record` carries a plan out and never changes it: what
//! turns up meanwhile stands in the recording's description and in `Recorded`. An `Observer` receives
//! what a user may want to see; how that looks is not decided here, and nothing is diagnosed here.
#![warn(missing_docs)]

mod applications;
mod attach;
mod bounded_sender;
mod clients;
mod dependencies;
mod description;
mod destination;
mod error;
mod event;
mod gaps;
mod labels;
mod latency_log;
mod looks;
mod observer;
mod participants;
mod plan;
mod privacy;
mod record;
mod results_file;
mod run;
mod search;
mod session;
mod storage;
mod survey;
mod trigger;
mod workload;
mod workload_plan;

pub use applications::Here;
pub use error::Error;
pub use observer::{Observer, Progress, Taken};
pub use plan::{Options, Plan, SegmentOptions, Subject, TriggerOptions};
pub use privacy::redact_again;
pub use record::{Recorded, record};
pub use run::WorkloadEnd;
pub use session::Savings;
pub use sources::Application;
pub use trigger::{RateLimit, Trigger, WrongLimit, WrongTrigger};
pub use workload_plan::{Stderr, Stdout, WorkloadOptions};
