//! One look for who serves the load: from the generator's connections to the processes behind them.

use std::collections::{BTreeSet, HashSet};
use std::net::SocketAddr;
use std::path::Path;

use model::{Sentence, sentence};
use targets::{
    Connections, Endpoint, Served, Servers, connections_of, guess_by_owner, listening_at,
    program_root, servers_of, socket_inodes, start_ticks, tree_of,
};

/// Servers that were found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(in super::super) struct Found {
    /// The tops of their programs.
    pub(in super::super) roots: Vec<u32>,
    /// The processes that hold connections.
    pub(in super::super) serving: Vec<u32>,
    /// How they were found: `unix socket /tmp/.s.PGSQL.5432`.
    pub(in super::super) found_by: Sentence,
    /// Connections followed.
    pub(in super::super) connections: u32,
}

/// What a look came to.
pub(super) struct Look {
    pub(super) found: Found,
    pub(super) servers: Servers,
    pub(super) connections: Connections,
    /// Why the owner of a socket could not be guessed, as a sentence.
    pub(super) trouble: Option<Sentence>,
}

/// Sockets of the system itself, which every program may hold: not what a load is about.
const SYSTEM: [&str; 6] = [
    "/run/systemd/",
    "/run/dbus/",
    "/var/run/nscd/",
    "/run/nscd/",
    "/run/user/",
    "/tmp/.X11-unix/",
];

impl Look {
    /// Looks who serves the tree of processes below `generator`; `addresses` are those that the kernel
    /// saw it connect to.
    pub(super) fn new(proc: &Path, generator: u32, addresses: &BTreeSet<SocketAddr>) -> Self {
        let tree = tree_of(proc, generator);
        let mut connections = connections_of(proc, &tree);
        connections
            .list
            .retain(|connection| !is_of_the_system(&connection.peer));
        let own = std::process::id();
        let exclude: HashSet<u32> = tree.iter().copied().chain([own]).collect();
        let servers = servers_of(proc, &connections, &exclude);
        let mut serving = if are_brief(proc, &tree, &connections) {
            [&servers.served[..], &servers.listening].concat()
        } else {
            servers.served.clone()
        };
        if serving.is_empty() {
            let at = addresses.iter().map(|it| Endpoint::Inet(*it));
            let at: Vec<Endpoint> = at.filter(|it| !is_of_the_system(it)).collect();
            serving = listening_at(proc, &tree, &at, &exclude);
        }
        let mut found = Found::of(proc, &serving);
        let mut trouble = None;
        if let (true, Some(hidden)) = (serving.is_empty(), servers.hidden.first()) {
            let started = start_ticks(proc, generator).unwrap_or(0);
            match guess_by_owner(proc, hidden, started, &exclude) {
                Ok(guess) => {
                    found = Found {
                        roots: guess.roots,
                        serving: guess.serving,
                        found_by: sentence!("{}, by its owner", &hidden.endpoint),
                        connections: hidden.connections as u32,
                    };
                }
                Err(error) => trouble = Some(error.to_string().into()),
            }
        }
        for pids in [&mut found.roots, &mut found.serving] {
            pids.sort_unstable();
            pids.dedup();
        }
        Self {
            found,
            servers,
            connections,
            trouble,
        }
    }
}

impl Look {
    /// An address that the generator is connected to, by TCP.
    pub(super) fn peer(&self) -> Option<SocketAddr> {
        let mut made = self.connections.list.iter();
        made.find_map(|connection| match connection.peer {
            Endpoint::Inet(address) => Some(address),
            _ => None,
        })
    }
}

impl Found {
    fn of(proc: &Path, serving: &[Served]) -> Self {
        // Who serves a connection each may have ended since.
        let there = serving.iter().filter_map(|served| {
            let root = program_root(proc, served.pid)?;
            Some((served.pid, root))
        });
        let (pids, roots) = there.unzip();
        Self {
            serving: pids,
            roots,
            found_by: endpoints(serving.iter().map(|served| &served.endpoint)),
            connections: serving.iter().map(|served| served.connections as u32).sum(),
        }
    }
}

/// Whether any of these connections ended sooner than the look, so that nobody could be found at its other
/// end. One that nobody accepts stays.
fn are_brief(proc: &Path, generator: &[u32], connections: &Connections) -> bool {
    let still = socket_inodes(proc, generator);
    let mut made = connections.list.iter();
    made.any(|connection| !still.contains(&connection.inode))
}

fn endpoints<'a>(endpoints: impl Iterator<Item = &'a Sentence>) -> Sentence {
    let distinct: BTreeSet<&Sentence> = endpoints.collect();
    let distinct = distinct.into_iter().cloned();
    let all = distinct.reduce(|all, endpoint| all.and(", ").and(endpoint));
    all.unwrap_or_default()
}

/// Whether that is a socket which every program may hold.
pub(in super::super) fn is_of_the_system(endpoint: &Endpoint) -> bool {
    match endpoint {
        Endpoint::Unix(path) => SYSTEM.iter().any(|system| {
            path.trim_start_matches("/var")
                .starts_with(system.trim_start_matches("/var"))
        }),
        Endpoint::Inet(address) => address.port() == 53,
        Endpoint::UnnamedUnix => false,
    }
}
