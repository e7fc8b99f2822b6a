//! Reads the counts of the programs on events, at ticks and at the edges of on-windows (`duty_cycle.rs`).

use model::Timestamp;

use super::Sampler;
use crate::clock::boottime;
use crate::duty_cycle::{Action, EventCounts};
use crate::probe::Scratch;
use crate::schedule::{Look, ticks_of};
use crate::thread_time::ThreadTimeCollector;

/// Period of coverage rows without edges, in ticks.
const COVERAGE_TICKS: u64 = ticks_of(sensors::COVERAGE_PERIOD);

impl Sampler {
    /// At a tick; `background` includes the background processes.
    pub(super) fn sample_events(
        &mut self,
        look: Look,
        background: bool,
        stamp: &mut dyn FnMut() -> Timestamp,
    ) {
        self.wants_background |= background;
        let counts = self.event_counts();
        match self.duty_cycle.tick(boottime(), counts, look == Look::Last) {
            Action::Checkpoint => self.read_thread_times(stamp()),
            Action::Idle => self.take_exited_threads(stamp()),
            action => self.change_hooks(action),
        }
        let mut is_edge = false;
        let now = boottime();
        if let Some(request_collector) = &mut self.request_collector {
            let gaps = &mut self.scratch.gaps;
            if look == Look::Last {
                request_collector.look_at_open();
            }
            request_collector.sample(stamp(), &self.processes, gaps, &mut self.registry);
            is_edge = request_collector.time(now, self.duty_cycle.times_requests(), gaps);
        }
        if is_edge || look == Look::Last || self.due.every(COVERAGE_TICKS) {
            self.note_coverage(now);
        }
    }

    /// Between two ticks.
    pub(super) fn at_edge(&mut self) {
        let counts = self.event_counts();
        let action = self.duty_cycle.tick(boottime(), counts, false);
        self.change_hooks(action);
    }

    fn change_hooks(&mut self, action: Action) {
        match action {
            Action::Attach => self.begin_on_window(),
            Action::Detach => self.end_on_window(),
            Action::Checkpoint | Action::Idle => {}
        }
    }

    fn event_counts(&self) -> EventCounts {
        let thread_times = self.thread_times.as_ref();
        let (events, slices) = thread_times.map_or((0, 0), ThreadTimeCollector::counts);
        let requests = self.request_collector.as_ref();
        EventCounts {
            events,
            slices,
            requests: requests.map_or(0, |it| it.with_timing()),
        }
    }

    fn read_thread_times(&mut self, now: Timestamp) {
        if let Some(thread_times) = &mut self.thread_times {
            let around = (&mut self.scratch.gaps, &mut self.registry);
            let background = std::mem::take(&mut self.wants_background);
            thread_times.sample(now, background, &self.processes, around);
        }
    }

    /// Threads exit in off-windows too.
    fn take_exited_threads(&mut self, now: Timestamp) {
        if let Some(thread_times) = &mut self.thread_times {
            let around = (&mut self.scratch.gaps, &mut self.registry);
            thread_times.take_exited(now, &self.processes, around);
        }
    }

    fn end_on_window(&mut self) {
        // Accounts of threads that rarely block can only be compared while everything is counted.
        self.read_thread_times(boottime());
        let at = match &mut self.thread_times {
            Some(thread_times) => thread_times.end_on_window(),
            None => boottime(),
        };
        self.note_coverage(at);
        self.read_thread_times(at);
        if let Some(thread_times) = &mut self.thread_times {
            thread_times.detach();
        }
        let counts = self.event_counts();
        self.duty_cycle.detached(at, counts);
    }

    fn begin_on_window(&mut self) {
        let Scratch {
            remote_memory,
            gaps,
            ..
        } = &mut self.scratch;
        // With both kinds of programs attached a request takes longer.
        if let Some(request_collector) = &mut self.request_collector {
            request_collector.time(boottime(), false, gaps);
        }
        // Attaching takes a millisecond; counting begins once all programs are attached.
        if let Some(thread_times) = &mut self.thread_times {
            thread_times.attach(gaps);
        }
        let at = boottime();
        if let Some(thread_times) = &mut self.thread_times {
            thread_times.resume(at, &self.processes, remote_memory, gaps);
        }
        let counts = self.event_counts();
        self.note_coverage(at);
        self.duty_cycle.attached(at, counts);
    }

    /// Writes a row at each edge of a window and once a second: between two rows each counter is constant or
    /// grows with time.
    fn note_coverage(&mut self, at: Timestamp) {
        let requests = self.request_collector.as_ref();
        let values = [
            self.thread_times
                .as_ref()
                .map_or(model::MISSING, |_| self.duty_cycle.on_ns(at)),
            requests.map_or(model::MISSING, |it| it.timing_ns(at)),
        ];
        if values == [model::MISSING; 2] {
            return;
        }
        self.coverage
            .1
            .begin(self.started, &values, &mut self.coverage.0);
        self.coverage
            .1
            .take_times(at, &values, &mut self.coverage.0);
    }
}
