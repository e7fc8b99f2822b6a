//! Accounts of peers: what services that are measured themselves ask others, and which processes those are.

use std::net::SocketAddr;

use model::{Entity, EntityId, EntityKind, GapReason, MISSING, Timestamp, sentence};
use sensors::request::{PEER_CALLS, WIDTH, unix_socket_of};

use super::connections::address;
use super::counted::{self, Counted};
use super::{OF_PEERS, RequestCollector, add};
use crate::output::Output;
use crate::processes::Processes;
use kernel::bpf::requests::{Account, PEERS, Peer, Side};

const AF_UNIX: u16 = 1;

/// What a service asks a peer.
pub(super) struct PeerCalls {
    /// The service's process.
    pub(super) caller: EntityId,
    pub(super) counted: Counted,
    /// What was known of the peer at the last reading.
    peer: Option<Peer>,
}

impl RequestCollector {
    /// Reads the accounts of all peers.
    pub(super) fn take_peers(&mut self, now: Timestamp, processes: &Processes, out: &mut Output) {
        let met = self.programs.peers_met();
        // Said anew when it has doubled: each gap is kept.
        if met > self.most_peers_said {
            self.most_peers_said = 2 * met;
            let what = sentence!("calls to more than {} peers", PEERS);
            let reason = GapReason::Dropped(met - PEERS as u64);
            out.gaps.report(&PEER_CALLS.name, what, reason);
        }
        for place in 0..(met as usize).min(PEERS) {
            let Some((peer, account)) = self.programs.peer(place) else {
                continue;
            };
            self.follow_peer(place, &peer, &account, now, out);
            if let Some(calls) = &mut self.peers[place] {
                calls.find(&peer, processes);
                let row = counted::row(&account, Side::Client);
                let buffer = &mut out.tables[self.tables[OF_PEERS]];
                calls.counted.take(now, &row, buffer);
            }
        }
    }

    /// Begins the series of a peer, unless there is one.
    fn follow_peer(
        &mut self,
        place: usize,
        peer: &Peer,
        account: &Account,
        now: Timestamp,
        out: &mut Output,
    ) {
        let service = self.services.get(peer.service).and_then(Option::as_ref);
        let Some(caller) = service.map(|it| it.process) else {
            return;
        };
        let Output {
            tables, registry, ..
        } = out;
        let buffer = &mut tables[self.tables[OF_PEERS]];
        let (before, since) = match self.peers[place].take_if(|it| it.caller != caller) {
            // The account of a service that has ended is another one's now.
            Some(old) => {
                old.counted.end(now, buffer, registry);
                (counted::row(account, Side::Client), now)
            }
            None if self.before == Timestamp::default() => ([0; WIDTH], now),
            None => ([0; WIDTH], self.before),
        };
        if self.peers[place].is_some() {
            return;
        }
        let Some(record) = registry.get(caller) else {
            return;
        };
        let (name, role) = (name(peer), record.role);
        let path = format!("{}/calls/{name}", record.entity.path);
        let entity = Entity::new(EntityKind::Connection, name, path);
        let entity = add(registry, entity, caller, role, now);
        let counted = Counted::new(entity, before, since, buffer, others(peer));
        self.peers[place] = Some(PeerCalls {
            caller,
            counted,
            peer: None,
        });
    }
}

impl PeerCalls {
    /// Takes in which process the peer is, and how long the way to it.
    fn find(&mut self, peer: &Peer, processes: &Processes) {
        if self.peer.replace(*peer) == Some(*peer) {
            return;
        }
        let own = |pid| match processes.tracked_entity(pid) {
            Some(_) => processes.service_of(pid),
            None => processes.entity(pid),
        };
        let entity = peer.process.and_then(own);
        let entity = entity.map_or(MISSING, |id| i64::from(id.0));
        self.counted.set(column("process"), entity);
        let rtt_ns = peer.rtt_ns.map_or(MISSING, u64::cast_signed);
        self.counted.set(column("rtt_min_ns"), rtt_ns);
        let connections = peer.connections.map_or(MISSING, i64::from);
        self.counted.set(column("connections"), connections);
    }
}

/// The columns of a peer's row that are no growth of its account.
fn others(peer: &Peer) -> impl Iterator<Item = usize> {
    // Of datagrams no long ones are known beside the sample.
    let unknown: &[&str] = match peer.by_datagrams {
        true => &["process", "rtt_min_ns", "connections", "long", "long_ns"],
        false => &["process", "rtt_min_ns", "connections"],
    };
    unknown.iter().map(|name| column(name))
}

fn column(name: &str) -> usize {
    let place = PEER_CALLS.columns.iter().position(|it| it.name == name);
    place.expect("the table has it")
}

/// What a person calls a peer: its address, or of a unix socket who listens there.
fn name(peer: &Peer) -> String {
    match peer.family {
        AF_UNIX => unix_socket_of(peer.process.unwrap_or_default()),
        family => SocketAddr::new(address(family.into(), peer.address), peer.port).to_string(),
    }
}
