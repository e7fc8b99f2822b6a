//! The line between one stretch of time and the next, and what to do when it could not be drawn.
//!
//! Pure: readings in, stretches out.

use crate::thread::Reading;
use crate::thread_times::Span;

/// Where the open stretch began, and how much of it the loop has waited.
#[derive(Debug)]
pub struct Boundaries {
    last: Reading,
    waiting: bool,
    /// When the loop began to wait or to work, ns: later than `last` after boundaries were put off.
    since_ns: u64,
    /// Waits between the two, ns.
    earlier_waits_ns: u64,
}

impl Boundaries {
    /// Nothing lies before this reading.
    pub fn begin(last: Reading, waiting: bool) -> Self {
        Self {
            last,
            waiting,
            since_ns: last.wall_ns,
            earlier_waits_ns: 0,
        }
    }

    /// The reading at the last boundary that was drawn.
    pub fn last(&self) -> &Reading {
        &self.last
    }

    /// Whether the loop waits.
    pub fn waiting(&self) -> bool {
        self.waiting
    }

    /// When the loop began to, ns.
    pub fn since_ns(&self) -> u64 {
        self.since_ns
    }

    /// Draws a boundary at a later reading of the same thread: the stretch that ends there.
    pub fn draw(&mut self, now: Reading, waiting: bool) -> Span {
        let last = self.last;
        let run_delay_ns = now.run_delay_ns.zip(last.run_delay_ns);
        let stretch = Span {
            wall_ns: now.wall_ns - last.wall_ns,
            cpu_ns: now.cpu_ns - last.cpu_ns,
            run_delay_ns: run_delay_ns.map(|(now, then)| now - then),
            waits_ns: self.waits_ns(now.wall_ns),
            voluntary: now.switches.voluntary - last.switches.voluntary,
            involuntary: now.switches.involuntary - last.switches.involuntary,
        };
        *self = Self::begin(now, waiting);
        stretch
    }

    /// Puts a boundary off: the stretch goes on, and what it waited is kept.
    pub fn put_off(&mut self, now_ns: u64, waiting: bool) {
        self.earlier_waits_ns = self.waits_ns(now_ns);
        self.since_ns = now_ns;
        self.waiting = waiting;
    }

    fn waits_ns(&self, now_ns: u64) -> u64 {
        let this_one_ns = now_ns.saturating_sub(self.since_ns);
        self.earlier_waits_ns + if self.waiting { this_one_ns } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::thread::Switches;
    use crate::thread_times::ThreadTimes;

    fn at(wall_ns: u64, voluntary: u64) -> Reading {
        Reading {
            wall_ns,
            cpu_ns: wall_ns / 2,
            run_delay_ns: Some(wall_ns / 10),
            switches: Switches {
                voluntary,
                involuntary: 0,
            },
        }
    }

    #[test]
    fn a_wait_and_the_work_after_it_are_stretches_of_their_own() {
        let mut boundaries = Boundaries::begin(at(1_000, 0), true);
        let wait = boundaries.draw(at(3_000, 1), false);
        assert_eq!(
            (wait.wall_ns, wait.waits_ns, wait.voluntary),
            (2_000, 2_000, 1)
        );
        let work = boundaries.draw(at(4_000, 1), true);
        assert_eq!((work.wall_ns, work.waits_ns, work.voluntary), (1_000, 0, 0));
        assert_eq!((work.cpu_ns, work.run_delay_ns), (500, Some(100)));
    }

    #[test]
    fn a_boundary_that_is_put_off_joins_two_stretches_and_keeps_their_waits_apart() {
        // Work to 2,000, a wait to 5,000, work to 6,000; only the last boundary is drawn.
        let mut boundaries = Boundaries::begin(at(1_000, 0), false);
        boundaries.put_off(2_000, true);
        boundaries.put_off(5_000, false);
        let all = boundaries.draw(at(6_000, 2), true);
        assert_eq!((all.wall_ns, all.waits_ns), (5_000, 3_000));
        assert!(boundaries.waiting() && boundaries.since_ns() == 6_000);
    }

    #[test]
    fn run_delay_that_was_not_known_at_one_end_is_not_known_in_between() {
        let blind = |wall_ns| Reading {
            run_delay_ns: None,
            ..at(wall_ns, 0)
        };
        let mut boundaries = Boundaries::begin(at(1_000, 0), false);
        assert_eq!(boundaries.draw(blind(2_000), false).run_delay_ns, None);
        assert_eq!(boundaries.draw(at(3_000, 0), false).run_delay_ns, None);
        assert_eq!(boundaries.draw(at(4_000, 0), false).run_delay_ns, Some(100));
    }

    proptest! {
        /// Waits and work in turns, with boundaries put off wherever it may be.
        #[test]
        fn waits_and_wall_time_are_complete_whatever_is_put_off(
            turns in proptest::collection::vec((1..1_000_u64, any::<bool>(), any::<bool>()), 1..60),
        ) {
            let mut boundaries = Boundaries::begin(at(0, 0), false);
            let mut thread_times = ThreadTimes::default();
            let (mut now_ns, mut all_waits_ns, mut booked_waits_ns) = (0, 0, 0);
            let mut was_waiting = false;
            for (index, (length_ns, waiting, put_off)) in turns.iter().enumerate() {
                now_ns += length_ns;
                all_waits_ns += if was_waiting { *length_ns } else { 0 };
                was_waiting = *waiting;
                // The last is drawn, so that nothing is open.
                if *put_off && index + 1 < turns.len() {
                    boundaries.put_off(now_ns, *waiting);
                    continue;
                }
                let stretch = boundaries.draw(at(now_ns, index as u64 + 1), *waiting);
                prop_assert!(stretch.waits_ns <= stretch.wall_ns);
                booked_waits_ns += stretch.waits_ns;
                thread_times.book(&stretch);
                prop_assert_eq!(thread_times.counters.wall_ns(), now_ns);
            }
            prop_assert_eq!(booked_waits_ns, all_waits_ns);
            prop_assert!(thread_times.counters.sleep_ns <= all_waits_ns);
        }
    }
}
