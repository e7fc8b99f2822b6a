//! The search for who serves the load: on a thread of its own, since a look takes milliseconds.
//!
//! The generator's connections are followed until the set of serving processes stands still, then
//! looked at now and then, since a client may reconnect.

use std::collections::{BTreeSet, HashSet};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use targets::{
    Connections, Endpoint, Servers, connections_of, guess_by_owner, listeners, listening_at,
    listening_here, program_root, servers_of, socket_inodes, start_ticks, tree_of,
};

use super::plan::PROC;
use super::session::Event;

/// Between looks while servers are still being found.
const SOON: Duration = Duration::from_millis(250);
/// Between looks when the set stands still.
const LATER: Duration = Duration::from_secs(5);
/// Looks take at most one part in so many of a CPU: in another network namespace the kernel prints each
/// socket, tens of thousands where connections are short.
const SHARE: u32 = 400;
/// In the first moments of a load looks may cost more: where the kernel does not tell whom the generator connects to,
/// few looks meet a connection for one request.
const BURST: Duration = Duration::from_secs(2);
const OFTEN: Duration = Duration::from_millis(80);
/// After this long without a connection the user is told.
const PATIENCE: Duration = Duration::from_secs(5);

/// What is to be searched for.
pub(super) struct Search {
    /// The generator's first process.
    pub(super) generator: u32,
    /// Its name, for sentences.
    pub(super) name: String,
    /// The roots of named targets: only the serving processes are then looked for.
    pub(super) named: bool,
    /// Whether the generator surely has a server (an adapter knows it), so that none is worth a word.
    pub(super) expected: bool,
    /// Connections that the command line asks for.
    pub(super) clients: Option<u32>,
}

/// Servers that were found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Found {
    /// The tops of their programs.
    pub(super) roots: Vec<u32>,
    /// The processes that hold connections.
    pub(super) serving: Vec<u32>,
    /// How they were found: `unix socket /tmp/.s.PGSQL.5432`.
    pub(super) found_by: String,
    /// Connections followed.
    pub(super) connections: u32,
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

/// What this thread has used of the CPUs.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// Who finds nobody looks less often the longer it lasts: a named target may have no connections at all.
fn patient(began: Instant) -> Duration {
    (began.elapsed() / 16).clamp(SOON, LATER)
}

