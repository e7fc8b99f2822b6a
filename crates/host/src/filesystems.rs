//! The filesystems that the target's processes have their working directories and open files on, and
//! how full they are.
//!
//! What is kept open is the mount's own folder, and for looking only (O_PATH): an open file would keep
//! its space taken after it is deleted. Filesystems that ask another machine are left alone, since
//! asking may block for as long as that machine is away.

use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use model::{Entity, EntityKind, GapReason, Timestamp};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Statx, StatxFlags};
use rustix::path::{Arg, DecInt};

use crate::folder::each_number_in;
use crate::intake::{Intake, LastSeen};
use crate::probe::Gaps;
use crate::registry::Registry;

/// At most so many files are asked for their filesystem at one look, which costs 2 to 3 us each; the
/// next look goes on with the process after the last one asked.
const MOST_FILES: usize = 500;
/// And so many where the look before found no filesystem that was not known.
const FEW_FILES: usize = 100;

/// Kinds whose statvfs may wait for another machine or for a program.
const REMOTE: [&str; 20] = [
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "ceph", "9p", "afs", "lustre", "fuse", "fuseblk",
    "virtiofs", "vboxsf", "gfs2", "ocfs2", "gpfs", "beegfs", "orangefs", "coda", "autofs",
];

/// A device number as statx gives it.
type Device = (u32, u32);

/// The filesystems known to hold something of the target's.
pub(crate) struct Filesystems {
    proc: PathBuf,
    pub(crate) intake: Intake,
    measured: Vec<(OwnedFd, LastSeen)>,
    /// Every device met, measured or not.
    met: Vec<Device>,
    /// The process that was last asked for its open files.
    cursor: u32,
    /// How many files are asked at the next look.
    patience: usize,
    /// Kept for their memory.
    pids: Vec<u32>,
    path: PathBuf,
}

impl Filesystems {
    pub(crate) fn new(root: &Path) -> Self {
        Self {
            proc: root.join("proc"),
            intake: Intake::new(&sensors::FILESYSTEM),
            measured: Vec::new(),
            met: Vec::new(),
            cursor: 0,
            patience: MOST_FILES,
            pids: Vec::new(),
            path: PathBuf::new(),
        }
    }

    /// Looks where the processes of the target have their files.
    pub(crate) fn look(
        &mut self,
        targets: impl Iterator<Item = u32>,
        now: Timestamp,
        gaps: &mut Gaps,
        registry: &mut Registry,
    ) {
        let Self { pids, cursor, .. } = self;
        pids.clear();
        pids.extend(targets);
        pids.sort_unstable();
        let next = pids.partition_point(|pid| *pid <= *cursor);
        pids.rotate_left(next);
        let known = self.met.len();
        let mut left = self.patience;
        for index in 0..self.pids.len() {
            if left == 0 {
                break;
            }
            self.cursor = self.pids[index];
            self.meet_files(self.cursor, &mut left, now, (gaps, registry));
        }
        self.patience = if self.met.len() > known {
            MOST_FILES
        } else {
            FEW_FILES
        };
    }

    /// Asks every filesystem how full it is.
    pub(crate) fn sample(&mut self, now: Timestamp) {
        let Self {
            measured, intake, ..
        } = self;
        for (folder, last) in measured {
            let Ok(full) = rustix::fs::fstatvfs(folder) else {
                continue;
            };
            let bytes = |blocks: u64| {
                i64::try_from(blocks.saturating_mul(full.f_frsize)).unwrap_or(i64::MAX)
            };
            let count = |files: u64| i64::try_from(files).unwrap_or(i64::MAX);
            // Filesystems that make inodes as they are needed say 0 of both.
            let limited = full.f_files > 0;
            let inodes = |files| {
                if limited {
                    count(files)
                } else {
                    model::MISSING
                }
            };
            let values = [
                bytes(full.f_blocks),
                bytes(full.f_bavail),
                inodes(full.f_files),
                inodes(full.f_ffree),
            ];
            last.take(now, &values, intake);
        }
    }

    /// Writes the ends of unchanged stretches.
    pub(crate) fn finish(&mut self) {
        let Self {
            measured, intake, ..
        } = self;
        measured
            .iter_mut()
            .for_each(|(_, last)| last.finish(intake));
    }

    /// Takes in the filesystems of a process's working directory and open files.
    fn meet_files(
        &mut self,
        pid: u32,
        left: &mut usize,
        now: Timestamp,
        (gaps, registry): (&mut Gaps, &mut Registry),
    ) {
        let mut path = std::mem::take(&mut self.path);
        path.clear();
        path.push(&self.proc);
        path.push(DecInt::new(pid));
        path.push("cwd");
        *left -= 1;
        self.meet(pid, &path, now, (gaps, registry));
        path.set_file_name("fd");
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        if let Ok(list) = rustix::fs::open(&path, flags, Mode::empty()) {
            each_number_in(&list, |number| {
                if *left > 0 {
                    *left -= 1;
                    path.push(DecInt::new(number));
                    self.meet(pid, &path, now, (&mut *gaps, &mut *registry));
                    path.pop();
                }
            });
        }
        self.path = path;
    }

