//! Requests at the sockets of target and generator, where programs in the kernel may count them.
//!
//! All of them are counted, always; how long they take is measured of requests drawn at random (`timing.rs`).
//! Every 100 ms the accounts are read: of each service, and of single connections as far as there are
//! accounts.

mod bins;
mod connections;
mod counted;
mod peers;
mod role;
mod services;
mod timing;

use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;

use model::{Entity, EntityId, GapReason, Role, Timestamp};
use sensors::request::{CALLS, PEER_CALLS, REQUESTS};

use crate::output::{Output, TableId};
use crate::processes::{Processes, TITLE_BYTES, TrackedProcess};
use crate::registry::Registry;
use kernel::bpf::Refusal;
use kernel::bpf::flow::Flow;
use kernel::bpf::requests::{CONNECTIONS, PEERS, Requests, SERVICES, Side};
use kernel::bpf::thread_time::ThreadTime;

use bins::AnsweredRows;
use connections::{Place, address};
use peers::PeerCalls;
use role::{Assignment, replicates};
use services::Service;
use timing::Timing;

/// The place of the table of calls to peers, behind those of both sides.
const OF_PEERS: usize = 2;

/// Requests of everything.
pub(crate) struct RequestCollector {
    programs: Requests,
    /// What the programs know of each process.
    assignments: HashMap<u32, Assignment>,
    services: Vec<Option<Service>>,
    places: Vec<Place>,
    /// Whom services ask.
    peers: Vec<Option<PeerCalls>>,
    /// Tables of servers, of the generator, and of calls to peers.
    tables: [TableId; 3],
    answered: AnsweredRows,
    before: Timestamp,
    timing: Timing,
    drops_said: u64,
    most_peers_said: u64,
    /// Addresses that were connected to, as far as they were noted.
    contacts_noted: u64,
    known_contacts: HashSet<(usize, SocketAddr)>,
}

impl RequestCollector {
    /// # Errors
    /// Why they cannot be had here.
    pub(crate) fn load(
        out: &mut Output,
        thread_time: Option<&ThreadTime>,
        flow: Option<&Flow>,
    ) -> Result<Self, Refusal> {
        Ok(Self {
            programs: Requests::load_beside(thread_time, flow)?,
            assignments: HashMap::new(),
            services: (0..SERVICES).map(|_| None).collect(),
            places: (0..CONNECTIONS).map(|_| Place::default()).collect(),
            peers: (0..PEERS).map(|_| None).collect(),
            most_peers_said: PEERS as u64,
            tables: [&*REQUESTS, &*CALLS, &*PEER_CALLS].map(|table| out.open(table)),
            answered: AnsweredRows::new(out),
            before: Timestamp::default(),
            timing: Timing::new(),
            drops_said: 0,
            contacts_noted: 0,
            known_contacts: HashSet::new(),
        })
    }

    /// Bytes of the kernel's memory that its programs take, without what is kept of each connection.
    pub(crate) fn kernel_bytes(&self) -> Option<u64> {
        self.programs.kernel_bytes()
    }

    /// Tells the programs who has which part, where that has changed.
    pub(crate) fn follow(&mut self, now: Timestamp, processes: &Processes, out: &mut Output) {
        self.assignments
            .retain(|pid, part| processes.entity(*pid) == Some(part.process));
        for tracked in processes.tracked_roles() {
            let TrackedProcess {
                pid, entity, role, ..
            } = tracked;
            // A workload is the recorder's child for a moment, and serves nobody then.
            if role == Role::Recorder {
                continue;
            }
            let known = self.assignments.get_mut(&pid).filter(|it| it.role == role);
            let is_new = known.is_none();
            if known.is_some_and(|it| !it.look_again(now)) {
                continue;
            }
            let side = Side::of(role);
            let mut room = [0; TITLE_BYTES];
            let replicates =
                side == Side::Server && processes.title(pid, &mut room).is_some_and(replicates);
            if !is_new && !replicates {
                continue;
            }
            let Some(process) = processes.service_of(pid) else {
                continue;
            };
            self.change_role(now, process, role, &mut out.registry);
            let service = self.service(now, process, role, out);
            let measured = (!replicates).then_some(side);
            let assigned =
                service.is_some_and(|it| self.programs.assign(pid, measured, it).is_ok());
            if !assigned {
                let what = "requests of more services or processes than there is room for";
                out.gaps.report(&REQUESTS.name, what, GapReason::Dropped(1));
            }
            let assignment = Assignment {
                process: entity,
                role,
                assigned: now,
                // Titles do not change back.
                looks: if replicates { 3 } else { 1 },
            };
            self.assignments.insert(pid, assignment);
        }
    }

