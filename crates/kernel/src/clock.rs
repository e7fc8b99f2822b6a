//! The clocks of the machine.

use model::Timestamp;
use rustix::time::{ClockId, clock_gettime};

/// Now, on `CLOCK_BOOTTIME`.
pub fn boottime() -> Timestamp {
    Timestamp::from_ns(nanoseconds(ClockId::Boottime))
}

/// CPU time of this process, all threads, ns.
pub fn process_cpu_ns() -> i64 {
    nanoseconds(ClockId::ProcessCPUTime)
}

/// CPU time of the calling thread, ns.
pub fn thread_cpu_ns() -> i64 {
    nanoseconds(ClockId::ThreadCPUTime)
}

fn nanoseconds(clock: ClockId) -> i64 {
    let time = clock_gettime(clock);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// Readings of the clocks at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Clocks {
    /// Middle of the reading, on `CLOCK_BOOTTIME`.
    pub boottime: Timestamp,
    /// Wall-clock time, ns since 1970.
    pub realtime_ns: i64,
    /// Hardware clock without slew, ns.
    pub monotonic_raw_ns: i64,
    /// Duration of the reading, ns: the clocks' difference is known only to this precision.
    pub uncertainty_ns: i64,
}

impl Clocks {
    /// Reads the clocks three times and returns the fastest reading: a preemption in between would otherwise
    /// look like a clock step.
    pub fn read() -> Self {
        let once = || {
            let before = boottime();
            let realtime_ns = nanoseconds(ClockId::Realtime);
            let monotonic_raw_ns = nanoseconds(ClockId::MonotonicRaw);
            let uncertainty_ns = boottime().ns_since(before);
            Self {
                boottime: before + uncertainty_ns / 2,
                realtime_ns,
                monotonic_raw_ns,
                uncertainty_ns,
            }
        };
        let (first, second, third) = (once(), once(), once());
        [second, third].into_iter().fold(first, |best, next| {
            if next.uncertainty_ns < best.uncertainty_ns {
                next
            } else {
                best
            }
        })
    }
}
