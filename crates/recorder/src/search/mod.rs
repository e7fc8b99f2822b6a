//! The search for who serves the load: on a thread of its own, since a look takes milliseconds.
//!
//! The generator's connections are followed until the set of serving processes stands still, then
//! looked at now and then, since a client may reconnect.

mod look;
mod sentences;

use std::collections::{BTreeSet, HashSet};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use model::Sentence;
use rustix::time::{ClockId, clock_gettime};
use targets::{socket_inodes, tree_of};

use self::look::Look;

pub(super) use self::look::{Found, is_of_the_system};
pub(super) use self::sentences::{no_connection, unserved};

/// Between looks while servers are still being found.
const SOON: Duration = Duration::from_millis(250);
/// Between looks when the set stands still.
const LATER: Duration = Duration::from_secs(5);
/// Looks take at most one part in so many of a CPU: in another network namespace the kernel prints each
/// socket, tens of thousands where connections are short.
const SHARE: u32 = 400;
/// The same while a load begins of which servers are known, and more connections are to come: several instances of it
/// have a server each.
const SHARE_FOR_REST: u32 = 40;
/// In the first moments of a load looks may cost more: where the kernel does not tell whom the generator connects to,
/// few looks meet a connection for one request.
const BURST: Duration = Duration::from_secs(2);
const OFTEN: Duration = Duration::from_millis(80);
/// After this long without a connection the user is told.
const PATIENCE: Duration = Duration::from_secs(5);

/// What a search reports.
pub(super) enum SearchEvent {
    /// Servers, or more of their processes.
    Found(Found),
    /// The generator is connected to this address, and nobody who serves it is found so far.
    Connected(SocketAddr),
    /// The search gave up, for now: why, as a sentence.
    NotFound(Sentence),
}

/// What is to be searched for.
pub(super) struct Search {
    /// Where the kernel shows its processes.
    pub(super) proc: PathBuf,
    /// The generator's first process.
    pub(super) generator: u32,
    /// Its name, for sentences.
    pub(super) name: String,
    /// Whether the user named targets: only the serving processes are then looked for.
    pub(super) named: bool,
    /// Whether the generator surely has a server (an adapter knows it), so that none is worth a word.
    pub(super) expected: bool,
    /// Connections that the command line asks for.
    pub(super) clients: Option<u32>,
}

impl Search {
    /// Searches until `contacts` is closed, which brings the addresses that the kernel saw the generator
    /// connect to, or until `report` answers that nobody listens.
    pub(super) fn run(self, report: impl Fn(SearchEvent) -> bool, contacts: &Receiver<SocketAddr>) {
        let mut state = State::new();
        while let Some(is_new) = state.wait(contacts) {
            // The user does not know yet that there is no server.
            let is_report_due = self.expected
                && !self.named
                && !state.is_reported
                && state.known.serving.is_empty();
            // The same sockets lead to the same servers: following them again would cost more than all sampling does.
            let cpu = cpu_time();
            let is_due = is_new || is_report_due || state.wait <= SOON;
            let look = (is_due || self.has_other_sockets(&mut state.sockets))
                .then(|| Look::new(&self.proc, self.generator, &state.addresses));
            let cost = cpu_time().saturating_sub(cpu);
            if state.note(look.as_ref()) && !report(SearchEvent::Found(state.known.clone())) {
                return;
            }
            state.pace(self.clients, is_report_due, cost);
            let Some(look) = look else { continue };
            let peer = look.peer().filter(|_| state.known.serving.is_empty());
            if peer.is_some_and(|peer| !report(SearchEvent::Connected(peer))) {
                return;
            }
            let waited = state.began.elapsed();
            if is_report_due && state.known.serving.is_empty() && waited >= PATIENCE {
                state.is_reported = true;
                let sentence = look
                    .trouble
                    .clone()
                    .unwrap_or_else(|| sentences::not_found(&self.proc, &self.name, &look, waited));
                if !report(SearchEvent::NotFound(sentence)) {
                    return;
                }
            }
        }
    }

    /// Whether the generator has other sockets than at the last look.
    fn has_other_sockets(&self, sockets: &mut HashSet<u64>) -> bool {
        let now = socket_inodes(&self.proc, &tree_of(&self.proc, self.generator));
        let differ = now != *sockets;
        *sockets = now;
        differ
    }
}

/// How far a search has come.
struct State {
    began: Instant,
    known: Found,
    found_at: Option<Instant>,
    /// Looks since the last that found more.
    unchanged_looks: u32,
    /// Whether the user was told that there is no server.
    is_reported: bool,
    /// The generator's sockets at the last look.
    sockets: HashSet<u64>,
    addresses: BTreeSet<SocketAddr>,
    /// Until the next look.
    wait: Duration,
}

impl State {
    fn new() -> Self {
        Self {
            began: Instant::now(),
            known: Found::default(),
            found_at: None,
            unchanged_looks: 0,
            is_reported: false,
            sockets: HashSet::new(),
            addresses: BTreeSet::new(),
            wait: Duration::from_millis(100),
        }
    }

    /// Waits for the next look: whether there is a new address; `None` when the search is over.
    fn wait(&mut self, contacts: &Receiver<SocketAddr>) -> Option<bool> {
        let is_new = match contacts.recv_timeout(self.wait) {
            Ok(address) => self.addresses.insert(address),
            Err(RecvTimeoutError::Timeout) => false,
            Err(RecvTimeoutError::Disconnected) => return None,
        };
        self.addresses.extend(contacts.try_iter());
        Some(is_new)
    }

    /// Whether a look found more than was known.
    fn note(&mut self, look: Option<&Look>) -> bool {
        let found = look.map(|look| &look.found);
        let Some(found) = found.filter(|it| !it.serving.is_empty() && **it != self.known) else {
            self.unchanged_looks += 1;
            return false;
        };
        self.known = found.clone();
        self.unchanged_looks = 0;
        self.found_at.get_or_insert_with(Instant::now);
        true
    }

    /// When to look again, after a look that took `cost` of a CPU.
    fn pace(&mut self, clients: Option<u32>, is_report_due: bool, cost: Duration) {
        let enough = clients.is_none_or(|clients| self.known.connections >= clients);
        let is_known = !self.known.serving.is_empty();
        let settled =
            is_known && self.unchanged_looks >= 2 && (enough || self.unchanged_looks >= 20);
        // A generator that connects anew for each request never stands still, and looking costs.
        let settled = settled || self.found_at.is_some_and(|at| at.elapsed() >= PATIENCE);
        let usual = if settled { LATER } else { patient(self.began) };
        let is_missing = is_known && !enough && self.began.elapsed() < PATIENCE;
        let share = if is_missing { SHARE_FOR_REST } else { SHARE };
        self.wait = usual.max(cost * share);
        if !is_known && self.began.elapsed() < BURST {
            self.wait = OFTEN;
        }
        if is_report_due {
            // Looks may be dear here: the user is told in time all the same.
            let left = PATIENCE.saturating_sub(self.began.elapsed());
            self.wait = self.wait.min(left.max(SOON));
        }
    }
}

/// What this thread has used of the CPUs.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// Who finds nobody looks less often the longer it lasts: a named target may have no connections at all.
fn patient(began: Instant) -> Duration {
    (began.elapsed() / 16).clamp(SOON, LATER)
}
