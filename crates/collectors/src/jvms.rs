//! The Java virtual machines among target, dependencies and generator, each by the file of counters that it
//! maps: no agent, and nothing that the virtual machine notices. It is a collector and no application that is
//! asked: there is no address and no question, only a file of a process.
//!
//! Which processes are some is told by the mapping itself, which has the file's path as the process sees it.
//! The list of mappings is read of programs called `java` only, because it takes a lock of the process.

use std::collections::HashMap;
use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};

use model::{EntityId, GapReason, Timestamp, sentence};
use rustix::fs::{CWD, readlinkat_raw};
use rustix::path::DecInt;
use sensors::jvm::{self, JVM, JVM_PERIOD};

use crate::collector::{Collector, Scan};
use crate::opening::Opening;
use crate::output::{Output, TableId};
use crate::scene::Scene;
use crate::schedule::ticks_of;
use crate::table_buffer::RowDeduplicator;
use crate::tick::Tick;
use kernel::limits::Share;
use kernel::local_files::mapped;
use kernel::mounts::Mountinfo;
use kernel::open_file::OpenFile;

/// Period of reading, in ticks.
const PERIOD_TICKS: u64 = ticks_of(JVM_PERIOD);
/// Scans for new processes in which a process is looked at: it may yet become a virtual machine (exec), and
/// one maps its file a moment after its start.
const MOST_LOOKS: u32 = 20;

/// Opens it; needs nothing.
pub(crate) fn open(opening: &mut Opening<'_>) -> Option<Box<dyn Collector>> {
    Some(Box::new(Jvms {
        proc: opening.settings.root.join("proc"),
        table: opening.out.open(&JVM),
        known: HashMap::new(),
        scan: 0,
        path: PathBuf::new(),
        bytes: Vec::new(),
    }))
}

struct Jvms {
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
    looks: u32,
    counters: Option<(OpenFile, RowDeduplicator)>,
}

impl Jvms {
    /// Looks whether a process is a virtual machine by now.
    fn look(&mut self, pid: u32, entity: EntityId, out: &mut Output) {
        let known = self.known.entry(entity).or_insert(Known {
            seen: 0,
            looks: 0,
            counters: None,
        });
        known.seen = self.scan;
        if known.counters.is_some() || known.looks >= MOST_LOOKS {
            return;
        }
        known.looks += 1;
        self.path.clear();
        self.path.push(&self.proc);
        self.path.push(DecInt::new(pid));
        if !is_java(&mut self.path) {
            return;
        }
        match counters(&self.path) {
            Some(file) => {
                let last = RowDeduplicator::new(entity, JVM.columns.len());
                known.counters = Some((file, last));
            }
            None if known.looks == MOST_LOOKS => {
                let sentence = "a Java virtual machine shows no counters that can be read: it was started with -XX:-UsePerfData or -XX:+PerfDisableSharedMem, or its /tmp is not on a local filesystem";
                out.gaps.report(
                    &JVM.name,
                    sentence!("pid {}", pid),
                    GapReason::Unsupported(sentence.into()),
                );
            }
            None => {}
        }
    }

    fn read(&mut self, now: Timestamp, out: &mut Output) {
        let buffer = &mut out.tables[self.table];
        let files = self
            .known
            .values_mut()
            .filter_map(|it| it.counters.as_mut());
        for (file, last) in files {
            if file.read(&mut self.bytes).is_ok()
                && let Some(values) = jvm::parse(&self.bytes)
            {
                last.take(now, &values, buffer);
            }
        }
    }
}

impl Collector for Jvms {
    fn discover(&mut self, scan: Scan, _now: Timestamp, scene: &mut Scene, out: &mut Output) {
        if scan != Scan::Processes {
            return;
        }
        self.scan += 1;
        for (pid, entity) in scene.processes.tracked() {
            self.look(pid, entity, out);
        }
        let (scan, buffer) = (self.scan, &mut out.tables[self.table]);
        self.known.retain(|_, known| {
            let is_there = known.seen == scan;
            if let Some((_, last)) = known.counters.as_mut().filter(|_| !is_there) {
                last.finish(buffer);
            }
            is_there
        });
    }

    fn sample(&mut self, tick: &Tick, _scene: &mut Scene, out: &mut Output) {
        if tick.is_due(PERIOD_TICKS) {
            self.read(tick.stamp(), out);
        }
    }

    fn finish(&mut self, _scene: &mut Scene, out: &mut Output) {
        let buffer = &mut out.tables[self.table];
        let files = self
            .known
            .values_mut()
            .filter_map(|it| it.counters.as_mut());
        files.for_each(|(_, last)| last.finish(buffer));
    }

    fn each_file(&self, _scene: &Scene, each: &mut dyn FnMut(&OpenFile)) {
        let files = self.known.values().filter_map(|it| it.counters.as_ref());
        files.for_each(|(file, _)| each(file));
    }
}

/// Whether the program of a process, by its folder in /proc, is called `java`.
fn is_java(process: &mut PathBuf) -> bool {
    let mut place = [MaybeUninit::<u8>::uninit(); 4_096];
    process.push("exe");
    let read = readlinkat_raw(CWD, process.as_path(), &mut place);
    let is_java = read.is_ok_and(|(text, _)| text.ends_with(b"/java"));
    process.pop();
    is_java
}

/// The counters of a process, by its folder in /proc.
fn counters(process: &Path) -> Option<OpenFile> {
    let maps = std::fs::read_to_string(process.join("maps")).ok()?;
    let (path, inode) = jvm::mapped_file(&maps)?;
    let file = mapped(process, &Mountinfo::default(), path, inode).ok()?;
    OpenFile::of(file, Share::Process).ok()
}
