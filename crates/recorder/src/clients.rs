//! Who asks the targets of a recording that starts no workload: the processes on this machine at the other ends of the
//! connections that the targets accepted. They make the load, and are no neighbours.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use model::Sentence;
use targets::{clients_of, program_root, socket_inodes, trees_of};

use super::looks::Pace;

/// Programs that are followed as clients.
const MOST: usize = 8;

/// A program at the other end of connections.
pub(super) struct Program {
    /// Its topmost process.
    pub(super) pid: u32,
    /// What the client is connected to: `port 5432`.
    pub(super) found_by: Sentence,
    /// How many of its connections were found.
    pub(super) connections: u32,
}

/// Looks for clients.
pub(super) struct ClientSearch {
    pub(super) proc: PathBuf,
    /// Our own process, as `proc` shows it.
    pub(super) own: Option<u32>,
    /// The targets' processes, as they were named.
    pub(super) targets: Vec<u32>,
}

impl ClientSearch {
    /// Reports each client once, until `stop` is closed, nobody listens, or no more are followed.
    pub(super) fn run(self, report: impl Fn(Vec<Program>) -> bool, stop: &Receiver<()>) {
        let mut known = HashSet::new();
        let mut sockets = HashSet::new();
        let mut pace = Pace::default();
        let mut wait = Duration::ZERO;
        while stop.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
            let began = Instant::now();
            let tree = trees_of(&self.proc, self.targets.iter().copied());
            // The same sockets lead to the same clients.
            let now = socket_inodes(&self.proc, &tree);
            if now != sockets {
                let found = self.look(&tree, &mut known);
                if !found.is_empty() && !report(found) || known.len() >= MOST {
                    return;
                }
                sockets = now;
            }
            wait = pace.next(began.elapsed());
        }
    }

    /// Clients that are not known, as far as they are followed.
    fn look(&self, tree: &[u32], known: &mut HashSet<u32>) -> Vec<Program> {
        let exclude = tree.iter().copied().chain(self.own).collect();
        let mut found: Vec<Program> = Vec::new();
        for served in clients_of(&self.proc, tree, &exclude) {
            let Some(pid) = program_root(&self.proc, served.pid) else {
                continue;
            };
            let connections = served.connections as u32;
            match found.iter_mut().find(|it| it.pid == pid) {
                Some(client) => client.connections += connections,
                None if known.len() < MOST && known.insert(pid) => found.push(Program {
                    pid,
                    found_by: served.endpoint,
                    connections,
                }),
                None => {}
            }
        }
        found
    }
}
