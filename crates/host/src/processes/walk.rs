//! All processes by one walk of a BPF program, instead of a list of /proc and two files of each.
//!
//! A new process is looked up in /proc once, for its name and its groups; so is one whose name has changed.

use std::collections::HashSet;

use model::{GapReason, Timestamp};

use super::meter::{Identity, Meter};
use super::{Process, Processes, end, is_due, rename};
use crate::bpf::tasks::{Counts, MOST_TRACKED, Tasks, ThreadCounts};
use crate::bpf::{Refusal, may_report_processes};
use crate::clock::boottime;
use crate::folder::each_number_in;
use crate::gaps::Gaps;
use crate::probe::Scratch;
use crate::registry::Registry;
use crate::schedule::TICK_NS;
use crate::table_buffer::TableBuffer;

/// A walk for finding new processes also serves for their rows, in the same tick.
const FRESH_NS: i64 = TICK_NS / 10;

pub(crate) struct Walk {
    programs: Tasks,
    /// Time of the last walk.
    at: Option<Timestamp>,
    /// Whether the last walk had room for every process.
    is_whole: bool,
    /// Number of walks so far.
    round: u64,
    threads_at: Timestamp,
    /// By slot: the pid of the process that is read thread by thread, 0 for none.
    followed: Vec<u32>,
}

impl Walk {
    /// # Errors
    /// Why the program is not available here.
    pub(crate) fn load() -> Result<Self, Refusal> {
        may_report_processes()?;
        let mut programs = Tasks::load()?;
        match programs.read()? {
            0 => Ok(Self {
                programs,
                at: None,
                is_whole: true,
                round: 0,
                threads_at: Timestamp::default(),
                followed: Vec::new(),
            }),
            unplaced => Err(Refusal::new(format!(
                "{unplaced} processes more than there is room for"
            ))),
        }
    }

    /// Kernel memory in use, bytes.
    pub(crate) fn kernel_bytes(&self) -> Option<u64> {
        self.programs.kernel_bytes()
    }

    fn is_fresh(&self, now: Timestamp) -> bool {
        self.at.is_some_and(|at| now.ns_since(at) < FRESH_NS)
    }

    /// Reads all processes; returns whether that succeeded.
    fn read(&mut self, table: &str, gaps: &mut Gaps) -> bool {
        let now = boottime();
        match self.programs.read() {
            Ok(unplaced) => {
                self.at = Some(now);
                self.round += 1;
                self.is_whole = unplaced == 0;
                if !self.is_whole {
                    let what = "processes beyond those that a walk has room for";
                    gaps.report(table, what, GapReason::Dropped(1));
                }
                true
            }
            Err(refusal) => {
                report_failed(table, &refusal, gaps);
                false
            }
        }
    }

    /// The processes of the last walk, each with its time.
    fn processes(&self) -> impl Iterator<Item = (Timestamp, Counts)> {
        let mut time = times(self.at.unwrap_or_default());
        let processes = self.programs.processes();
        processes.map(move |counts| (time(counts.at_ns), counts))
    }

    /// Reads the threads of followed processes; returns whether there was room for all, `None` if it failed.
    pub(super) fn read_threads(&mut self, table: &str, gaps: &mut Gaps) -> Option<bool> {
        self.threads_at = boottime();
        let unplaced = self.programs.read_threads();
        let unplaced = unplaced.inspect_err(|refusal| report_failed(table, refusal, gaps));
        let is_whole = unplaced.ok()? == 0;
        if !is_whole {
            let what = "threads beyond those that a walk has room for";
            gaps.report(table, what, GapReason::Dropped(1));
        }
        Some(is_whole)
    }

    /// The threads of the last reading, each with its time.
    pub(super) fn threads(&self) -> impl Iterator<Item = (Timestamp, ThreadCounts)> {
        let mut time = times(self.threads_at);
        let threads = self.programs.threads();
        threads.map(move |counts| (time(counts.at_ns), counts))
    }

    /// Follows a process's threads; returns the slot, if there is one left.
    pub(super) fn follow(&mut self, pid: u32) -> Option<u32> {
        let free = self.followed.iter().position(|it| *it == 0);
        let slot = free.unwrap_or(self.followed.len());
        if slot >= MOST_TRACKED as usize {
            return None;
        }
        self.programs.follow(slot as u32, Some(pid)).ok()?;
        match self.followed.get_mut(slot) {
            Some(place) => *place = pid,
            None => self.followed.push(pid),
        }
        Some(slot as u32)
    }

    /// Frees the slots for which `stays` is false.
    pub(super) fn release(&mut self, mut stays: impl FnMut(u32, u32) -> bool) {
        for (slot, place) in (0..).zip(&mut self.followed) {
            if *place != 0 && !stays(*place, slot) && self.programs.follow(slot, None).is_ok() {
                *place = 0;
            }
        }
    }
}

