//! The processes at the other end of connections.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

use super::Endpoint;
use super::connections::{Connections, namespace, namespace_link};
use super::far_ends::{FarEnd, Search};
use super::inet::Namespace;
use super::owners::Owners;

/// How a serving process was recognised.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Guess {
    /// Not a guess: it holds the socket.
    Holds,
    /// It belongs to the user with this id, who owns the socket.
    Owner(u32),
}

/// A process that serves connections.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Served {
    /// The process that holds the other end.
    pub pid: u32,
    /// What was connected to: `port 5432`, `unix socket /tmp/.s.PGSQL.5432`.
    pub endpoint: String,
    /// How many of the connections it holds.
    pub connections: usize,
    /// How it was recognised.
    pub by: Guess,
}

/// Connections whose other end is on this machine, held by a process that may not be looked into.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hidden {
    /// What was connected to.
    pub endpoint: String,
    /// The user who accepted the connections, where the kernel tells.
    pub uid: Option<u32>,
    /// How many connections.
    pub connections: usize,
}

/// What is known about the other ends.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Servers {
    /// The serving processes, the one with most connections first.
    pub served: Vec<Served>,
    /// Other ends that are not on this machine.
    pub remote: Vec<Endpoint>,
    /// Not accepted yet, or just closed: ask again soon.
    pub pending: Vec<Endpoint>,
    /// Who holds the sockets that listen where connections were pending, sought when nobody was found
    /// to serve. Of connections that end sooner than they can be followed, these are the servers.
    pub listening: Vec<Served>,
    /// See `guess_by_owner`.
    pub hidden: Vec<Hidden>,
    /// How many connections the kernel gives no other end for (no sock_diag).
    pub unfollowed: usize,
}

/// Finds who serves the connections, never naming a process in `exclude`.
///
/// A socket that several processes hold (inherited by fork) names them all.
pub fn servers_of(proc: &Path, connections: &Connections, exclude: &HashSet<u32>) -> Servers {
    let mut search = Search::new(proc, connections);
    let ends: Vec<FarEnd> = connections
        .list
        .iter()
        .map(|made| search.far_end(made))
        .collect();
    let wanted = ends.iter().filter_map(FarEnd::inode).collect();
    let owners = Owners::find(proc, &wanted);
    let mut tally = Tally::default();
    for (made, end) in connections.list.iter().zip(ends) {
        tally.add(&made.peer, end, &owners, exclude);
    }
    let mut servers = tally.into_servers();
    if servers.served.is_empty() && !servers.pending.is_empty() {
        let namespaces = connections.namespaces.iter().map(|(_, it)| it);
        servers.listening = listening(proc, namespaces, &servers.pending, exclude);
    }
    servers
}

/// Who listens, in the network namespaces of these processes, at addresses that they connected to: the servers of
/// connections that end sooner than they can be followed. Never a process in `exclude`.
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

/// The holders of the sockets that listen at these addresses. Never init: it listens for services that
/// it starts later.
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

/// Counts per process and endpoint.
#[derive(Default)]
struct Tally {
    served: BTreeMap<(u32, String), usize>,
    hidden: BTreeMap<(String, Option<u32>), usize>,
    remote: BTreeSet<Endpoint>,
    pending: BTreeSet<Endpoint>,
    unfollowed: usize,
}

impl Tally {
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
                    // All could be read: it was closed, or handed over, between the two looks.
                    self.pending.insert(peer.clone());
                }
            }
        }
    }

    fn into_servers(self) -> Servers {
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

/// Whether a holder may exist that this user cannot see. A `/proc` mounted with `hidepid` denies
/// nothing: it just does not list the processes of others.
fn may_be_hidden(uid: Option<u32>, owners: &Owners) -> bool {
    let me = rustix::process::geteuid();
    owners.some_denied || (!me.is_root() && uid.is_some_and(|uid| uid != me.as_raw()))
}

fn served(((pid, endpoint), connections): ((u32, String), usize)) -> Served {
    Served {
        pid,
        endpoint,
        connections,
        by: Guess::Holds,
    }
}
