//! How long requests take, as the sockets of servers and clients tell it (`bpf/requests.bpf.c`).

use std::io::Read as _;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd};

use libbpf_rs::skel::{OpenSkel as _, Skel as _, SkelBuilder as _};
use libbpf_rs::{Iter, Link, MapCore as _, MapFlags};
use model::Role;
use rustix::time::{ClockId, clock_getres};

use super::conditions::may_report_processes;
use super::flow::Flow;
use super::footprint;
use super::hooks::Hooks;
use super::mapped::Mapped;
use super::messages::quietly;
use super::refusal::Refusal;
use super::skeletons::requests::types::{
    requests_account, requests_open, requests_owner, requests_peer, requests_role,
};
use super::skeletons::requests::{RequestsSkel, RequestsSkelBuilder};
use super::thread_time::ThreadTime;

mod bins;

use bins::AnsweredBins;

/// Whole services (REQUESTS_MOST_SERVICES), whose accounts come before those of connections.
pub const SERVICES: usize = 16;
/// Whom services ask (REQUESTS_MOST_PEERS), each in an account behind those of services.
pub const PEERS: usize = 32;
/// Accounts that connections share.
const SHARED: usize = SERVICES + PEERS;
/// Accounts of each of those, by CPU (REQUESTS_SIDE_BY_SIDE).
const SIDE_BY_SIDE: usize = 4;
/// Accounts of single connections (REQUESTS_MOST_CONNECTIONS).
pub const CONNECTIONS: usize = 64;

/// What was counted of a service or a connection.
pub type Account = requests_account;
/// Requests of an account that are under way.
pub type Open = requests_open;
/// Whose an account is.
pub type Owner = requests_owner;

/// An address that processes of a service connected to (struct requests_contact).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Contact {
    /// The service's account.
    pub service: usize,
    /// `AF_INET` or `AF_INET6`.
    pub family: u16,
    pub port: u16,
    /// The first four bytes of IPv4.
    pub address: [u8; 16],
}

impl Contact {
    fn of(key: &[u8]) -> Option<Self> {
        let (service, rest) = key.split_first_chunk()?;
        let (family, rest) = rest.split_first_chunk()?;
        let (port, rest) = rest.split_first_chunk()?;
        Some(Self {
            service: u32::from_ne_bytes(*service) as usize,
            family: u16::from_ne_bytes(*family),
            port: u16::from_ne_bytes(*port),
            address: *rest.first_chunk()?,
        })
    }
}

/// Whom a service asks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Peer {
    /// The service's account.
    pub service: usize,
    /// `AF_INET`, `AF_INET6`, or `AF_UNIX`, which has neither port nor address.
    pub family: u16,
    pub port: u16,
    /// The first four bytes of IPv4.
    pub address: [u8; 16],
    /// The least round trip of TCP connections that have ended, or were there at the last look (`look_at_open`), ns.
    pub rtt_ns: Option<u64>,
    /// Connections to it at the last look; `None` before any, and of datagrams.
    pub connections: Option<u32>,
    /// Whether it is asked by datagrams: then no request that took long was timed for sure.
    pub by_datagrams: bool,
    /// The process on this machine that listens there, else one that holds its end of a connection, as far as that is
    /// known. Of IP that is known once all connections have been looked at (`look_at_open`).
    pub process: Option<u32>,
}

impl Peer {
    fn of(entry: &requests_peer) -> Option<Self> {
        let mut process = [entry.listener, entry.holder].into_iter();
        (entry.is_known != 0).then(|| Self {
            service: entry.contact.account as usize,
            family: entry.contact.family,
            port: entry.contact.port,
            address: entry.contact.address,
            rtt_ns: (entry.rtt_us != 0).then(|| u64::from(entry.rtt_us) * 1_000),
            connections: (entry.walk != 0).then_some(entry.connections),
            by_datagrams: entry.by_datagrams != 0,
            process: process.find(|pid| *pid != 0),
        })
    }
}

