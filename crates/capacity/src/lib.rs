//! Groups of processes, and what CPU, memory and disk they may use: made, set, read back and taken away.
//!
//! It writes to cgroups, which nothing else here does. What a running process has may be lowered for a while: a journal says
//! what to put back, also to whoever comes after a crash. Both layouts are served: a controller that has a hierarchy of its
//! own (v1) is set there, any other in the unified one (v2).
#![warn(missing_docs)]

mod change;
mod controller;
mod disks;
mod error;
mod group;
mod held;
mod journal;
mod limit;
mod stopped;
mod usage;

pub use change::Change;
pub use controller::Controller;
pub use error::Error;
pub use group::{Group, inside, remove_of_dead};
pub use held::{Held, Lowered};
pub use journal::{Entry, Journal, Repaired, repair};
pub use limit::{Kind, Limit};
pub use stopped::Stopped;
pub use usage::{Disk, DiskLimits, Machine, OfDisk, cpu_ns_of, disk_name};
