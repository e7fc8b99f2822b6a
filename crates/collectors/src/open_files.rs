//! How many files processes of target, dependencies and generator have open, and how many they may.
//!
//! The kernel counts them where the folder of a process's descriptors is asked for its size: under a microsecond. That
//! folder stays open with O_PATH, so that no other process with the same number is ever asked.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use model::{EntityId, GapReason, MISSING, Timestamp, sentence};
use rustix::fs::{Mode, OFlags, fstat, open as open_at, stat};
use rustix::io::Errno;
use rustix::path::DecInt;
use sensors::open_files::{OPEN_FILES, OPEN_FILES_PERIOD, allowed};

use crate::collector::{Collector, Scan};
use crate::opening::Opening;
use crate::output::{Output, TableId};
use crate::scene::Scene;
use crate::schedule::ticks_of;
use crate::table_buffer::{RowDeduplicator, TableBuffer};
use crate::tick::Tick;
use kernel::file_limits::MORE_FILES;
use kernel::limits::{self, Share};
use kernel::open_file::OpenFile;

/// Period of reading, in ticks.
const PERIOD_TICKS: u64 = ticks_of(OPEN_FILES_PERIOD);

/// Opens it; needs a kernel that counts them.
pub(crate) fn open(opening: &mut Opening<'_>) -> Option<Box<dyn Collector>> {
    // This process has files open: a kernel that says 0 does not count them.
    if stat("/proc/self/fd").is_ok_and(|it| it.st_size == 0) {
        let why = "only Linux 6.2 and later count the open files of a process";
        let reason = GapReason::Unsupported(why.into());
        opening.out.gaps.report(&OPEN_FILES.name, "", reason);
        return None;
    }
    Some(Box::new(OpenFiles {
        proc: opening.settings.root.join("proc"),
        table: opening.out.open(&OPEN_FILES),
        known: HashMap::new(),
        scan: 0,
        path: PathBuf::with_capacity(64),
        bytes: Vec::new(),
    }))
}

struct OpenFiles {
    proc: PathBuf,
    table: TableId,
    known: HashMap<EntityId, Known>,
    /// Number of this scan.
    scan: u64,
    /// Reused buffers.
    path: PathBuf,
    bytes: Vec<u8>,
}

/// A tracked process.
struct Known {
    /// Number of the last scan that saw it.
    seen: u64,
    folder: OwnedFd,
    allowed: i64,
    last: RowDeduplicator,
}

impl OpenFiles {
    /// Opens the folder of a process that is new. How many files a process may open is read anew where it has half of
    /// them: somebody may have raised it since.
    fn look(&mut self, pid: u32, entity: EntityId) -> Result<(), Errno> {
        self.path.clear();
        self.path.push(&self.proc);
        self.path.push(DecInt::new(pid));
        let known = match self.known.entry(entity) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                self.path.push("fd");
                let known = place.insert(Known::of(&self.path, entity)?);
                self.path.pop();
                known
            }
        };
        known.seen = self.scan;
        if known.has_few_left() {
            self.path.push("limits");
            OpenFile::open(&self.path, Share::Process)?.read(&mut self.bytes)?;
            known.allowed = allowed(&self.bytes);
        }
        Ok(())
    }
}

impl Known {
    /// One whose limit was not read yet, by the folder of its descriptors.
    fn of(folder: &Path, entity: EntityId) -> Result<Self, Errno> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = open_at(folder, flags, Mode::empty())?;
        Ok(Self {
            seen: 0,
            folder: limits::reserve(folder, Share::Process)?,
            allowed: MISSING,
            last: RowDeduplicator::new(entity, OPEN_FILES.columns.len()),
        })
    }

    fn has_few_left(&self) -> bool {
        let open = self.last.values().first().copied().unwrap_or(MISSING);
        self.allowed == MISSING || open >= self.allowed / 2
    }

    fn read(&mut self, now: Timestamp, buffer: &mut TableBuffer) {
        // One that has exited has no files; the next scan will miss it.
        if let Ok(folder) = fstat(&self.folder) {
            self.last.take(now, &[folder.st_size, self.allowed], buffer);
        }
    }
}

impl Collector for OpenFiles {
    fn discover(&mut self, scan: Scan, _now: Timestamp, scene: &mut Scene, out: &mut Output) {
        if scan != Scan::Processes {
            return;
        }
        self.scan += 1;
        for (pid, entity) in scene.processes.tracked() {
            if self.look(pid, entity) == Err(Errno::MFILE) {
                let why = sentence!("too many open files: {}", MORE_FILES);
                let reason = GapReason::Denied(why);
                out.gaps.report(&OPEN_FILES.name, "", reason);
            }
        }
        let (scan, buffer) = (self.scan, &mut out.tables[self.table]);
        self.known.retain(|_, known| {
            let is_there = known.seen == scan;
            if !is_there {
                known.last.finish(buffer);
            }
            is_there
        });
    }

    fn sample(&mut self, tick: &Tick, _scene: &mut Scene, out: &mut Output) {
        if tick.is_due(PERIOD_TICKS * tick.budget().tracked) {
            let (now, buffer) = (tick.stamp(), &mut out.tables[self.table]);
            self.known.values_mut().for_each(|it| it.read(now, buffer));
        }
    }

    fn finish(&mut self, _scene: &mut Scene, out: &mut Output) {
        let buffer = &mut out.tables[self.table];
        self.known
            .values_mut()
            .for_each(|it| it.last.finish(buffer));
    }
}
