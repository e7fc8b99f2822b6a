//! Accounts of single connections. One that a connection leaves idle goes to another when all are taken.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use model::{Entity, EntityKind, Timestamp};
use sensors::request::{WIDTH, unix_socket_of};

use super::counted::{self, Counted};
use super::role::Assignment;
use super::{RequestCollector, add};
use crate::output::Output;
use crate::processes::Processes;
use kernel::bpf::requests::{Owner, Side};

/// A connection without requests for so long may have to give up its account.
const IDLE_NS: i64 = 10_000_000_000;

/// An account of a single connection.
#[derive(Default)]
pub(super) struct Place {
    /// The socket that has it, or had it last.
    cookie: u64,
    /// What it held at the last reading.
    held: Option<[i64; WIDTH]>,
    pub(super) counted: Option<Counted>,
}

impl RequestCollector {
    /// Reads the account of one connection.
    pub(super) fn take(
        &mut self,
        number: usize,
        now: Timestamp,
        processes: &Processes,
        out: &mut Output,
    ) {
        let Some((owner, account)) = self.programs.connection(number) else {
            return;
        };
        if self.places[number].cookie != owner.cookie {
            self.give(number, &owner, now, processes, out);
        }
        let place = &mut self.places[number];
        if let Some(counted) = &mut place.counted {
            let row = counted::row(&account, Side::Server);
            let buffer = &mut out.tables[self.tables[Side::Server as usize]];
            counted.take(now, &row, buffer);
            place.held = Some(row);
            if processes.entity(owner.tgid).is_none() {
                self.take_back(number, now, out);
            }
        }
    }

    /// Begins the series of an account's new owner, if that is a process with a role.
    fn give(
        &mut self,
        number: usize,
        owner: &Owner,
        now: Timestamp,
        processes: &Processes,
        out: &mut Output,
    ) {
        let Some(&Assignment { process, role, .. }) = self.assignments.get(&owner.tgid) else {
            return;
        };
        if processes.entity(owner.tgid) != Some(process) {
            return;
        }
        let Output {
            tables, registry, ..
        } = out;
        let buffer = &mut tables[self.tables[Side::Server as usize]];
        let place = &mut self.places[number];
        if let Some(counted) = place.counted.take() {
            counted.end(now, buffer, registry);
        }
        place.cookie = owner.cookie;
        let path = format!("requests:{}", owner.cookie);
        let entity = Entity::new(EntityKind::Connection, name(owner), path);
        let entity = add(registry, entity, process, role, now);
        let before = place.held.unwrap_or([0; WIDTH]);
        let since = if self.before == Timestamp::default() {
            now
        } else {
            self.before
        };
        place.counted = Some(Counted::new(entity, before, since, buffer, []));
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
    pub(super) fn make_room(&mut self, now: Timestamp, out: &mut Output) {
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
}

const AF_INET: u32 = 2;
const AF_INET6: u32 = 10;

/// An IPv4-mapped IPv6 address is an IPv4 address.
pub(super) fn address(family: u32, bytes: [u8; 16]) -> IpAddr {
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
        _ => unix_socket_of(owner.peer_port),
    }
}
