//! What BPF programs count at events: thread times and requests, with the on-windows in which they do
//! (`duty_cycle.rs`). They are one collector, because they share the CPUs that counting may take. Those that count the
//! calls of flows are attached in the same on-windows; what they count `flows.rs` reads.

mod duty_cycle;
mod least_wait;

use model::{MISSING, Timestamp};

use crate::collector::{Collector, Scan};
use crate::events::duty_cycle::{Action, DutyCycle, EventCounts};
use crate::events::least_wait::LeastWait;
use crate::opening::Opening;
use crate::output::{Output, TableId};
use crate::registry;
use crate::requests::RequestCollector;
use crate::scene::Scene;
use crate::schedule::{CALIBRATION_TICKS, ticks_of};
use crate::table_buffer::RowDeduplicator;
use crate::thread_time::ThreadTimeCollector;
use crate::tick::Tick;
use kernel::bpf::flow::Flow;
use kernel::bpf::thread_time::Question;
use kernel::clock::boottime;

/// Period of coverage rows without edges, in ticks.
const COVERAGE_TICKS: u64 = ticks_of(sensors::COVERAGE_PERIOD);
/// Period of reading the delay caused by each background process, in ticks.
const BACKGROUND_TICKS: u64 = ticks_of(sensors::thread_time::BACKGROUND_PERIOD);

struct Events {
    thread_times: Option<ThreadTimeCollector>,
    requests: Option<RequestCollector>,
    duty_cycle: DutyCycle,
    least_wait: LeastWait,
    /// Whether the next reading includes background processes.
    wants_background: bool,
    coverage: RowDeduplicator,
    coverage_table: TableId,
    started: Timestamp,
}

/// Opens it with the programs that are available.
pub(crate) fn open(opening: &mut Opening<'_>) -> Option<Box<dyn Collector>> {
    let takes_stacks = opening.settings.stack_rate.is_some();
    let stacks: &[Question] = match (takes_stacks, opening.settings.min_wait) {
        (false, _) => &[],
        (true, None) => &[Question::WaitStack],
        (true, Some(_)) => &[Question::WaitStack, Question::ManyWaitStacks],
    };
    let mut flow = opening.program("flow", |_| Flow::load());
    let load = |out: &mut Output| ThreadTimeCollector::load(out, stacks, flow.as_ref());
    let mut thread_times = opening.program("thread_time", load);
    if let Some(thread_times) = thread_times.as_mut().filter(|_| takes_stacks) {
        opening.wait_stacks = opening.program("wait_stacks", |_| thread_times.wait_stacks());
    }
    let least_wait = LeastWait::new(opening.settings.min_wait);
    if let Some(thread_times) = &mut thread_times {
        thread_times.set_least_wait(least_wait.ns());
    }
    let beside = thread_times.as_ref().map(ThreadTimeCollector::programs);
    let load = |out: &mut Output| RequestCollector::load(out, beside, flow.as_ref());
    let requests = opening.program("requests", load);
    if thread_times.is_none() {
        flow = flow.and_then(|mut it| it.count_all_calls().is_ok().then_some(it));
    }
    opening.flow = flow;
    if thread_times.is_none() && requests.is_none() {
        return None;
    }
    let now = boottime();
    Some(Box::new(Events {
        thread_times,
        requests,
        duty_cycle: DutyCycle::new(now, opening.settings.traces_all),
        least_wait,
        wants_background: false,
        coverage: RowDeduplicator::new(registry::MACHINE, sensors::COVERAGE.columns.len()),
        coverage_table: opening.out.open(&sensors::COVERAGE),
        started: now,
    }))
}

impl Collector for Events {
    fn begin(&mut self, now: Timestamp) {
        self.started = now;
        self.duty_cycle.begin(now);
        if let Some(requests) = &mut self.requests {
            requests.begin_timing(now);
        }
        self.share_reads();
    }

