//! How many requests are timed: while the programs that only times need are attached, and of those a random
//! sample, where timing all would cost too much.

use model::{GapReason, Timestamp, sentence};
use sensors::request::REQUESTS;

use super::RequestCollector;
use crate::gaps::Gaps;
use kernel::clock::boottime;

/// Timing may take this part of the CPUs. Where requests are so many that it would take more, a random sample of
/// them is timed.
const TIMING_SHARE: f64 = 0.0015;
/// Each takes two readings of the clock, and its account as long as one more (`make bench`, probes).
const READINGS: f64 = 3.0;

/// By what factor the share may rise from one reading to the next. After a slow moment few requests are known, and
/// those to come are likely to be slow too: if more of them were timed, slow ones would be over-represented wherever
/// times between several readings are added up.
const MOST_RISE: f64 = 1.1;

/// What timing has had so far.
pub(super) struct Timing {
    /// All requests so far, and those that came while the programs that only times need were attached.
    requests: i64,
    with_timing: i64,
    /// Whether those are attached, and how many times they have been.
    is_attached: bool,
    times_attached: u32,
    /// How long they were attached up to a time, ns.
    attached_ns: i64,
    until: Timestamp,
    /// Requests that may be timed in a second.
    most: f64,
    /// What share of them is timed.
    share: f64,
}

impl Timing {
    pub(super) fn new() -> Self {
        Self {
            requests: 0,
            with_timing: 0,
            is_attached: true,
            times_attached: 1,
            attached_ns: 0,
            until: Timestamp::default(),
            most: most_timed(),
            share: 1.0,
        }
    }

    /// By how many requests came since the last call, `ns` ago, what share of those to come is timed.
    pub(super) fn share(&mut self, requests: i64, ns: i64) -> f64 {
        let grown = requests - self.requests;
        self.requests = requests;
        if self.is_attached {
            self.with_timing += grown;
        }
        let rate = grown as f64 / (ns as f64 / 1e9).max(1e-3);
        let share = (self.most / rate.max(1.0)).min(1.0);
        self.share = share.min(self.share * MOST_RISE);
        self.share
    }

    fn attached_ns(&self, now: Timestamp) -> i64 {
        match self.is_attached {
            true => self.attached_ns + now.ns_since(self.until).max(0),
            false => self.attached_ns,
        }
    }
}

impl RequestCollector {
    /// Requests so far for which all programs ran, as the cost of on-windows goes by.
    pub(crate) fn with_timing(&self) -> u64 {
        self.timing.with_timing.cast_unsigned()
    }

    /// Has the programs that only times need at their hooks, or not; whether that changed now.
    pub(crate) fn time(&mut self, now: Timestamp, wanted: bool, gaps: &mut Gaps) -> bool {
        let timing = &mut self.timing;
        timing.attached_ns = timing.attached_ns(now);
        timing.until = now;
        if !wanted {
            // What they still see while the kernel detaches them is of no on-window.
            self.programs.see_reads(0);
            // Also where they are on their way to their hooks.
            self.programs.detach_timing();
        }
        if wanted == timing.is_attached {
            return false;
        }
        if wanted {
            let attached = self.programs.attach_timing().unwrap_or_else(|why| {
                let reason = GapReason::Unsupported(sentence!("the programs that time: {}", &why));
                gaps.report(&REQUESTS.name, "", reason);
                false
            });
            // On full CPUs that takes a while; the next call asks again.
            if !attached {
                return false;
            }
        }
        timing.is_attached = wanted;
        timing.times_attached += u32::from(wanted);
        self.programs.see_reads(self.reads_seen());
        true
    }

    /// They are at their hooks, and counted as such from now on.
    pub(crate) fn begin_timing(&mut self, now: Timestamp) {
        self.timing.until = now;
        self.programs.see_reads(self.reads_seen());
    }

    /// How many times they have been at their hooks; 0 while they are not.
    pub(crate) fn reads_seen(&self) -> u32 {
        match self.timing.is_attached {
            true => self.timing.times_attached,
            false => 0,
        }
    }

    /// How long those programs were at their hooks up to now, ns.
    pub(crate) fn timing_ns(&self, now: Timestamp) -> i64 {
        self.timing.attached_ns(now)
    }
}

/// By what a reading of the clock costs here: 20 to 250 ns, by the machine's clock.
fn most_timed() -> f64 {
    const TRIES: u32 = 10;
    const ROUND: u32 = 100;
    let round = |_| {
        let start = boottime();
        (0..ROUND).for_each(|_| _ = std::hint::black_box(boottime()));
        boottime().ns_since(start)
    };
    // The least: others may have had the CPU.
    let least_ns = (0..TRIES).map(round).min().unwrap_or_default();
    let reading_ns = (least_ns as f64 / f64::from(ROUND)).max(10.0);
    let cpus = std::thread::available_parallelism().map_or(1, usize::from) as f64;
    cpus * TIMING_SHARE * 1e9 / (READINGS * reading_ns)
}
