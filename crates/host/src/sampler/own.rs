//! The sampler's own figures: how late it woke, and what it cost.

use model::{Gap, GapReason, MISSING, Timestamp, Window};
use rustix::fs::{Mode, OFlags, open};

use super::{OVERRUN_TICKS, Sampler};
use crate::clock::process_cpu_ns;
use crate::handle::SamplerEvent;
use crate::processes::Walk;
use crate::requests::RequestCollector;
use crate::schedule::TICK_NS;
use crate::stalls::Stalls;
use crate::thread_time::ThreadTimeCollector;

impl Sampler {
    pub(super) fn note_self(&mut self, now: Timestamp, lateness_ns: i64) {
        let cpu_ns = process_cpu_ns() - self.start_cpu_ns;
        let values = [
            lateness_ns,
            cpu_ns,
            TICK_NS * self.budget.threads as i64,
            self.missed,
            self.budget.background as i64,
            self.memory.0,
            self.memory.1,
        ];
        self.recorder.1.take(now, &values, &mut self.recorder.0);
        self.cost.cpu_ns = cpu_ns;
        self.cost.wall_ns = now.ns_since(self.started);
        self.cost.fast_period_ns = TICK_NS * self.budget.threads as i64;
    }

    /// Measures the recorder's memory: this process's, and the kernel memory of its programs.
    pub(super) fn measure_memory(&mut self) {
        let mut buffer = [0; 4_096];
        let status = status(&mut buffer);
        let kib = |name| line_of(status, name).map_or(MISSING, |kib| kib * 1_024);
        self.memory.0 = kib(b"VmRSS:");
        self.cost.resident_bytes = kib(b"VmHWM:").max(0);
        let programs = [
            ("pressure", self.stalls.as_ref().map(Stalls::kernel_bytes)),
            (
                "thread_time",
                self.thread_times
                    .as_ref()
                    .map(ThreadTimeCollector::kernel_bytes),
            ),
            (
                "requests",
                self.request_collector
                    .as_ref()
                    .map(RequestCollector::kernel_bytes),
            ),
            ("tasks", self.processes.walk().map(Walk::kernel_bytes)),
        ];
        let mut sum = Some(0);
        for (name, bytes) in programs {
            let Some(bytes) = bytes else { continue };
            let bytes = bytes.and_then(|it| i64::try_from(it).ok());
            sum = sum.zip(bytes).map(|(sum, bytes)| sum + bytes);
            match (self.cost.kernel_bytes.get_mut(name), bytes) {
                (Some(most), Some(bytes)) => *most = bytes.max(*most),
                (None, Some(bytes)) => {
                    self.cost.kernel_bytes.insert(name.to_owned(), bytes);
                }
                (_, None) => {}
            }
        }
        self.memory.1 = sum.unwrap_or(MISSING);
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

pub(super) fn overrun(window: Window) -> SamplerEvent {
    SamplerEvent::Gap(Gap {
        table: "*".to_owned(),
        what: String::new(),
        window: Some(window),
        reason: GapReason::Overrun,
    })
}