    /// Takes in the filesystem of one file or folder of a process.
    fn meet(
        &mut self,
        pid: u32,
        place: &Path,
        now: Timestamp,
        (gaps, registry): (&mut Gaps, &mut Registry),
    ) {
        let Some(stat) = identity(place) else { return };
        let kind = FileType::from_raw_mode(stat.stx_mode.into());
        let device = (stat.stx_dev_major, stat.stx_dev_minor);
        if !matches!(kind, FileType::RegularFile | FileType::Directory)
            || self.met.contains(&device)
        {
            return;
        }
        self.met.push(device);
        let process = self.proc.join(pid.to_string());
        let text = std::fs::read_to_string(process.join("mountinfo")).unwrap_or_default();
        let Some(mount) = mount_of(&text, &stat) else {
            return;
        };
        if mount.is_remote() {
            let what = "room on network filesystems is not looked at, since asking could block";
            gaps.say(
                &sensors::FILESYSTEM.name,
                &mount.point,
                GapReason::Unsupported(what.to_owned()),
            );
            return;
        }
        let folder = process
            .join("root")
            .join(mount.point.trim_start_matches('/'));
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let Ok(folder) = rustix::fs::open(&folder, flags, Mode::empty()) else {
            return;
        };
        // Another mount may hide this one; a btrfs subvolume has a device of its own below its mount.
        let Some(there) = identity_of(&folder, c"", AtFlags::EMPTY_PATH) else {
            return;
        };
        let at = (there.stx_dev_major, there.stx_dev_minor);
        let numbered = stat.stx_mask & there.stx_mask & StatxFlags::MNT_ID.bits() != 0;
        let same_mount = numbered && stat.stx_mnt_id == there.stx_mnt_id;
        if at != device && (!same_mount || self.met.contains(&at)) {
            return;
        }
        self.met.push(at);
        // Kernel filesystems have no size.
        if rustix::fs::fstatvfs(&folder).is_ok_and(|full| full.f_blocks == 0) {
            return;
        }
        let entity = Entity::new(EntityKind::Filesystem, mount.point.clone(), mount.point);
        let id = registry.add_filesystem(entity, device, now);
        let last = LastSeen::new(id, sensors::FILESYSTEM.columns.len());
        self.measured.push((folder, last));
    }
}

/// Whose file it is, from what the kernel knows already: nobody else is asked.
fn identity(place: &Path) -> Option<Statx> {
    identity_of(CWD, place, AtFlags::empty())
}

fn identity_of(folder: impl AsFd, place: impl Arg, flags: AtFlags) -> Option<Statx> {
    let flags = flags | AtFlags::STATX_DONT_SYNC;
    let wanted = StatxFlags::TYPE | StatxFlags::MNT_ID;
    rustix::fs::statx(folder, place, flags, wanted).ok()
}

/// A line of mountinfo.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Mounted {
    point: String,
    kind: String,
}

impl Mounted {
    fn is_remote(&self) -> bool {
        let family = self.kind.split('.').next().unwrap_or_default();
        REMOTE.contains(&family)
    }
}

/// The mount that a file is on. By the mount's number, since a btrfs file has another device number
/// than its mount; kernels before 5.8 do not tell it, and the device number must do.
fn mount_of(text: &str, stat: &Statx) -> Option<Mounted> {
    let number =
        (stat.stx_mask & StatxFlags::MNT_ID.bits() != 0).then(|| stat.stx_mnt_id.to_string());
    let device = format!("{}:{}", stat.stx_dev_major, stat.stx_dev_minor);
    let found = |line: &&str| {
        let mut fields = line.split(' ');
        match &number {
            Some(number) => fields.next() == Some(number),
            None => fields.nth(2) == Some(&device),
        }
    };
    // Of several mounts on one place the last is seen.
    let line = text.lines().rev().find(found)?;
    let (left, right) = line.split_once(" - ")?;
    Some(Mounted {
        point: crate::cgroups::unescape(left.split(' ').nth(4)?),
        kind: right.split(' ').next()?.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filesystem_of_a_working_directory_is_measured_once() {
        let mut filesystems = Filesystems::new(Path::new("/"));
        let (mut gaps, mut registry) = (Gaps::default(), Registry::default());
        let now = Timestamp::from_ns(1);
        let pid = std::process::id();
        for _ in 0..2 {
            filesystems.look([pid, pid].into_iter(), now, &mut gaps, &mut registry);
        }
        if filesystems.measured.is_empty() {
            println!("SKIPPED: the working directory is on a filesystem that is not measured");
            return;
        }
        filesystems.sample(now);
        let rows: Vec<_> = filesystems.intake.rows.iter().collect();
        assert_eq!(rows.len(), filesystems.measured.len());
        for (_, id, values) in rows {
            let record = registry.get(id).expect("it is there");
            assert_eq!(record.entity.kind, EntityKind::Filesystem);
            assert!(record.entity.path.starts_with('/'));
            assert!(values[0] > 0 && values[1] <= values[0], "{values:?}");
        }
    }

    #[test]
    fn a_mount_is_found_by_number_or_else_by_device() {
        let text = "21 1 8:1 / / rw - ext4 /dev/sda1 rw\n\
                    30 21 0:44 / /srv\\040x rw - btrfs /dev/sdb rw\n\
                    31 21 0:50 / /net rw - fuse.sshfs host: rw\n";
        let mut stat = identity(Path::new("/")).expect("a root");
        stat.stx_mask |= StatxFlags::MNT_ID.bits();
        stat.stx_mnt_id = 30;
        let found = mount_of(text, &stat).expect("it is there");
        assert_eq!((found.point.as_str(), found.is_remote()), ("/srv x", false));
        stat.stx_mask &= !StatxFlags::MNT_ID.bits();
        (stat.stx_dev_major, stat.stx_dev_minor) = (0, 50);
        assert!(mount_of(text, &stat).expect("it is there").is_remote());
        for (kind, remote) in [("fuseblk", true), ("virtiofs", true), ("xfs", false)] {
            let kind = kind.to_owned();
            let point = String::new();
            assert_eq!(Mounted { point, kind }.is_remote(), remote);
        }
        stat.stx_dev_minor = 51;
        assert_eq!(mount_of(text, &stat), None);
    }
}
