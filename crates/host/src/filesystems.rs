//! The filesystems of the target's working directories and open files, and how full they are.
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

use model::{Entity, EntityKind, GapReason, Timestamp};
use rustix::fs::{CWD, Mode, OFlags, readlinkat_raw};
use rustix::path::DecInt;

use crate::folder::each_number_in;
use crate::gaps::Gaps;
use crate::local_files::{mount_of, own};
use crate::mounts::{self, Mount, Mountinfo};
use crate::registry::Registry;
use crate::table_buffer::{RowDeduplicator, TableBuffer};

/// Files whose mount is looked up in one look, at most, at 2 to 3 us each; the next look continues with the
/// process after the last one.
const MOST_FILES: usize = 500;
/// The same after a look that found no new filesystem.
const FEW_FILES: usize = 100;

/// Working directories that are remembered, at most.
const MOST_FOLDERS: usize = 1_000;
/// Filesystems that hold files of the target.
pub(crate) struct Filesystems {
    proc: PathBuf,
    pub(crate) buffer: TableBuffer,
    measured: Vec<(OwnedFd, RowDeduplicator)>,
    /// The mount id of every mount that a file was found on, and their devices, measured or not.
    known_mounts: Vec<u64>,
    devices: Vec<Box<str>>,
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
    pub(crate) fn new(root: &Path) -> Self {
        Self {
            proc: root.join("proc"),
            buffer: TableBuffer::new(&sensors::FILESYSTEM),
            measured: Vec::new(),
            known_mounts: Vec::new(),
            devices: Vec::new(),
            folders: HashSet::new(),
            text: Vec::with_capacity(1_024),
            cursor: 0,
            files_per_look: MOST_FILES,
            pids: Vec::new(),
            path: PathBuf::new(),
        }
    }

    /// Looks for filesystems of the target's files.
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
        let known = self.devices.len();
        let mut left = self.files_per_look;
        for index in 0..self.pids.len() {
            if left == 0 {
                break;
            }
            self.cursor = self.pids[index];
            self.track_files(self.cursor, &mut left, now, (gaps, registry));
        }
        self.files_per_look = if self.devices.len() > known {
            MOST_FILES
        } else {
            FEW_FILES
        };
    }

    /// Reads how full every filesystem is.
    pub(crate) fn sample(&mut self, now: Timestamp) {
        let Self {
            measured, buffer, ..
        } = self;
        for (folder, last) in measured {
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

    /// Writes the last rows of unchanged values.
    pub(crate) fn finish(&mut self) {
        let Self {
            measured, buffer, ..
        } = self;
        measured
            .iter_mut()
            .for_each(|(_, last)| last.finish(buffer));
    }

    /// Takes in the filesystems of a process's working directory and open files.
    fn track_files(
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
        *left -= 1;
        let info = Mountinfo::default();
        self.track_working_directory((pid, &info), &mut path, now, (gaps, registry));
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
                        self.track((pid, &info), on, now, (&mut *gaps, &mut *registry));
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
        process_mounts: (u32, &Mountinfo),
        process: &mut PathBuf,
        now: Timestamp,
        (gaps, registry): (&mut Gaps, &mut Registry),
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
        self.track(
            process_mounts,
            |text| mounts::of_path(text, &cwd),
            now,
            (gaps, registry),
        );
    }

    /// Takes in the filesystem that `on` selects from a process's mounts.
    fn track(
        &mut self,
        (pid, info): (u32, &Mountinfo),
        on: impl Fn(&str) -> Option<Mount>,
        now: Timestamp,
        (gaps, registry): (&mut Gaps, &mut Registry),
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
            gaps.report(
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
        // Another mount may cover this one.
        if mount_of(&own("fdinfo", &folder)) != Some(mount.number) {
            return;
        }
        // Kernel filesystems have no size.
        if rustix::fs::fstatvfs(&folder).is_ok_and(|full| full.f_blocks == 0) {
            return;
        }
        let entity = Entity::new(EntityKind::Filesystem, mount.point.clone(), mount.point);
        let id = registry.add_filesystem(entity, &mount.device, now);
        let last = RowDeduplicator::new(id, sensors::FILESYSTEM.columns.len());
        self.measured.push((folder, last));
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
        let mut filesystems = Filesystems::new(Path::new("/"));
        let (mut gaps, mut registry) = (Gaps::default(), Registry::default());
        let now = Timestamp::from_ns(1);
        let pid = std::process::id();
        for _ in 0..2 {
            filesystems.look([pid, pid].into_iter(), now, &mut gaps, &mut registry);
        }
        if filesystems.measured.is_empty() {
            return crate::requirement::skipped(
                "room",
                "the working directory is on a filesystem that is not measured",
            );
        }
        filesystems.sample(now);
        let rows: Vec<_> = filesystems.buffer.rows.iter().collect();
        assert_eq!(rows.len(), filesystems.measured.len());
        for (_, id, values) in rows {
            let record = registry.get(id).expect("it is there");
            assert_eq!(record.entity.kind, EntityKind::Filesystem);
            assert!(record.entity.path.starts_with('/'));
            assert!(values[0] > 0 && values[1] <= values[0], "{values:?}");
        }
    }
}