/// Converts times of the kernel's boot clock to ours. In a time namespace ours may have an offset, but runs
/// at the same rate: the first time that is converted becomes `at`.
fn times(at: Timestamp) -> impl FnMut(u64) -> Timestamp {
    let mut first = None;
    move |ns| {
        let first = *first.get_or_insert(ns);
        at + (ns - first).cast_signed()
    }
}

fn report_failed(table: &str, refusal: &Refusal, gaps: &mut Gaps) {
    let why = format!("a program in the kernel was not run: {refusal}");
    gaps.report(table, "", GapReason::Unsupported(why));
}

impl Processes {
    /// Notes new processes and changed names, and removes exited processes.
    pub(super) fn list_by_walk(
        &mut self,
        now: Timestamp,
        scratch: &mut Scratch,
        buffers: &mut [TableBuffer],
        registry: &mut Registry,
    ) {
        let sensors = (self.process_sensor.0, self.thread_sensor.0);
        let table = &self.process_sensor.1.table.name;
        let Self {
            walk,
            by_pid,
            newcomers,
            generation,
            ..
        } = self;
        let Some(walk) = walk else {
            return;
        };
        if !walk.read(table, &mut scratch.gaps) {
            return;
        }
        for (_, counts) in walk.processes() {
            let known = by_pid.get_mut(&counts.pid);
            if let Some(known) = known.filter(|it| it.is(&counts)) {
                known.generation = *generation;
                known.note_name(&counts, now, scratch, registry);
                continue;
            }
            // The pid may have been reused.
            if let Some(mut former) = by_pid.remove(&counts.pid) {
                end(&mut former, now, buffers, sensors, registry);
            }
            newcomers.push((counts.pid, Some(Identity::of(&counts))));
        }
        if !walk.is_whole {
            return;
        }
        by_pid.retain(|_, process| {
            let alive = !process.is_walked() || process.generation == *generation;
            if !alive {
                end(process, now, buffers, sensors, registry);
            }
            alive
        });
    }

    /// Pids in /proc before the first walk: those that the walk then does not have are hidden from it or have
    /// exited, and are not new.
    pub(super) fn list_first(&self) -> HashSet<u32> {
        let mut pids = HashSet::new();
        if self.generation == 1 {
            each_number_in(&self.folder, |pid| {
                pids.insert(pid);
            });
        }
        pids
    }

    /// Some machines hide their first process from BPF programs. Such processes are read from /proc.
    pub(super) fn add_hidden(&mut self, mut pids: HashSet<u32>) {
        for (walked, _) in &self.newcomers {
            pids.remove(walked);
        }
        self.newcomers
            .extend(pids.into_iter().map(|pid| (pid, None)));
    }

    /// Takes in the walk's processes that are due, and removes those that it no longer has: an exit changes
    /// no counter by which a scan would be started.
    pub(super) fn sample_by_walk(
        &mut self,
        now: Timestamp,
        due: (bool, bool),
        scratch: &mut Scratch,
        buffers: &mut [TableBuffer],
        registry: &mut Registry,
    ) {
        let (index, sensor) = self.process_sensor;
        let sensors = (index, self.thread_sensor.0);
        let Some(walk) = &mut self.walk else {
            return;
        };
        if !walk.is_fresh(now) && !walk.read(&sensor.table.name, &mut scratch.gaps) {
            return;
        }
        for (at, counts) in walk.processes() {
            // An unknown process will be found by the next scan.
            let Some(process) = self.by_pid.get_mut(&counts.pid) else {
                continue;
            };
            if !process.is(&counts) {
                continue;
            }
            let is_due = is_due(process.role, due);
            if is_due {
                process.note_name(&counts, now, scratch, registry);
            }
            if let Meter::Walk(counted) = &mut process.meter {
                counted.round = walk.round;
                if is_due && counts.torn == 0 {
                    let row = counted.row(&counts, scratch.facts);
                    counted.last.take(at, &row, &mut buffers[index]);
                }
            }
        }
        if !walk.is_whole {
            return;
        }
        self.by_pid.retain(|_, process| {
            let alive = !matches!(&process.meter, Meter::Walk(it) if it.round != walk.round);
            if !alive {
                end(process, now, buffers, sensors, registry);
            }
            alive
        });
    }
}

impl Process {
    /// Whether an entry of the walk is this process.
    fn is(&self, counts: &Counts) -> bool {
        matches!(&self.meter, Meter::Walk(it) if it.identity.start_ns == counts.start_ns)
    }

    /// Reads the name again if it has changed: /proc shows more of some names than the walk.
    fn note_name(
        &mut self,
        counts: &Counts,
        now: Timestamp,
        scratch: &mut Scratch,
        registry: &mut Registry,
    ) {
        let Meter::Walk(counted) = &mut self.meter else {
            return;
        };
        if counted.identity.name != counts.name {
            counted.identity.name = counts.name;
            let stat = scratch.read_once(&self.folder, "stat");
            rename(self.entity, stat, now, registry);
        }
    }
}

#[cfg(test)]
mod tests;
