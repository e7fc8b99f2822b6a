//! The connections that some processes have made, or that they have accepted.
//!
//! The two are kept apart: a client of a load generator does not serve it. Left out are unix sockets without a name at either end (socketpairs), and unix sockets that are a standard stream (a log
//! daemon behind stdout): those were not connected to a server.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use super::endpoint::Endpoint;
use super::inet::{Namespace, TcpState, listens_at, namespace, namespace_link};
use super::owners::{Held, sockets_of};
use super::unix::{UnixSocket, UnixTable};

/// The kind of socket.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Transport {
    /// TCP over IPv4 or IPv6.
    Tcp,
    /// A unix stream socket.
    Unix,
}

/// Which end of their connections processes hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Side {
    Made,
    Accepted,
}

/// One connection, from the end that the given processes hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Connection {
    /// The end that the given processes hold.
    pub local: Endpoint,
    /// The end that they connected to; of an accepted one the client's.
    pub peer: Endpoint,
    /// The inode of the local end.
    pub inode: u64,
    /// The inode of a unix socket's other end: 0 until it is accepted, `None` if the kernel does not report
    /// it (always for TCP).
    pub peer_inode: Option<u64>,
    /// TCP or unix socket.
    pub transport: Transport,
    /// The connection's network namespace, as an index into `Connections::namespaces`.
    pub(super) namespace: usize,
}

/// The connections made or accepted by a set of processes, with the tables they were found in: both ends of a connection
/// must be from the same moment.
#[derive(Clone, Debug, Default)]
pub struct Connections {
    /// Every connection once, even if several processes hold it.
    pub list: Vec<Connection>,
    /// Processes whose descriptors this user may not read.
    pub unreadable: Vec<u32>,
    pub(super) namespaces: Vec<(Option<PathBuf>, Namespace)>,
    pub(super) unix: UnixTable,
}

/// The stream connections that these processes have made and hold open, or are making now.
pub fn connections_of(proc: &Path, pids: &[u32]) -> Connections {
    held_by(proc, pids, Side::Made)
}

/// The stream connections that these processes have accepted and hold open.
pub(super) fn accepted_by(proc: &Path, pids: &[u32]) -> Connections {
    held_by(proc, pids, Side::Accepted)
}

fn held_by(proc: &Path, pids: &[u32], side: Side) -> Connections {
    let mut found = Connections::default();
    let mut held = Held::default();
    let mut by_namespace: BTreeMap<Option<PathBuf>, (Vec<u32>, HashSet<u64>)> = BTreeMap::new();
    for &pid in pids {
        match sockets_of(proc, pid) {
            Ok(own) => {
                let of_namespace = by_namespace.entry(namespace_link(proc, pid)).or_default();
                of_namespace.0.push(pid);
                of_namespace.1.extend(&own.sockets);
                held.sockets.extend(own.sockets);
                held.standard.extend(own.standard);
            }
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                found.unreadable.push(pid)
            }
            // The process has exited, and holds nothing any more.
            Err(_) => {}
        }
    }
    if held.sockets.is_empty() {
        return found;
    }
    found.unix = UnixTable::read(proc);
    for (link, (pids, mut inodes)) in by_namespace {
        // The TCP tables cost milliseconds: for each the kernel walks its whole hash table.
        inodes.retain(|&inode| found.unix.get(inode).is_none());
        if inodes.is_empty() {
            continue;
        }
        let Some(&first) = pids.first() else { continue };
        let namespace = namespace(proc, link.as_deref(), first);
        let index = found.namespaces.len();
        let mut list = tcp_connections(&namespace, &inodes, index, side);
        if list.is_empty() {
            // The connections may be shorter than a look: those that are held now may be in the tables.
            list = tcp_connections(&namespace, &socket_inodes(proc, &pids), index, side);
        }
        found.list.extend(list);
        found.namespaces.push((link, namespace));
    }
    found
        .list
        .extend(unix_connections(&found.unix, &held, side));
    found
}

/// Inodes of the sockets that these processes hold: as long as they stay the same, so do the connections.
/// Costs a hundredth of following the connections.
pub fn socket_inodes(proc: &Path, pids: &[u32]) -> HashSet<u64> {
    let held = pids.iter().filter_map(|&pid| sockets_of(proc, pid).ok());
    held.flat_map(|held| held.sockets).collect()
}

fn tcp_connections(
    namespace: &Namespace,
    inodes: &HashSet<u64>,
    index: usize,
    side: Side,
) -> Vec<Connection> {
    let listening: HashSet<SocketAddr> = namespace.listening();
    let held = namespace.sockets.iter().filter(|socket| {
        matches!(
            socket.state,
            TcpState::Established | TcpState::SynSent | TcpState::CloseWait
        ) && inodes.contains(&socket.inode)
            && listens_at(&listening, socket.local) == (side == Side::Accepted)
    });
    held.map(|socket| Connection {
        local: Endpoint::Inet(socket.local),
        peer: Endpoint::Inet(socket.peer),
        inode: socket.inode,
        peer_inode: None,
        transport: Transport::Tcp,
        namespace: index,
    })
    .collect()
}

pub(super) fn unix_connections(table: &UnixTable, held: &Held, side: Side) -> Vec<Connection> {
    let inodes: BTreeSet<u64> = held.sockets.difference(&held.standard).copied().collect();
    inodes
        .iter()
        .filter_map(|&inode| unix_connection(table, table.get(inode)?, side))
        .collect()
}

fn unix_connection(table: &UnixTable, socket: &UnixSocket, side: Side) -> Option<Connection> {
    let accepted = socket
        .name
        .as_ref()
        .is_some_and(|name| table.listens_at(name));
    if !socket.stream || !socket.connected || accepted != (side == Side::Accepted) {
        return None;
    }
    let peer = match socket.peer {
        // Clients' ends have no names as a rule.
        _ if accepted => None,
        Some(0) => table.awaited_by(socket.inode).map(str::to_owned),
        Some(peer) => match table.get(peer) {
            // An accepted socket has a name: this pair was made by socketpair(2).
            Some(other) => Some(other.name.clone()?),
            // The other end is in another network namespace, whose names are not visible here.
            None => None,
        },
        None if table.has_peers => return None,
        None => None,
    };
    Some(Connection {
        local: socket
            .name
            .clone()
            .map_or(Endpoint::UnnamedUnix, Endpoint::Unix),
        peer: peer.map_or(Endpoint::UnnamedUnix, Endpoint::Unix),
        inode: socket.inode,
        peer_inode: socket.peer,
        transport: Transport::Unix,
        namespace: 0,
    })
}
