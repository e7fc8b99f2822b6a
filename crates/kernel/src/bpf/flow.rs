//! Who talks to whom (`bpf/flow.bpf.c`).

use std::io::Read as _;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use libbpf_rs::skel::{OpenSkel as _, Skel as _, SkelBuilder as _};
use libbpf_rs::{Iter, Link, MapCore as _, MapFlags, MapHandle};

use super::conditions::may_report_processes;
use super::footprint;
use super::hooks::attach_all;
use super::mapped::Mapped;
use super::messages::quietly;
use super::refusal::Refusal;
use super::skeletons::flow::types::flow_account;
use super::skeletons::flow::{FlowSkel, FlowSkelBuilder};

/// Flows at a time (FLOW_MOST_FLOWS), in places from 1 on.
pub const MOST_FLOWS: usize = 2_048;
/// Flows of all peers beyond those, by process and port (FLOW_MOST_REST), behind them.
pub const MOST_REST: usize = 256;
/// All accounts.
pub const MOST_ACCOUNTS: usize = MOST_FLOWS + MOST_REST;

/// What was counted of a flow.
pub type Account = flow_account;

const PROCESS_NAME: usize = 16;

/// What the process and the unix socket of a flow are called, as the kernel has it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Names {
    pub process: Vec<u8>,
    /// The path of a unix socket; an abstract one begins with a zero byte. Empty for none.
    pub path: Vec<u8>,
}

impl Names {
    fn of(value: &[u8]) -> Self {
        let (process, path) = value.split_at(PROCESS_NAME.min(value.len()));
        let end = path.iter().rposition(|byte| *byte != 0);
        Self {
            process: process
                .split(|byte| *byte == 0)
                .next()
                .map_or_else(Vec::new, <[u8]>::to_vec),
            path: path[..end.map_or(0, |last| last + 1)].to_vec(),
        }
    }
}

/// In which on-window calls at UDP and unix sockets are counted.
pub(super) struct CallWindow(MapHandle);

impl CallWindow {
    /// Has them counted from now on, in the on-window of that number; 0 for none.
    pub(super) fn set(&self, window: u32) -> Result<(), Refusal> {
        let [key, window] = [0, window].map(u32::to_ne_bytes);
        self.0.update(&key, &window, MapFlags::ANY)?;
        Ok(())
    }
}

/// The loaded programs.
pub struct Flow {
    /// Programs at hooks.
    links: Vec<OwnedFd>,
    programs: FlowSkel<'static>,
    accounts: Mapped<Account>,
    /// The walk that adds up what TCP has transferred.
    walk: Link,
    by: Walk,
    /// The number of the last walk.
    walk_number: u32,
}

/// How the sockets are found that are known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Walk {
    /// By what is kept of each: as many steps as there are sockets.
    Sockets,
    /// By the open files of all processes, where the kernel lets nobody walk over a map's elements.
    OpenFiles,
}

impl Flow {
    /// Loads them and begins to count TCP. UDP and unix sockets are counted from `count_all_calls` on, or where
    /// `ThreadTime` is loaded beside this in its on-windows.
    ///
    /// # Errors
    /// Why they are not available here.
    pub fn load() -> Result<Self, Refusal> {
        may_report_processes()?;
        let first = quietly(|| Self::loaded(Walk::Sockets));
        let second = || quietly(|| Self::loaded(Walk::OpenFiles));
        first.or_else(|why| second().map_err(|_| why))
    }

    fn loaded(by: Walk) -> Result<Self, Refusal> {
        let place = Box::leak(Box::new(MaybeUninit::uninit()));
        let mut open = FlowSkelBuilder::default().open(place)?;
        match by {
            Walk::Sockets => open.progs.walk_open_files.set_autoload(false),
            Walk::OpenFiles => open.progs.walk_sockets.set_autoload(false),
        };
        let programs = open.load()?;
        let accounts = Mapped::new(&programs.maps.account_by_place)?;
        let links = attach_all(&[programs.progs.on_state.as_fd().try_clone_to_owned()?])?;
        let sockets = programs.maps.flow_by_socket.as_fd();
        let walk = match by {
            Walk::Sockets => programs.progs.walk_sockets.attach_iter(sockets)?,
            Walk::OpenFiles => programs.progs.walk_open_files.attach()?,
        };
        // Those that are there already: what opens meanwhile is seen by the hooks.
        let files = programs.progs.walk_files.attach()?;
        run(&files)?;
        Ok(Self {
            links,
            accounts,
            walk,
            by,
            walk_number: 0,
            programs,
        })
    }

    /// The programs that count what UDP and unix sockets exchange, call by call. Their hooks are the most frequent ones of
    /// a busy server: whoever attaches them says when they count (`call_window`).
    pub(super) fn call_programs(&self) -> Result<Vec<OwnedFd>, Refusal> {
        let programs = &self.programs.progs;
        let programs = [&programs.on_send, &programs.on_receive];
        let own = programs.iter().map(|it| it.as_fd().try_clone_to_owned());
        Ok(own.collect::<std::io::Result<_>>()?)
    }

    pub(super) fn call_window(&self) -> Result<CallWindow, Refusal> {
        let window = MapHandle::try_from(&self.programs.maps.on_window)?;
        Ok(CallWindow(window))
    }