impl Search {
    /// Searches until `contacts` is closed: the addresses that the kernel saw the generator connect to.
    pub(super) fn run(self, events: &Sender<Event>, contacts: &Receiver<SocketAddr>) {
        let proc = Path::new(PROC);
        let began = Instant::now();
        let (mut known, mut still, mut told) = (Found::default(), 0u32, false);
        let mut found_at = None;
        let mut sockets = HashSet::new();
        let mut wait = Duration::from_millis(100);
        let mut addresses = BTreeSet::new();
        loop {
            let is_new = match contacts.recv_timeout(wait) {
                Ok(address) => addresses.insert(address),
                Err(RecvTimeoutError::Timeout) => false,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            addresses.extend(contacts.try_iter());
            // The user is still to learn that there is no server.
            let owes_word = self.expected && !self.named && !told && known.serving.is_empty();
            // The same sockets lead to the same servers: following them again would cost more than all sampling does.
            let cpu = cpu_time();
            let is_due = is_new || owes_word || wait <= SOON;
            let look = (is_due || self.has_other_sockets(&mut sockets))
                .then(|| self.look(proc, &addresses));
            let cost = cpu_time().saturating_sub(cpu);
            let found = look.as_ref().map(|it| &it.found);
            if let Some(found) = found.filter(|it| !it.serving.is_empty() && **it != known) {
                known = found.clone();
                still = 0;
                found_at.get_or_insert_with(Instant::now);
                if events.send(Event::Found(known.clone())).is_err() {
                    return;
                }
            } else {
                still += 1;
            }
            let enough = self
                .clients
                .is_none_or(|clients| known.connections >= clients);
            let settled = !known.serving.is_empty() && still >= 2 && (enough || still >= 20);
            // A generator that connects anew for each request never stands still, and looking costs.
            let settled = settled || found_at.is_some_and(|at: Instant| at.elapsed() >= PATIENCE);
            wait = if settled { LATER } else { patient(began) }.max(cost * SHARE);
            if known.serving.is_empty() && began.elapsed() < BURST {
                wait = OFTEN;
            }
            if owes_word {
                // Looks may be dear here: the user is told in time all the same.
                wait = wait.min(PATIENCE.saturating_sub(began.elapsed()).max(SOON));
            }
            let Some(look) = look else { continue };
            if owes_word && known.serving.is_empty() && began.elapsed() >= PATIENCE {
                told = true;
                let sentence = self.not_found(&look.servers, &look.connections, began.elapsed());
                if events
                    .send(Event::NotFound(look.trouble.unwrap_or(sentence)))
                    .is_err()
                {
                    return;
                }
            }
        }
    }

    /// Whether the generator has other sockets than at the last look.
    fn has_other_sockets(&self, sockets: &mut HashSet<u64>) -> bool {
        let proc = Path::new(PROC);
        let now = socket_inodes(proc, &tree_of(proc, self.generator));
        let differ = now != *sockets;
        *sockets = now;
        differ
    }

    fn look(&self, proc: &Path, addresses: &BTreeSet<SocketAddr>) -> Look {
        let generator = tree_of(proc, self.generator);
        let mut connections = connections_of(proc, &generator);
        connections
            .list
            .retain(|connection| !is_of_the_system(&connection.peer));
        let exclude: HashSet<u32> = generator
            .iter()
            .copied()
            .chain([std::process::id()])
            .collect();
        let servers = servers_of(proc, &connections, &exclude);
        let mut serving = if are_brief(proc, &generator, &connections) {
            [&servers.served[..], &servers.listening].concat()
        } else {
            servers.served.clone()
        };
        if serving.is_empty() {
            let at = addresses.iter().map(|it| Endpoint::Inet(*it));
            let at: Vec<Endpoint> = at.filter(|it| !is_of_the_system(it)).collect();
            serving = listening_at(proc, &generator, &at, &exclude);
        }
        // Who serves a connection each may have ended since.
        let there = serving.iter().filter_map(|served| {
            let root = program_root(proc, served.pid)?;
            Some((served.pid, root))
        });
        let (pids, roots) = there.unzip();
        let mut found = Found {
            serving: pids,
            roots,
            found_by: endpoints(serving.iter().map(|served| served.endpoint.as_str())),
            connections: serving.iter().map(|served| served.connections as u32).sum(),
        };
        let mut trouble = None;
        if let (true, Some(hidden)) = (serving.is_empty(), servers.hidden.first()) {
            let started = start_ticks(proc, self.generator).unwrap_or(0);
            match guess_by_owner(proc, hidden, started, &exclude) {
                Ok(guess) => {
                    found = Found {
                        roots: guess.roots,
                        serving: guess.serving,
                        found_by: format!("{}, by its owner", hidden.endpoint),
                        connections: hidden.connections as u32,
                    };
                }
                Err(error) => trouble = Some(error.to_string()),
            }
        }
        for pids in [&mut found.roots, &mut found.serving] {
            pids.sort_unstable();
            pids.dedup();
        }
        Look {
            found,
            servers,
            connections,
            trouble,
        }
    }

    /// Why there is nobody, and what to do.
    fn not_found(&self, servers: &Servers, connections: &Connections, waited: Duration) -> String {
        if let Some(remote) = servers.remote.first() {
            let port = match remote {
                Endpoint::Inet(address) => format!("port:{}", address.port()),
                _ => "name:SERVER".to_owned(),
            };
            return format!(
                "the server behind {} is not on this machine ({remote}). Record it there meanwhile: \
                 stallscope record --for 30s --target {port}",
                self.name
            );
        }
        if let Some(unanswered) = servers
            .pending
            .first()
            .filter(|_| !connections.list.is_empty())
        {
            return format!(
                "cannot find a server behind {}: it connects to {}, and nobody answers there. Name it: --target {}",
                self.name,
                unanswered.service(),
                example()
            );
        }
        if !connections.unreadable.is_empty() || servers.unfollowed > 0 {
            return format!(
                "cannot see who serves {}: its connections may not be looked into. Run as root, or name \
                 the server: --target {}",
                self.name,
                example()
            );
        }
        no_connection(&self.name, waited)
    }
}

/// The sentence for a generator that made no connection.
pub(super) fn no_connection(name: &str, waited: Duration) -> String {
    let seconds = waited.as_secs_f64();
    let waited = if seconds >= 1.0 {
        format!("{seconds:.0} s")
    } else {
        format!("{seconds:.1} s")
    };
    format!(
        "cannot find a server behind {name}: it made no connection in {waited}. Name it: --target {} (listening here: {})",
        example(),
        listening_here(&listeners(Path::new(PROC)))
    )
}

/// A target that could be typed here.
fn example() -> String {
    let listening = listeners(Path::new(PROC));
    let named = listening.iter().filter(|listener| listener.pid.is_some());
    let port = named
        .chain(&listening)
        .find_map(|listener| listener.port)
        .unwrap_or(5432);
    format!("port:{port}")
}

/// Whether any of these connections ended sooner than the look, so that nobody could be found at its other
/// end. One that nobody accepts stays.
fn are_brief(proc: &Path, generator: &[u32], connections: &Connections) -> bool {
    let still = socket_inodes(proc, generator);
    let mut made = connections.list.iter();
    made.any(|connection| !still.contains(&connection.inode))
}

struct Look {
    found: Found,
    servers: Servers,
    connections: Connections,
    trouble: Option<String>,
}

fn endpoints<'a>(endpoints: impl Iterator<Item = &'a str>) -> String {
    let distinct: BTreeSet<&str> = endpoints.collect();
    distinct.into_iter().collect::<Vec<_>>().join(", ")
}

fn is_of_the_system(endpoint: &Endpoint) -> bool {
    match endpoint {
        Endpoint::Unix(path) => SYSTEM.iter().any(|system| {
            path.trim_start_matches("/var")
                .starts_with(system.trim_start_matches("/var"))
        }),
        Endpoint::Inet(address) => address.port() == 53,
        Endpoint::UnnamedUnix => false,
    }
}
