//! The TCP connections of target, generator and dependencies, once a second.
//!
//! One dump lists every TCP socket of a network namespace. Which process holds a new socket follows from the
//! links in `/proc/PID/fd`. All of it runs on the sampler's own thread: 0.13 to 1 ms of CPU for the walk of the
//! kernel's table of 262,144 slots, as much of it is in the CPU's caches, and 1.2 us per connection
//! (`cargo test --release -p collectors -- --ignored --nocapture a_look`). That is less than a tick's other work,
//! and a thread of its own would only cost a wake-up. With very many sockets, dumps are made less often, so
//! that they stay within their share of a CPU. Known sockets cost no allocation.

mod descriptors;
mod namespaces;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::Path;

use model::{Entity, EntityId, EntityKind, GapReason, Timestamp, sentence};
use sensors::{CONNECTION, TcpReading};

use crate::collector::Collector;
use crate::opening::Opening;
use crate::output::{Output, TableId};
use crate::registry::Registry;
use crate::scene::Scene;
use crate::schedule::ticks_of;
use crate::table_buffer::{RowDeduplicator, TableBuffer};
use crate::tick::Tick;
use descriptors::{Proc, Refused};
use kernel::clock::{boottime, thread_cpu_ns};
use kernel::root::is_own;
use namespaces::Namespaces;

/// Connections that are followed, at most: the first ones are representative.
const MOST: usize = 2_000;
/// Sockets of the machine that are remembered, whatever process holds them: some 10 MB.
const MOST_SOCKETS: usize = 50_000;
/// Dumps take at most one part in this many of a CPU's time, and so do searches for holders.
const SHARE: i64 = 400;
/// Searches after which a socket without a holder counts as another process's, until new processes start.
const TRIES: u8 = 3;
/// A dump that continues in a second datagram may skip a socket; one that is missing in two has ended.
const MISSES: u64 = 2;
/// Capacity for the sockets of a usual machine; grows on demand.
const USUAL_SOCKETS: usize = 4_096;

/// One socket of a dump.
struct Socket {
    cookie: u64,
    namespace: u64,
    local: SocketAddr,
    peer: SocketAddr,
    /// Number of the last dump that had it.
    last_dump: u64,
    state: State,
}

enum State {
    /// Number of searches for its holder so far.
    Unknown(u8),
    /// The present search has found its holder, a tracked process.
    Found(EntityId),
    /// Followed; with the number of the dump that its last values are from.
    Followed(RowDeduplicator, u64),
    /// Not followed: there are too many.
    Beyond,
}

/// Period of reading them, in ticks.
const PERIOD_TICKS: u64 = ticks_of(sensors::CONNECTION_PERIOD);

/// Opens it; needs nothing.
pub(crate) fn open(opening: &mut Opening<'_>) -> Option<Box<dyn Collector>> {
    let root = &opening.settings.root;
    Some(Box::new(Connections::new(root, opening.out)))
}

/// The connections of tracked processes.
pub(crate) struct Connections {
    table: TableId,
    /// `None` with another root: the kernel would report the sockets of our own namespace.
    proc: Option<Proc>,
    /// Whether another root is the reason for that.
    elsewhere: bool,
    namespaces: Namespaces,
    /// By inode, as descriptors show it.
    sockets: HashMap<u64, Socket>,
    tracked: Vec<(u32, EntityId)>,
    looks: u64,
    /// No dump before `next_dump`, and no search for holders before `next_search`.
    next_dump: Timestamp,
    next_search: Timestamp,
    /// Checksum of the tracked processes at the last search.
    searched: u64,
    followed: usize,
    beyond_reported: u64,
}

impl Connections {
    fn new(root: &Path, out: &mut Output) -> Self {
        Self {
            table: out.open(&CONNECTION),
            proc: is_own(root)
                .then(|| Proc::open(&root.join("proc")))
                .flatten(),
            elsewhere: !is_own(root),
            namespaces: Namespaces::default(),
            sockets: HashMap::with_capacity(USUAL_SOCKETS),
            tracked: Vec::with_capacity(1_024),
            looks: 0,
            next_dump: Timestamp::default(),
            next_search: Timestamp::default(),
            searched: 0,
            followed: 0,
            beyond_reported: 0,
        }
    }

