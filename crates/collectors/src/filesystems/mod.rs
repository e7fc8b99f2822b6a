//! The filesystems of the target's working directories and open files, and how full they are.
//!
//! A file that is open for a moment only is hardly ever met so: that of a cache, or a temporary one. Of filesystems that are
//! nearly full when the recording begins, opens are listened to (`nearly_full`).
//!
//! No call may go to a filesystem that might not answer: a network or FUSE filesystem whose server is away
//! blocks whatever touches one of its files. So the mount of a file is found from /proc alone, and only
//! mounts of types that are known to be local are touched.
//!
//! Only the mount's root folder is kept open, with O_PATH: an open file would keep its space allocated after
//! it is deleted.

use std::collections::HashSet;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use model::{Entity, EntityKind, GapReason, Part, Timestamp};
use rustix::fs::{CWD, Mode, OFlags, StatVfsMountFlags, readlinkat_raw};
use rustix::path::DecInt;

mod nearly_full;

use crate::collector::{Collector, Scan};
use crate::opening::Opening;
use crate::output::{Output, TableId};
use crate::scene::Scene;
use crate::schedule::ticks_of;
use crate::table_buffer::RowDeduplicator;
use crate::tick::Tick;
use kernel::folder::each_number_in;
use kernel::local_files::{mount_of, own};
use kernel::mounts::{self, Mount, Mountinfo};
use nearly_full::NearlyFull;

/// Files whose mount is looked up in one look, at most, at 2 to 3 us each; the next look continues with the
/// process after the last one.
const MOST_FILES: usize = 500;
/// The same after a look that found no new filesystem.
const FEW_FILES: usize = 100;

/// Working directories that are remembered, at most.
const MOST_FOLDERS: usize = 1_000;
/// Period of reading how full they are, in ticks.
const PERIOD_TICKS: u64 = ticks_of(sensors::FILESYSTEM_PERIOD);

/// Opens it; needs nothing.
pub(crate) fn open(opening: &mut Opening<'_>) -> Option<Box<dyn Collector>> {
    let root = &opening.settings.root;
    let mut filesystems = Filesystems::new(root, opening.out);
    filesystems.nearly_full = nearly_full::all(&filesystems.proc);
    Some(Box::new(filesystems))
}

/// Filesystems that hold files of the target.
pub(crate) struct Filesystems {
    proc: PathBuf,
    table: TableId,
    measured: Vec<(OwnedFd, RowDeduplicator)>,
    /// The mount id of every mount that a file was found on, and their devices, measured or not.
    known_mounts: Vec<u64>,
    devices: Vec<Box<str>>,
    /// Those that were nearly full in the beginning and on which no file of the target was found yet.
    nearly_full: Vec<NearlyFull>,
    /// Every working directory found so far, prefixed by its mount namespace, without which a path means
    /// nothing.
    folders: HashSet<Vec<u8>>,
    /// The process whose open files were examined last.
    cursor: u32,
    /// Number of files to look at next time.
    files_per_look: usize,
    /// Reused buffers.
    pids: Vec<u32>,
    path: PathBuf,
    text: Vec<u8>,
}

impl Filesystems {
    fn new(root: &Path, out: &mut Output) -> Self {
        Self {
            proc: root.join("proc"),
            table: out.open(&sensors::FILESYSTEM),
            measured: Vec::new(),
            known_mounts: Vec::new(),
            devices: Vec::new(),
            nearly_full: Vec::new(),
            folders: HashSet::new(),
            text: Vec::with_capacity(1_024),
            cursor: 0,
            files_per_look: MOST_FILES,
            pids: Vec::new(),
            path: PathBuf::new(),
        }
    }

    /// Looks for filesystems of the target's files.
    fn look(&mut self, targets: impl Iterator<Item = u32>, now: Timestamp, out: &mut Output) {
        let Self { pids, cursor, .. } = self;
        pids.clear();
        pids.extend(targets);
        pids.sort_unstable();
        let next = pids.partition_point(|pid| *pid <= *cursor);
        self.track_opened(now, out);
        self.pids.rotate_left(next);
        let known = self.devices.len();
        let mut left = self.files_per_look;
        for index in 0..self.pids.len() {
            if left == 0 {
                break;
            }
            self.cursor = self.pids[index];
            self.track_files(self.cursor, &mut left, now, out);
        }
        self.files_per_look = if self.devices.len() > known {
            MOST_FILES
        } else {
            FEW_FILES
        };
    }

