//! Requests at the sockets of target and generator, where programs in the kernel may count them.
//!
//! All of them are counted, always; how long they take is measured of requests drawn at random. Every 100 ms the accounts are read: of each service, and of single connections as far as there are
//! accounts. One that a connection leaves idle goes to another when all are taken.

mod counted;
mod role;

use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use model::{Entity, EntityId, EntityKind, GapReason, Role, Timestamp};
use sensors::request::{CALLS, REQUESTS, WIDTH};

use crate::gaps::Gaps;
use crate::output::{Output, TableId};
use crate::processes::{Processes, TITLE_BYTES};
use crate::registry::Registry;
use kernel::bpf::Refusal;
use kernel::bpf::requests::{CONNECTIONS, Owner, Requests, SERVICES, Side};
use kernel::clock::boottime;

use counted::Counted;
use role::{Assignment, replicates};

/// A connection without requests for so long may have to give up its account.
const IDLE_NS: i64 = 10_000_000_000;
/// Timing may take this part of the CPUs. Where requests are so many that it would take more, a random sample of
/// them is timed.
const TIMING_SHARE: f64 = 0.0015;
/// Each takes two readings of the clock, and its account as long as one more (`make bench`, probes).
const READINGS: f64 = 3.0;

/// Who answers or asks, in an account of its own.
struct Service {
    process: EntityId,
    side: Side,
    counted: Counted,
}

/// An account of a single connection.
#[derive(Default)]
struct Place {
    /// The socket that has it, or had it last.
    cookie: u64,
    /// What it held at the last reading.
    held: Option<[i64; WIDTH]>,
    counted: Option<Counted>,
}

/// Requests of everything.
pub(crate) struct RequestCollector {
    programs: Requests,
    /// What the programs know of each process.
    assignments: HashMap<u32, Assignment>,
    services: Vec<Option<Service>>,
    places: Vec<Place>,
    /// Tables of servers, and of the generator.
    tables: [TableId; 2],
    before: Timestamp,
    /// All requests so far, and those that came while the programs that only times need were attached.
    requests: i64,
    with_timing: i64,
    /// Whether those are attached.
    is_timing: bool,
    /// How long they were up to a time, ns.
    timing_ns: i64,
    timed_until: Timestamp,
    drops_said: u64,
    /// Addresses that were connected to, as far as they were noted.
    contacts_noted: u64,
    known_contacts: HashSet<(usize, SocketAddr)>,
    /// Requests that may be timed in a second.
    most_timed: f64,
}

