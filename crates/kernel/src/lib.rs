//! The only crate that touches the kernel: BPF programs, descriptors, clocks, /proc, signals, privileges.
//!
//! It opens, reads and parses, and knows nothing of what is sampled or recorded. `unsafe` is allowed only
//! here, each use with its reason.
#![allow(unsafe_code)]

pub mod bpf;
mod child;
pub mod clock;
mod data_folder;
pub mod environment;
pub mod error;
mod exports;
pub mod file_limits;
pub mod file_opens;
pub mod folder;
#[doc(hidden)]
pub mod fuzz_targets;
pub mod hierarchies;
pub mod initial_namespaces;
pub mod limits;
pub mod local_files;
pub mod mounts;
pub mod netlink;
pub mod open_file;
pub mod privileges;
pub mod process_list;
pub mod process_tree;
pub mod remote_memory;
#[cfg(any(test, feature = "testing"))]
pub mod requirement;
pub mod root;
mod server;
mod signals;
pub mod stacks;
pub mod trials;
pub mod units;

pub use bpf::probes::{
    AtSwitch, Probe, SwitchPrograms, block_costs, flow_costs, probe_costs, process_costs,
    request_costs,
};
pub use child::{Child, StdoutTo, Streams, signal_at_parents_end, spawn};
pub use clock::{Clocks, boottime};
pub use environment::{Environment, cpus_allowed, environment};
pub use error::Error;
pub use file_limits::too_many_files;
pub use hierarchies::{Hierarchies, Mount, Placement, groups_of};
pub use limits::{lock_memory, raise_descriptor_limit, raise_priority};
pub use privileges::{Duty, give_up_all_but};
pub use root::{check_root, own_pid};
pub use server::postgres_version;
pub use signals::{Interrupt, Interrupts};