    /// Counts UDP and unix sockets call by call from now on.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn count_all_calls(&mut self) -> Result<(), Refusal> {
        self.links.extend(attach_all(&self.call_programs()?)?);
        self.call_window()?.set(1)
    }

    /// What is kept of each connection whose requests are counted, by its socket: the requests of each flow are counted
    /// from there.
    pub(super) fn connections(&self) -> BorrowedFd<'_> {
        self.programs.maps.connection_by_socket.as_fd()
    }

    /// Adds up what TCP connections have transferred, and which sockets are open.
    ///
    /// # Errors
    /// When the kernel has no memory for it.
    pub fn walk(&mut self) -> Result<(), Refusal> {
        if let Some(variables) = self.programs.maps.bss_data.as_deref_mut() {
            variables.walk_number = variables.walk_number.wrapping_add(1).max(1);
            self.walk_number = variables.walk_number;
        }
        run(&self.walk)
    }

    /// An account as it stands; places are from 1 to `MOST_ACCOUNTS`. Only one that somebody has.
    pub fn account(&self, place: usize) -> Option<Account> {
        self.accounts.get(place).filter(|it| it.key.protocol != 0)
    }

    /// Sockets that count in an account, and of these connections that are open, as of the last walk.
    pub fn sockets(&self, account: &Account) -> (u32, u32) {
        match account.walk == self.walk_number {
            true => (account.sockets, account.open),
            false => (0, 0),
        }
    }

    /// What those are called whose an account is.
    pub fn names(&self, place: usize) -> Names {
        let names = &self.programs.maps.name_by_place;
        let value = names.lookup(&(place as u32).to_ne_bytes(), MapFlags::ANY);
        Names::of(&value.ok().flatten().unwrap_or_default())
    }

    /// Whether anything was counted in an account since the last `next_reading`.
    pub fn has_changed(&self, place: usize) -> bool {
        let epoch = self.programs.maps.data_data.as_deref().map(|it| it.epoch);
        let changed = self.programs.maps.bss_data.as_deref();
        changed.and_then(|it| it.changed_in.get(place).copied()) == epoch
    }

    /// All accounts have been read.
    pub fn next_reading(&mut self) {
        if let Some(variables) = self.programs.maps.data_data.as_deref_mut() {
            variables.epoch = variables.epoch.wrapping_add(1);
        }
    }

    /// Takes an account from whose it is: who comes next gets another. It must be given back later (`free`): a
    /// program that has just looked it up may still count there.
    pub fn forget(&self, account: &Account) -> Result<(), Refusal> {
        let (key, mut bytes) = (&account.key, [0; 40]);
        bytes[..8].copy_from_slice(&key.started_ns.to_ne_bytes());
        bytes[8..12].copy_from_slice(&key.tgid.to_ne_bytes());
        bytes[12..16].copy_from_slice(&key.net.to_ne_bytes());
        bytes[16..32].copy_from_slice(&key.peer);
        bytes[32..34].copy_from_slice(&key.port.to_ne_bytes());
        bytes[34..36].copy_from_slice(&key.family.to_ne_bytes());
        bytes[36..39].copy_from_slice(&[key.protocol, key.side, key.is_rest]);
        self.programs.maps.place_by_key.delete(&bytes)?;
        Ok(())
    }

    /// Lets somebody else have the account of a place.
    pub fn free(&self, place: usize) -> Result<(), Refusal> {
        let maps = &self.programs.maps;
        let (key, empty) = ((place as u32).to_ne_bytes(), [0; size_of::<Account>()]);
        maps.account_by_place.update(&key, &empty, MapFlags::ANY)?;
        match place <= MOST_FLOWS {
            true => maps.free_places.update(&[], &key, MapFlags::ANY)?,
            false => maps.free_rest_places.update(&[], &key, MapFlags::ANY)?,
        }
        Ok(())
    }

    /// Sockets so far that found no account, or for which there was no memory.
    pub fn unplaced(&self) -> u64 {
        let variables = self.programs.maps.bss_data.as_deref();
        variables.map_or(0, |it| it.unplaced)
    }

    /// Kernel memory in use, bytes, without what is kept of each socket.
    pub fn kernel_bytes(&self) -> Option<u64> {
        footprint::of(self.programs.object())
    }

    /// The programs that run at events, by their hooks.
    pub fn probes(&self) -> [(&'static str, BorrowedFd<'_>); 4] {
        let programs = &self.programs.progs;
        [
            ("inet_sock_set_state", programs.on_state.as_fd()),
            ("sock_send_length", programs.on_send.as_fd()),
            ("sock_recv_length", programs.on_receive.as_fd()),
            match self.by {
                Walk::Sockets => ("walk", programs.walk_sockets.as_fd()),
                Walk::OpenFiles => ("walk", programs.walk_open_files.as_fd()),
            },
        ]
    }
}

/// Walks print nothing: reading one once runs it to its end.
fn run(walk: &Link) -> Result<(), Refusal> {
    let read = Iter::new(walk)?.read(&mut [0; 64]);
    Ok(read.map(drop)?)
}

#[cfg(test)]
mod tests;
