//! Differences within rounds, as they would be if both runs of a round had been exposed alike.
//!
//! Analysis of covariance (Fisher 1932, Statistical Methods for Research Workers, 4th edition, section 49.1), on
//! differences within rounds: what follows exposure is a slope times the difference in exposure. The slope is estimated
//! from the rounds where exposure varies among them; before anything is seen it is what other workloads have had, as a
//! normal distribution (a conjugate prior: Gelman et al. 2013, Bayesian Data Analysis, chapter 14). So rounds that were
//! exposed alike are as sure as they are without it, and of an arm that others slowed down alone no more is claimed than
//! such workloads allow.
//!
//! The second covariate is the load generator's own CPU time for a request, where it does the same for both: it is a
//! control variate (Lavenberg and Welch 1981, A Perspective on the Use of Control Variables to Increase the Efficiency of
//! Monte Carlo Simulations). Whether a wake-up crosses CPUs is settled anew in each run, costs server and generator alike,
//! and is most of what a short run's CPU time varies by.

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
    /// The logarithm of the ratio of what the load generator needs of the CPUs for a request; 0 where nothing follows from
    /// that.
    pub(super) generator_by: f64,
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
/// Standard deviation of how much more a generator needs for the requests of one than for those of the other, in
/// logarithms, where it is asked for the same: replies differ a little.
const GENERATOR: f64 = 0.03;
/// Standard deviation of the slope that belongs to it, before a round is seen: it is the rounds that tell.
const GENERATOR_SLOPE: f64 = 1.0;
/// From so many rounds on they tell it.
const ENOUGH_FOR_GENERATOR: usize = 8;
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
    let mean_of = |of: &dyn Fn(&Round) -> f64| mean(&rounds.iter().map(of).collect::<Vec<f64>>());
    let tells = generator_tells(rounds);
    let generator = |it: &Round| if tells { it.generator_by } else { 0.0 };
    let by = mean_of(&|it| it.by)?;
    let middle = [mean_of(&|it| it.exposed_by)?, mean_of(&generator)?];
    let beside_by = mean_of(&|it| it.beside_by)?;
    let doubt_by = mean_of(&|it| it.doubt_by)?;
    let from_middle = |it: &Round| {
        let covariates = [it.exposed_by - middle[0], generator(it) - middle[1]];
        (it.by - by, covariates)
    };
    let each: Vec<(f64, [f64; 2])> = rounds.iter().map(from_middle).collect();
    let fit = fit(&each, expected);
    let slopes = fit.slopes;
    let own = t_95((count - 1.0 - fit.used.round()).max(1.0))?.powi(2) * fit.variance / count;
    let of_slopes = fit.of_slopes(middle);
    // Anything within what is possible is as likely; where in it the truth lies is the same in every run.
    let of_model = doubt_by.powi(2) / 3.0;
    let of_generator = if tells { slopes[1] * GENERATOR } else { 0.0 };
    let of_both = of_slopes + (BESIDE * beside_by).powi(2) + of_model + of_generator.powi(2);
    let value = by - slopes[0] * middle[0] - slopes[1] * middle[1];
    let half = (own + Z_95.powi(2) * of_both).sqrt();
    Some(Estimate {
        value,
        interval: Interval {
            low: value - half,
            high: value + half,
        },
    })
}

/// Whether the generator's CPU time can be taken for what the machine did: there are rounds enough to see how the rest
/// follows it, and it does not need so much more for the one than for the other that its work must be another.
fn generator_tells(rounds: &[Round]) -> bool {
    let all: Vec<f64> = rounds.iter().map(|it| it.generator_by).collect();
    let Some(middle) = mean(&all).filter(|_| all.len() >= ENOUGH_FOR_GENERATOR) else {
        return false;
    };
    let squares: f64 = all.iter().map(|it| (it - middle).powi(2)).sum();
    let count = all.len() as f64;
    let of_middle = squares / (count - 1.0) / count;
    squares > 0.0 && middle.abs() <= Z_95 * (of_middle + GENERATOR.powi(2)).sqrt()
}

/// How the differences follow both covariates.
struct Fit {
    slopes: [f64; 2],
    /// Of what is left, per round.
    variance: f64,
    /// As much of the degrees of freedom as the slopes take.
    used: f64,
    /// What is known of the slopes, by prior and rounds: the inverse of their covariance.
    known: [[f64; 2]; 2],
}

impl Fit {
    /// The variance that the slopes bring to a value so far from where they do not matter.
    fn of_slopes(&self, at: [f64; 2]) -> f64 {
        let [[a, b], [_, d]] = self.known;
        let [x, y] = at;
        (d * x * x - 2.0 * b * x * y + a * y * y) / (a * d - b * b)
    }
}

