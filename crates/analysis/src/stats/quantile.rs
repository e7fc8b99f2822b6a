//! Quantiles of values that are all known, one by one.

/// With n values beyond a quantile, the number that really lie beyond is known to about 1 / sqrt(n)
/// (Poisson): with 5 to half of it.
const LEAST_BEYOND: f64 = 5.0;

/// What `1.0 - 0.95` and its like may be off, in values: counts are whole numbers.
const ROUNDING: f64 = 1e-6;

/// Whether so many of `count` values lie beyond the quantile `q` (0 to 1) that it says something; never
/// for no values.
pub fn is_supported(count: f64, q: f64) -> bool {
    count * (1.0 - q) >= LEAST_BEYOND - ROUNDING
}

/// The quantile `q` (0 to 1) by the nearest rank (Hyndman and Fan 1996, The American Statistician 50(4),
/// definition 1): a value that occurred, and not one between two. `sorted` is in rising order; `None`
/// where it is empty.
pub fn nearest_rank<T: Copy>(sorted: &[T], q: f64) -> Option<T> {
    let rank = (sorted.len() as f64 * q - ROUNDING).ceil().max(1.0) as usize;
    let last = sorted.len().checked_sub(1)?;
    Some(sorted[(rank - 1).min(last)])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ranks_are_exact() {
        let values: Vec<i64> = (1..=5000).collect();
        let at = |q| nearest_rank(&values, q);
        assert_eq!([0.5, 0.9, 0.95].map(at), [2500, 4500, 4750].map(Some));
        assert_eq!([0.99, 0.999, 1.0].map(at), [4950, 4995, 5000].map(Some));
        assert_eq!(at(0.0), Some(1));
        assert_eq!(nearest_rank::<f64>(&[], 0.5), None);
        assert_eq!(nearest_rank(&[7.0], 0.999), Some(7.0));
    }

    #[test]
    fn five_must_lie_beyond() {
        assert!(is_supported(100.0, 0.95) && !is_supported(99.0, 0.95));
        assert!(is_supported(500.0, 0.99) && !is_supported(499.0, 0.99));
        assert!(!is_supported(0.0, 0.5));
        assert!(!is_supported(1e9, 1.0));
    }

    proptest! {
        #[test]
        fn a_quantile_occurred_and_does_not_fall(
            mut values in prop::collection::vec(-1_000..1_000i64, 1..200),
            (low, high) in (0.0..=1.0f64, 0.0..=1.0f64),
        ) {
            values.sort_unstable();
            let (low, high) = (low.min(high), low.max(high));
            let at = |q| nearest_rank(&values, q).expect("there are values");
            prop_assert!(at(low) <= at(high));
            prop_assert!(values.contains(&at(low)));
            prop_assert_eq!(Some(&at(1.0)), values.last());
            let not_above = values.iter().filter(|value| **value <= at(low)).count();
            prop_assert!(not_above as f64 >= low * values.len() as f64 - 1e-3);
        }
    }
}