/// Which ends of a process's connections are measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// Those that it accepted; those that it made are calls to its peers, in accounts of their own.
    Server,
    /// Those that it made.
    Client,
}

impl Side {
    /// By a process's part.
    pub fn of(role: Role) -> Self {
        match role {
            Role::Generator => Self::Client,
            _ => Self::Server,
        }
    }
}

/// The programs that only times need, at hooks where events are many; requests are counted without them.
const TIMING: &[&str] = &["on_ready", "on_receive"];

/// The loaded programs.
pub struct Requests {
    hooks: Hooks,
    programs: RequestsSkel<'static>,
    accounts: Mapped<Account>,
    owners: Mapped<Owner>,
    peers: Mapped<requests_peer>,
    open: Mapped<Open>,
    bins: AnsweredBins,
    /// The walk over the open files of all processes; `None` where this kernel refuses it.
    walk: Option<Link>,
    /// That of the last walk.
    walk_number: u32,
}

impl Requests {
    /// Loads them and begins to count.
    ///
    /// # Errors
    /// Why they cannot be had here.
    pub fn load() -> Result<Self, Refusal> {
        Self::load_beside(None, None)
    }

    /// The same beside thread-time accounting, which is told which threads are inside a request, and beside accounts of
    /// flows, which are told how many requests each had.
    ///
    /// # Errors
    /// Why they cannot be had here.
    pub fn load_beside(
        thread_time: Option<&ThreadTime>,
        flow: Option<&Flow>,
    ) -> Result<Self, Refusal> {
        may_report_processes()?;
        // The walk is no more than a supplement: a kernel that refuses it counts requests all the same.
        quietly(|| Self::loaded(true, thread_time, flow))
            .or_else(|_| quietly(|| Self::loaded(false, thread_time, flow)))
    }

    fn loaded(
        walks: bool,
        thread_time: Option<&ThreadTime>,
        flow: Option<&Flow>,
    ) -> Result<Self, Refusal> {
        let place = Box::leak(Box::new(MaybeUninit::uninit()));
        let mut open = RequestsSkelBuilder::default().open(place)?;
        if let Some(constants) = open.maps.rodata_data.as_deref_mut() {
            constants.ns_per_jiffy = ns_per_jiffy();
        }
        if let Some(thread_time) = thread_time {
            open.maps.serving_by_task.reuse_fd(thread_time.serving())?;
        }
        if let Some(flow) = flow {
            open.maps
                .connection_by_socket
                .reuse_fd(flow.connections())?;
        }
        open.progs.walk_files.set_autoload(walks);
        let mut programs = open.load()?;
        let hooks = Hooks::attach(programs.object_mut(), TIMING, Vec::new())?;
        let walk = match walks {
            true => Some(programs.progs.walk_files.attach()?),
            false => None,
        };
        let mut requests = Self {
            open: Mapped::new(&programs.maps.open_by_place)?,
            bins: AnsweredBins::new(&programs.maps.answered_by_bin)?,
            walk_number: 0,
            walk,
            accounts: Mapped::new(&programs.maps.account_by_place)?,
            owners: Mapped::new(&programs.maps.owner_by_place)?,
            peers: Mapped::new(&programs.maps.peer_by_place)?,
            hooks,
            programs,
        };
        requests.see_reads(1);
        Ok(requests)
    }

    /// Has the connections of a process counted, and of those that it forks from now on, in the account
    /// of their service; none of them without a side. The programs themselves forget a process when it
    /// ends.
    pub fn assign(&mut self, pid: u32, side: Option<Side>, service: usize) -> Result<(), Refusal> {
        let role = requests_role {
            side: match side {
                None => 0,
                Some(Side::Server) => 1,
                Some(Side::Client) => 2,
            },
            account: service as u32,
        };
        let mut value = [0; size_of::<requests_role>()];
        value[..4].copy_from_slice(&role.side.to_ne_bytes());
        value[4..].copy_from_slice(&role.account.to_ne_bytes());
        let roles = &self.programs.maps.role_by_tgid;
        roles.update(&pid.to_ne_bytes(), &value, MapFlags::ANY)?;
        // Connections that it has already look for the new part; 0 is for those that never did.
        if let Some(variables) = self.programs.maps.data_data.as_deref_mut() {
            variables.roles = variables.roles.wrapping_add(1).max(1);
        }
        Ok(())
    }

