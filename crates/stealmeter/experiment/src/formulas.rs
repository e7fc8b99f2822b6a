//! Seastar's steal time, before and after it was changed (scylladb/seastar, pull request 2390 of
//! 2024): the formulas as data in, data out. What they are fed with is `meters.rs`.
//!
//! Both are the time awake less the thread's CPU time. Before, sleep was timed around everything that
//! is done to go to sleep, whether it came to that or not. After, only the call that waits is timed,
//! and since CPU time within the call still makes the difference fall, what is shown is the sum of
//! its rises from reading to reading.

/// Time awake less time on a CPU, ns: below 0 where more was timed as sleep than was slept.
pub(crate) fn difference_ns(wall_ns: u64, sleep_ns: u64, cpu_ns: u64) -> i64 {
    wall_ns.cast_signed() - sleep_ns.cast_signed() - cpu_ns.cast_signed()
}

/// The sum of a value's rises, as seen by one who reads it now and then.
#[derive(Default, Debug)]
pub(crate) struct Rises {
    last_ns: i64,
    sum_ns: i64,
}

impl Rises {
    /// The sum with this reading, ns.
    pub(crate) fn read(&mut self, value_ns: i64) -> i64 {
        self.sum_ns += (value_ns - self.last_ns).max(0);
        self.last_ns = value_ns;
        self.sum_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_case_goes_below_zero() {
        // First line of the pull request: awake 56.688 ms, on a CPU 99.671 ms, of about 100 ms.
        let steal = difference_ns(100_000_000, 43_312_000, 99_671_000);
        assert_eq!(steal, -42_983_000);
    }

    #[test]
    fn what_was_neither_slept_nor_run_is_steal() {
        assert_eq!(difference_ns(1_000, 300, 200), 500);
    }

    #[test]
    fn falls_are_dropped_and_rises_add_up() {
        let mut rises = Rises::default();
        let shown: Vec<i64> = [10, 4, 9, -50, 0, 0]
            .map(|value| rises.read(value))
            .to_vec();
        assert_eq!(shown, [10, 10, 15, 15, 65, 65]);
    }

    #[test]
    fn who_reads_oftener_sees_more() {
        // Noise of one around nothing.
        let noise: Vec<i64> = (0..1_000).map(|n| n % 2).collect();
        let (mut often, mut seldom) = (Rises::default(), Rises::default());
        let often = noise.iter().map(|value| often.read(*value)).max();
        let seldom = noise.iter().step_by(100).map(|value| seldom.read(*value));
        assert_eq!((often, seldom.max()), (Some(500), Some(0)));
    }
}
