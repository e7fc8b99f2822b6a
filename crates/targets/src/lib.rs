//! Finds the processes that serve a load generator, and those that `--target` names.
//!
//! Connections are followed from the generator's descriptors through the kernel's socket tables to the
//! processes that hold the other ends. Only `/proc` and netlink sock_diag are used, so most of it works
//! without privilege; if descriptors of other users cannot be read, only the socket owner's user id is known,
//! and the answer is marked as a guess. Every function that reads files takes the root of /proc as an
//! argument, so that tests can use a made-up tree.
//!
//! Nothing here is meant for a sampling loop: a scan reads every descriptor of the machine.

#![warn(missing_docs)]

mod cgroups;
mod connections;
mod endpoint;
mod error;
mod far_ends;
#[doc(hidden)]
pub mod fuzz_targets;
mod guess;
mod inet;
mod listeners;
mod owners;
mod resolve;
mod servers;
mod spec;
mod survey;
mod unix;

pub use kernel::process_list::{name_of, start_ticks};
pub use kernel::process_tree::{program_root, tree_of, trees_of};

pub use connections::{Connection, Connections, Transport, connections_of, socket_inodes};
pub use endpoint::Endpoint;
pub use error::Error;
pub use guess::{OwnerGuess, guess_by_owner};
pub use inet::{TcpSocket, TcpState, parse_proc_net_tcp};
pub use listeners::{Listener, listeners, listening_here};
pub use resolve::resolve;
pub use servers::{Guess, Hidden, Served, Servers, clients_of, listening_at, servers_of};
pub use spec::{NamedTarget, TargetSpec};
pub use survey::{Look, Part};
pub use unix::{UnixSocket, parse_proc_net_unix, parse_unix_diag};

#[cfg(test)]
mod tests;