    /// All requests so far, which takes little of the time that reading all accounts takes.
    pub fn requests(&self) -> u64 {
        let is_taken = |place: &usize| self.owners.get(*place).is_some_and(|it| it.cookie != 0);
        let own = (0..CONNECTIONS).filter(is_taken);
        let shared = SERVICES + (self.peers_met() as usize).min(PEERS);
        let places = (0..shared * SIDE_BY_SIDE).chain(own.map(|it| SHARED * SIDE_BY_SIDE + it));
        const { assert!(std::mem::offset_of!(requests_account, requests) == 0) };
        places.filter_map(|it| self.accounts.first_word(it)).sum()
    }

    /// What has been counted of a service.
    pub fn service(&self, service: usize) -> Option<Account> {
        (service < SERVICES).then(|| self.shared(service)).flatten()
    }

    /// Whom a service asks, and what has been counted of that; `None` where there is none yet.
    pub fn peer(&self, place: usize) -> Option<(Peer, Account)> {
        let entry = self.peers.get(place).filter(|_| place < PEERS)?;
        Some((Peer::of(&entry)?, self.shared(SERVICES + place)?))
    }

    fn shared(&self, account: usize) -> Option<Account> {
        let parts =
            (0..SIDE_BY_SIDE).filter_map(|it| self.accounts.get(account * SIDE_BY_SIDE + it));
        parts.reduce(sum)
    }

    /// Peers so far; those beyond `PEERS` have no account.
    pub fn peers_met(&self) -> u64 {
        let variables = self.programs.maps.bss_data.as_deref();
        variables.map_or(0, |it| it.peers_met.into())
    }

    /// What has been counted in an account of single connections, and whose it is or was last; `None`
    /// where nobody has had it yet.
    pub fn connection(&self, place: usize) -> Option<(Owner, Account)> {
        let owner = self.owners.get(place).filter(|it| it.cookie != 0)?;
        Some((owner, self.accounts.get(SHARED * SIDE_BY_SIDE + place)?))
    }

    /// Looks at all connections: how many requests are under way. Whether that is known here.
    pub fn look_at_open(&mut self) -> bool {
        let Some(variables) = self.programs.maps.data_data.as_deref_mut() else {
            return false;
        };
        variables.walk_number += 1;
        self.walk_number = variables.walk_number;
        // The walk prints nothing: reading it once runs it to its end.
        let walk = self.walk.as_ref().and_then(|it| Iter::new(it).ok());
        walk.is_some_and(|mut it| it.read(&mut [0; 64]).is_ok())
    }

    /// Requests of a service that were under way at the last look.
    pub fn open_of_service(&self, service: usize) -> Open {
        self.open_of_shared(service)
    }

    /// What a service was asking a peer at the last look.
    pub fn open_of_peer(&self, place: usize) -> Open {
        self.open_of_shared(SERVICES + place)
    }

    fn open_of_shared(&self, account: usize) -> Open {
        let own = (0..SIDE_BY_SIDE).map(|it| self.open_at(account * SIDE_BY_SIDE + it));
        own.fold(Open::default(), |mut sum, next| {
            sum.requests += next.requests;
            sum.longs += next.longs;
            sum.long_ns += next.long_ns;
            sum
        })
    }

    /// The same of a connection with an account of its own.
    pub fn open_of_connection(&self, place: usize) -> Open {
        self.open_at(SHARED * SIDE_BY_SIDE + place)
    }

