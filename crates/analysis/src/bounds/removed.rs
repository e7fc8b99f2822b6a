//! How much of the response time a change takes away.

use model::Interval;

/// Part of the response time that a change takes away, from its least to its most.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Removed(pub(super) Interval);

impl Removed {
    /// A share with its interval, where it has one.
    pub(crate) fn about(share: f64, interval: Option<Interval>) -> Self {
        let (low, high) = interval.map_or((share, share), |it| (it.low, it.high));
        Self(Interval {
            low: low.min(share),
            high: high.max(share),
        })
    }

    /// So much of it.
    pub(crate) fn part(self, part: f64) -> Self {
        let Self(Interval { low, high }) = self;
        Self(Interval {
            low: low * part,
            high: high * part,
        })
    }

    /// Of a wait of which a part, `stalled` of the response time, is in few requests that met somebody who held all up: that
    /// and the rest, which is in all of them, are two waits. At least the larger one goes. Where most of it is in few, the
    /// others show what is left: those who wait for each other meanwhile do so afterwards too.
    pub(crate) fn of_two(self, stalled: f64) -> Self {
        /// From this part of it on some of the rest stays, and from the other one on all of it.
        const MOST: (f64, f64) = (0.5, 0.8);
        let Self(Interval { low, high }) = self;
        let stalled = stalled.min(low);
        let rest = low - stalled;
        let stays = (stalled / low.max(f64::MIN_POSITIVE) - MOST.0) / (MOST.1 - MOST.0);
        Self(Interval {
            low: stalled.max(rest),
            high: high - rest * stays.clamp(0.0, 1.0),
        })
    }

    /// The same, but at least only so much of its least.
    pub(crate) fn with_least_part(self, part: f64) -> Self {
        let Self(Interval { low, high }) = self;
        Self(Interval {
            low: low * part,
            high,
        })
    }
}

impl From<Interval> for Removed {
    fn from(part: Interval) -> Self {
        Self(part)
    }
}

impl From<f64> for Removed {
    fn from(part: f64) -> Self {
        Self::about(part, None)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of_two(share: f64, stalled: f64) -> (f64, f64) {
        let Removed(Interval { low, high }) = Removed::from(share).of_two(stalled);
        (low, high)
    }

    #[test]
    fn a_wait_that_all_requests_have_goes_whole() {
        assert_eq!(of_two(0.8, 0.0), (0.8, 0.8));
    }

    #[test]
    fn of_a_wait_in_few_requests_the_rest_stays() {
        let (low, high) = of_two(0.85, 0.8);
        assert!((low - 0.8).abs() < 1e-9 && (high - 0.8).abs() < 1e-9);
        assert_eq!(
            of_two(0.5, 0.9),
            (0.5, 0.5),
            "others wait for something else"
        );
    }

    #[test]
    fn of_two_equal_waits_one_goes_or_both() {
        assert_eq!(of_two(0.8, 0.4), (0.4, 0.8));
    }

    proptest! {
        #[test]
        fn neither_end_jumps(share in 0.01..1.0f64, stalled in 0.0..1.0f64) {
            let step = 1e-6;
            let (one, next) = (of_two(share, stalled), of_two(share, stalled + step));
            prop_assert!(one.0 <= one.1 && one.1 <= share);
            prop_assert!((one.0 - next.0).abs() < 10.0 * step && (one.1 - next.1).abs() < 10.0 * step);
        }
    }
}
