//! The threads of one tracked process, with their sensors.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use model::{Entity, EntityId, EntityKind, Timestamp, name_of};
use rustix::fs::{Mode, OFlags, SeekFrom};
use sensors::{CALL_SOURCE, Subject, ThreadUsage};

use crate::output::{Output, Recorded};
use crate::probe::{Presence, Probe, ReplacedSources, Scratch};
use crate::processes::split::Split;
use crate::tick::Tick;
use kernel::bpf::tasks::{ThreadCounts, or_missing, state_letter};
use kernel::folder::each_number_in;
use kernel::limits::{self, Share};
use kernel::open_file::OpenFile;
use kernel::remote_memory::MemoryCell;

/// One of them.
pub(crate) struct Thread {
    tid: u32,
    entity: EntityId,
    probe: Probe,
    alive: bool,
    /// For threads in the walk: start time, whether the last walk had it, and the division of its time.
    start_ns: Option<u64>,
    in_last_walk: bool,
    split: Option<Split>,
}

/// The threads of one process.
pub(crate) struct Threads {
    place: Place,
    folder: OwnedFd,
    threads: Vec<Thread>,
}

/// Whose threads these are, and where they are found.
struct Place {
    process: EntityId,
    /// The process's folder in /proc, and that of its threads in it.
    process_folder: PathBuf,
    tasks: PathBuf,
    /// Whether the walk replaces the sensor's first files.
    by_walk: bool,
}

/// Number of the sensor's sources that the walk replaces: schedstat and stat, which come first.
const REPLACED_SOURCES: usize = 2;

impl Threads {
    /// Opens /proc/PID/task; `None` if the process has exited.
    pub(crate) fn open(process: EntityId, folder: &Path, by_walk: bool) -> Option<Self> {
        let place = Place {
            process,
            process_folder: folder.to_owned(),
            tasks: folder.join("task"),
            by_walk,
        };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = rustix::fs::open(&place.tasks, flags, Mode::empty());
        let folder = folder
            .and_then(|folder| limits::reserve(folder, Share::Tracked))
            .ok()?;
        Some(Self {
            place,
            folder,
            threads: Vec::new(),
        })
    }

    /// Looks for new and exited threads.
    pub(crate) fn scan(
        &mut self,
        sensor: Recorded,
        now: Timestamp,
        scratch: &mut Scratch,
        out: &mut Output,
    ) {
        if self.are_all() {
            return;
        }
        self.threads
            .iter_mut()
            .for_each(|thread| thread.alive = false);
        let Self {
            place,
            folder,
            threads,
        } = self;
        if rustix::fs::seek(&*folder, SeekFrom::Start(0)).is_err() {
            return;
        }
        let mut next = 0;
        each_number_in(folder, |tid| {
            if let Some(known) = position(threads, tid, next) {
                threads[known].alive = true;
                next = known + 1;
                return;
            }
            threads.extend(place.open_thread(tid, sensor, now, scratch, out));
        });
    }

    /// Whether the number of threads is unchanged: the folder's link count is two plus one per thread
    /// (proc_task_getattr). A replaced thread is noticed when its old file is read; a list costs ten times as
    /// much.
    fn are_all(&self) -> bool {
        rustix::fs::fstat(&self.folder)
            .is_ok_and(|folder| folder.st_nlink as usize == self.threads.len() + 2)
    }

    /// Reads every thread; forgets those that have exited.
    pub(crate) fn sample(&mut self, tick: &Tick, scratch: &mut Scratch, out: &mut Output) {
        self.threads.retain_mut(|thread| {
            let now = tick.stamp();
            if thread.alive && thread.probe.sample(now, scratch, out) == Presence::Alive {
                return true;
            }
            thread.probe.finish(out);
            out.registry.vanish(thread.entity, now);
            false
        });
    }

    /// Takes in one thread of the walk. Threads of a process come together: `next` is the index after the one
    /// before, and the new one is returned.
    pub(crate) fn take(
        &mut self,
        at: Timestamp,
        counts: &ThreadCounts,
        next: usize,
        scratch: &mut Scratch,
        out: &mut Output,
    ) -> usize {
        // An unknown thread will be found by the next scan.
        let Some(index) = position(&self.threads, counts.tid, next) else {
            return next;
        };
        let thread = &mut self.threads[index];
        if *thread.start_ns.get_or_insert(counts.start_ns) == counts.start_ns {
            let presence = thread.take(at, counts, scratch, out);
            thread.in_last_walk = presence == Presence::Alive;
        }
        index + 1
    }

    /// Forgets threads that the last walk did not have.
    pub(crate) fn end_missing(&mut self, now: Timestamp, out: &mut Output) {
        self.threads.retain_mut(|thread| {
            let stays = std::mem::take(&mut thread.in_last_walk);
            if !stays {
                thread.probe.finish(out);
                out.registry.vanish(thread.entity, now);
            }
            stays
        });
    }

    /// Calls `each` with every thread's tid and entity.
    pub(crate) fn each(&self, each: &mut impl FnMut(u32, EntityId)) {
        let threads = self.threads.iter();
        threads.for_each(|thread| each(thread.tid, thread.entity));
    }

    /// The entity of one of them.
    pub(crate) fn entity(&self, tid: u32) -> Option<EntityId> {
        let mut threads = self.threads.iter();
        threads.find(|it| it.tid == tid).map(|it| it.entity)
    }

    /// Those that a disk may keep from running, by their last rows.
    pub(crate) fn waiting_for_files(&self) -> impl Iterator<Item = &Thread> {
        let threads = self.threads.iter();
        threads.filter(|thread| sensors::waits_for_file(thread.probe.values()))
    }