    fn open_at(&self, place: usize) -> Open {
        let own = self.open.get(place);
        own.filter(|it| it.walk == u64::from(self.walk_number))
            .unwrap_or_default()
    }

    /// Takes an account back from a connection; another may then have it.
    pub fn free(&self, place: usize) -> Result<(), Refusal> {
        let cookies = &self.programs.maps.cookie_by_place;
        let (key, none) = ((place as u32).to_ne_bytes(), 0u64.to_ne_bytes());
        cookies.update(&key, &none, MapFlags::ANY)?;
        Ok(())
    }

    /// An on-window ends: the programs that only times need leave their hooks, once the kernel's grace period is over;
    /// after `see_reads(0)` they do nothing until then.
    pub fn detach_timing(&mut self) {
        self.hooks.detach();
    }

    /// An on-window begins: they go to their hooks again; whether they are there, or will be soon: then the next call
    /// tells.
    pub fn attach_timing(&mut self) -> Result<bool, Refusal> {
        self.hooks.attach_again()
    }

    /// Says whether reads are seen from now on: how many times that has begun, 0 for not (`reads_seen`). Once loaded
    /// they are, for the first time.
    pub fn see_reads(&mut self, times: u32) {
        if let Some(variables) = self.programs.maps.bss_data.as_deref_mut() {
            variables.reads_seen = times;
        }
    }

    /// Has this share of all requests timed from now on, 0 to 1.
    pub fn time(&mut self, share: f64) {
        if let Some(variables) = self.programs.maps.data_data.as_deref_mut() {
            variables.timed_up_to = (share * f64::from(u32::MAX)) as u32;
        }
    }

    /// How many addresses have been noted that processes with a part connected to.
    pub fn contacts_noted(&self) -> u64 {
        let variables = self.programs.maps.bss_data.as_deref();
        variables.map_or(0, |it| it.contacts_noted)
    }

    /// Those addresses.
    pub fn contacts(&self) -> impl Iterator<Item = Contact> + '_ {
        let keys = self.programs.maps.contacts.keys();
        keys.filter_map(|key| Contact::of(&key))
    }

    /// Bytes of the kernel's that they take, without what is kept of each connection.
    pub fn kernel_bytes(&self) -> Option<u64> {
        footprint::of(self.programs.object())
    }

    /// Connections and processes so far for which there was no memory.
    pub fn drops(&self) -> u64 {
        let variables = self.programs.maps.bss_data.as_deref();
        variables.map_or(0, |it| it.drops)
    }

    /// The programs that run at events, by their hooks.
    pub fn probes(&self) -> [(&'static str, BorrowedFd<'_>); 4] {
        let programs = &self.programs.progs;
        [
            ("sk_data_ready", programs.on_ready.as_fd()),
            ("sock_recv_length", programs.on_receive.as_fd()),
            ("sock_send_length", programs.on_send.as_fd()),
            ("inet_sock_set_state", programs.on_state.as_fd()),
        ]
    }
}

/// The kernel's tick: the resolution of its coarse clocks (`clock_getres` in kernel/time/posix-timers.c).
fn ns_per_jiffy() -> u64 {
    let tick = clock_getres(ClockId::MonotonicCoarse);
    (tick.tv_sec * 1_000_000_000 + tick.tv_nsec)
        .max(1)
        .cast_unsigned()
}

fn sum(mut one: Account, other: Account) -> Account {
    one.requests += other.requests;
    one.pipelined += other.pipelined;
    one.unsolicited += other.unsolicited;
    one.between_ns += other.between_ns;
    one.unread_ns += other.unread_ns;
    one.ns += other.ns;
    one.long_ns += other.long_ns;
    let buckets = one.timed_by_bucket.iter_mut();
    buckets
        .zip(other.timed_by_bucket)
        .for_each(|(into, more)| *into += more);
    one
}

#[cfg(test)]
mod tests;
