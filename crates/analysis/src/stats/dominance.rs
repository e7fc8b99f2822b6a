//! How plainly one sample lies above another, by ranks: how far apart they are does not count.

/// Cliff's delta (Cliff 1993, Psychological Bulletin 114(3)): of all pairs of a value of each sample, the part in which
/// the second one's is larger, less the part in which it is smaller. 1 where all of the second lies above all of the
/// first, -1 where below, 0 where neither. Values that are no numbers are left out; `None` without values on a side.
pub fn dominance(first: &[f64], second: &[f64]) -> Option<f64> {
    let sorted = |values: &[f64]| {
        let mut known: Vec<f64> = values.iter().copied().filter(|it| !it.is_nan()).collect();
        known.sort_by(f64::total_cmp);
        known
    };
    let (first, second) = (sorted(first), sorted(second));
    if first.is_empty() || second.is_empty() {
        return None;
    }
    let score = |value: &f64| {
        let below = first.partition_point(|it| it < value);
        let not_above = first.partition_point(|it| it <= value);
        below as f64 - (first.len() - not_above) as f64
    };
    let pairs = first.len() as f64 * second.len() as f64;
    Some(second.iter().map(score).sum::<f64>() / pairs)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn it_counts_pairs() {
        assert_eq!(dominance(&[1.0, 2.0], &[3.0, 4.0, 5.0]), Some(1.0));
        assert_eq!(dominance(&[3.0, 4.0], &[1.0]), Some(-1.0));
        assert_eq!(dominance(&[1.0, 3.0], &[2.0]), Some(0.0));
        assert_eq!(dominance(&[1.0, 1.0], &[1.0, 2.0]), Some(0.5));
        // Signed zeros are one number.
        assert_eq!(dominance(&[0.0], &[-0.0]), Some(0.0));
        assert_eq!(dominance(&[f64::NAN, 1.0], &[2.0, f64::NAN]), Some(1.0));
        assert_eq!(dominance(&[f64::NAN], &[2.0]), None);
        assert_eq!(dominance(&[], &[2.0]), None);
    }

    proptest! {
        #[test]
        fn it_is_what_comparing_each_pair_gives_and_turns_with_the_samples(
            first in prop::collection::vec(-9i32..9, 1..30),
            second in prop::collection::vec(-9i32..9, 1..30),
        ) {
            let values = |it: &[i32]| it.iter().map(|it| f64::from(*it)).collect::<Vec<_>>();
            let slowly: i32 = second
                .iter()
                .flat_map(|b| first.iter().map(move |a| (b - a).signum()))
                .sum();
            let (first, second) = (values(&first), values(&second));
            let delta = dominance(&first, &second).expect("there are values");
            let pairs = (first.len() * second.len()) as f64;
            prop_assert!((delta - f64::from(slowly) / pairs).abs() < 1e-12);
            prop_assert_eq!(dominance(&second, &first), Some(-delta));
        }
    }
}
