//! The processes at the other end of connections.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

use model::Sentence;

use super::connections::{Connection, Connections, accepted_by};
use super::endpoint::Endpoint;
use super::far_ends::{FarEnd, Search};
use super::inet::{Namespace, namespace, namespace_link};
use super::owners::Owners;

/// How a serving process was identified.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Guess {
    /// Not a guess: the process holds the socket.
    Holds,
    /// The user with this id owns both the process and the socket.
    Owner(u32),
}

/// A process that serves connections.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Served {
    /// The process that holds the other end.
    pub pid: u32,
    /// The end that a client connects to: `port 5432`, `unix socket /tmp/.s.PGSQL.5432`.
    pub endpoint: Sentence,
    /// Number of the connections that it holds.
    pub connections: usize,
    /// How it was identified.
    pub by: Guess,
}

/// Connections whose other end is on this machine, held by a process that this user may not read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hidden {
    /// The end that a client connects to.
    pub endpoint: Sentence,
    /// The user who accepted the connections, if the kernel reports it.
    pub uid: Option<u32>,
    /// Number of connections.
    pub connections: usize,
}

/// The other ends of a set of connections.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Servers {
    /// The serving processes, the one with most connections first.
    pub served: Vec<Served>,
    /// Other ends on other machines.
    pub remote: Vec<Endpoint>,
    /// Not accepted yet, or just closed: worth another look soon.
    pub pending: Vec<Endpoint>,
    /// Holders of the listening sockets to which pending connections go, only if no serving process was
    /// found. For connections too short to be followed, these are the servers.
    pub listening: Vec<Served>,
    /// Other ends for `guess_by_owner`.
    pub hidden: Vec<Hidden>,
    /// Number of connections for which the kernel reports no other end (no sock_diag).
    pub unfollowed: usize,
}

/// Finds the processes that serve the connections, never one in `exclude`.
///
/// If several processes hold a socket (inherited by fork), all are named.
pub fn servers_of(proc: &Path, connections: &Connections, exclude: &HashSet<u32>) -> Servers {
    let tally = Tally::of(proc, connections, |made| &made.peer, exclude);
    let mut servers = tally.into_servers();
    if servers.served.is_empty() && !servers.pending.is_empty() {
        let namespaces = connections.namespaces.iter().map(|(_, it)| it);
        servers.listening = listening(proc, namespaces, &servers.pending, exclude);
    }
    servers
}

/// Finds the processes on this machine that hold the other ends of the connections which `pids` have accepted, the one
/// with most of them first; never one in `exclude`. `Served::endpoint` is what they are connected to.
pub fn clients_of(proc: &Path, pids: &[u32], exclude: &HashSet<u32>) -> Vec<Served> {
    let accepted = accepted_by(proc, pids);
    let tally = Tally::of(proc, &accepted, |accepted| &accepted.local, exclude);
    tally.into_servers().served
}

/// The processes that listen, in the network namespaces of these processes, at addresses that they connected
/// to: the servers of connections too short to be followed. Never a process in `exclude`.
pub fn listening_at(
    proc: &Path,
    pids: &[u32],
    addresses: &[Endpoint],
    exclude: &HashSet<u32>,
) -> Vec<Served> {
    if addresses.is_empty() {
        return Vec::new();
    }
    let by_link: BTreeMap<_, u32> = pids
        .iter()
        .map(|it| (namespace_link(proc, *it), *it))
        .collect();
    let namespaces = by_link
        .iter()
        .map(|(link, pid)| namespace(proc, link.as_deref(), *pid));
    let namespaces: Vec<Namespace> = namespaces.collect();
    listening(proc, namespaces.iter(), addresses, exclude)
}

