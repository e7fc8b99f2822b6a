//! Where the middle of a sample is, with the interval of Wilcoxon's signed ranks: on a shared machine a
//! few values are far off, and a mean follows them.

use model::Interval;

use super::median::median;
use super::normal::Z_95;

/// A value with its 95 % confidence interval, in the unit of the sample.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// Where the true value lies in 95 of 100 repetitions.
    pub interval: Interval,
}

/// The estimator of Hodges and Lehmann, which is the median of the means of all pairs, each value with
/// itself included, and the interval that goes with Wilcoxon's signed ranks in its normal approximation
/// (Hollander, Wolfe and Chicken 2014, Nonparametric Statistical Methods, 3.2 and 3.3). The values are
/// independent and symmetrically distributed. Of fewer than six values no ranks leave out only 5 %, and
/// the interval is the range. `None` without values.
pub fn hodges_lehmann(sample: &[f64]) -> Option<Estimate> {
    let mut means: Vec<f64> = Vec::new();
    for (place, one) in sample.iter().enumerate() {
        means.extend(sample[place..].iter().map(|other| (one + other) / 2.0));
    }
    means.sort_by(f64::total_cmp);
    let count = sample.len() as f64;
    let variance = count * (count + 1.0) * (2.0 * count + 1.0) / 24.0;
    let outside = (count * (count + 1.0) / 4.0 - Z_95 * variance.sqrt()).max(0.0) as usize;
    Some(Estimate {
        value: median(&means)?,
        interval: Interval {
            low: means[outside],
            high: means[means.len() - 1 - outside],
        },
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_few_values_that_are_far_off_move_nothing() {
        let mut sample: Vec<f64> = (0..31).map(|it| f64::from(it - 15)).collect();
        let Estimate { value, interval } = hodges_lehmann(&sample).expect("there are values");
        assert_eq!(value, 0.0);
        assert_eq!(interval.low, -interval.high);
        // Their mean is 0 with a standard error of 1.6.
        assert!((2.9..4.0).contains(&interval.high), "{interval:?}");
        sample.extend([-900.0, -1_000.0]);
        let Estimate { value, interval } = hodges_lehmann(&sample).expect("there are values");
        assert!((-2.0..0.0).contains(&value), "{value}");
        assert!(interval.low > -6.0 && interval.high > 1.0, "{interval:?}");
    }

    #[test]
    fn nothing_has_no_middle_and_few_values_have_their_range() {
        assert_eq!(hodges_lehmann(&[]), None);
        let one = hodges_lehmann(&[3.0]).expect("a value");
        assert_eq!(
            (one.value, one.interval.low, one.interval.high),
            (3.0, 3.0, 3.0)
        );
        let few = hodges_lehmann(&[1.0, 2.0, 6.0]).expect("values");
        assert_eq!((few.interval.low, few.interval.high), (1.0, 6.0));
    }

    proptest! {
        #[test]
        fn the_interval_holds_the_estimate_within_the_range(
            sample in prop::collection::vec(-1e6..1e6f64, 1..60),
            shift in -1e6..1e6f64,
        ) {
            let Estimate { value, interval } = hodges_lehmann(&sample).expect("values");
            let least = sample.iter().copied().fold(f64::INFINITY, f64::min);
            let largest = sample.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            prop_assert!(least <= interval.low && interval.low <= value);
            prop_assert!(value <= interval.high && interval.high <= largest);
            let moved: Vec<f64> = sample.iter().map(|it| it + shift).collect();
            let moved = hodges_lehmann(&moved).expect("values");
            prop_assert!((moved.value - value - shift).abs() < 1e-6);
        }
    }
}
