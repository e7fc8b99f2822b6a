//! Differences within rounds, as they would be if both runs of a round had been exposed alike.
//!
//! Analysis of covariance with one covariate (Fisher 1932, Statistical Methods for Research Workers, 4th edition, section
//! 49.1), on differences within rounds: what follows exposure is `slope` times the difference in exposure. The slope is
//! estimated from the rounds where exposure varies among them; before anything is seen it is what other workloads have
//! had, as a normal distribution (a conjugate prior: Gelman et al. 2013, Bayesian Data Analysis, chapter 14). So rounds
//! that were exposed alike are as sure as they are without it, and of an arm that others slowed down alone no more is
//! claimed than such workloads allow.

use model::Interval;

use crate::stats::{Estimate, mean, t_95};

/// One round: how far its runs are apart.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Round {
    /// The logarithm of the ratio of their values.
    pub(super) by: f64,
    /// How much more of its CPU time others took of the second.
    pub(super) exposed_by: f64,
    /// How much more of the CPUs others used beside the second, whether it missed them or not.
    pub(super) beside_by: f64,
    /// How much less sure the value of the second is by its model, as a logarithm: half of what is possible.
    pub(super) doubt_by: f64,
}

/// What is expected of the slope before a round is seen: its middle and standard deviation, in logarithms for all of a
/// run's CPU time. `docs/decisions/alone.md` has the measurements.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Expected {
    middle: f64,
    deviation: f64,
}

impl Expected {
    /// Of throughput as if alone: what a request takes more of the CPUs it does less of.
    pub(super) const ALONE: Self = Self {
        middle: -0.15,
        deviation: 0.22,
    };
    /// Of CPU time per request.
    pub(super) const CPU: Self = Self {
        middle: 0.2,
        deviation: 0.2,
    };
}

/// Standard deviation of what others on all of the CPUs change even of who misses none of them, in logarithms: busy CPUs
/// need not be woken, and share caches.
const BESIDE: f64 = 0.1;
/// Scatter below this is none: the slope would be determined by rounding.
const LEAST_SCATTER: f64 = 1e-4;
/// How often scatter and slope are estimated by each other: they settle after a few times.
const TIMES: usize = 8;
/// Of a normal distribution, what 95 % lie within.
const Z_95: f64 = 1.96;

