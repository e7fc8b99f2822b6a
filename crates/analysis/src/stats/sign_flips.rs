//! Which of many paired differences are no chance, where few pairs must serve for all of them.
//!
//! If a pair's two sides differ by chance, its difference could as well have the other sign. So the signs of whole
//! pairs are flipped, all measures of a pair together, and what is found is compared with what flips give. The largest
//! of all measures is what a flip is judged by: however many are looked at, one that is found is found by chance in at
//! most 5 of 100 recordings.

use super::median::median;
use super::random::Xorshift;

/// Flips at most; of few pairs all are tried.
const FLIPS: usize = 500;
/// A difference counts for no more than so many times the middle one of its measure: a single pair that is far off
/// proves nothing.
const MOST_OF_MEDIAN: f64 = 3.0;

/// The differences of a measure, those far off drawn in, so that the sum of them all is 1 where they are equal, and
/// otherwise less the more they vary; empty where half of the pairs do not differ.
fn scaled(differences: &[f64]) -> Vec<f64> {
    let sizes: Vec<f64> = differences.iter().map(|it| it.abs()).collect();
    let middle = median(&sizes).unwrap_or(0.0);
    if !middle.is_finite() || middle <= 0.0 {
        return Vec::new();
    }
    // In parts of the middle one: their squares are finite.
    let drawn_in = differences
        .iter()
        .map(|it| (it / middle).clamp(-MOST_OF_MEDIAN, MOST_OF_MEDIAN));
    let drawn_in: Vec<f64> = drawn_in.collect();
    let squares: f64 = drawn_in.iter().map(|it| it * it).sum();
    let whole = (squares * differences.len() as f64).sqrt();
    drawn_in.iter().map(|it| it / whole).collect()
}

/// The p value of each of some measures, for all of them together, two-sided: step-down maxT (Westfall and Young 1993,
/// Resampling-Based Multiple Testing, algorithm 2.8, with sign flips for permutations) of the studentised mean, which
/// under flips rises with the sum over the root of the sum of squares. Each has a difference for each pair; one that
/// does not differ in half of its pairs has 1.
pub fn family_p_values(measures: &[Vec<f64>]) -> Vec<f64> {
    let scaled: Vec<Vec<f64>> = measures.iter().map(|it| scaled(it)).collect();
    let pairs = measures.iter().map(Vec::len).max();
    let own: Vec<f64> = scaled
        .iter()
        .map(|it| it.iter().sum::<f64>().abs())
        .collect();
    let mut order: Vec<usize> = (0..measures.len())
        .filter(|it| !scaled[*it].is_empty())
        .collect();
    order.sort_by(|a, b| own[*a].total_cmp(&own[*b]));
    let flips = flips(pairs.unwrap_or(0));
    let mut as_large = vec![0_usize; measures.len()];
    for signs in &flips {
        // From the smallest up: a flip is as large as the largest of those that are no larger themselves.
        let mut largest = 0.0_f64;
        for measure in &order {
            let signed = scaled[*measure].iter().zip(signs);
            let sum = signed.map(|(value, sign)| value * sign).sum::<f64>().abs();
            largest = largest.max(sum);
            as_large[*measure] += usize::from(largest >= own[*measure] * (1.0 - 1e-9));
        }
    }
    let mut p_values = vec![1.0; measures.len()];
    // Nothing is surer than what stands out more.
    let mut least = 0.0_f64;
    for measure in order.iter().rev() {
        least = least.max(as_large[*measure] as f64 / flips.len().max(1) as f64);
        p_values[*measure] = least;
    }
    p_values
}

/// Signs for each pair: all there are, or as many as are tried, the unflipped ones among them. The first sign stays:
/// to flip all changes no size.
fn flips(pairs: usize) -> Vec<Vec<f64>> {
    let free = pairs.saturating_sub(1);
    if free < usize::BITS as usize && 1_usize << free.min(20) <= FLIPS {
        let all = 0..1_usize << free;
        let sign = |number: usize, at: usize| match at > 0 && number >> (at - 1) & 1 == 1 {
            true => -1.0,
            false => 1.0,
        };
        return all
            .map(|number| (0..pairs).map(|at| sign(number, at)).collect())
            .collect();
    }
    let mut random = Xorshift::new(pairs as u64);
    let drawn = (1..FLIPS).map(|_| {
        let sign = |_| if random.below(2) == 1 { -1.0 } else { 1.0 };
        (0..pairs).map(sign).collect()
    });
    std::iter::once(vec![1.0; pairs]).chain(drawn).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Noise of deviation 1 around a shift.
    fn measure(random: &mut Xorshift, pairs: usize, shift: f64) -> Vec<f64> {
        let noise = |random: &mut Xorshift| (0..12).map(|_| random.share()).sum::<f64>() - 6.0;
        (0..pairs).map(|_| shift + noise(random)).collect()
    }

    #[test]
    fn of_many_that_do_not_differ_none_is_found_in_most_recordings() {
        let mut random = Xorshift::new(11);
        let runs = 200;
        let false_alarms = (0..runs).filter(|_| {
            let all: Vec<Vec<f64>> = (0..60).map(|_| measure(&mut random, 10, 0.0)).collect();
            family_p_values(&all).into_iter().any(|p| p <= 0.05)
        });
        // 5 of 100, and three standard errors.
        assert!(false_alarms.count() <= 10 + 9);
    }

    #[test]
    fn those_that_differ_are_found_among_many_that_do_not() {
        let mut random = Xorshift::new(7);
        let mut all: Vec<Vec<f64>> = (0..300).map(|_| measure(&mut random, 12, 0.0)).collect();
        for shift in [30.0, -8.0, 4.0] {
            all.push(measure(&mut random, 12, shift));
        }
        // Two of twelve spikes are of another kind.
        let mut most = measure(&mut random, 12, 30.0);
        (most[3], most[8]) = (0.0, 0.0);
        all.push(most);
        let p_values = family_p_values(&all);
        let differ = &p_values[300..];
        assert!(differ.iter().all(|p| *p <= 0.05), "{differ:?}");
        assert!(p_values[..300].iter().filter(|p| **p <= 0.05).count() <= 1);
    }

    #[test]
    fn one_pair_that_is_far_off_hides_nothing_and_is_nothing() {
        let mut far: Vec<f64> = (0..10)
            .map(|it| if it % 2 == 0 { 0.1 } else { -0.1 })
            .collect();
        far[3] = 1e9;
        let p_values = family_p_values(&[far, vec![5.0; 10], vec![0.0; 10]]);
        assert!(p_values[0] > 0.05 && p_values[1] <= 0.01, "{p_values:?}");
        assert_eq!(p_values[2], 1.0);
    }

    #[test]
    fn few_pairs_prove_nothing() {
        for pairs in 0..6 {
            assert!(family_p_values(&[vec![9.0; pairs]])[0] > 0.05, "{pairs}");
        }
        assert!(family_p_values(&[]).is_empty());
    }

    proptest! {
        #[test]
        fn sides_can_be_exchanged_and_any_numbers_are_taken(
            values in prop::collection::vec(prop::collection::vec(any::<f64>(), 8), 0..12),
        ) {
            let of = |sign: f64| -> Vec<Vec<f64>> {
                let own = values.iter();
                own.map(|it| it.iter().map(|it| sign * it).collect()).collect()
            };
            let (one, other) = (family_p_values(&of(1.0)), family_p_values(&of(-1.0)));
            prop_assert_eq!(&one, &other);
            prop_assert!(one.iter().all(|p| (0.0..=1.0).contains(p)));
        }
    }
}
