//! Listening sockets of this machine, as a suggestion when a target cannot be found.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use super::inet::{Namespace, here};
use super::owners::Owners;
use super::unix::UnixTable;
use kernel::process_list;

/// A listening socket: on a port or at a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Listener {
    /// The TCP port, if it has one.
    pub port: Option<u16>,
    /// The name of the unix socket, if it has one.
    pub path: Option<String>,
    /// The topmost process that holds it; `None` if this user may not see it.
    pub pid: Option<u32>,
    /// That process's name, `?` if unknown.
    pub name: String,
}

/// Everything that listens in this network namespace: ports in order, then unix sockets.
pub fn listeners(proc: &Path) -> Vec<Listener> {
    let mut inodes_by_port: BTreeMap<u16, HashSet<u64>> = BTreeMap::new();
    for socket in Namespace::read(here(proc)).listening_sockets() {
        inodes_by_port
            .entry(socket.local.port())
            .or_default()
            .insert(socket.inode);
    }
    let mut inodes_by_path: BTreeMap<String, HashSet<u64>> = BTreeMap::new();
    for socket in UnixTable::read(proc).listening_sockets() {
        if let Some(name) = &socket.name {
            inodes_by_path
                .entry(name.clone())
                .or_default()
                .insert(socket.inode);
        }
    }
    let wanted = inodes_by_port
        .values()
        .chain(inodes_by_path.values())
        .flatten()
        .copied()
        .collect();
    let holders = Holders {
        owners: Owners::find(proc, &wanted),
        all: process_list::all(proc),
    };
    let ports = inodes_by_port
        .into_iter()
        .map(|(port, inodes)| holders.listener(Some(port), None, &inodes));
    let paths = inodes_by_path
        .into_iter()
        .map(|(path, inodes)| holders.listener(None, Some(path), &inodes));
    ports.chain(paths).collect()
}

struct Holders {
    owners: Owners,
    all: BTreeMap<u32, process_list::Process>,
}

impl Holders {
    fn listener(&self, port: Option<u16>, path: Option<String>, inodes: &HashSet<u64>) -> Listener {
        let pids = inodes
            .iter()
            .flat_map(|&inode| self.owners.of(inode))
            .collect();
        let pid = process_list::topmost(&self.all, &pids).first().copied();
        let name = pid
            .and_then(|pid| self.all.get(&pid))
            .map_or("?", |process| &process.comm)
            .to_owned();
        Listener {
            port,
            path,
            pid,
            name,
        }
    }
}

/// The listening sockets as part of a sentence: `5432 postgres, 6379 redis-server`, or `nothing`.
///
/// Unix sockets are named only if there is no port: a machine has dozens that no user would mean.
pub fn listening_here(listeners: &[Listener]) -> String {
    const MOST: usize = 8;
    let on_ports: Vec<&Listener> = listeners
        .iter()
        .filter(|listener| listener.port.is_some())
        .collect();
    let offered = if on_ports.is_empty() {
        listeners.iter().collect()
    } else {
        on_ports
    };
    let shown: Vec<String> = offered
        .iter()
        .take(MOST)
        .map(|listener| spoken(listener))
        .collect();
    match offered.len() {
        0 => "nothing".to_owned(),
        count if count > MOST => format!("{} and {} more", shown.join(", "), count - MOST),
        _ => shown.join(", "),
    }
}

fn spoken(listener: &Listener) -> String {
    let place = match (listener.port, &listener.path) {
        (Some(port), _) => port.to_string(),
        (None, path) => path.clone().unwrap_or_default(),
    };
    format!("{place} {}", listener.name)
}
