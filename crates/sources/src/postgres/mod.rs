//! PostgreSQL's own word, asked by SQL: what its sessions do, whom they wait for, what it counts.
//!
//! One connection and two short statements a look. Nothing here may disturb the server: the session
//! is read-only, gives up after 2 s, waits for no lock longer than 0.5 s, and asks for blockers (which
//! stops the lock manager for a moment) only of sessions that wait for a lock.

mod address;
mod client;
mod passfile;
mod queries;
mod trouble;

pub use address::{Address, Surroundings};
pub use client::{Client, Server};
pub use queries::{Counters, Look, Session};
pub use trouble::{Trouble, TroubleKind};