impl RequestCollector {
    /// # Errors
    /// Why they cannot be had here.
    pub(crate) fn load(out: &mut Output) -> Result<Self, Refusal> {
        Ok(Self {
            programs: Requests::load()?,
            assignments: HashMap::new(),
            services: (0..SERVICES).map(|_| None).collect(),
            places: (0..CONNECTIONS).map(|_| Place::default()).collect(),
            tables: [out.open(&REQUESTS), out.open(&CALLS)],
            before: Timestamp::default(),
            requests: 0,
            with_timing: 0,
            is_timing: true,
            timing_ns: 0,
            timed_until: Timestamp::default(),
            drops_said: 0,
            contacts_noted: 0,
            known_contacts: HashSet::new(),
            most_timed: most_timed(),
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
        for (pid, entity, role, _) in processes.tracked_roles() {
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
            self.change_role(now, process, (side, role), &mut out.registry);
            let service = self.service(now, process, (side, role), out);
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

    /// What was counted of a process in another role is no longer of the target: a workload may be taken for that until
    /// its server is found.
    fn change_role(
        &self,
        now: Timestamp,
        process: EntityId,
        (side, role): (Side, Role),
        registry: &mut Registry,
    ) {
        let services = self.services.iter().flatten();
        for old in services.filter(|it| it.process == process && it.side != side) {
            registry.change(old.counted.last.entity(), now, |record| record.role = role);
        }
    }

    /// The account of a process's service, a new one if need be.
    fn service(
        &mut self,
        now: Timestamp,
        process: EntityId,
        (side, role): (Side, Role),
        out: &mut Output,
    ) -> Option<usize> {
        let Output {
            tables, registry, ..
        } = out;
        let is_it = |it: &Service| it.process == process && it.side == side;
        let place = |it: &Option<Service>| it.as_ref().is_some_and(is_it);
        if let Some(known) = self.services.iter().position(place) {
            return Some(known);
        }
        // One whose process has ended serves again when no other is left.
        let is_over = |it: &Option<Service>| {
            it.as_ref()
                .is_some_and(|it| registry.get(it.process).is_none())
        };
        let free = self.services.iter().position(Option::is_none);
        let place = free.or_else(|| self.services.iter().position(is_over))?;
        if let Some(old) = self.services[place].take() {
            let buffer = &mut tables[self.tables[old.side as usize]];
            old.counted.end(now, buffer, registry);
        }
        let of = &registry.get(process)?.entity;
        let (name, path) = (of.name.clone(), format!("{}/requests", of.path));
        let entity = add(registry, (name, path), (process, role), now);
        let before = counted::row(&self.programs.service(place)?, side);
        let buffer = &mut tables[self.tables[side as usize]];
        let counted = Counted::new(entity, before, now, buffer);
        self.services[place] = Some(Service {
            process,
            side,
            counted,
        });
        Some(place)
    }

    /// Requests so far for which all programs ran, as the cost of on-windows goes by.
    pub(crate) fn with_timing(&self) -> u64 {
        self.with_timing.cast_unsigned()
    }

    /// Has the programs that only times need at their hooks, or not; whether that changed now.
    pub(crate) fn time(&mut self, now: Timestamp, wanted: bool, gaps: &mut Gaps) -> bool {
        self.timing_ns = self.timing_ns(now);
        self.timed_until = now;
        if wanted == self.is_timing {
            return false;
        }
        self.is_timing = wanted;
        if !wanted {
            self.programs.detach_timing();
        } else if let Err(why) = self.programs.attach_timing() {
            let reason = GapReason::Unsupported(format!("the programs that time: {why}"));
            gaps.report(&REQUESTS.name, "", reason);
        }
        true
    }

    /// They are at their hooks, and counted as such from now on.
    pub(crate) fn begin_timing(&mut self, now: Timestamp) {
        self.timed_until = now;
    }

    /// How long those programs were at their hooks up to now, ns.
    pub(crate) fn timing_ns(&self, now: Timestamp) -> i64 {
        match self.is_timing {
            true => self.timing_ns + now.ns_since(self.timed_until).max(0),
            false => self.timing_ns,
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
    }

    /// Reads all accounts.
    pub(crate) fn sample(&mut self, now: Timestamp, processes: &Processes, out: &mut Output) {
        let mut requests = 0;
        for (place, service) in self.services.iter_mut().enumerate() {
            if let (Some(service), Some(account)) = (service, self.programs.service(place)) {
                requests += account.requests.cast_signed();
                let buffer = &mut out.tables[self.tables[service.side as usize]];
                let row = counted::row(&account, service.side);
                service.counted.take(now, &row, buffer);
            }
        }
        for place in 0..self.places.len() {
            if let Some((owner, account)) = self.programs.connection(place) {
                requests += account.requests.cast_signed();
                let row = counted::row(&account, Side::Server);
                self.take(place, (&owner, &row), now, processes, out);
            }
        }
        self.make_room(now, out);
        if self.is_timing {
            self.with_timing += requests - self.requests;
        }
        self.draw(now, requests);
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

    fn take(
        &mut self,
        number: usize,
        (owner, row): (&Owner, &[i64; WIDTH]),
        now: Timestamp,
        processes: &Processes,
        out: &mut Output,
    ) {
        let Output {
            tables, registry, ..
        } = &mut *out;
        let buffer = &mut tables[self.tables[Side::Server as usize]];
        let place = &mut self.places[number];
        if place.cookie != owner.cookie
            && let Some(&Assignment { process, role, .. }) = self.assignments.get(&owner.tgid)
            && processes.entity(owner.tgid) == Some(process)
        {
            if let Some(counted) = place.counted.take() {
                counted.end(now, buffer, registry);
            }
            place.cookie = owner.cookie;
            let path = format!("requests:{}", owner.cookie);
            let entity = add(registry, (name(owner), path), (process, role), now);
            let before = place.held.unwrap_or([0; WIDTH]);
            let since = if self.before == Timestamp::default() {
                now
            } else {
                self.before
            };
            place.counted = Some(Counted::new(entity, before, since, buffer));
        }
        if let Some(counted) = &mut place.counted {
            counted.take(now, row, buffer);
            place.held = Some(*row);
        }
        if processes.entity(owner.tgid).is_none() && place.counted.is_some() {
            self.take_back(number, now, out);
        }
    }

    /// Takes an account back from its connection.
    fn take_back(&mut self, number: usize, now: Timestamp, out: &mut Output) {
        // Without it the account is its old owner's as before, and not counted as anybody's.
        let _ = self.programs.free(number);
        let buffer = &mut out.tables[self.tables[Side::Server as usize]];
        if let Some(counted) = self.places[number].counted.take() {
            counted.end(now, buffer, &mut out.registry);
        }
    }

    /// Takes accounts back from connections that do not use them, when there is no other left.
    fn make_room(&mut self, now: Timestamp, out: &mut Output) {
        if self.places.iter().any(|it| it.counted.is_none()) {
            return;
        }
        for number in 0..self.places.len() {
            let counted = self.places[number].counted.as_ref();
            if counted.is_some_and(|it| now.ns_since(it.grew) > IDLE_NS) {
                self.take_back(number, now, out);
            }
        }
    }

    /// How many of the requests to come are timed, by how many came lately.
    fn draw(&mut self, now: Timestamp, requests: i64) {
        let seconds = now.ns_since(self.before) as f64 / 1e9;
        let rate = (requests - self.requests) as f64 / seconds.max(1e-3);
        self.requests = requests;
        self.programs
            .time((self.most_timed / rate.max(1.0)).min(1.0));
    }

    /// Ends all series.
    pub(crate) fn finish(&mut self, out: &mut Output) {
        for service in self.services.iter_mut().flatten() {
            let buffer = &mut out.tables[self.tables[service.side as usize]];
            service.counted.last.finish(buffer);
        }
        let buffer = &mut out.tables[self.tables[Side::Server as usize]];
        for counted in self.places.iter_mut().filter_map(|it| it.counted.as_mut()) {
            counted.last.finish(buffer);
        }
    }
}

/// By what a reading of the clock costs here: 20 to 250 ns, by the machine's clock.
fn most_timed() -> f64 {
    const TRIES: u32 = 10;
    const ROUND: u32 = 100;
    let round = |_| {
        let start = boottime();
        (0..ROUND).for_each(|_| _ = std::hint::black_box(boottime()));
        boottime().ns_since(start)
    };
    // The least: others may have had the CPU.
    let least_ns = (0..TRIES).map(round).min().unwrap_or_default();
    let reading_ns = (least_ns as f64 / f64::from(ROUND)).max(10.0);
    let cpus = std::thread::available_parallelism().map_or(1, usize::from) as f64;
    cpus * TIMING_SHARE * 1e9 / (READINGS * reading_ns)
}

fn add(
    registry: &mut Registry,
    (name, path): (String, String),
    (process, role): (EntityId, Role),
    now: Timestamp,
) -> EntityId {
    let entity = Entity::new(EntityKind::Connection, name, path);
    let id = registry.add(entity, Some(process), now);
    registry.change(id, now, |record| record.role = role);
    id
}

const AF_INET: u32 = 2;
const AF_INET6: u32 = 10;

/// An IPv4-mapped IPv6 address is an IPv4 address.
fn address(family: u32, bytes: [u8; 16]) -> IpAddr {
    let [a, b, c, d, ..] = bytes;
    match family {
        AF_INET => IpAddr::from(Ipv4Addr::from([a, b, c, d])),
        _ => IpAddr::from(Ipv6Addr::from(bytes)).to_canonical(),
    }
}

/// What a person calls a connection: TCP as in the table of connections, a unix socket by who is at the
/// other end.
fn name(owner: &Owner) -> String {
    let address = |bytes, port: u32| SocketAddr::new(address(owner.family, bytes), port as u16);
    match owner.family {
        AF_INET | AF_INET6 => format!(
            "{}-{}",
            address(owner.local, owner.local_port),
            address(owner.peer, owner.peer_port)
        ),
        _ => format!("unix socket of pid {}", owner.peer_port),
    }
}
