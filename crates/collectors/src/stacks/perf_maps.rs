//! The files in which runtimes write the names of the code that they make, kept open: the process may have ended when
//! the names are looked up.

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use kernel::stacks::symbols::perf_map_of;

/// Processes whose files are kept open, at most.
const MOST_MAPS: usize = 64;
/// A file's times are those of a tick, which may be a little behind.
const TICK: Duration = Duration::from_secs(1);

/// The files that are open.
pub(super) struct PerfMaps {
    open: HashMap<u32, File>,
    /// An older file was written by another process of that id.
    since: SystemTime,
}

impl PerfMaps {
    pub(super) fn new() -> Self {
        Self {
            open: HashMap::new(),
            since: SystemTime::now() - TICK,
        }
    }

    /// Opens the file of a process that runs code of its own making, if there is one by now.
    pub(super) fn note(&mut self, pid: u32, proc: &Path) {
        if self.open.len() < MOST_MAPS && !self.open.contains_key(&pid) {
            let file = own(&perf_map_of(proc, pid));
            self.open.extend(file.map(|file| (pid, file)));
        }
    }

    /// The file of a process, or what it wrote at its end.
    pub(super) fn of(&mut self, pid: u32, proc: &Path) -> Option<&File> {
        self.note(pid, proc);
        if !self.open.contains_key(&pid) {
            let left = own(&PathBuf::from(format!("/tmp/perf-{pid}.map")))?;
            let written = left.metadata().ok()?.modified().ok()?;
            if written >= self.since {
                self.open.insert(pid, left);
            }
        }
        self.open.get(&pid)
    }
}

/// A regular file with one name.
fn own(path: &Path) -> Option<File> {
    use rustix::fs::{Mode, OFlags};
    // Anybody may put a pipe or a link there.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty()).ok()?);
    let about = file.metadata().ok()?;
    (about.is_file() && about.nlink() == 1).then_some(file)
}
