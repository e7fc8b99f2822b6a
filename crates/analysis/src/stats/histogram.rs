//! Quantiles of values that were only counted, in buckets.
//!
//! A bucket is (what its values are below, how many they are); buckets are in rising order, the first
//! begins at 0, and each next one where the one before ends.

/// The value that a share `q` (0 to 1) of all does not exceed, in the unit of the bounds. Within a
/// bucket the number of larger values falls evenly by factors, as it does in tails: log-linear
/// interpolation of the survival function, which is exact for an exponential distribution. `None`
/// without values, or where the quantile is beyond the last finite bound.
pub fn quantile(buckets: &[(f64, f64)], q: f64) -> Option<f64> {
    let all: f64 = buckets.iter().map(|(_, count)| count).sum();
    let wanted = all * (1.0 - q);
    let (mut above, mut lower) = (all, 0.0);
    for &(upper, count) in buckets {
        if count > 0.0 && above - count <= wanted {
            let rest = above - count;
            let part = if rest > 0.0 {
                (above / wanted).ln() / (above / rest).ln()
            } else {
                (above - wanted) / count
            };
            let value = lower + (upper - lower) * part;
            return value.is_finite().then_some(value);
        }
        (above, lower) = (above - count, upper);
    }
    None
}

/// Adds `count` values of which is only known that each is `at` or more (right-censored), as if each
/// were `at`: then every quantile is right or too low, and in no later bucket than the Kaplan-Meier
/// estimate (Kaplan and Meier 1958, JASA 53(282)). Without a bucket that holds `at`, nothing is added.
pub fn add_censored(buckets: &mut [(f64, f64)], at: f64, count: f64) {
    if let Some((_, counted)) = buckets.iter_mut().find(|(bound, _)| at < *bound) {
        *counted += count;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn no_value_has_no_quantile_and_what_is_beyond_all_bounds_has_none() {
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(quantile(&[(1.0, 0.0), (2.0, 0.0)], 0.5), None);
        assert_eq!(quantile(&[(1.0, 0.0), (f64::INFINITY, 3.0)], 0.5), None);
        assert_eq!(quantile(&[(1.0, 4.0)], 0.5), Some(0.5));
    }

    #[test]
    fn an_exponential_distribution_is_interpolated_exactly() {
        let survivors = |at: f64| 1e6 * (-at).exp();
        let count = |upper: u32| survivors(f64::from(upper) - 1.0) - survivors(f64::from(upper));
        let mut buckets: Vec<(f64, f64)> = (1..20)
            .map(|upper| (f64::from(upper), count(upper)))
            .collect();
        buckets.push((f64::INFINITY, survivors(19.0)));
        for q in [0.5, 0.9, 0.99, 0.999] {
            let value = quantile(&buckets, q).expect("it is within the bounds");
            assert!((value + (1.0 - q).ln()).abs() < 1e-9, "{q}: {value}");
        }
    }

    #[test]
    fn a_censored_value_stands_in_the_bucket_of_its_age() {
        let mut buckets = [(1.0, 10.0), (2.0, 0.0), (4.0, 0.0)];
        add_censored(&mut buckets, 2.0, 1.5);
        assert_eq!(buckets, [(1.0, 10.0), (2.0, 0.0), (4.0, 1.5)]);
        add_censored(&mut buckets, 4.0, 1.0);
        assert_eq!(buckets[2], (4.0, 1.5));
        add_censored(&mut [], 1.0, 1.0);
    }

    /// Whole counts, in buckets of rising bounds.
    fn buckets() -> impl Strategy<Value = Vec<(f64, f64)>> {
        prop::collection::vec((0.1..5.0f64, 0..1_000u32), 1..40).prop_map(|widths| {
            let mut bound = 0.0;
            let widths = widths.into_iter();
            let buckets = widths.map(|(width, count)| {
                bound += width;
                (bound, f64::from(count))
            });
            buckets.collect()
        })
    }

    proptest! {
        #[test]
        fn a_quantile_lies_within_the_buckets_that_are_not_empty(
            buckets in buckets(),
            (low, high) in (0.0..=1.0f64, 0.0..=1.0f64),
        ) {
            let (low, high) = (low.min(high), low.max(high));
            let first = buckets.iter().position(|(_, count)| *count > 0.0);
            let both = quantile(&buckets, low).zip(quantile(&buckets, high));
            prop_assert_eq!(both.is_some(), first.is_some());
            if let (Some((low, high)), Some(first)) = (both, first) {
                let begins = first.checked_sub(1).map_or(0.0, |before| buckets[before].0);
                let last = buckets.iter().rfind(|(_, count)| *count > 0.0);
                prop_assert!(begins <= low + 1e-9 && low <= high + 1e-9);
                prop_assert!(last.is_some_and(|(bound, _)| high <= bound + 1e-9));
            }
        }

        #[test]
        fn what_is_known_up_to_its_age_is_in_no_later_bucket_than_if_it_went_on_for_ever(
            mut buckets in buckets(),
            at in 0.0..100.0f64,
            q in 0.0..=1.0f64,
        ) {
            buckets.push((1_000.0, 0.0));
            buckets.push((f64::INFINITY, 0.0));
            let (mut ended, mut endless) = (buckets.clone(), buckets.clone());
            add_censored(&mut ended, at, 7.0);
            add_censored(&mut endless, f64::MAX, 7.0);
            let bucket = |value: f64| buckets.iter().position(|(bound, _)| value <= bound + 1e-9);
            if let Some(value) = quantile(&endless, q) {
                let low = quantile(&ended, q).expect("as many are below");
                prop_assert!(bucket(low) <= bucket(value), "{} and {}", low, value);
            }
        }
    }
}
