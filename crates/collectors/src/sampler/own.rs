//! The recorder's own figures: how late it woke, and what it cost.

use model::{Cost, Gap, GapReason, MISSING, Sentence, Timestamp, Window};
use rustix::fs::{Mode, OFlags, open};
use sensors::RECORDER;

use crate::budget::Budget;
use crate::collector::Collector;
use crate::handle::SamplerEvent;
use crate::output::{Output, TableId};
use crate::registry;
use crate::scene::Scene;
use crate::schedule::TICK_NS;
use crate::table_buffer::RowDeduplicator;
use kernel::clock::process_cpu_ns;

/// Missed deadlines in a row from which on the interval is a gap.
pub(super) const OVERRUN_TICKS: u64 = 3;

/// Figures of this process.
pub(super) struct Own {
    table: TableId,
    last: RowDeduplicator,
    pub(super) started: Timestamp,
    start_cpu_ns: i64,
    /// Deadlines that were not served.
    missed: i64,
    /// Resident memory of this process, and kernel memory of the BPF programs, bytes.
    resident_bytes: i64,
    kernel_bytes: i64,
    pub(super) cost: Cost,
}

impl Own {
    pub(super) fn new(now: Timestamp, cost: Cost, out: &mut Output) -> Self {
        Self {
            table: out.open(&RECORDER),
            last: RowDeduplicator::new(registry::MACHINE, RECORDER.columns.len()),
            started: now,
            start_cpu_ns: process_cpu_ns(),
            missed: 0,
            resident_bytes: MISSING,
            kernel_bytes: MISSING,
            cost,
        }
    }

    /// CPU time of this process when sampling began, ns.
    pub(super) fn start_cpu_ns(&self) -> i64 {
        self.start_cpu_ns
    }

    /// Writes a row.
    pub(super) fn note(
        &mut self,
        now: Timestamp,
        lateness_ns: i64,
        budget: Budget,
        out: &mut Output,
    ) {
        let cpu_ns = process_cpu_ns() - self.start_cpu_ns;
        let fast_period_ns = TICK_NS * budget.threads as i64;
        let values = [
            lateness_ns,
            cpu_ns,
            fast_period_ns,
            self.missed,
            budget.background as i64,
            self.resident_bytes,
            self.kernel_bytes,
        ];
        self.last.take(now, &values, &mut out.tables[self.table]);
        self.cost.cpu_ns = cpu_ns;
        self.cost.wall_ns = now.ns_since(self.started);
        self.cost.fast_period_ns = fast_period_ns;
    }

    /// Measures the recorder's memory: this process's, and the kernel memory of its programs.
    pub(super) fn measure_memory(&mut self, collectors: &[Box<dyn Collector>], scene: &Scene) {
        let mut buffer = [0; 4_096];
        let status = status(&mut buffer);
        let kib = |name| line_of(status, name).map_or(MISSING, |kib| kib * 1_024);
        self.resident_bytes = kib(b"VmRSS:");
        self.cost.resident_bytes = kib(b"VmHWM:").max(0);
        let most = &mut self.cost.kernel_bytes;
        let mut sum = Some(0);
        let mut add = |name: &'static str, bytes: Option<u64>| {
            let bytes = bytes.and_then(|it| i64::try_from(it).ok());
            sum = sum.zip(bytes).map(|(sum, bytes)| sum + bytes);
            match (most.get_mut(name), bytes) {
                (Some(most), Some(bytes)) => *most = bytes.max(*most),
                (None, Some(bytes)) => _ = most.insert(name.to_owned(), bytes),
                (_, None) => {}
            }
        };
        for collector in collectors {
            collector.each_program(scene, &mut add);
        }
        self.kernel_bytes = sum.unwrap_or(MISSING);
    }

    /// Handles passed deadlines, of which at most the last is served: records the lateness, and a gap if
    /// there is one.
    pub(super) fn note_missed(
        &mut self,
        passed: u64,
        late: Window,
        sink: &mut dyn FnMut(SamplerEvent),
    ) {
        self.missed += passed as i64 - 1;
        if passed > OVERRUN_TICKS {
            sink(overrun(late));
        }
        self.cost.late_ticks += u64::from(late.len_ns() > TICK_NS / 2);
        self.cost.lateness_max_ns = self.cost.lateness_max_ns.max(late.len_ns());
    }

    /// Writes the last row, if it was left out as unchanged.
    pub(super) fn finish(&mut self, out: &mut Output) {
        self.last.finish(&mut out.tables[self.table]);
    }
}

/// The text of /proc/self/status.
fn status(buffer: &mut [u8]) -> &[u8] {
    let file = open(
        "/proc/self/status",
        OFlags::RDONLY | OFlags::CLOEXEC,
        Mode::empty(),
    );
    let read = file.and_then(|file| rustix::io::read(file, &mut *buffer));
    &buffer[..read.unwrap_or(0)]
}

/// The number after a name, as in "VmRSS:\t  1234 kB".
fn line_of(status: &[u8], name: &[u8]) -> Option<i64> {
    let mut lines = status.split(|byte| *byte == b'\n');
    let line = lines.find_map(|line| line.strip_prefix(name))?;
    let digits = line.trim_ascii().split(|byte| *byte == b' ').next()?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// The gap of an interval in which nothing was read in time.
pub(super) fn overrun(window: Window) -> SamplerEvent {
    SamplerEvent::Gap(Gap {
        table: "*".to_owned(),
        what: Sentence::default(),
        window: Some(window),
        reason: GapReason::Overrun,
    })
}