/// The difference at equal exposure with its 95 % interval; `None` of fewer than two rounds.
pub(super) fn beside_exposure(rounds: &[Round], expected: Expected) -> Option<Estimate> {
    if rounds.len() < 2 {
        return None;
    }
    let count = rounds.len() as f64;
    let mean_of = |of: fn(&Round) -> f64| mean(&rounds.iter().map(of).collect::<Vec<f64>>());
    let by = mean_of(|it| it.by)?;
    let exposed_by = mean_of(|it| it.exposed_by)?;
    let beside_by = mean_of(|it| it.beside_by)?;
    let doubt_by = mean_of(|it| it.doubt_by)?;
    let sum = |of: &dyn Fn(f64, f64) -> f64| -> f64 {
        let each = rounds
            .iter()
            .map(|it| of(it.by - by, it.exposed_by - exposed_by));
        each.sum()
    };
    let (together, spread) = (sum(&|d, x| d * x), sum(&|_, x| x * x));
    let known = expected.deviation.powi(-2);
    let mut slope = expected.middle;
    let mut used = 0.0;
    let mut variance = 0.0;
    for _ in 0..TIMES {
        let squares = sum(&|d, x| (d - slope * x).powi(2));
        let degrees = (count - 1.0 - used).max(1.0);
        variance = (squares / degrees).max(LEAST_SCATTER * LEAST_SCATTER);
        let seen = spread / variance;
        slope = (known * expected.middle + together / variance) / (known + seen);
        // As much of a degree of freedom as the slope is the rounds' own.
        used = seen / (known + seen);
    }
    let own = t_95((count - 1.0 - used.round()).max(1.0))?.powi(2) * variance / count;
    let of_slope = exposed_by.powi(2) / (known + spread / variance);
    // Anything within what is possible is as likely; where in it the truth lies is the same in every run.
    let of_model = doubt_by.powi(2) / 3.0;
    let of_both = of_slope + (BESIDE * beside_by).powi(2) + of_model;
    let value = by - slope * exposed_by;
    let half = (own + Z_95.powi(2) * of_both).sqrt();
    Some(Estimate {
        value,
        interval: Interval {
            low: value - half,
            high: value + half,
        },
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::stats::{Xorshift, mean_of_normal};

    const EXPECTED: Expected = Expected::CPU;

    fn rounds(all: &[(f64, f64)]) -> Vec<Round> {
        let round = |(by, exposed_by): &(f64, f64)| Round {
            by: *by,
            exposed_by: *exposed_by,
            beside_by: *exposed_by,
            doubt_by: 0.0,
        };
        all.iter().map(round).collect()
    }

    #[test]
    fn rounds_exposed_alike_are_as_sure_as_without_exposure() {
        let by = [0.05, 0.06, 0.04, 0.055, 0.045];
        let alike: Vec<(f64, f64)> = by.iter().map(|it| (*it, 0.0)).collect();
        let own = beside_exposure(&rounds(&alike), EXPECTED).expect("five rounds");
        let plain = mean_of_normal(&by).expect("five values");
        assert!((own.value - plain.value).abs() < 1e-12);
        assert!(
            (own.interval.low - plain.interval.low).abs() < 1e-9,
            "{own:?} {plain:?}"
        );
    }

    #[test]
    fn what_follows_exposure_is_taken_out_where_the_rounds_tell() {
        // 5 % more, and half of what others took more: exposed alike on average, now one and now the other more.
        let exposed = [0.2, -0.2, 0.1, -0.15, 0.05, 0.0];
        let wobble = [0.002, -0.002, -0.001, 0.001, 0.002, -0.002];
        let all: Vec<(f64, f64)> = exposed
            .iter()
            .zip(wobble)
            .map(|(x, wobble)| (0.05 + 0.5 * x + wobble, *x))
            .collect();
        let own = beside_exposure(&rounds(&all), EXPECTED).expect("six rounds");
        assert!(
            own.interval.low > 0.04 && own.interval.high < 0.06,
            "{own:?}"
        );
        let plain = mean_of_normal(&all.iter().map(|it| it.0).collect::<Vec<f64>>());
        assert!(plain.is_some_and(|it| it.interval.low < 0.0), "{plain:?}");
    }

    #[test]
    fn one_arm_alone_exposed_leaves_what_other_workloads_allow() {
        let all = [
            (0.12, 0.4),
            (0.13, 0.41),
            (0.11, 0.39),
            (0.12, 0.4),
            (0.125, 0.4),
        ];
        let own = beside_exposure(&rounds(&all), EXPECTED).expect("five rounds");
        let wide = own.interval.high - own.interval.low;
        assert!(wide > 0.15 && own.interval.low < 0.0, "{own:?}");
        assert!(beside_exposure(&rounds(&all[..1]), EXPECTED).is_none());
    }

    #[test]
    fn intervals_hold_the_truth_in_about_nineteen_of_twenty() {
        let mut random = Xorshift::new(3);
        let mut normal = move || {
            (0..12)
                .map(|_| random.below(1_000_000) as f64 / 1e6)
                .sum::<f64>()
                - 6.0
        };
        for count in [3, 5, 6, 12] {
            let mut missed = 0;
            for _ in 0..1_000 {
                let slope = 0.2 + 0.2 * normal();
                let one_sided = 0.2 * normal();
                let all: Vec<(f64, f64)> = (0..count)
                    .map(|_| {
                        let exposed = one_sided + 0.05 * normal();
                        (0.03 + slope * exposed + 0.02 * normal(), exposed)
                    })
                    .collect();
                let own = beside_exposure(&rounds(&all), EXPECTED).expect("enough rounds");
                let holds = own.interval.low <= 0.03 && 0.03 <= own.interval.high;
                missed += usize::from(!holds);
            }
            // Binomial(1000, 0.05) is at most 72 in 999 of 1,000 draws.
            assert!(missed <= 72, "{missed} of 1,000 with {count} rounds");
        }
    }

    proptest! {
        #[test]
        fn the_estimate_lies_in_its_interval_and_follows_a_shift(
            all in prop::collection::vec((-1.0..1.0f64, -0.5..0.5f64), 2..20),
            shift in -1.0..1.0f64,
        ) {
            let own = beside_exposure(&rounds(&all), EXPECTED).expect("rounds");
            prop_assert!(own.interval.low <= own.value && own.value <= own.interval.high);
            let moved: Vec<(f64, f64)> = all.iter().map(|it| (it.0 + shift, it.1)).collect();
            let moved = beside_exposure(&rounds(&moved), EXPECTED).expect("rounds");
            prop_assert!((moved.value - own.value - shift).abs() < 1e-6);
        }
    }
}
