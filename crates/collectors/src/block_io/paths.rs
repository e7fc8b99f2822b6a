//! The paths of files by their inodes, as far as a process of target, dependencies or generator has them open.
//!
//! A filesystem that might not answer is not asked: what it knows already is enough (AT_STATX_DONT_SYNC).

use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};

use model::{EntityId, Timestamp, name_of};
use rustix::fs::{AtFlags, Mode, OFlags, StatxFlags, readlinkat_raw, statx};
use rustix::path::DecInt;

use crate::output::Output;
use crate::processes::Processes;
use kernel::bpf::block::Account;
use kernel::folder::each_number_in;

/// Descriptors that are looked at in one look, at most, at 2 us each; the next look goes on with the process behind.
const MOST_LOOKED_AT: usize = 500;
/// The same after a look that found nothing.
const FEW_LOOKED_AT: usize = 100;

/// A file without a path yet.
struct Wanted {
    inode: u64,
    /// major << 20 | minor
    filesystem: u64,
    entity: EntityId,
}

/// Files whose paths are looked for.
#[derive(Default)]
pub(super) struct Paths {
    proc: PathBuf,
    wanted: Vec<Wanted>,
    /// Whether some have not been looked for yet.
    has_new: bool,
    /// The process whose descriptors were looked at last, and how many may be next time.
    cursor: u32,
    looks: usize,
    /// Reused buffers.
    pids: Vec<(u32, EntityId)>,
    path: PathBuf,
}

impl Paths {
    pub(super) fn of(root: &Path) -> Self {
        Self {
            proc: root.join("proc"),
            looks: MOST_LOOKED_AT,
            ..Self::default()
        }
    }

    /// Looks for the path of an account's file from now on.
    pub(super) fn look_for(&mut self, account: &Account, entity: EntityId) {
        self.wanted.push(Wanted {
            inode: account.key.id,
            filesystem: account.key.instance,
            entity,
        });
        self.has_new = true;
        self.looks = MOST_LOOKED_AT;
    }

    /// A stream has ended.
    pub(super) fn forget(&mut self, entity: EntityId) {
        self.wanted.retain(|it| it.entity != entity);
    }

    /// Looks at once, before files are closed that have just been used for the first time.
    pub(super) fn look_for_new(&mut self, all: &Processes, now: Timestamp, out: &mut Output) {
        if std::mem::take(&mut self.has_new) {
            self.look(all, now, out);
        }
    }

    /// Looks at some descriptors, if any file has no path yet.
    pub(super) fn look(&mut self, all: &Processes, now: Timestamp, out: &mut Output) {
        if self.wanted.is_empty() {
            return;
        }
        self.pids.clear();
        self.pids.extend(all.tracked());
        self.pids.sort_unstable();
        let next = self.pids.partition_point(|(pid, _)| *pid <= self.cursor);
        self.pids.rotate_left(next);
        let (known, mut left) = (self.wanted.len(), self.looks);
        for index in 0..self.pids.len() {
            if left == 0 {
                break;
            }
            let (pid, entity) = self.pids[index];
            self.cursor = pid;
            let owner = all.service_of(pid).unwrap_or(entity);
            self.look_at(pid, owner, &mut left, now, out);
        }
        self.looks = match self.wanted.len() < known {
            true => MOST_LOOKED_AT,
            false => FEW_LOOKED_AT,
        };
    }

    fn look_at(
        &mut self,
        pid: u32,
        owner: EntityId,
        left: &mut usize,
        now: Timestamp,
        out: &mut Output,
    ) {
        let Self { path, wanted, .. } = self;
        path.clear();
        path.push(&self.proc);
        path.push(DecInt::new(pid));
        path.push("fd");
        *left -= 1;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let Ok(folder) = rustix::fs::open(&*path, flags, Mode::empty()) else {
            return;
        };
        each_number_in(&folder, |number| {
            if *left == 0 || wanted.is_empty() {
                return;
            }
            *left -= 1;
            let name = DecInt::new(number);
            let flags = AtFlags::STATX_DONT_SYNC;
            let Ok(file) = statx(&folder, name.as_c_str(), flags, StatxFlags::INO) else {
                return;
            };
            let filesystem = u64::from(file.stx_dev_major) << 20 | u64::from(file.stx_dev_minor);
            let is_it = |it: &Wanted| it.inode == file.stx_ino && it.filesystem == filesystem;
            if !wanted.iter().any(is_it) {
                return;
            }
            let mut room = [MaybeUninit::<u8>::uninit(); 4_096];
            let link = readlinkat_raw(&folder, name.as_c_str(), &mut room);
            let Some((link, _)) = link.ok().filter(|(link, _)| link.starts_with(b"/")) else {
                return;
            };
            for found in wanted.iter().filter(|it| is_it(it)) {
                out.registry.change(found.entity, now, |record| {
                    record.entity.name = name_of(link).into_owned();
                    record.parent = Some(owner);
                });
            }
            wanted.retain(|it| !is_it(it));
        });
    }
}
