//! What block devices do, and for whom (`bpf/block.bpf.c`).

use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd};

use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::Typedef;
use libbpf_rs::skel::{OpenSkel as _, Skel as _, SkelBuilder as _};
use libbpf_rs::{MapCore as _, MapFlags};

use super::conditions::may_report_processes;
use super::footprint;
use super::hooks::Hooks;
use super::mapped::Mapped;
use super::messages::quietly;
use super::refusal::Refusal;
use super::skeletons::block::types::block_account;
use super::skeletons::block::{BlockSkel, BlockSkelBuilder};

/// Accounts of files at a time (BLOCK_MOST_FILES), in places from 1 on.
pub const MOST_FILES: usize = 1_536;
/// Accounts of all others (BLOCK_MOST_OTHERS), behind those.
pub const MOST_OTHERS: usize = 512;
/// All accounts.
pub const MOST_ACCOUNTS: usize = MOST_FILES + MOST_OTHERS;

/// What was counted of one of those for whom a device works.
pub type Account = block_account;

/// For whom an account counts (enum block_scope).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    Device,
    /// The kernel's id of a control group: of the hierarchy that has the I/O controller.
    Cgroup(u64),
    /// A pid; 0 for kernel threads.
    Process(u32),
    File {
        inode: u64,
        /// Its filesystem's device, major << 20 | minor.
        filesystem: u32,
    },
    Journal,
    Metadata,
    /// Requests of a process, or of kernel threads, without a known file.
    Unnamed(u32),
}

/// Whose an account is; `None` for one that nobody has.
pub fn scope_of(account: &Account) -> Option<Scope> {
    let key = &account.key;
    Some(match key.scope {
        1 => Scope::Device,
        2 => Scope::Cgroup(key.id),
        3 => Scope::Process(key.id as u32),
        4 => Scope::File {
            inode: key.id,
            filesystem: key.instance as u32,
        },
        5 => Scope::Journal,
        6 => Scope::Metadata,
        7 => Scope::Unnamed(key.id as u32),
        _ => return None,
    })
}

/// The loaded programs.
pub struct Block {
    _hooks: Hooks,
    programs: BlockSkel<'static>,
    accounts: Mapped<Account>,
}

impl Block {
    /// Loads them and begins to count.
    ///
    /// # Errors
    /// Why they are not available here.
    pub fn load() -> Result<Self, Refusal> {
        may_report_processes()?;
        quietly(Self::loaded)
    }

    fn loaded() -> Result<Self, Refusal> {
        let place = Box::leak(Box::new(MaybeUninit::uninit()));
        let mut open = BlockSkelBuilder::default().open(place)?;
        let has_both = has_start_and_done();
        open.progs.on_start.set_autoload(has_both);
        open.progs.on_done.set_autoload(has_both);
        let mut programs = open.load()?;
        let accounts = Mapped::new(&programs.maps.account_by_place)?;
        Ok(Self {
            accounts,
            _hooks: Hooks::attach(programs.object_mut(), &[], Vec::new())?,
            programs,
        })
    }

    /// An account as it stands; places are from 1 to `MOST_ACCOUNTS`.
    pub fn account(&self, place: usize) -> Option<Account> {
        self.accounts.get(place)
    }

    /// The most requests that were under way in an account at once since the last `next_reading`.
    pub fn most_in_flight(&self, account: &Account) -> u32 {
        let variables = self.programs.maps.data_data.as_deref();
        match variables.is_some_and(|it| it.epoch == account.epoch) {
            true => account.most,
            false => account.in_flight,
        }
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
        let (key, mut bytes) = (&account.key, [0; 24]);
        bytes[..4].copy_from_slice(&key.device.to_ne_bytes());
        bytes[4..6].copy_from_slice(&key.scope.to_ne_bytes());
        bytes[6..8].copy_from_slice(&key.operation.to_ne_bytes());
        bytes[8..16].copy_from_slice(&key.id.to_ne_bytes());
        bytes[16..].copy_from_slice(&key.instance.to_ne_bytes());
        self.programs.maps.place_by_key.delete(&bytes)?;
        Ok(())
    }

    /// Lets somebody else have the account of a place.
    pub fn free(&self, place: usize) -> Result<(), Refusal> {
        let (key, empty) = ((place as u32).to_ne_bytes(), [0; size_of::<Account>()]);
        let accounts = &self.programs.maps.account_by_place;
        accounts.update(&key, &empty, MapFlags::ANY)?;
        give_back(&self.programs, place as u32)
    }

    /// How often there was no account for somebody so far.
    pub fn unplaced(&self) -> u64 {
        let variables = self.programs.maps.bss_data.as_deref();
        variables.map_or(0, |it| it.unplaced)
    }

    /// Requests so far for which there was no memory, or whose end was not seen.
    pub fn lost(&self) -> u64 {
        let variables = self.programs.maps.bss_data.as_deref();
        variables.map_or(0, |it| it.lost)
    }

    /// Kernel memory in use, bytes.
    pub fn kernel_bytes(&self) -> Option<u64> {
        footprint::of(self.programs.object())
    }

    /// The programs by their hooks.
    pub fn probes(&self) -> Vec<(&'static str, BorrowedFd<'_>)> {
        let programs = &self.programs.progs;
        let all = [
            ("block_io_start", &programs.on_start),
            ("block_rq_insert", &programs.on_insert),
            ("block_rq_issue", &programs.on_issue),
            ("block_rq_merge", &programs.on_merge),
            ("block_rq_complete", &programs.on_complete),
            ("block_io_done", &programs.on_done),
        ];
        let loaded = all.into_iter().filter(|(_, program)| program.autoload());
        loaded
            .map(|(name, program)| (name, program.as_fd()))
            .collect()
    }
}

fn give_back(programs: &BlockSkel<'_>, place: u32) -> Result<(), Refusal> {
    let (key, value) = (&[], place.to_ne_bytes());
    let maps = &programs.maps;
    match place as usize <= MOST_FILES {
        true => maps.free_file_places.update(key, &value, MapFlags::ANY)?,
        false => maps.free_other_places.update(key, &value, MapFlags::ANY)?,
    }
    Ok(())
}

/// Whether the kernel has both hooks at which it accounts for a request (6.5).
fn has_start_and_done() -> bool {
    let kernel = Btf::from_vmlinux().ok();
    let has = |name| {
        let found = kernel
            .as_ref()
            .map(|it| it.type_by_name::<Typedef<'_>>(name));
        found.flatten().is_some()
    };
    has("btf_trace_block_io_start") && has("btf_trace_block_io_done")
}

#[cfg(test)]
mod tests;