    /// The wait event in the process's memory, if it has one.
    pub(crate) fn memory_cell(&self) -> Option<&MemoryCell> {
        self.threads
            .iter()
            .find_map(|thread| thread.probe.memory_cell())
    }

    /// The files that are kept open.
    pub(crate) fn files(&self) -> impl Iterator<Item = &OpenFile> {
        self.threads.iter().flat_map(|thread| thread.probe.files())
    }

    /// Writes the last rows of unchanged values.
    pub(crate) fn finish(&mut self, out: &mut Output) {
        self.threads
            .iter_mut()
            .for_each(|thread| thread.probe.finish(out));
    }

    /// Forgets all threads: their process has exited.
    pub(crate) fn vanish(&mut self, now: Timestamp, out: &mut Output) {
        for thread in &mut self.threads {
            thread.probe.finish(out);
            out.registry.vanish(thread.entity, now);
        }
        self.threads.clear();
    }
}

impl Thread {
    fn new(tid: u32, entity: EntityId, probe: Probe) -> Self {
        Self {
            tid,
            entity,
            probe,
            alive: true,
            start_ns: None,
            in_last_walk: false,
            split: None,
        }
    }

    /// The text of the system call that it is in now; `None` where that is not to be seen.
    pub(crate) fn call<'a>(&self, scratch: &'a mut Scratch) -> Option<&'a [u8]> {
        self.probe.read_source(CALL_SOURCE, scratch).ok()?;
        Some(scratch.source(CALL_SOURCE))
    }

    fn take(
        &mut self,
        at: Timestamp,
        counts: &ThreadCounts,
        scratch: &mut Scratch,
        out: &mut Output,
    ) -> Presence {
        let usage = usage(counts, &mut self.split);
        // The values of schedstat: they change whenever the thread runs.
        let decides = [counts.run_ns, counts.wait_ns, counts.slices].map(u64::to_ne_bytes);
        let replaced = ReplacedSources {
            decides: decides.as_flattened(),
            parse: &|reading, emit| {
                emit(Subject::Own, &usage.row(reading));
                Ok(())
            },
        };
        self.probe.sample_replaced(at, replaced, scratch, out)
    }
}

/// A thread's usage from the walk.
pub(crate) fn usage(counts: &ThreadCounts, split: &mut Option<Split>) -> ThreadUsage {
    let shown = (counts.shown_user_ns, counts.shown_system_ns);
    let split = split.get_or_insert(Split::shown(shown));
    split.advance((counts.user_ns, counts.system_ns), counts.run_ns);
    ThreadUsage {
        run_ns: or_missing(counts.run_ns),
        wait_ns: or_missing(counts.wait_ns),
        slices: or_missing(counts.slices),
        user_ns: or_missing(split.user_ns),
        system_ns: or_missing(split.system_ns),
        minor_faults: or_missing(counts.minor_faults),
        major_faults: or_missing(counts.major_faults),
        state: i64::from(state_letter(counts)),
        cpu: i64::from(counts.cpu),
    }
}

/// Index of a thread. The kernel lists threads in order of creation, as this list does, so the one after the
/// last match is tried first; otherwise thousands would be compared with thousands at each look.
fn position(threads: &[Thread], tid: u32, next: usize) -> Option<usize> {
    let is_it = |thread: &Thread| thread.tid == tid;
    let behind = threads.get(next..)?.iter().position(is_it);
    behind
        .map(|at| next + at)
        .or_else(|| threads.iter().position(is_it))
}

impl Place {
    /// Opens a thread's files; `None` if it has exited.
    fn open_thread(
        &self,
        tid: u32,
        recorded: Recorded,
        now: Timestamp,
        scratch: &mut Scratch,
        out: &mut Output,
    ) -> Option<Thread> {
        let Output { registry, gaps, .. } = out;
        let sensor = recorded.sensor;
        // The name first: without it the thread has exited, and no files need to be opened.
        let stat = scratch.first_look(sensor, &self.tasks, tid, gaps)?;
        let stat = sensors::parse_stat(stat).ok()?;
        let name = name_of(stat.name).into_owned();
        let path = format!("{}/tid:{tid}", registry.get(self.process)?.entity.path);
        let folder = self.tasks.join(tid.to_string());
        let entity = Entity::new(EntityKind::Thread, name, path);
        let entity = registry.add(entity, Some(self.process), now);
        let place = |source: usize| Some(folder.join(sensor.sources[source].path));
        let probe = if self.by_walk {
            let replaced = REPLACED_SOURCES;
            Some(Probe::open_remaining(
                recorded, entity, &folder, replaced, gaps,
            ))
        } else {
            Probe::open(recorded, entity, place, gaps)
        };
        match probe {
            Some(mut probe) => {
                // The value in memory belongs to the process's first thread.
                if self.process_folder.ends_with(tid.to_string()) {
                    probe.open_values(&self.process_folder, &mut scratch.remote_memory, gaps);
                }
                Some(Thread::new(tid, entity, probe))
            }
            None => {
                registry.vanish(entity, now);
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_found_wherever_it_stands() {
        let sensor = Output::default().recorded_of(sensors::Scope::Thread)[0];
        let thread = |tid| {
            let place = |_| Some("/proc/self/stat".into());
            let probe = Probe::open(sensor, EntityId(0), place, &mut Default::default());
            Thread::new(tid, EntityId(0), probe.expect("its own file can be read"))
        };
        let threads = [7, 9, 4].map(thread);
        for next in 0..=3 {
            let found = [7, 9, 4, 5].map(|tid| position(&threads, tid, next));
            assert_eq!(found, [Some(0), Some(1), Some(2), None], "{next}");
        }
    }
}