    /// Dumps the sockets, takes in changes, and finds the holders of new ones among tracked processes.
    fn look(&mut self, tracked: impl Iterator<Item = (u32, EntityId)>, out: &mut Output) {
        let (now, began) = (boottime(), thread_cpu_ns());
        self.tracked.clear();
        self.tracked.extend(tracked);
        if self.elsewhere {
            let sentence =
                "connections are not seen through another root: record on the machine itself";
            let reason = GapReason::Unsupported(sentence.into());
            out.gaps.report(&CONNECTION.name, "", reason);
        }
        let Some(proc) = self.proc.as_ref().filter(|_| now >= self.next_dump) else {
            return;
        };
        if self.tracked.is_empty() && self.sockets.is_empty() {
            return;
        }
        self.looks += 1;
        self.namespaces.follow(proc, &self.tracked, &mut out.gaps);
        let complete = self.read(now, out);
        if self.search(now, out) > 0 {
            // So that their first values are written now, not in a second.
            self.read(now, out);
        }
        if complete {
            self.sweep(now, out);
        }
        self.next_dump = now + (thread_cpu_ns() - began) * SHARE;
    }

    /// Dumps every namespace; returns whether all of them answered.
    fn read(&mut self, now: Timestamp, out: &mut Output) -> bool {
        let Self {
            namespaces,
            sockets,
            table,
            looks,
            ..
        } = self;
        let Output { tables, gaps, .. } = out;
        let mut dump = Dump {
            sockets,
            buffer: &mut tables[*table],
            now,
            number: *looks,
        };
        let mut room = true;
        let complete = namespaces.dump(gaps, |namespace, reading| {
            room &= dump.take(namespace, reading);
        });
        if !room {
            let sentence = sentence!(
                "of more than {} TCP sockets the later ones are not looked at, and connections among them not seen",
                MOST_SOCKETS
            );
            gaps.report(&CONNECTION.name, "", GapReason::Unsupported(sentence));
        }
        complete
    }

    /// Finds the holders of sockets among tracked processes; returns how many sockets are new to follow.
    fn search(&mut self, now: Timestamp, out: &mut Output) -> usize {
        let tracked = self.tracked.iter().fold(0u64, |sum, (pid, id)| {
            // Independent of order, sensitive to any change: a collision is not to be expected in a machine's
            // life.
            sum.wrapping_add(
                (u64::from(*pid) << 32 | u64::from(id.0)).wrapping_mul(0x9e37_79b9_7f4a_7c15),
            )
        });
        let limit = if tracked == self.searched {
            TRIES
        } else {
            u8::MAX
        };
        let wanted =
            |socket: &Socket| matches!(socket.state, State::Unknown(tries) if tries < limit);
        let Some(proc) = &self.proc else { return 0 };
        if now < self.next_search || !self.sockets.values().any(wanted) {
            return 0;
        }
        let began = thread_cpu_ns();
        for &(pid, entity) in &self.tracked {
            let sockets = &mut self.sockets;
            let seen = proc.sockets_of(pid, |inode| {
                if let Some(socket) = sockets.get_mut(&inode) {
                    hold(socket, entity, &out.registry);
                }
            });
            if seen == Err(Refused::Denied) {
                let sentence = "connections of measured processes are not seen: run as root, or as \
                                the user who owns them";
                let reason = GapReason::Denied(sentence.into());
                out.gaps.report(&CONNECTION.name, "", reason);
            }
        }
        self.searched = tracked;
        let found = self.enlist(now, out);
        self.next_search = now + (thread_cpu_ns() - began) * SHARE;
        found
    }

