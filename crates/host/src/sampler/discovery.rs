//! Finds what there is to read: groups, processes, filesystems; all come and go.

use model::Timestamp;

use super::{CALIBRATION_TICKS, SLOW_TICKS, Sampler};
use crate::clock::Clocks;
use crate::probe::Scratch;

impl Sampler {
    pub(super) fn look_for_groups(&mut self, now: Timestamp) {
        // Walking thousands of groups takes tens of milliseconds: the more there are, the less often it is
        // done.
        let period_factor = 1 + self.cgroups.len() as u64 / 200;
        if self.due.every(SLOW_TICKS * period_factor) {
            self.cgroups.scan(
                now,
                &mut self.scratch,
                &mut self.buffers,
                &mut self.registry,
            );
        }
        self.cgroups.look_for_lost(now, &mut self.scratch.gaps);
        self.place(now);
        if let Some(stalls) = &mut self.stalls
            && self.due.every(CALIBRATION_TICKS)
        {
            stalls.calibrate();
        }
        if let Some(thread_times) = &mut self.thread_times
            && self.due.every(CALIBRATION_TICKS)
        {
            thread_times.calibrate();
        }
        let clocks = Clocks::read();
        let values = [
            clocks.realtime_ns,
            clocks.monotonic_raw_ns,
            clocks.uncertainty_ns,
        ];
        self.clock
            .1
            .take(clocks.boottime, &values, &mut self.clock.0);
    }

    pub(super) fn scan_processes(&mut self, now: Timestamp) {
        self.processes.scan(
            now,
            &mut self.scratch,
            &mut self.cgroups,
            &mut self.buffers,
            &mut self.registry,
        );
        if let Some(thread_times) = &mut self.thread_times {
            let Scratch {
                remote_memory,
                gaps,
                ..
            } = &mut self.scratch;
            let around = (&self.cgroups, &mut self.registry);
            thread_times.follow(now, &self.processes, around, remote_memory, gaps);
        }
        if let Some(request_collector) = &mut self.request_collector {
            let gaps = &mut self.scratch.gaps;
            request_collector.follow(now, &self.processes, gaps, &mut self.registry);
        }
    }

    /// Reads the groups and filesystems of tracked processes, which may have moved.
    pub(super) fn place(&mut self, now: Timestamp) {
        self.processes.place_in_groups(
            now,
            &mut self.scratch,
            &mut self.cgroups,
            &mut self.registry,
        );
        if let Some(stalls) = &mut self.stalls {
            stalls.follow(now, &self.cgroups, &mut self.scratch.gaps);
        }
        self.filesystems.look(
            self.processes.targets(),
            now,
            &mut self.scratch.gaps,
            &mut self.registry,
        );
    }
}