    fn discover(&mut self, scan: Scan, now: Timestamp, scene: &mut Scene, out: &mut Output) {
        if scan != Scan::Processes {
            return;
        }
        if let Some(thread_times) = &mut self.thread_times {
            thread_times.follow(now, scene, out);
        }
        if let Some(requests) = &mut self.requests {
            requests.follow(now, &scene.processes, out);
        }
    }

    fn sample(&mut self, tick: &Tick, scene: &mut Scene, out: &mut Output) {
        if let Some(thread_times) = &mut self.thread_times {
            if tick.passes(CALIBRATION_TICKS) {
                thread_times.calibrate();
            }
            if let Some(requests) = &mut self.requests {
                requests.set_clock(thread_times.programs().ahead_ns());
            }
            thread_times.take_bins(out);
        }
        if tick.is_due(tick.budget().threads) {
            self.sample_threads(tick, scene, out);
        }
        // Their accounts are few, however many threads there are: a spike of half a second is seen on any budget.
        let now = boottime();
        let is_edge = self.read_requests(now, tick, scene, out);
        if is_edge || tick.is_due(COVERAGE_TICKS) {
            self.note_coverage(now, out);
        }
    }

    fn edge(&self) -> Option<Timestamp> {
        self.duty_cycle.edge()
    }

    fn at_edge(&mut self, scene: &mut Scene, out: &mut Output) {
        let action = self.duty_cycle.tick(boottime(), self.counts(), false);
        self.change_hooks(action, scene, out);
    }

    fn write_out(&mut self, out: &mut Output) {
        if let Some(thread_times) = &mut self.thread_times {
            thread_times.write_out(out);
        }
    }

    fn finish(&mut self, _scene: &mut Scene, out: &mut Output) {
        if let Some(requests) = &mut self.requests {
            requests.finish(out);
        }
        if let Some(thread_times) = &mut self.thread_times {
            out.cross_check = Some(thread_times.finish(out));
        }
        self.coverage.finish(&mut out.tables[self.coverage_table]);
    }

    fn each_program(&self, _scene: &Scene, each: &mut dyn FnMut(&'static str, Option<u64>)) {
        if let Some(thread_times) = &self.thread_times {
            each("thread_time", thread_times.kernel_bytes());
        }
        if let Some(requests) = &self.requests {
            each("requests", requests.kernel_bytes());
        }
    }
}

impl Events {
    /// Reads where threads' time went, or begins or ends an on-window.
    fn sample_threads(&mut self, tick: &Tick, scene: &mut Scene, out: &mut Output) {
        self.wants_background |= tick.is_due(BACKGROUND_TICKS * tick.budget().background);
        if let Some(thread_times) = &mut self.thread_times {
            let taken = thread_times.stack_counts().taken;
            let counted_ns = self.duty_cycle.on_ns(boottime());
            thread_times.set_least_wait(self.least_wait.tick(counted_ns, taken));
        }
        let counts = self.counts();
        match self.duty_cycle.tick(boottime(), counts, tick.is_last()) {
            Action::Checkpoint => self.read_thread_times(tick.stamp(), scene, out),
            Action::Idle => self.take_exited_threads(tick.stamp(), scene, out),
            action => self.change_hooks(action, scene, out),
        }
    }

    fn change_hooks(&mut self, action: Action, scene: &mut Scene, out: &mut Output) {
        match action {
            Action::Attach => self.begin_on_window(scene, out),
            Action::Detach => self.end_on_window(scene, out),
            Action::Checkpoint | Action::Idle => {}
        }
    }

    fn counts(&self) -> EventCounts {
        let thread_times = self.thread_times.as_ref();
        let (events, slices) = thread_times.map_or((0, 0), ThreadTimeCollector::counts);
        let requests = self.requests.as_ref();
        EventCounts {
            events,
            slices,
            requests: requests.map_or(0, RequestCollector::with_timing),
        }
    }

