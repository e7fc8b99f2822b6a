//! From which length on each wait is recorded with its call stack.
//!
//! A stack costs some 20 us until it is recorded: half of them in the programs, half in the thread that unwinds it.
//! Their number is inversely proportional to the threshold where most waits are shorter than that.

use std::time::Duration;

/// Stacks a second of each CPU while the programs count: a fifth of a percent of it.
const PER_CPU: f64 = 100.0;
/// The threshold at first, ns.
const FIRST_NS: f64 = 10_000_000.0;
/// Bounds of the threshold, ns. Below the first a stack costs as much as the wait took.
const LEAST_NS: f64 = 20_000.0;
const MOST_NS: f64 = 4_000_000_000.0;
/// The least counted time that says how many there are a second, ns.
const LEAST_COUNTED_NS: i64 = 20_000_000;
/// By how much one tick may change it.
const MOST_STEP: f64 = 2.0;

/// The threshold.
pub(super) struct LeastWait {
    ns: f64,
    /// Whether it follows the number of stacks, or was asked for.
    is_adaptive: bool,
    most_per_second: f64,
    /// When it was last looked at: the time that had been counted, ns, and how many stacks there were by then.
    last: Option<(i64, u64)>,
}

impl LeastWait {
    /// As asked for, or as the budget allows.
    pub(super) fn new(asked: Option<Duration>) -> Self {
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            ns: asked.map_or(FIRST_NS, |asked| asked.as_nanos() as f64),
            is_adaptive: asked.is_none(),
            most_per_second: PER_CPU * cpus as f64,
            last: None,
        }
    }

    /// The present threshold, ns.
    pub(super) fn ns(&self) -> u64 {
        self.ns as u64
    }

    /// The threshold until the next tick, ns; `taken` stacks so far, in `counted_ns` of on-windows. In an off-window there
    /// are none, which says nothing of the next on-window.
    pub(super) fn tick(&mut self, counted_ns: i64, taken: u64) -> u64 {
        let (then, before) = *self.last.get_or_insert((counted_ns, taken));
        if counted_ns - then >= LEAST_COUNTED_NS && self.is_adaptive {
            self.last = Some((counted_ns, taken));
            let seconds = (counted_ns - then) as f64 / 1e9;
            let per_second = (taken - before) as f64 / seconds;
            let over = per_second / self.most_per_second;
            // The square root, because a tick sees few.
            let step = over.sqrt().clamp(1.0 / MOST_STEP, MOST_STEP);
            self.ns = (self.ns * step).clamp(LEAST_NS, MOST_NS);
        }
        self.ns()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stacks of ten seconds of waits of one length, so many a second, at the end of each tick; and the threshold.
    fn after(mut least: LeastWait, waits_per_second: f64, wait_ns: f64) -> (f64, f64) {
        let (mut taken, mut last) = (0.0, 0.0);
        for tick in 0..100 {
            let counted_ns = tick * 100_000_000;
            let chance = (wait_ns / least.tick(counted_ns, taken as u64) as f64).min(1.0);
            last = waits_per_second * chance;
            taken += last / 10.0;
        }
        (last, least.ns)
    }

    #[test]
    fn as_many_stacks_are_taken_as_the_budget_allows() {
        let least = || LeastWait {
            most_per_second: 500.0,
            ..LeastWait::new(None)
        };
        let (per_second, ns) = after(least(), 20_000.0, 100_000.0);
        assert!((450.0..550.0).contains(&per_second), "{per_second}");
        assert!((3.5e6..4.5e6).contains(&ns), "{ns}");
        let (per_second, ns) = after(least(), 100.0, 50_000_000.0);
        assert!((per_second - 100.0).abs() < 1.0 && ns < 1e6, "all: {ns}");
        let (per_second, _) = after(least(), 3_000.0, 800_000_000.0);
        assert!((450.0..610.0).contains(&per_second), "{per_second}");
    }

    #[test]
    fn an_off_window_changes_nothing() {
        let mut least = LeastWait::new(None);
        let counted = |least: &mut LeastWait, from: i64| {
            let mut taken = from as u64;
            for tick in from..from + 30 {
                taken = tick as u64 * 100;
                least.tick(tick * 100_000_000, taken);
            }
            taken
        };
        let taken = counted(&mut least, 0);
        let (ns, now) = (least.ns(), 29 * 100_000_000);
        for _ in 0..50 {
            assert_eq!(least.tick(now, taken), ns);
        }
    }

    #[test]
    fn what_is_asked_for_stays() {
        let least = LeastWait::new(Some(Duration::from_millis(1)));
        let (per_second, ns) = after(least, 20_000.0, 100_000.0);
        assert!((per_second - 2_000.0).abs() < 1.0 && (ns - 1e6).abs() < 1.0);
        assert_eq!(LeastWait::new(Some(Duration::ZERO)).ns(), 0);
    }
}
