//! The BPF program that walks over all processes and threads, instead of a list of /proc and two files of each.

use model::{GapReason, Timestamp, sentence};

use crate::gaps::Gaps;
use crate::schedule::TICK_NS;
use kernel::bpf::Refusal;
use kernel::bpf::tasks::{Counts, MOST_TRACKED, Tasks, ThreadCounts};
use kernel::clock::boottime;

/// A walk for finding new processes also serves for their rows, in the same tick.
const FRESH_NS: i64 = TICK_NS / 10;

pub(crate) struct Walk {
    programs: Tasks,
    /// Time of the last walk.
    at: Option<Timestamp>,
    /// Whether the last walk had room for every process.
    pub(super) is_whole: bool,
    /// Number of walks so far.
    pub(super) round: u64,
    threads_at: Timestamp,
    /// By slot: the pid of the process that is read thread by thread, 0 for none.
    followed: Vec<u32>,
}

impl Walk {
    /// # Errors
    /// Why the program is not available here.
    pub(crate) fn load() -> Result<Self, Refusal> {
        Ok(Self {
            programs: Tasks::load()?,
            at: None,
            is_whole: true,
            round: 0,
            threads_at: Timestamp::default(),
            followed: Vec::new(),
        })
    }

    /// Kernel memory in use, bytes.
    pub(crate) fn kernel_bytes(&self) -> Option<u64> {
        self.programs.kernel_bytes()
    }

    pub(super) fn is_fresh(&self, now: Timestamp) -> bool {
        self.at.is_some_and(|at| now.ns_since(at) < FRESH_NS)
    }

    /// Reads all processes; returns whether that succeeded.
    pub(super) fn read(&mut self, table: &str, gaps: &mut Gaps) -> bool {
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
    pub(super) fn processes(&self) -> impl Iterator<Item = (Timestamp, Counts)> {
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
    let why = sentence!("a program in the kernel was not run: {}", refusal);
    gaps.report(table, "", GapReason::Unsupported(why));
}

#[cfg(test)]
mod tests;
