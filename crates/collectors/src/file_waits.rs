//! The files that threads of target, dependencies and generator wait for.
//!
//! The rows of threads tell which of them a disk keeps from running. Of those, and of no others, the system call is
//! read again for its first argument, the descriptor, and the link in `/proc/PID/fd` names the file: 4 us a thread.

use std::collections::HashMap;
use std::mem::MaybeUninit;
use std::path::PathBuf;

use model::{Entity, EntityId, EntityKind, GapReason, LedgerClass, Timestamp, name_of, sentence};
use rustix::fs::{CWD, readlinkat_raw};
use rustix::path::DecInt;
use sensors::file_wait::FILE_WAIT;
use sensors::{TICK, syscall};

use crate::collector::Collector;
use crate::opening::Opening;
use crate::output::{Output, TableId};
use crate::scene::Scene;
use crate::schedule::ticks_of;
use crate::table_buffer::{RowDeduplicator, TableBuffer};
use crate::tick::Tick;

/// Period of looking, in ticks.
const PERIOD_TICKS: u64 = ticks_of(TICK);
/// Threads that are looked at in a tick, at most: of more, every second or every third is, which then stands for as many.
const MOST_LOOKS: usize = 32;
/// Files that are told apart, at most.
const MOST_FILES: usize = 500;
const ARCHITECTURE: &str = std::env::consts::ARCH;
/// Time and meetings, of syncs and of reads and writes.
const COLUMNS: usize = 4;

/// Opens it; needs nothing.
pub(crate) fn open(opening: &mut Opening<'_>) -> Option<Box<dyn Collector>> {
    Some(Box::new(FileWaits {
        proc: opening.settings.root.join("proc"),
        table: opening.out.open(&FILE_WAIT),
        services: HashMap::new(),
        before: None,
        looks: 0,
        path: PathBuf::with_capacity(64),
    }))
}

struct FileWaits {
    proc: PathBuf,
    table: TableId,
    /// By the first process of a service, whose processes share files, and then by path.
    services: HashMap<EntityId, HashMap<Box<[u8]>, FileWait>>,
    /// The look before.
    before: Option<Timestamp>,
    looks: usize,
    /// A reused buffer.
    path: PathBuf,
}

struct FileWait {
    last: RowDeduplicator,
    values: [i64; COLUMNS],
}

impl FileWaits {
    fn look(&mut self, before: Timestamp, now: Timestamp, scene: &mut Scene, out: &mut Output) {
        let Scene {
            processes, scratch, ..
        } = scene;
        let waiting = processes.waiting_for_files().count();
        let step = waiting.div_ceil(MOST_LOOKS).max(1);
        let stands_for = now.ns_since(before) * step as i64;
        self.looks = self.looks.wrapping_add(1);
        let chosen = processes.waiting_for_files().skip(self.looks % step);
        for (pid, thread) in chosen.step_by(step) {
            if let Some((column, descriptor)) = thread.call(scratch).and_then(file_call)
                && let Some(service) = processes.service_of(pid)
                && let Some(file) = self.file(service, pid, descriptor, before, out)
            {
                file.values[column] += stands_for;
                file.values[column + 1] += 1;
            }
        }
        let buffer = &mut out.tables[self.table];
        for file in self.services.values_mut().flat_map(HashMap::values_mut) {
            file.last.take(now, &file.values, buffer);
        }
    }

    /// The file behind a descriptor; `None` for a socket or a pipe, and where there are too many.
    fn file(
        &mut self,
        service: EntityId,
        pid: u32,
        descriptor: u32,
        before: Timestamp,
        out: &mut Output,
    ) -> Option<&mut FileWait> {
        let mut place = [MaybeUninit::<u8>::uninit(); 4_096];
        self.path.clear();
        self.path.push(&self.proc);
        self.path.push(DecInt::new(pid));
        self.path.push("fd");
        self.path.push(DecInt::new(descriptor));
        let (path, _) = readlinkat_raw(CWD, self.path.as_path(), &mut place).ok()?;
        if !path.starts_with(b"/") {
            return None;
        }
        let known = self.services.values().map(HashMap::len).sum();
        let files = self.services.entry(service).or_default();
        if !files.contains_key(&*path) {
            if known >= MOST_FILES {
                let what = sentence!("beyond the first {} files", MOST_FILES);
                let dropped = GapReason::Dropped(1);
                out.gaps.report(&FILE_WAIT.name, what, dropped);
                return None;
            }
            let entity = entity(service, known, path, out)?;
            let entity = out.registry.add(entity, Some(service), before);
            let file = FileWait::new(entity, before, &mut out.tables[self.table]);
            files.insert(Box::from(&*path), file);
        }
        files.get_mut(&*path)
    }
}

/// A service's file, by its number in the recording and its path.
fn entity(service: EntityId, number: usize, path: &[u8], out: &Output) -> Option<Entity> {
    let of = &out.registry.get(service)?.entity.path;
    let unique = format!("{of}/file:{number}");
    Some(Entity::new(EntityKind::File, name_of(path), unique))
}

/// The first of its two columns and the descriptor of a system call on a file, by the text of a thread's syscall file.
fn file_call(text: &[u8]) -> Option<(usize, u32)> {
    let (number, descriptor) = syscall::on_descriptor(ARCHITECTURE, text)?;
    let column = match syscall::class(ARCHITECTURE, number)? {
        LedgerClass::Sync => 0,
        _ => 2,
    };
    Some((column, descriptor))
}

impl FileWait {
    /// One that nobody waited for until then.
    fn new(entity: EntityId, until: Timestamp, buffer: &mut TableBuffer) -> Self {
        let values = [0; COLUMNS];
        let mut last = RowDeduplicator::new(entity, values.len());
        last.take(until, &values, buffer);
        Self { last, values }
    }
}

impl Collector for FileWaits {
    fn sample(&mut self, tick: &Tick, scene: &mut Scene, out: &mut Output) {
        if !tick.is_due(PERIOD_TICKS * tick.budget().tracked) {
            return;
        }
        let now = tick.stamp();
        if let Some(before) = self.before.replace(now).filter(|before| *before < now) {
            self.look(before, now, scene, out);
        }
    }

    fn finish(&mut self, _scene: &mut Scene, out: &mut Output) {
        let buffer = &mut out.tables[self.table];
        for file in self.services.values_mut().flat_map(HashMap::values_mut) {
            file.last.finish(buffer);
        }
    }
}