    /// Takes in the filesystems that are nearly full and of which the target opened a file.
    fn track_opened(&mut self, now: Timestamp, out: &mut Output) {
        let mut nearly_full = std::mem::take(&mut self.nearly_full);
        nearly_full.retain_mut(|it| {
            if let Some(pid) = it.opener(&self.pids) {
                let on = |text: &str| mounts::by_device(text, &it.device);
                self.track(pid, &Mountinfo::default(), on, now, out);
            }
            it.may_be_the_targets() && !self.devices.contains(&it.device)
        });
        self.nearly_full = nearly_full;
    }

    /// Reads how full every filesystem is.
    fn read(&mut self, now: Timestamp, out: &mut Output) {
        let buffer = &mut out.tables[self.table];
        for (folder, last) in &mut self.measured {
            let Ok(full) = rustix::fs::fstatvfs(folder) else {
                continue;
            };
            let bytes = |blocks: u64| {
                i64::try_from(blocks.saturating_mul(full.f_frsize)).unwrap_or(i64::MAX)
            };
            let count = |files: u64| i64::try_from(files).unwrap_or(i64::MAX);
            // Filesystems that create inodes on demand report 0 for both.
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
            last.take(now, &values, buffer);
        }
    }

    /// Takes in the filesystems of a process's working directory and open files.
    fn track_files(&mut self, pid: u32, left: &mut usize, now: Timestamp, out: &mut Output) {
        let mut path = std::mem::take(&mut self.path);
        path.clear();
        path.push(&self.proc);
        path.push(DecInt::new(pid));
        *left -= 1;
        let info = Mountinfo::default();
        self.track_working_directory(pid, &info, &mut path, now, out);
        path.push("fd");
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        if let Ok(list) = rustix::fs::open(&path, flags, Mode::empty()) {
            path.set_file_name("fdinfo");
            each_number_in(&list, |number| {
                if *left > 0 {
                    *left -= 1;
                    path.push(DecInt::new(number));
                    if is_file(&list, number)
                        && let Some(mount) = mount_of(&path)
                        && !self.known_mounts.contains(&mount)
                    {
                        self.known_mounts.push(mount);
                        let on = |text: &str| mounts::by_number(text, mount);
                        self.track(pid, &info, on, now, out);
                    }
                    path.pop();
                }
            });
        }
        self.path = path;
    }

    /// Takes in the filesystem of a process's working directory; `process` is its folder in /proc.
    fn track_working_directory(
        &mut self,
        pid: u32,
        info: &Mountinfo,
        process: &mut PathBuf,
        now: Timestamp,
        out: &mut Output,
    ) {
        self.text.clear();
        process.push("ns/mnt");
        append_link(process, &mut self.text);
        process.pop();
        process.set_file_name("cwd");
        append_link(process, &mut self.text);
        process.pop();
        if self.folders.contains(&self.text) || self.folders.len() >= MOST_FOLDERS {
            return;
        }
        self.folders.insert(self.text.clone());
        let cwd = self.text.split(|byte| *byte == 0).nth(1);
        let cwd = String::from_utf8_lossy(cwd.unwrap_or_default()).into_owned();
        self.track(pid, info, |text| mounts::of_path(text, &cwd), now, out);
    }