    /// Makes entities of the sockets whose holder was found; counts one more try for the others.
    fn enlist(&mut self, now: Timestamp, out: &mut Output) -> usize {
        let (before, mut beyond) = (self.followed, 0);
        for (inode, socket) in &mut self.sockets {
            match socket.state {
                State::Unknown(tries) => socket.state = State::Unknown((tries + 1).min(TRIES)),
                State::Found(_) if self.followed >= MOST => socket.state = State::Beyond,
                State::Found(holder) => {
                    let id = out.registry.add(socket.entity(*inode), Some(holder), now);
                    let last = RowDeduplicator::new(id, CONNECTION.columns.len());
                    socket.state = State::Followed(last, 0);
                    self.followed += 1;
                }
                State::Followed(..) | State::Beyond => {}
            }
            beyond += u64::from(matches!(socket.state, State::Beyond));
        }
        // Reported again only when it has doubled, because gaps are never removed.
        if beyond > 2 * self.beyond_reported {
            self.beyond_reported = beyond;
            let what = sentence!("beyond the first {} connections", MOST);
            let reason = GapReason::Dropped(beyond);
            out.gaps.report(&CONNECTION.name, what, reason);
        }
        self.followed - before
    }

    /// Forgets closed sockets.
    fn sweep(&mut self, now: Timestamp, out: &mut Output) {
        let Self {
            sockets,
            table,
            looks,
            followed,
            ..
        } = self;
        let buffer = &mut out.tables[*table];
        sockets.retain(|_, socket| {
            let alive = socket.last_dump + MISSES > *looks;
            if let (false, State::Followed(last, _)) = (alive, &mut socket.state) {
                last.finish(buffer);
                out.registry.vanish(last.entity(), now);
                *followed -= 1;
            }
            alive
        });
    }
}

impl Collector for Connections {
    fn sample(&mut self, tick: &Tick, scene: &mut Scene, out: &mut Output) {
        if tick.is_due(PERIOD_TICKS * tick.budget().tracked) {
            self.look(scene.processes.tracked(), out);
        }
    }

    fn finish(&mut self, _scene: &mut Scene, out: &mut Output) {
        let buffer = &mut out.tables[self.table];
        for socket in self.sockets.values_mut() {
            if let State::Followed(last, _) = &mut socket.state {
                last.finish(buffer);
            }
        }
    }
}

impl Socket {
    fn entity(&self, inode: u64) -> Entity {
        let name = format!("{}-{}", self.local, self.peer);
        // Addresses are reused; the inode distinguishes successive connections between the same ends.
        let path = format!("net:{}/{name}@{inode}", self.namespace);
        Entity::new(EntityKind::Connection, name, path)
    }
}

/// A dump that is taken in.
struct Dump<'a> {
    sockets: &'a mut HashMap<u64, Socket>,
    buffer: &'a mut TableBuffer,
    now: Timestamp,
    number: u64,
}

impl Dump<'_> {
    /// Takes in one socket; false if there was no room for a new one.
    fn take(&mut self, namespace: u64, reading: &TcpReading) -> bool {
        let Self {
            sockets,
            buffer,
            now,
            number,
        } = self;
        // No process holds it: not accepted yet, or closed and lingering.
        if reading.inode == 0 {
            return true;
        }
        if sockets.len() >= MOST_SOCKETS && !sockets.contains_key(&reading.inode) {
            return false;
        }
        let socket = sockets.entry(reading.inode).or_insert_with(|| Socket {
            cookie: reading.cookie,
            namespace,
            local: reading.local,
            peer: reading.peer,
            last_dump: *number,
            state: State::Unknown(0),
        });
        // The inode was reused for another socket: the old one has to be swept first.
        if socket.cookie != reading.cookie {
            return true;
        }
        socket.last_dump = *number;
        if let State::Followed(last, taken) = &mut socket.state
            && taken != number
        {
            *taken = *number;
            let row = reading.at(*now, last.values());
            last.take(*now, &row, buffer);
        }
        true
    }
}

/// Notes a holder. If several processes hold the socket (inherited by fork), the lowest descendant counts: a
/// server that accepts and forks leaves the work to its child.
fn hold(socket: &mut Socket, entity: EntityId, registry: &Registry) {
    match socket.state {
        State::Unknown(_) => socket.state = State::Found(entity),
        State::Found(other) if is_below(entity, other, registry) => {
            socket.state = State::Found(entity);
        }
        _ => {}
    }
}

fn is_below(entity: EntityId, other: EntityId, registry: &Registry) -> bool {
    const DEEPEST: usize = 1_000;
    let parent = |id: &EntityId| registry.get(*id)?.parent;
    std::iter::successors(parent(&entity), parent)
        .take(DEEPEST)
        .any(|above| above == other)
}

#[cfg(test)]
mod tests;
