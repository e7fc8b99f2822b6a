//! Where the other ends of connections are, from the socket tables alone.
//!
//! The tables are those in which the connections were found; expensive ones (other namespaces, this machine's
//! addresses) are read when first needed.

use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use super::connections::{Connection, Connections};
use super::endpoint::Endpoint;
use super::inet::{LocalAddresses, Namespace, TcpSocket, TcpState, namespace_link, net_folder};
use kernel::local_files;
use kernel::mounts::Mountinfo;
use kernel::process_list;

/// Where the other end of a connection is.
#[derive(Clone, Copy)]
pub(super) enum FarEnd {
    /// A socket that some process holds, with the socket's owner.
    Socket { inode: u64, uid: Option<u32> },
    /// On this machine, not accepted yet.
    Pending,
    /// On another machine.
    Remote,
    /// The kernel does not report it.
    Unknown,
}

impl FarEnd {
    pub(super) fn inode(&self) -> Option<u64> {
        match *self {
            FarEnd::Socket { inode, .. } => Some(inode),
            _ => None,
        }
    }

    fn of_socket(socket: &TcpSocket) -> Self {
        match socket.inode {
            0 => FarEnd::Pending,
            inode => FarEnd::Socket {
                inode,
                uid: Some(socket.uid),
            },
        }
    }
}

/// The tables, indexed for looking up other ends.
pub(super) struct Search<'a> {
    proc: &'a Path,
    connections: &'a Connections,
    pairs: Vec<HashMap<(SocketAddr, SocketAddr), &'a TcpSocket>>,
    addresses: HashMap<usize, LocalAddresses>,
    elsewhere: Option<Vec<Namespace>>,
    mounts: Mountinfo,
}

impl<'a> Search<'a> {
    pub(super) fn new(proc: &'a Path, connections: &'a Connections) -> Self {
        let pairs = connections
            .namespaces
            .iter()
            .map(|(_, namespace)| namespace.by_pair())
            .collect();
        Self {
            proc,
            connections,
            pairs,
            addresses: HashMap::new(),
            elsewhere: None,
            mounts: Mountinfo::default(),
        }
    }

    pub(super) fn far_end(&mut self, made: &Connection) -> FarEnd {
        match (&made.local, &made.peer) {
            (&Endpoint::Inet(local), &Endpoint::Inet(peer)) => {
                self.tcp(local, peer, made.namespace)
            }
            _ => self.unix(made),
        }
    }

    fn tcp(&mut self, local: SocketAddr, peer: SocketAddr, namespace: usize) -> FarEnd {
        let swapped = self
            .pairs
            .get(namespace)
            .and_then(|pairs| pairs.get(&(peer, local)));
        if let Some(socket) = swapped {
            return FarEnd::of_socket(socket);
        }
        let stays_here = self.is_local(peer, namespace);
        if let Some(socket) = self.in_other_namespace(local, peer, stays_here) {
            return FarEnd::of_socket(&socket);
        }
        if stays_here {
            FarEnd::Pending
        } else {
            FarEnd::Remote
        }
    }

    fn unix(&self, made: &Connection) -> FarEnd {
        match made.peer_inode {
            None => FarEnd::Unknown,
            Some(0) => FarEnd::Pending,
            Some(inode) => {
                let socket = self.connections.unix.get(inode);
                let owner = socket.and_then(|socket| socket.uid);
                FarEnd::Socket {
                    inode,
                    uid: owner.or_else(|| self.file_owner(&made.peer)),
                }
            }
        }
    }

    /// Owner of a unix socket's file: before Linux 5.3 the only trace of the server.
    fn file_owner(&self, endpoint: &Endpoint) -> Option<u32> {
        let own = self.proc.join("self");
        match endpoint {
            // A relative path was relative to the server's working directory, which is unknown.
            Endpoint::Unix(path) if path.starts_with('/') => {
                local_files::owner(self.mounts.of(&own), path)
            }
            _ => None,
        }
    }

    fn is_local(&mut self, peer: SocketAddr, namespace: usize) -> bool {
        let Some((_, tables)) = self.connections.namespaces.get(namespace) else {
            return false;
        };
        let addresses = self
            .addresses
            .entry(namespace)
            .or_insert_with(|| tables.addresses());
        addresses.contains(peer.ip())
    }

    /// A container's end of the connection. If an address of this machine is forwarded into a container, the
    /// destination is another one there, so then only the client's address is compared.
    fn in_other_namespace(
        &mut self,
        local: SocketAddr,
        peer: SocketAddr,
        forwarded: bool,
    ) -> Option<TcpSocket> {
        if local.ip().is_loopback() {
            return None;
        }
        let (proc, connections) = (self.proc, self.connections);
        let elsewhere = self
            .elsewhere
            .get_or_insert_with(|| other_namespaces(proc, connections));
        let sockets = || elsewhere.iter().flat_map(|namespace| &namespace.sockets);
        let same_client =
            |socket: &&TcpSocket| socket.peer == local && socket.state == TcpState::Established;
        let exact = sockets().find(|socket| socket.local == peer && same_client(socket));
        exact
            .or_else(|| sockets().filter(|_| forwarded).find(same_client))
            .copied()
    }
}

/// The tables of every network namespace but the generator's. Without privilege there are none: the
/// namespaces of other users' processes may not be read.
fn other_namespaces(proc: &Path, connections: &Connections) -> Vec<Namespace> {
    let mut seen: HashSet<PathBuf> = connections
        .namespaces
        .iter()
        .filter_map(|(link, _)| link.clone())
        .collect();
    let mut found = Vec::new();
    for pid in process_list::pids(proc) {
        if namespace_link(proc, pid).is_some_and(|link| seen.insert(link)) {
            found.push(Namespace::read(net_folder(proc, pid)));
        }
    }
    found
}
