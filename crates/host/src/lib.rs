//! The only crate that touches the kernel.
//!
//! This crate opens the files that sensors name and keeps them open, wakes on absolute deadlines, follows
//! processes and control groups as they come and go, starts and stops the workload, and hands rows over. It
//! knows nothing of recordings or analysis. `unsafe` is allowed only here, each use with its reason.
#![warn(missing_docs)]
#![allow(unsafe_code)]

pub mod bpf;
mod budget;
mod cgroups;
mod child;
mod clock;
mod clock_readings;
mod collector;
mod connections;
mod duty_cycle;
mod environment;
mod error;
mod events;
mod exports;
mod filesystems;
pub mod folder;
#[doc(hidden)]
pub mod fuzz_targets;
mod gaps;
mod group_walk;
mod handle;
pub mod hierarchies;
pub mod initial_namespaces;
mod limits;
pub mod local_files;
mod machine;
pub mod mounts;
pub mod netlink;
mod open_file;
mod opening;
mod output;
mod privileges;
mod probe;
pub mod process_list;
pub mod process_tree;
mod processes;
mod psi_groups;
mod pulse;
mod readers;
mod registry;
mod remote_memory;
mod requests;
#[cfg(any(test, feature = "testing"))]
pub mod requirement;
pub mod root;
mod sampler;
mod scene;
mod schedule;
mod server;
mod signals;
mod split;
mod stalls;
mod table_buffer;
mod thread;
mod thread_time;
mod tick;
pub mod trials;
mod wait_events;
mod wakeups;

pub use bpf::probes::{Probe, probe_costs, request_costs};
pub use child::{Child, Streams, spawn};
pub use clock::{Clocks, boottime};
pub use environment::{Environment, cpus_allowed, environment};
pub use error::Error;
pub use handle::{Command, Ending, SamplerEvent, SamplerHandle, Settings, Spare};
pub use hierarchies::{Hierarchies, Mount, Placement, groups_of};
pub use limits::{lock_memory, raise_descriptor_limit, raise_priority, too_many_files};
pub use privileges::{Duty, give_up_all_but};
pub use root::{check_root, own_pid};
pub use sampler::Sampler;
pub use server::postgres_version;
pub use signals::{Interrupt, Interrupts};
