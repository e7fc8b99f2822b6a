//! Groups of processes, and what CPU, memory and disk they may use: made, set, read back and taken away.
//!
//! It writes to cgroups, which nothing else here does. Both layouts are served: a controller that has a hierarchy of its
//! own (v1) is set there, any other in the unified one (v2).
#![warn(missing_docs)]

mod controller;
mod disks;
mod error;
mod group;
mod limit;

pub use controller::Controller;
pub use error::Error;
pub use group::{Group, inside, remove_of_dead};
pub use limit::{Kind, Limit};
