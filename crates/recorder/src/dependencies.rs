//! Whom the targets ask in turn: the programs on this machine that serve connections which targets made, and those that
//! these ask. What a target waits for there is seen there.

use std::collections::{BTreeSet, HashSet};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use model::Role;
use targets::{
    Endpoint, Served, connections_of, listening_at, program_root, servers_of, socket_inodes,
    trees_of,
};

use super::clients::Program;
use super::looks::Pace;
use super::search::is_of_the_system;

/// Until there is anybody whose connections are followed.
const PATIENCE: Duration = Duration::from_secs(60);
/// Programs that are followed as dependencies: each costs as much to record as a target.
const MOST: usize = 4;
/// Addresses that are remembered.
const MOST_CONTACTS: usize = 64;

/// What the search is told.
pub(super) enum Notice {
    /// Who has a part, by their topmost processes.
    Placed(Role, Vec<u32>),
    /// Where a target, or whom it asks, connected to.
    Contact(SocketAddr),
}

/// Looks for dependencies.
pub(super) struct DependencySearch {
    /// Where the kernel shows its processes.
    pub(super) proc: PathBuf,
    /// Our own process, as `proc` shows it.
    pub(super) own: Option<u32>,
}

/// How far a search has come.
#[derive(Default)]
struct State {
    /// Topmost processes of those who ask.
    asking: BTreeSet<u32>,
    /// Those of everybody else who has a part.
    placed: BTreeSet<u32>,
    contacts: BTreeSet<SocketAddr>,
    /// What those who ask held open at the last look.
    sockets: HashSet<u64>,
    found: usize,
    pace: Pace,
}

impl DependencySearch {
    /// Reports each dependency once, until `notices` is closed, nobody listens, or no more are followed.
    pub(super) fn run(self, report: impl Fn(Vec<Program>) -> bool, notices: &Receiver<Notice>) {
        let mut state = State::default();
        let mut wait = PATIENCE;
        loop {
            match notices.recv_timeout(wait) {
                Ok(first) => std::iter::once(first)
                    .chain(notices.try_iter())
                    .for_each(|it| state.take(it)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if state.asking.is_empty() {
                continue;
            }
            let began = Instant::now();
            let found = self.look(&mut state);
            if !found.is_empty() && !report(found) || state.found >= MOST {
                return;
            }
            wait = state.pace.next(began.elapsed());
        }
    }

    /// Dependencies that are not known.
    fn look(&self, state: &mut State) -> Vec<Program> {
        let tree = trees_of(&self.proc, state.asking.iter().copied());
        // The same sockets lead to the same servers.
        let sockets = socket_inodes(&self.proc, &tree);
        if sockets == state.sockets && !state.pace.is_first() {
            return Vec::new();
        }
        state.sockets = sockets;
        let others = trees_of(&self.proc, state.placed.iter().copied());
        let exclude: HashSet<u32> = tree.iter().copied().chain(others).chain(self.own).collect();
        let mut new: Vec<Program> = Vec::new();
        for served in self.served(state, &tree, &exclude) {
            let Some(pid) = program_root(&self.proc, served.pid).filter(|it| !exclude.contains(it))
            else {
                continue;
            };
            let connections = served.connections as u32;
            match new.iter_mut().find(|it| it.pid == pid) {
                Some(program) => program.connections += connections,
                None if state.found < MOST => {
                    state.found += 1;
                    state.asking.insert(pid);
                    new.push(Program {
                        pid,
                        found_by: served.endpoint,
                        connections,
                    });
                }
                None => {}
            }
        }
        new
    }

    /// Who serves them: at the other ends of their connections, or where the kernel saw them connect to.
    fn served(&self, state: &State, tree: &[u32], exclude: &HashSet<u32>) -> Vec<Served> {
        let mut connections = connections_of(&self.proc, tree);
        connections.list.retain(|it| !is_of_the_system(&it.peer));
        let mut served = servers_of(&self.proc, &connections, exclude).served;
        let at = state.contacts.iter().map(|it| Endpoint::Inet(*it));
        let at: Vec<Endpoint> = at.filter(|it| !is_of_the_system(it)).collect();
        served.extend(listening_at(&self.proc, tree, &at, exclude));
        served
    }
}

impl State {
    fn take(&mut self, notice: Notice) {
        let known = self.asking.len() + self.placed.len() + self.contacts.len();
        match notice {
            Notice::Placed(Role::Target | Role::Dependency, pids) => self.asking.extend(pids),
            Notice::Placed(_, pids) => self.placed.extend(pids),
            Notice::Contact(address) => {
                if self.contacts.len() < MOST_CONTACTS {
                    self.contacts.insert(address);
                }
            }
        }
        if known < self.asking.len() + self.placed.len() + self.contacts.len() {
            self.pace.restart();
        }
    }
}
