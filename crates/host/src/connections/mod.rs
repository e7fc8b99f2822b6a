//! The TCP connections of target, generator and what they call, once a second.
//!
//! One dump per address family tells every TCP socket of a network namespace; which process holds
//! which is read from the links in `/proc/PID/fd`, for sockets that were not met before. It is done on
//! the sampler's own thread: 0.26 ms of CPU for two walks of the kernel's table of 262,144 places, one
//! per family, and 1.2 us per connection (`cargo test --release -p host -- --ignored --nocapture
//! a_look`). That is less than a tick's other work: a thread of its own would only cost a wake-up.
//! Looks keep away from each other where sockets are so many that they would cost more than their
//! share. Nothing is allocated for sockets that are known.

mod descriptors;
mod namespaces;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::Path;

use model::{Entity, EntityId, EntityKind, GapReason, Timestamp};
use sensors::{CONNECTION, TcpReading};

use crate::clock::{boottime, thread_cpu_ns};
use crate::gaps::Gaps;
use crate::processes::Processes;
use crate::registry::Registry;
use crate::root::is_own;
use crate::table_buffer::{RowDeduplicator, TableBuffer};
use descriptors::{Proc, Refused};
use namespaces::Namespaces;

/// More connections than these are not followed: the first ones speak for the rest.
const MOST: usize = 2_000;
/// So many sockets of the machine are remembered, whoever holds them: some 10 MB.
const MOST_MET: usize = 50_000;
/// Looks take at most one part in so many of a CPU's time, and so do searches for holders.
const SHARE: i64 = 200;
/// A socket whose holder was not found so often is somebody else's, until new processes come.
const TRIES: u8 = 3;
/// A dump that goes on in a second datagram may skip a socket; one that is missed twice has ended.
const MISSES: u64 = 2;
/// Room for the sockets of a usual machine; more is made when more come.
const USUAL_SOCKETS: usize = 4_096;

/// One socket that was met.
struct Socket {
    cookie: u64,
    namespace: u64,
    local: SocketAddr,
    peer: SocketAddr,
    /// At which look it was last met.
    met: u64,
    state: State,
}

enum State {
    /// Its holder was looked for that often.
    Unknown(u8),
    /// Of a near process, found in the search under way.
    Found(EntityId),
    /// Followed, and its values last taken at that look.
    Followed(RowDeduplicator, u64),
    /// One of too many.
    Beyond,
}

/// The connections of near processes.
pub(crate) struct Connections {
    /// Rows on their way out.
    pub(crate) buffer: TableBuffer,
    /// `None` through another root: the kernel would report our own namespace's sockets.
    proc: Option<Proc>,
    /// Whether that is why.
    elsewhere: bool,
    namespaces: Namespaces,
    /// By inode: that is what descriptors show.
    sockets: HashMap<u64, Socket>,
    tracked: Vec<(u32, EntityId)>,
    looks: u64,
    /// No look, and no search for holders, before then.
    rest: Timestamp,
    search_rest: Timestamp,
    /// Which processes were near at the last search.
    searched: u64,
    followed: usize,
    beyond_said: u64,
}

impl Connections {
    pub(crate) fn new(root: &Path) -> Self {
        Self {
            buffer: TableBuffer::new(&CONNECTION),
            proc: is_own(root)
                .then(|| Proc::open(&root.join("proc")))
                .flatten(),
            elsewhere: !is_own(root),
            namespaces: Namespaces::default(),
            sockets: HashMap::with_capacity(USUAL_SOCKETS),
            tracked: Vec::with_capacity(1_024),
            looks: 0,
            rest: Timestamp::default(),
            search_rest: Timestamp::default(),
            searched: 0,
            followed: 0,
            beyond_said: 0,
        }
    }

    /// Asks the kernel, takes in what changed, and finds the holders of new sockets.
    pub(crate) fn look(&mut self, processes: &Processes, gaps: &mut Gaps, registry: &mut Registry) {
        self.look_at(processes.tracked(), gaps, registry);
    }

    fn look_at(
        &mut self,
        tracked: impl Iterator<Item = (u32, EntityId)>,
        gaps: &mut Gaps,
        registry: &mut Registry,
    ) {
        let (now, began) = (boottime(), thread_cpu_ns());
        self.tracked.clear();
        self.tracked.extend(tracked);
        if self.elsewhere {
            let sentence =
                "connections are not seen through another root: record on the machine itself";
            gaps.say(
                &CONNECTION.name,
                "",
                GapReason::Unsupported(sentence.to_owned()),
            );
        }
        let Some(proc) = self.proc.as_ref().filter(|_| now >= self.rest) else {
            return;
        };
        if self.tracked.is_empty() && self.sockets.is_empty() {
            return;
        }
        self.looks += 1;
        self.namespaces.follow(proc, &self.tracked, gaps);
        let complete = self.read(now, gaps);
        if self.search(now, gaps, registry) > 0 {
            // Their first values now, not in a second.
            self.read(now, gaps);
        }
        if complete {
            self.sweep(now, registry);
        }
        self.rest = now + (thread_cpu_ns() - began) * SHARE;
    }

