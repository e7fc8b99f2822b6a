//! Who opens files of a filesystem that is nearly full.

use std::path::Path;

use kernel::file_opens::FileOpens;
use kernel::mounts::{self, Mountinfo};
use rustix::fs::StatVfsMountFlags;

/// A filesystem of which a smaller part is free may be full before long.
const FREE: f64 = 0.02;
/// Filesystems that are listened to, at most.
const MOST: usize = 16;
/// Opens that are looked at in one look, at most, at less than 1 us each.
const MOST_OPENS: usize = 4_000;
/// After so many of others it is theirs.
const ENOUGH_OPENS: usize = 200_000;

/// A filesystem that was nearly full when the recording began.
pub(super) struct NearlyFull {
    /// As `major:minor`.
    pub(super) device: Box<str>,
    opens: FileOpens,
    seen: usize,
}

impl NearlyFull {
    /// One of these processes, which are sorted, that has opened a file of it since the last look.
    pub(super) fn opener(&mut self, pids: &[u32]) -> Option<u32> {
        let mut found = None;
        self.seen += self.opens.each(MOST_OPENS, |pid| {
            if pids.binary_search(&pid).is_ok() {
                found = Some(pid);
            }
        });
        found
    }

    /// Not after so many opens of others that it is theirs.
    pub(super) fn may_be_the_targets(&self) -> bool {
        self.seen < ENOUGH_OPENS
    }
}

/// Those of this process's own mounts, each device once. Without the right to listen there are none. The recorder gives up
/// that right once it has begun, so what fills up later is not among them.
pub(super) fn all(proc: &Path) -> Vec<NearlyFull> {
    let info = Mountinfo::default();
    let mut all: Vec<NearlyFull> = Vec::new();
    for mount in mounts::local(info.of(&proc.join("self"))) {
        let is_known = all.iter().any(|it| it.device == mount.device);
        if all.len() < MOST && !is_known && is_nearly_full(Path::new(&mount.point)) {
            let opens = FileOpens::of(Path::new(&mount.point)).ok();
            all.extend(opens.map(|opens| NearlyFull {
                device: mount.device,
                opens,
                seen: 0,
            }));
        }
    }
    all
}

/// Whether hardly any room or inode is free there. What cannot be written to is always full.
fn is_nearly_full(place: &Path) -> bool {
    let Ok(full) = rustix::fs::statvfs(place) else {
        return false;
    };
    let few = |free: u64, all: u64| all > 0 && (free as f64) < FREE * all as f64;
    !full.f_flag.contains(StatVfsMountFlags::RDONLY)
        && (few(full.f_bavail, full.f_blocks) || few(full.f_ffree, full.f_files))
}