    fn read_thread_times(&mut self, now: Timestamp, scene: &Scene, out: &mut Output) {
        if let Some(thread_times) = &mut self.thread_times {
            let background = std::mem::take(&mut self.wants_background);
            thread_times.sample(now, background, &scene.processes, out);
        }
    }

    /// Threads exit in off-windows too.
    fn take_exited_threads(&mut self, now: Timestamp, scene: &Scene, out: &mut Output) {
        if let Some(thread_times) = &mut self.thread_times {
            thread_times.take_exited(now, &scene.processes, out);
        }
    }

    /// Reads the accounts of requests; returns whether timing began or ended at `now`.
    fn read_requests(
        &mut self,
        now: Timestamp,
        tick: &Tick,
        scene: &Scene,
        out: &mut Output,
    ) -> bool {
        let Some(requests) = &mut self.requests else {
            return false;
        };
        if tick.is_last() {
            requests.look_at_open();
        }
        requests.sample(tick.stamp(), &scene.processes, out);
        let is_edge = requests.time(now, self.duty_cycle.times_requests(), &mut out.gaps);
        self.share_reads();
        is_edge
    }

    /// Has thread times tell sleeps inside requests from others while reads are seen.
    fn share_reads(&mut self) {
        if let (Some(thread_times), Some(requests)) = (&mut self.thread_times, &self.requests) {
            thread_times.see_reads(requests.reads_seen());
        }
    }

    fn end_on_window(&mut self, scene: &Scene, out: &mut Output) {
        // Accounts of threads that rarely block can only be compared while everything is counted.
        self.read_thread_times(boottime(), scene, out);
        let at = match &mut self.thread_times {
            Some(thread_times) => {
                let at = thread_times.end_on_window();
                // The next on-window may begin before the next tick.
                thread_times.take_bins(out);
                at
            }
            None => boottime(),
        };
        self.note_coverage(at, out);
        self.read_thread_times(at, scene, out);
        if let Some(thread_times) = &mut self.thread_times {
            thread_times.detach();
        }
        let counts = self.counts();
        self.duty_cycle.detached(at, counts);
    }

    fn begin_on_window(&mut self, scene: &mut Scene, out: &mut Output) {
        // With both kinds of programs attached a request takes longer.
        let now = boottime();
        let requests = self.requests.as_mut();
        let is_edge = requests.is_some_and(|it| it.time(now, false, &mut out.gaps));
        self.share_reads();
        // Attaching takes a millisecond, on full CPUs far longer; counting begins once all programs are attached.
        let thread_times = self.thread_times.as_mut();
        if !thread_times.is_none_or(|it| it.attach(&mut out.gaps)) {
            if is_edge {
                self.note_coverage(now, out);
            }
            self.duty_cycle.put_off(now);
            return;
        }
        let at = boottime();
        if let Some(thread_times) = &mut self.thread_times {
            thread_times.resume(at, scene, &mut out.gaps);
        }
        let counts = self.counts();
        self.note_coverage(at, out);
        self.duty_cycle.attached(at, counts);
    }

    /// Writes a row at each edge of a window and once a second: between two rows each counter is constant or
    /// grows with time.
    fn note_coverage(&mut self, at: Timestamp, out: &mut Output) {
        let on_ns = self
            .thread_times
            .as_ref()
            .map(|_| self.duty_cycle.on_ns(at));
        let timing_ns = self.requests.as_ref().map(|it| it.timing_ns(at));
        let counts_calls = self
            .thread_times
            .as_ref()
            .is_some_and(|it| it.programs().counts_calls());
        let calls_ns = on_ns.filter(|_| counts_calls);
        let values = [on_ns, timing_ns, calls_ns].map(|ns| ns.unwrap_or(MISSING));
        let buffer = &mut out.tables[self.coverage_table];
        self.coverage.begin(self.started, &values, buffer);
        self.coverage.take_times(at, &values, buffer);
    }
}
