//! Lengthens reading periods when reading costs more than its share of a CPU.

use crate::schedule::TICK_NS;

/// Ticks between two checks of the cost.
const BUDGET_TICKS: u64 = 30;
/// Share of one CPU above which periods are lengthened: a margin below the promised 1 %.
const BUDGET: f64 = 0.009;
/// Expected saving of one step, as a factor: far above the share several steps are taken at once, instead of
/// one every three seconds.
const STEP: f64 = 1.5;
const MOST_BACKGROUND: u64 = 5;
const MOST_TRACKED: u64 = 10;
/// If reading then still takes twice the share, the target has thousands of threads: only their periods are
/// lengthened further, up to this factor.
const TWICE: f64 = 2.0 * BUDGET;
const MOST_THREADS: u64 = 50;

/// Factors on the periods.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Budget {
    /// Factor on the periods of target, generator and machine.
    pub(crate) tracked: u64,
    /// Factor on the periods of their threads.
    pub(crate) threads: u64,
    /// Factor on the periods of everything else.
    pub(crate) background: u64,
    /// When the present check began: the tick, and the CPU time of this process so far, ns.
    start_tick: u64,
    start_cpu_ns: i64,
}

impl Budget {
    /// Periods as requested; `cpu_ns` is the CPU time of this process so far.
    pub(crate) fn new(cpu_ns: i64) -> Self {
        Self {
            tracked: 1,
            threads: 1,
            background: 1,
            start_tick: 0,
            start_cpu_ns: cpu_ns,
        }
    }

    /// Whether enough ticks have passed for a check.
    pub(crate) fn is_due(&self, tick: u64) -> bool {
        tick >= self.start_tick + BUDGET_TICKS
    }

    /// Lengthens the periods of the background first, then those of target and generator.
    pub(crate) fn judge(&mut self, tick: u64, cpu_ns: i64) {
        let wall_ns = (tick - self.start_tick) as i64 * TICK_NS;
        let share = (cpu_ns - self.start_cpu_ns) as f64 / wall_ns as f64;
        // The first check includes opening everything, which is paid once.
        let mut over = if self.start_tick > 0 {
            share / BUDGET
        } else {
            0.0
        };
        while over > 1.0 && self.stretch() {
            over /= STEP;
        }
        self.threads = self.threads.max(self.tracked);
        if over * BUDGET > TWICE {
            let threads = self.threads as f64 * over * BUDGET / TWICE;
            self.threads = (threads.ceil() as u64).min(MOST_THREADS);
        }
        (self.start_tick, self.start_cpu_ns) = (tick, cpu_ns);
    }
}

impl Budget {
    /// Takes one step; false if all periods have their longest.
    fn stretch(&mut self) -> bool {
        if self.background < MOST_BACKGROUND {
            self.background = (self.background * 2).min(MOST_BACKGROUND);
        } else if self.tracked < MOST_TRACKED {
            self.tracked = if self.tracked == 2 {
                5
            } else {
                self.tracked * 2
            };
        } else {
            return false;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn background_periods_are_lengthened_first_and_setup_is_not_counted() {
        let mut budget = Budget::new(0);
        let mut seen = Vec::new();
        for step in 1..=7 {
            let tick = step * BUDGET_TICKS;
            assert!(budget.is_due(tick) && !budget.is_due(tick - 1));
            budget.judge(tick, step as i64 * 40_000_000);
            seen.push((budget.background, budget.tracked));
        }
        assert_eq!(
            seen,
            [(1, 1), (2, 1), (4, 1), (5, 1), (5, 2), (5, 5), (5, 10)]
        );
        let mut dear = Budget::new(0);
        dear.judge(30, 0);
        dear.judge(60, 120_000_000);
        assert_eq!(
            (dear.background, dear.tracked),
            (5, 2),
            "4 % are four steps"
        );
        dear.judge(90, 195_000_000);
        assert_eq!((dear.tracked, dear.threads), (10, 10));
        dear.judge(120, 295_000_000);
        assert_eq!(
            (dear.tracked, dear.threads),
            (10, 19),
            "3.3 % for once a second"
        );
        dear.judge(150, 345_000_000);
        assert_eq!(dear.threads, 19, "1.7 % is less than twice the share");
        dear.judge(180, 1_345_000_000);
        assert_eq!((dear.tracked, dear.threads), (10, MOST_THREADS));
        let mut cheap = Budget::new(0);
        cheap.judge(30, 500_000_000);
        cheap.judge(60, 510_000_000);
        assert_eq!((cheap.background, cheap.tracked), (1, 1));
    }
}