/// Fits differences and covariates that are both taken from their means.
fn fit(each: &[(f64, [f64; 2])], expected: Expected) -> Fit {
    let sum = |of: &dyn Fn(f64, [f64; 2]) -> f64| each.iter().map(|(d, x)| of(*d, *x)).sum::<f64>();
    let together = [sum(&|d, x| d * x[0]), sum(&|d, x| d * x[1])];
    let (a, b, d) = (
        sum(&|_, x| x[0] * x[0]),
        sum(&|_, x| x[0] * x[1]),
        sum(&|_, x| x[1] * x[1]),
    );
    let prior = [expected.deviation.powi(-2), GENERATOR_SLOPE.powi(-2)];
    let mut fit = Fit {
        slopes: [expected.middle, 0.0],
        variance: 0.0,
        used: 0.0,
        known: [[prior[0], 0.0], [0.0, prior[1]]],
    };
    for _ in 0..TIMES {
        let slopes = fit.slopes;
        let squares = sum(&|d, x| (d - slopes[0] * x[0] - slopes[1] * x[1]).powi(2));
        let degrees = (each.len() as f64 - 1.0 - fit.used).max(1.0);
        let variance = (squares / degrees).max(LEAST_SCATTER * LEAST_SCATTER);
        let known = [
            [prior[0] + a / variance, b / variance],
            [b / variance, prior[1] + d / variance],
        ];
        let determinant = known[0][0] * known[1][1] - known[0][1].powi(2);
        let wanted = [
            prior[0] * expected.middle + together[0] / variance,
            together[1] / variance,
        ];
        fit = Fit {
            slopes: [
                (known[1][1] * wanted[0] - known[0][1] * wanted[1]) / determinant,
                (known[0][0] * wanted[1] - known[0][1] * wanted[0]) / determinant,
            ],
            variance,
            // The trace of what the rounds know over what is known.
            used: (known[1][1] * a - 2.0 * known[0][1] * b + known[0][0] * d)
                / determinant
                / variance,
            known,
        };
    }
    fit
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
            generator_by: 0.0,
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
        let mut normal = normals(3);
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

    /// So many rounds in which `by` is 5 % and what the machine did, the generator's part in it larger.
    fn with_generator(count: usize, more: f64, mut normal: impl FnMut() -> f64) -> Vec<Round> {
        let round = |_| {
            let machine = 0.12 * normal();
            let mut round = rounds(&[(0.05 + machine + 0.02 * normal(), 0.02 * normal())])[0];
            round.generator_by = more + 2.0 * machine + 0.1 * normal();
            round
        };
        (0..count).map(round).collect()
    }

    fn without_generator(rounds: &[Round]) -> Vec<Round> {
        let without = |it: &Round| Round {
            generator_by: 0.0,
            ..*it
        };
        rounds.iter().map(without).collect()
    }

    fn normals(seed: u64) -> impl FnMut() -> f64 {
        let mut random = Xorshift::new(seed);
        move || {
            let twelve = (0..12).map(|_| random.below(1_000_000) as f64 / 1e6);
            twelve.sum::<f64>() - 6.0
        }
    }

    #[test]
    fn what_the_generator_needed_too_is_the_machines() {
        let mut normal = normals(7);
        let (mut missed, mut wide, mut plain_wide) = (0, 0.0, 0.0);
        for _ in 0..1_000 {
            let more = GENERATOR * normal();
            let all = with_generator(20, more, &mut normal);
            let own = beside_exposure(&all, EXPECTED).expect("20 rounds");
            missed += usize::from(!(own.interval.low <= 0.05 && 0.05 <= own.interval.high));
            wide += own.interval.high - own.interval.low;
            let plain = beside_exposure(&without_generator(&all), EXPECTED)
                .expect("20 rounds")
                .interval;
            plain_wide += plain.high - plain.low;
        }
        // Binomial(1000, 0.05) is at most 72 in 999 of 1,000 draws.
        assert!(missed <= 72, "{missed} of 1,000");
        assert!(wide < 0.7 * plain_wide, "{wide} instead of {plain_wide}");
    }

    #[test]
    fn a_generator_that_does_more_for_the_one_tells_nothing() {
        let all = with_generator(40, -0.3, normals(8));
        let without = without_generator(&all);
        let both = [all, without].map(|it| beside_exposure(&it, EXPECTED).expect("rounds").value);
        assert!((both[0] - both[1]).abs() < 1e-12, "{both:?}");
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