    /// Takes in the filesystem that `on` selects from a process's mounts.
    fn track(
        &mut self,
        pid: u32,
        info: &Mountinfo,
        on: impl Fn(&str) -> Option<Mount>,
        now: Timestamp,
        out: &mut Output,
    ) {
        let process = self.proc.join(pid.to_string());
        let text = info.of(&process);
        let Some(mount) = on(text) else { return };
        if self.devices.contains(&mount.device) {
            return;
        }
        self.devices.push(mount.device.clone());
        if mount.is_of_kernel() {
            return;
        }
        if !mounts::is_reached_locally(text, &mount) {
            let what = "room on filesystems of other machines and of programs (FUSE) is not looked at, since asking could block";
            out.gaps.report(
                &sensors::FILESYSTEM.name,
                Part::name(EntityKind::Filesystem, &mount.point),
                GapReason::Unsupported(what.into()),
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
        // Another mount may cover this one.
        if mount_of(&own("fdinfo", &folder)) != Some(mount.number) {
            return;
        }
        if let Ok(full) = rustix::fs::fstatvfs(&folder) {
            // What cannot be written to by this mount (squashfs is always full) may be by another one of the same device.
            if full.f_flag.contains(StatVfsMountFlags::RDONLY) {
                self.devices.pop();
                return;
            }
            // Kernel filesystems have no size.
            if full.f_blocks == 0 {
                return;
            }
        }
        let entity = Entity::new(EntityKind::Filesystem, mount.point.clone(), mount.point);
        let id = out.registry.add_filesystem(entity, &mount.device, now);
        let last = RowDeduplicator::new(id, sensors::FILESYSTEM.columns.len());
        self.measured.push((folder, last));
    }
}

impl Collector for Filesystems {
    fn discover(&mut self, scan: Scan, now: Timestamp, scene: &mut Scene, out: &mut Output) {
        if scan == Scan::Groups {
            self.look(scene.processes.targets(), now, out);
        }
    }

    fn sample(&mut self, tick: &Tick, _scene: &mut Scene, out: &mut Output) {
        if tick.is_due(PERIOD_TICKS) {
            self.read(tick.stamp(), out);
        }
    }

    fn finish(&mut self, _scene: &mut Scene, out: &mut Output) {
        let buffer = &mut out.tables[self.table];
        let measured = self.measured.iter_mut();
        measured.for_each(|(_, last)| last.finish(buffer));
    }
}

/// Appends the target of a link, and a 0.
fn append_link(link: &Path, text: &mut Vec<u8>) {
    let mut place = [MaybeUninit::<u8>::uninit(); 4_096];
    let read = readlinkat_raw(CWD, link, &mut place);
    text.extend_from_slice(read.map_or(&[], |(text, _)| text));
    text.push(0);
}

/// Whether a descriptor in `list` is a file: links of sockets and pipes are no paths.
fn is_file(list: &OwnedFd, number: u32) -> bool {
    let mut place = [MaybeUninit::<u8>::uninit(); 16];
    let read = readlinkat_raw(list, DecInt::new(number), &mut place);
    read.is_ok_and(|(text, _)| text.starts_with(b"/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filesystem_of_a_working_directory_is_measured_once() {
        let mut out = Output::default();
        let mut filesystems = Filesystems::new(Path::new("/"), &mut out);
        let now = Timestamp::from_ns(1);
        let pid = std::process::id();
        for _ in 0..2 {
            filesystems.look([pid, pid].into_iter(), now, &mut out);
        }
        if filesystems.measured.is_empty() {
            return kernel::requirement::skipped(
                "room",
                "the working directory is on a filesystem that is not measured",
            );
        }
        filesystems.read(now, &mut out);
        let rows: Vec<_> = out.tables[filesystems.table].rows.iter().collect();
        assert_eq!(rows.len(), filesystems.measured.len());
        for (_, id, values) in rows {
            let record = out.registry.get(id).expect("it is there");
            assert_eq!(record.entity.kind, EntityKind::Filesystem);
            assert!(record.entity.path.starts_with('/'));
            assert!(values[0] > 0 && values[1] <= values[0], "{values:?}");
        }
    }

    /// A small filesystem of its own, unmounted in the end.
    struct Mounted(tempfile::TempDir);

    impl Mounted {
        fn new() -> Result<Self, String> {
            let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
            let mut mount = std::process::Command::new("mount");
            mount.args(["-t", "tmpfs", "-o", "size=64k", "none"]);
            match mount.arg(folder.path()).output() {
                Ok(done) if done.status.success() => Ok(Self(folder)),
                Ok(done) => Err(String::from_utf8_lossy(&done.stderr).into_owned()),
                Err(error) => Err(error.to_string()),
            }
        }
    }

    impl Drop for Mounted {
        fn drop(&mut self) {
            let mut unmount = std::process::Command::new("umount");
            unmount.arg(self.0.path()).status().expect("it was mounted");
        }
    }

    #[test]
    fn a_full_filesystem_is_met_by_a_file_that_is_open_for_a_moment() {
        let mounted = kernel::requirement::needed("a filesystem", Mounted::new());
        let Some(mounted) = mounted else { return };
        let (full, proc) = (mounted.0.path(), Path::new("/proc"));
        std::fs::write(full.join("a"), vec![0; 100_000]).expect_err("it is full");
        let mut out = Output::default();
        let mut filesystems = Filesystems::new(Path::new("/"), &mut out);
        filesystems.nearly_full = nearly_full::all(proc);
        let now = Timestamp::from_ns(1);
        let is_met = |filesystems: &mut Filesystems, out: &mut Output| {
            filesystems.look([std::process::id()].into_iter(), now, out);
            let ids = (0..1_000).map(model::EntityId);
            let mut met = ids.filter_map(|id| out.registry.get(id));
            met.any(|it| Path::new(&it.entity.path) == full)
        };
        if filesystems.nearly_full.is_empty() {
            return kernel::requirement::skipped("who opens files", "it may not be asked");
        }
        assert!(!is_met(&mut filesystems, &mut out));
        std::fs::read(full.join("a")).expect("it is there");
        assert!(is_met(&mut filesystems, &mut out));
        assert!(
            !filesystems
                .nearly_full
                .iter()
                .any(|it| filesystems.devices.contains(&it.device))
        );
    }
}
