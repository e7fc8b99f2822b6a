//! Threads of tracked processes, by the walk of BPF programs.
//!
//! The walk replaces two files per thread; wait sites of blocked threads are still read from files, if the
//! thread has run since.

use model::GapReason;

use super::Processes;
use super::roles::is_tracked;
use crate::gaps::Gaps;
use crate::output::Output;
use crate::probe::Scratch;

impl Processes {
    /// Sets the processes whose threads the walk reads.
    pub(super) fn follow_tracked(&mut self, gaps: &mut Gaps) {
        let Self { walk, by_pid, .. } = self;
        let Some(walk) = walk else {
            return;
        };
        walk.release(|pid, slot| {
            let Some(process) = by_pid.get_mut(&pid) else {
                return false;
            };
            let is_its = process.slot == Some(slot);
            process.slot = process.slot.filter(|_| is_tracked(process.role));
            is_its && process.slot.is_some()
        });
        let new = by_pid.iter_mut();
        let new = new.filter(|(_, it)| is_tracked(it.role) && it.slot.is_none() && it.is_walked());
        for (pid, process) in new {
            process.slot = walk.follow(*pid);
            if process.slot.is_none() {
                let what = "threads of more processes than there is room for";
                let table = &self.thread_sensor.sensor.table.name;
                gaps.report(table, what, GapReason::Dropped(1));
            }
        }
    }

    pub(super) fn sample_threads_by_walk(&mut self, scratch: &mut Scratch, out: &mut Output) {
        let table = &self.thread_sensor.sensor.table.name;
        let Some(walk) = &mut self.walk else {
            return;
        };
        let Some(is_whole) = walk.read_threads(table, &mut out.gaps) else {
            return;
        };
        let (mut before, mut next, mut last) = (0, 0, None);
        for (at, counts) in walk.threads() {
            if counts.pid != before {
                (before, next) = (counts.pid, 0);
            }
            let process = self.by_pid.get_mut(&counts.pid);
            if let Some(known) = process.and_then(|it| it.threads.as_mut()) {
                next = known.take(at, &counts, next, scratch, out);
            }
            last = Some(at);
        }
        let (true, Some(now)) = (is_whole, last) else {
            return;
        };
        let followed = self.by_pid.values_mut().filter(|it| it.slot.is_some());
        for known in followed.filter_map(|it| it.threads.as_mut()) {
            known.end_missing(now, out);
        }
    }
}
