//! What a report says of who talks to whom.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Role;

/// What was exchanged over the window at one port, or one unix socket's path, of a service.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PortReport {
    /// Who asks whom: `26 postgres processes -> port 7100 of 10.0.0.3`.
    pub sentence: String,
    /// Whether a process of this machine serves there; the figures are then the servers', else the clients'.
    pub is_served: bool,
    /// `tcp`, `udp` or `unix`.
    pub protocol: String,
    /// The port; 0 of unix sockets, and where it is not known.
    pub port: u16,
    /// The unix socket's path; an abstract one begins with `@`.
    pub path: Option<String>,
    /// Processes of this machine that serve there, by name, those with most bytes first; at most 10 names.
    pub servers: Vec<Party>,
    /// Processes of this machine that ask there, likewise.
    pub clients: Vec<Party>,
    /// How many processes of this machine ask there.
    pub client_processes: u32,
    /// Addresses of the other ends, those with most bytes first; at most 10.
    pub peers: Vec<String>,
    /// How many addresses there are.
    pub peer_count: u32,
    /// Mean connections open.
    pub open: f64,
    /// Connections that were established.
    pub opened: u64,
    /// The same per second.
    pub opened_per_second: f64,
    /// TCP connections that ended and had lasted less than a second.
    pub short_lived: u64,
    /// Attempts to connect that were refused.
    pub refused: u64,
    /// Connections that were reset.
    pub reset: u64,
    /// Connections, and attempts to connect, that timed out.
    pub timed_out: u64,
    /// Attempts to connect that came to nothing otherwise.
    pub failed: u64,
    /// Bytes that clients sent, per second.
    pub asked_bytes_per_second: f64,
    /// Bytes that servers sent, per second.
    pub answered_bytes_per_second: f64,
    /// Requests per second; `None` where they are not counted: of processes that are not measured.
    pub requests_per_second: Option<f64>,
    /// Mean smoothed round-trip time of TCP, ns.
    pub rtt_ns: Option<f64>,
    /// Mean time from connect to the established TCP connection, ns.
    pub connect_ns: Option<f64>,
    /// Mean time from a query to its reply, ns; of DNS.
    pub answer_ns: Option<f64>,
    /// Share of the TCP segments sent by this end that were sent again.
    pub retransmitted: Option<f64>,
}

/// Processes of one name.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Party {
    /// Their name.
    pub name: String,
    /// How many there are.
    pub processes: u32,
    /// Their role; where it differs, that of the first with one.
    pub role: Role,
}
