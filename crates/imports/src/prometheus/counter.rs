//! How much a counter of a store grew between two scrapes: a reset is no fall, and a fall is no reset.
//!
//! Prometheus's `rate()` takes every fall for a reset and adds the whole new value, so a counter that runs backwards by a
//! little (steal and iowait do on some kernels) becomes a spike of its whole height.

/// What a counter must keep of its value for a fall to be no reset: a reset begins near zero.
const KEPT: f64 = 0.5;

/// What happened between two values.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Step {
    /// It grew by so much.
    Grown(f64),
    /// It began anew, and holds so much since.
    Reset(f64),
    /// It ran backwards by so much.
    Back(f64),
}

/// A counter that is followed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counter {
    /// The highest value of those that count.
    high: f64,
    last: f64,
}

impl Counter {
    pub(super) fn at(value: f64) -> Self {
        Self {
            high: value,
            last: value,
        }
    }

    /// Takes the next value. A fall of at most `jitter` is expected to be regained, and growth counts from the highest value
    /// on; after a larger one it counts from the new value on. `restarted` is whether the machine was, as its boot time says.
    pub(super) fn next(&mut self, value: f64, jitter: f64, restarted: bool) -> Step {
        let (high, last) = (self.high, self.last);
        self.last = value;
        if restarted || value < high * KEPT {
            self.high = value;
            return Step::Reset(value.max(0.0));
        }
        if value >= high {
            self.high = value;
            return Step::Grown(value - high);
        }
        if high - value > jitter {
            self.high = value;
        }
        match value < last {
            true => Step::Back(last - value),
            // It regains what it lost.
            false => Step::Grown(0.0),
        }
    }
}

/// A counter that ran backwards without a reset.
#[derive(Clone, PartialEq, Debug)]
pub struct Backward {
    /// Its name in the store.
    pub metric: String,
    /// How often.
    pub times: u32,
    /// The largest step, in the metric's own unit.
    pub most: f64,
    /// When it ran backwards first, ns since 1970.
    pub first_ns: i64,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_small_fall_is_no_reset_and_is_regained_once() {
        let mut counter = Counter::at(1_000.0);
        assert_eq!(counter.next(999.0, 15.0, false), Step::Back(1.0));
        assert_eq!(counter.next(999.5, 15.0, false), Step::Grown(0.0));
        assert_eq!(counter.next(1_003.0, 15.0, false), Step::Grown(3.0));
        // A large one is not regained: what follows counts from there.
        assert_eq!(counter.next(800.0, 15.0, false), Step::Back(203.0));
        assert_eq!(counter.next(802.0, 15.0, false), Step::Grown(2.0));
        assert_eq!(counter.next(5.0, 15.0, false), Step::Reset(5.0));
        assert_eq!(counter.next(9.0, 15.0, true), Step::Reset(9.0));
    }

    proptest! {
        /// Whatever a counter does, growth is never negative, and without a fall it adds up.
        #[test]
        fn growth_is_never_negative(values in prop::collection::vec(0.0..1e9f64, 2..50)) {
            let mut counter = Counter::at(values[0]);
            let (mut sum, mut fell) = (0.0, false);
            for value in &values[1..] {
                match counter.next(*value, 10.0, false) {
                    Step::Grown(by) => {
                        prop_assert!(by >= 0.0);
                        sum += by;
                    }
                    Step::Reset(to) => {
                        prop_assert!(to >= 0.0);
                        fell = true;
                    }
                    Step::Back(by) => {
                        prop_assert!(by > 0.0);
                        fell = true;
                    }
                }
            }
            if !fell {
                prop_assert!((sum - (values[values.len() - 1] - values[0])).abs() < 1e-3);
            }
        }
    }
}
