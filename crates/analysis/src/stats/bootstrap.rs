//! Confidence intervals of ratios over time, by block bootstrap.
//!
//! Seconds of one run resemble their neighbours, so blocks of them are drawn, not single ones
//! (moving blocks, Künsch 1989, The Annals of Statistics 17(3)). The seed is fixed: the same
//! recording always gives the same interval.

use model::Interval;

use super::random::Xorshift;

const RESAMPLES: usize = 500;
/// Bins of a block.
const BLOCK: usize = 3;
/// Of fewer bins no interval is available.
const LEAST: usize = 5;
const SEED: u64 = 0x9E37_79B9_7F4A_7C15;

/// The 95 % interval of `sum(part) / sum(whole)` over bins of (part, whole) in the order of time, by the
/// percentiles of the resampled ratios (Efron 1979, The Annals of Statistics 7(1)). `None` under five
/// bins, of which no interval is available, and where no bin has a whole.
pub fn ratio_interval(bins: &[(f64, f64)]) -> Option<Interval> {
    if bins.len() < LEAST {
        return None;
    }
    let mut random = Xorshift::new(SEED);
    let mut ratios: Vec<f64> = (0..RESAMPLES)
        .filter_map(|_| resample(bins, &mut random))
        .collect();
    ratios.sort_by(f64::total_cmp);
    let last = ratios.len().checked_sub(1)?;
    let at = |q: f64| ratios[(last as f64 * q).round() as usize];
    Some(Interval {
        low: at(0.025),
        high: at(0.975),
    })
}

fn resample(bins: &[(f64, f64)], random: &mut Xorshift) -> Option<f64> {
    let drawn = draw(bins.len(), random).into_iter().map(|it| bins[it]);
    let (part, whole) = drawn.fold((0.0, 0.0), |sum, next| (sum.0 + next.0, sum.1 + next.1));
    (whole > 0.0).then(|| part / whole)
}

/// The places of bins, drawn in blocks until there are as many as there are bins.
fn draw(bins: usize, random: &mut Xorshift) -> Vec<usize> {
    let starts = bins - BLOCK + 1;
    let mut drawn = Vec::with_capacity(bins + BLOCK);
    while drawn.len() < bins {
        let start = random.below(starts);
        drawn.extend(start..start + BLOCK);
    }
    drawn
}

/// Resamples of a run of so many bins, each as the places of the bins that it consists of: what is worked out from each
/// scatters as it would between runs of this length, as far as what varies varies within the run. Runs with different
/// `run` numbers are drawn independently. Nothing under five bins.
pub fn resamples(bins: usize, run: u64) -> Vec<Vec<usize>> {
    if bins < LEAST {
        return Vec::new();
    }
    let mut random = Xorshift::new(SEED ^ run.wrapping_mul(0xD1B5_4A32_D192_ED03));
    (0..RESAMPLES).map(|_| draw(bins, &mut random)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn too_few_bins_have_no_interval_and_constant_ones_a_point() {
        assert_eq!(ratio_interval(&[]), None);
        assert_eq!(ratio_interval(&[(1.0, 2.0); 4]), None);
        assert_eq!(
            ratio_interval(&[(1.0, 2.0); 20]),
            Some(Interval {
                low: 0.5,
                high: 0.5
            })
        );
        assert_eq!(ratio_interval(&[(0.0, 0.0); 20]), None);
    }

    #[test]
    fn the_interval_holds_the_ratio_and_narrows_with_length() {
        let bins = |n: usize| {
            (0..n)
                .map(|i| (0.3 + 0.1 * ((i * 7 % 5) as f64 - 2.0), 1.0))
                .collect::<Vec<_>>()
        };
        let short = ratio_interval(&bins(10)).expect("enough bins");
        let long = ratio_interval(&bins(100)).expect("enough bins");
        assert!(short.low <= 0.3 && 0.3 <= short.high);
        assert!(long.high - long.low < short.high - short.low);
    }

    #[test]
    fn the_same_bins_have_the_same_interval_in_every_version() {
        let bins: Vec<(f64, f64)> = (0..30)
            .map(|i| (f64::from(i * 7 % 11), 10.0 + f64::from(i % 3)))
            .collect();
        let expected = Interval {
            low: 0.406_060_606_060_606_07,
            high: 0.524_242_424_242_424_3,
        };
        assert_eq!(ratio_interval(&bins), Some(expected));
    }

    #[test]
    fn resamples_are_blocks_and_those_of_two_runs_differ() {
        assert!(resamples(4, 0).is_empty());
        let one = resamples(10, 1);
        assert_eq!(one.len(), RESAMPLES);
        let blocks = |it: &Vec<usize>| {
            it.chunks(BLOCK)
                .all(|it| it.windows(2).all(|w| w[1] == w[0] + 1))
        };
        assert!(
            one.iter()
                .all(|it| it.len() >= 10 && it.iter().all(|at| *at < 10))
        );
        assert!(one.iter().all(blocks));
        assert_ne!(one, resamples(10, 2));
        assert_eq!(one, resamples(10, 1));
    }

    proptest! {
        #[test]
        fn an_interval_is_ordered_and_within_the_ratios_of_the_bins(
            bins in prop::collection::vec((0.0..1e6f64, 1.0..1e6f64), 5..60),
        ) {
            let interval = ratio_interval(&bins).expect("enough bins");
            let ratios = bins.iter().map(|(part, whole)| part / whole);
            let least = ratios.clone().fold(f64::INFINITY, f64::min);
            let largest = ratios.fold(f64::NEG_INFINITY, f64::max);
            prop_assert!(interval.low <= interval.high);
            prop_assert!(least * (1.0 - 1e-9) <= interval.low);
            prop_assert!(interval.high <= largest * (1.0 + 1e-9));
        }

        #[test]
        fn equal_bins_have_their_ratio_as_interval(
            (part, whole) in (0.0..1e6f64, 1.0..1e6f64),
            count in 5..60usize,
        ) {
            let interval = ratio_interval(&vec![(part, whole); count]).expect("enough bins");
            let ratio = part / whole;
            prop_assert!((interval.low - ratio).abs() <= 1e-9 * ratio);
            prop_assert!((interval.high - ratio).abs() <= 1e-9 * ratio);
        }
    }
}
