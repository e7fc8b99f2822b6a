//! Waits for a CPU that are no longer than being woken takes: they need no cause on CPUs that have room.
//!
//! The scheduler counts how often each thread was switched in, so run-queue delay over timeslices is how long one wait
//! took. It is judged second by second: the few long waits of a burst shall not vanish in many short ones.

use model::{EntityId, Timeline, Window};

use crate::ledger::seconds;
use crate::thresholds::{AT_ONCE, WAKE_UP};

/// Waits of threads for a CPU.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct CpuWaits {
    /// How long one took on average, ns; `None` where there was none, or their number was not recorded.
    pub(crate) each_ns: Option<f64>,
    /// The part of their time that being woken explains, on CPUs that have room.
    pub(crate) woken: f64,
    /// The same on CPUs that others fill.
    pub(crate) at_once: f64,
}

impl CpuWaits {
    /// Those of these threads over a window.
    pub(crate) fn of(timeline: &Timeline, threads: &[EntityId], window: Window) -> Self {
        let seconds = seconds(window);
        let mut sums = vec![(0.0, 0.0); seconds.len()];
        for thread in threads {
            let of = |column| Some(timeline.series("thread", *thread, column)?.cursor());
            let Some((mut wait, mut slices)) = of("wait_ns").zip(of("slices")) else {
                continue;
            };
            for (second, sum) in seconds.iter().zip(&mut sums) {
                sum.0 += wait.growth(*second).unwrap_or(0.0).max(0.0);
                sum.1 += slices.growth(*second).unwrap_or(0.0).max(0.0);
            }
        }
        let counted = sums.into_iter().filter(|(_, slices)| *slices > 0.0);
        let (mut wait_ns, mut slices, mut woken_ns, mut at_once_ns) = (0.0, 0.0, 0.0, 0.0);
        for (ns, count) in counted {
            wait_ns += ns;
            slices += count;
            woken_ns += ns * part_of_wake_up(ns / count);
            at_once_ns += ns * up_to(ns / count, AT_ONCE.value());
        }
        if wait_ns <= 0.0 {
            return Self::default();
        }
        Self {
            each_ns: Some(wait_ns / slices),
            woken: woken_ns / wait_ns,
            at_once: at_once_ns / wait_ns,
        }
    }
}

/// How much of a time being woken explains: all of it up to the threshold, nothing from twice that on.
pub(crate) fn part_of_wake_up(ns: f64) -> f64 {
    up_to(ns, WAKE_UP.value())
}

/// All of a time up to the threshold, nothing from twice that on.
fn up_to(ns: f64, threshold_ns: f64) -> f64 {
    (2.0 - ns / threshold_ns).clamp(0.0, 1.0)
}