/// The holders of the sockets that listen at these addresses. Never init: it listens for services that it
/// starts later.
fn listening<'a>(
    proc: &Path,
    namespaces: impl Iterator<Item = &'a Namespace> + Clone,
    pending: &[Endpoint],
    exclude: &HashSet<u32>,
) -> Vec<Served> {
    let mut inodes: BTreeMap<u64, &Endpoint> = BTreeMap::new();
    for endpoint in pending {
        if let Endpoint::Inet(peer) = endpoint {
            for namespace in namespaces.clone() {
                let there = namespace.listening_at(*peer);
                inodes.extend(there.map(|socket| (socket.inode, endpoint)));
            }
        }
    }
    let owners = Owners::find(proc, &inodes.keys().copied().collect());
    let mut tally = Tally::default();
    for (&inode, endpoint) in &inodes {
        for pid in owners.of(inode) {
            if pid != 1 && !exclude.contains(&pid) {
                *tally.served.entry((pid, endpoint.service())).or_default() += 1;
            }
        }
    }
    tally.into_servers().served
}

/// Connections per process and endpoint.
#[derive(Default)]
struct Tally {
    served: BTreeMap<(u32, Sentence), usize>,
    hidden: BTreeMap<(Sentence, Option<u32>), usize>,
    remote: BTreeSet<Endpoint>,
    pending: BTreeSet<Endpoint>,
    unfollowed: usize,
}

impl Tally {
    /// Of the other ends of connections, under the name of the end that a client connects to.
    fn of(
        proc: &Path,
        connections: &Connections,
        service: impl Fn(&Connection) -> &Endpoint,
        exclude: &HashSet<u32>,
    ) -> Self {
        let mut search = Search::new(proc, connections);
        let list = connections.list.iter();
        let ends: Vec<FarEnd> = list.map(|it| search.far_end(it)).collect();
        let wanted = ends.iter().filter_map(FarEnd::inode).collect();
        let owners = Owners::find(proc, &wanted);
        let mut tally = Self::default();
        for (connection, end) in connections.list.iter().zip(ends) {
            tally.add(service(connection), end, &owners, exclude);
        }
        tally
    }

    fn add(&mut self, peer: &Endpoint, end: FarEnd, owners: &Owners, exclude: &HashSet<u32>) {
        match end {
            FarEnd::Unknown => self.unfollowed += 1,
            FarEnd::Remote => drop(self.remote.insert(peer.clone())),
            FarEnd::Pending => drop(self.pending.insert(peer.clone())),
            FarEnd::Socket { inode, uid } => {
                let mut held = false;
                for pid in owners.of(inode) {
                    held = true;
                    if !exclude.contains(&pid) {
                        *self.served.entry((pid, peer.service())).or_default() += 1;
                    }
                }
                if !held && may_be_hidden(uid, owners) {
                    *self.hidden.entry((peer.service(), uid)).or_default() += 1;
                } else if !held {
                    // All descriptors could be read: the socket was closed or passed on between the two
                    // looks.
                    self.pending.insert(peer.clone());
                }
            }
        }
    }

    fn into_servers(self) -> Servers {
        let served = |((pid, endpoint), connections)| Served {
            pid,
            endpoint,
            connections,
            by: Guess::Holds,
        };
        let mut served: Vec<Served> = self.served.into_iter().map(served).collect();
        served.sort_by_key(|served| std::cmp::Reverse(served.connections));
        let hidden = |((endpoint, uid), connections)| Hidden {
            endpoint,
            uid,
            connections,
        };
        Servers {
            served,
            remote: self.remote.into_iter().collect(),
            pending: self.pending.into_iter().collect(),
            listening: Vec::new(),
            hidden: self.hidden.into_iter().map(hidden).collect(),
            unfollowed: self.unfollowed,
        }
    }
}

/// Whether there may be a holder that this user cannot see. A `/proc` mounted with `hidepid` denies nothing:
/// it just does not list other users' processes.
fn may_be_hidden(uid: Option<u32>, owners: &Owners) -> bool {
    let me = rustix::process::geteuid();
    owners.some_denied || (!me.is_root() && uid.is_some_and(|uid| uid != me.as_raw()))
}