    /// Writes the ends of unchanged stretches.
    pub(crate) fn finish(&mut self) {
        for socket in self.sockets.values_mut() {
            if let State::Followed(last, _) = &mut socket.state {
                last.finish(&mut self.buffer);
            }
        }
    }

    /// Dumps every namespace; returns whether all of them answered.
    fn read(&mut self, now: Timestamp, gaps: &mut Gaps) -> bool {
        let Self {
            namespaces,
            sockets,
            buffer,
            looks,
            ..
        } = self;
        let mut room = true;
        let complete = namespaces.dump(gaps, |namespace, reading| {
            room &= take(sockets, buffer, (now, *looks), (namespace, reading));
        });
        if !room {
            let sentence = format!(
                "of more than {MOST_MET} TCP sockets the later ones are not looked at, and connections among them not seen"
            );
            gaps.say(&CONNECTION.name, "", GapReason::Unsupported(sentence));
        }
        complete
    }

    /// Finds the holders of sockets among near processes; returns how many sockets are new to follow.
    fn search(&mut self, now: Timestamp, gaps: &mut Gaps, registry: &mut Registry) -> usize {
        let tracked = self.tracked.iter().fold(0u64, |sum, (pid, id)| {
            // Any order, any change: two sets of one sum are not met in a machine's life.
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
        if now < self.search_rest || !self.sockets.values().any(wanted) {
            return 0;
        }
        let began = thread_cpu_ns();
        for &(pid, entity) in &self.tracked {
            let sockets = &mut self.sockets;
            let seen = proc.sockets_of(pid, |inode| {
                if let Some(socket) = sockets.get_mut(&inode) {
                    hold(socket, entity, registry);
                }
            });
            if seen == Err(Refused::Denied) {
                let sentence = "connections of measured processes are not seen: run as root, or as \
                                the user who owns them";
                gaps.say(&CONNECTION.name, "", GapReason::Denied(sentence.to_owned()));
            }
        }
        self.searched = tracked;
        let found = self.enlist(now, gaps, registry);
        self.search_rest = now + (thread_cpu_ns() - began) * SHARE;
        found
    }

    /// Makes entities of the sockets that were found; the others have had another try.
    fn enlist(&mut self, now: Timestamp, gaps: &mut Gaps, registry: &mut Registry) -> usize {
        let (before, mut beyond) = (self.followed, 0);
        for (inode, socket) in &mut self.sockets {
            match socket.state {
                State::Unknown(tries) => socket.state = State::Unknown((tries + 1).min(TRIES)),
                State::Found(_) if self.followed >= MOST => socket.state = State::Beyond,
                State::Found(holder) => {
                    let id = registry.add(socket.entity(*inode), Some(holder), now);
                    let last = RowDeduplicator::new(id, CONNECTION.columns.len());
                    socket.state = State::Followed(last, 0);
                    self.followed += 1;
                }
                State::Followed(..) | State::Beyond => {}
            }
            beyond += u64::from(matches!(socket.state, State::Beyond));
        }
        // Said anew when it has doubled: each gap is kept.
        if beyond > 2 * self.beyond_said {
            self.beyond_said = beyond;
            let what = format!("beyond the first {MOST} connections");
            gaps.say(&CONNECTION.name, &what, GapReason::Dropped(beyond));
        }
        self.followed - before
    }

    /// Forgets the sockets that are gone.
    fn sweep(&mut self, now: Timestamp, registry: &mut Registry) {
        let Self {
            sockets,
            buffer,
            looks,
            followed,
            ..
        } = self;
        sockets.retain(|_, socket| {
            let alive = socket.met + MISSES > *looks;
            if let (false, State::Followed(last, _)) = (alive, &mut socket.state) {
                last.finish(buffer);
                registry.vanish(last.entity(), now);
                *followed -= 1;
            }
            alive
        });
    }
}

impl Socket {
    fn entity(&self, inode: u64) -> Entity {
        let name = format!("{}-{}", self.local, self.peer);
        // Addresses come back; the inode tells one connection from the next between the same ends.
        let path = format!("net:{}/{name}@{inode}", self.namespace);
        Entity::new(EntityKind::Connection, name, path)
    }
}

/// Takes in what a dump reports one socket; false when there was no room for a new one.
fn take(
    sockets: &mut HashMap<u64, Socket>,
    buffer: &mut TableBuffer,
    (now, look): (Timestamp, u64),
    (namespace, reading): (u64, &TcpReading),
) -> bool {
    // Held by no process: not accepted yet, or closed and only lingering.
    if reading.inode == 0 {
        return true;
    }
    if sockets.len() >= MOST_MET && !sockets.contains_key(&reading.inode) {
        return false;
    }
    let socket = sockets.entry(reading.inode).or_insert_with(|| Socket {
        cookie: reading.cookie,
        namespace,
        local: reading.local,
        peer: reading.peer,
        met: look,
        state: State::Unknown(0),
    });
    // Another socket under a number that came round again: the old one is swept first.
    if socket.cookie != reading.cookie {
        return true;
    }
    socket.met = look;
    if let State::Followed(last, taken) = &mut socket.state
        && *taken != look
    {
        *taken = look;
        last.take(now, &reading.values, buffer);
    }
    true
}

/// Notes a holder. Of several (a socket inherited by fork) it is the one furthest down: a server that
/// accepts and forks leaves the work to its child.
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
