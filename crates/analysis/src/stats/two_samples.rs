//! How far two samples of independent values are apart, with an interval.

use model::Interval;

use super::mean::mean;
use super::median::median;
use super::normal::Z_95;
use super::signed_rank::Estimate;
use super::student::t_95;

/// From this product of the sizes on the normal approximation of the rank sum is used.
const MANY_PAIRS: usize = 400;

/// The shift from `first` to `second`: the median of all differences, by Hodges and Lehmann, with the 95 % interval that
/// goes with the rank sum of Wilcoxon, Mann and Whitney (Hollander, Wolfe and Chicken 2014, Nonparametric Statistical
/// Methods, 4.2 and 4.3), exact up to some twenty values each. Of too few for ranks to leave out 5 % (four each are
/// enough) the interval is Welch's (1947, Biometrika 34), for which values are normally distributed. `None` where one
/// sample has no values, or both together under three.
pub fn shift(first: &[f64], second: &[f64]) -> Option<Estimate> {
    let mut differences: Vec<f64> = Vec::with_capacity(first.len() * second.len());
    for one in first {
        differences.extend(second.iter().map(|other| other - one));
    }
    differences.sort_by(f64::total_cmp);
    let value = median(&differences)?;
    let interval = match outside(first.len(), second.len()) {
        Some(outside) => Interval {
            low: differences[outside],
            high: differences[differences.len() - 1 - outside],
        },
        None => welch(first, second, value)?,
    };
    Some(Estimate { value, interval })
}

/// How many of the ordered differences lie below the interval; `None` where none would be too many.
fn outside(first: usize, second: usize) -> Option<usize> {
    const OUT: f64 = 0.025;
    let (m, n) = (first as f64, second as f64);
    if first * second > MANY_PAIRS {
        let deviation = (m * n * (m + n + 1.0) / 12.0).sqrt();
        return Some((m * n / 2.0 - Z_95 * deviation).max(0.0) as usize);
    }
    let ways = ways(first, second);
    let all: f64 = ways.iter().sum();
    let mut below = 0.0;
    let many = ways.iter().take_while(|it| {
        below += **it / all;
        below <= OUT
    });
    many.count().checked_sub(1)
}

/// In how many orders of two samples each value of the statistic of Mann and Whitney comes about.
fn ways(first: usize, second: usize) -> Vec<f64> {
    // by[n][u] for the samples of `m` values seen so far: f(m, n, u) = f(m - 1, n, u - n) + f(m, n - 1, u).
    let many = first * second + 1;
    let mut by: Vec<Vec<f64>> = vec![vec![0.0; many]; second + 1];
    by.iter_mut().for_each(|it| it[0] = 1.0);
    for _ in 0..first {
        let before = by.clone();
        for n in 1..=second {
            for u in 0..many {
                let with_first = if u >= n { before[n][u - n] } else { 0.0 };
                by[n][u] = with_first + by[n - 1][u];
            }
        }
    }
    by.swap_remove(second)
}

fn welch(first: &[f64], second: &[f64], value: f64) -> Option<Interval> {
    // With one value on a side its scatter is taken to be the other's.
    let scatter = |sample: &[f64]| {
        let centre = mean(sample)?;
        let squares: f64 = sample.iter().map(|it| (it - centre).powi(2)).sum();
        (sample.len() > 1).then(|| squares / (sample.len() - 1) as f64)
    };
    let (one, other) = (scatter(first), scatter(second));
    let part = |own: Option<f64>, of: Option<f64>, count: usize| Some(own.or(of)? / count as f64);
    let (a, b) = (
        part(one, other, first.len())?,
        part(other, one, second.len())?,
    );
    let degrees = match (one, other) {
        (Some(_), Some(_)) if a + b > 0.0 => {
            let own = |it: f64, count: usize| it * it / (count - 1) as f64;
            (a + b).powi(2) / (own(a, first.len()) + own(b, second.len()))
        }
        _ => (first.len() + second.len() - 2) as f64,
    };
    let half = t_95(degrees)? * (a + b).sqrt();
    Some(Interval {
        low: value - half,
        high: value + half,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ranks_have_their_tabled_limits() {
        // Hollander, Wolfe and Chicken, table A.6: the interval leaves out so many differences on each side.
        assert_eq!(outside(3, 3), None);
        assert_eq!(outside(4, 4), Some(0));
        assert_eq!(outside(5, 5), Some(2));
        assert_eq!(outside(10, 10), Some(23));
        assert_eq!(ways(2, 2), [1.0, 1.0, 2.0, 1.0, 1.0]);
    }

    #[test]
    fn few_values_have_the_interval_of_welch() {
        let Estimate { value, interval } =
            shift(&[10.0, 12.0], &[20.0, 22.0]).expect("there are values");
        assert_eq!(value, 10.0);
        // Scatter of 2 each, so a standard error of sqrt(2), with 2 degrees of freedom.
        assert!(
            (interval.high - 10.0 - 4.303 * 2f64.sqrt()).abs() < 1e-9,
            "{interval:?}"
        );
        assert_eq!(shift(&[1.0], &[2.0]), None);
        assert_eq!(shift(&[], &[2.0, 3.0]), None);
        // One value beside three: their scatter stands for its own.
        let one = shift(&[1.0], &[2.0, 3.0, 4.0]).expect("three on one side");
        assert!((one.interval.high - 2.0 - 4.303 * (1.0 + 1.0 / 3.0_f64).sqrt()).abs() < 1e-9);
    }

    #[test]
    fn a_few_values_that_are_far_off_move_little() {
        let first: Vec<f64> = (0..12).map(f64::from).collect();
        let mut second: Vec<f64> = first.iter().map(|it| it + 3.0).collect();
        second[11] = 9_999.0;
        let Estimate { value, interval } = shift(&first, &second).expect("there are values");
        assert!((2.5..3.6).contains(&value), "{value}");
        assert!(interval.high < 8.0, "{interval:?}");
    }

    proptest! {
        #[test]
        fn the_shift_follows_the_second_sample_and_lies_in_its_interval(
            first in prop::collection::vec(-1e3..1e3f64, 2..25),
            second in prop::collection::vec(-1e3..1e3f64, 2..25),
            by in -1e3..1e3f64,
        ) {
            let one = shift(&first, &second).expect("values");
            prop_assert!(one.interval.low <= one.value && one.value <= one.interval.high);
            let moved: Vec<f64> = second.iter().map(|it| it + by).collect();
            let moved = shift(&first, &moved).expect("values");
            prop_assert!((moved.value - one.value - by).abs() < 1e-6);
            let back = shift(&second, &first).expect("values");
            prop_assert!((back.value + one.value).abs() < 1e-6);
            prop_assert!((back.interval.low + one.interval.high).abs() < 1e-6);
        }
    }
}