    /// Looks how many requests are under way; the next reading has it.
    pub(crate) fn look_at_open(&mut self) {
        if !self.programs.look_at_open() {
            return;
        }
        for (place, service) in self.services.iter_mut().enumerate() {
            if let Some(service) = service {
                service.counted.look(self.programs.open_of_service(place));
            }
        }
        for (place, connection) in self.places.iter_mut().enumerate() {
            if let Some(counted) = &mut connection.counted {
                counted.look(self.programs.open_of_connection(place));
            }
        }
        for (place, peer) in self.peers.iter_mut().enumerate() {
            if let Some(peer) = peer {
                peer.counted.look(self.programs.open_of_peer(place));
            }
        }
    }

    /// Says how far the scheduler's clock is ahead of `CLOCK_BOOTTIME`, ns: the programs put answers into bins by it.
    pub(crate) fn set_clock(&mut self, ahead_ns: i64) {
        self.answered.ahead_ns = Some(ahead_ns);
    }

    /// Reads all accounts.
    pub(crate) fn sample(&mut self, now: Timestamp, processes: &Processes, out: &mut Output) {
        // Just before: until it is set anew the next time, the same share of the requests that are counted is timed.
        let requests = self.programs.requests().cast_signed();
        let share = self.timing.share(requests, now.ns_since(self.before));
        self.programs.time(share);
        for (place, service) in self.services.iter_mut().enumerate() {
            if let (Some(service), Some(account)) = (service, self.programs.service(place)) {
                let buffer = &mut out.tables[self.tables[service.side as usize]];
                let row = counted::row(&account, service.side);
                service.counted.take(now, &row, buffer);
            }
        }
        for place in 0..self.places.len() {
            self.take(place, now, processes, out);
        }
        self.take_peers(now, processes, out);
        self.answered.sample(&mut self.programs, out);
        self.make_room(now, out);
        self.before = now;
        self.look_for_contacts(out);
        let drops = self.programs.drops();
        // Said anew when it has doubled: each gap is kept.
        if drops > 2 * self.drops_said {
            self.drops_said = drops;
            let what = "connections or processes for which there was no memory";
            out.gaps
                .report(&REQUESTS.name, what, GapReason::Dropped(drops));
        }
    }

    /// Most ticks there is none.
    fn look_for_contacts(&mut self, out: &mut Output) {
        let noted = self.programs.contacts_noted();
        if std::mem::replace(&mut self.contacts_noted, noted) == noted {
            return;
        }
        for contact in self.programs.contacts() {
            let place = contact.service;
            let ip = address(contact.family.into(), contact.address);
            let peer = SocketAddr::new(ip, contact.port);
            let service = self.services.get(place).and_then(Option::as_ref);
            let role = service.and_then(|it| Some(out.registry.get(it.process)?.role));
            if let Some(role) = role.filter(|_| self.known_contacts.insert((place, peer))) {
                out.contacts.push((role, peer));
            }
        }
    }

    /// Ends all series.
    pub(crate) fn finish(&mut self, out: &mut Output) {
        self.answered.finish(&mut self.programs, out);
        for service in self.services.iter_mut().flatten() {
            let buffer = &mut out.tables[self.tables[service.side as usize]];
            service.counted.last.finish(buffer);
        }
        let buffer = &mut out.tables[self.tables[Side::Server as usize]];
        for counted in self.places.iter_mut().filter_map(|it| it.counted.as_mut()) {
            counted.last.finish(buffer);
        }
        let buffer = &mut out.tables[self.tables[OF_PEERS]];
        for peer in self.peers.iter_mut().flatten() {
            peer.counted.last.finish(buffer);
        }
    }
}

/// Adds an entity of requests to the registry, with its process's role.
fn add(
    registry: &mut Registry,
    entity: Entity,
    process: EntityId,
    role: Role,
    now: Timestamp,
) -> EntityId {
    let id = registry.add(entity, Some(process), now);
    registry.change(id, now, |record| record.role = role);
    id
}
