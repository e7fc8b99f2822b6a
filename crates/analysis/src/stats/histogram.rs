//! Quantiles of values that were only counted, in buckets.
//!
//! A bucket is (what its values are below, how many they are); buckets are in rising order, the first
//! begins at 0, and each next one where the one before ends.

/// The value that a share `q` (0 to 1) of all does not exceed, in the unit of the bounds. Within a
/// bucket the number of larger values falls evenly by factors, as it does in tails: log-linear
/// interpolation of the survival function, which is exact for an exponential distribution. Where that
/// does not agree with `sum`, the sum of all values, values in the bucket lie as far up as it says: where
/// most stand in one bucket, their mean is known well. `None` without values, or where the quantile is
/// beyond the last finite bound.
pub fn quantile(buckets: &[(f64, f64)], sum: Option<f64>, q: f64) -> Option<f64> {
    let all: f64 = buckets.iter().map(|(_, count)| count).sum();
    let wanted = all * (1.0 - q);
    let (mut above, mut lower) = (all, 0.0);
    for &(upper, count) in buckets {
        if count > 0.0 && above - count <= wanted {
            let rest = above - count;
            let bucket = Bucket {
                lower,
                width: upper - lower,
                count,
            };
            let value = bucket.value(buckets, sum, above, rest, wanted);
            return value.is_finite().then_some(value);
        }
        (above, lower) = (above - count, upper);
    }
    // Parts of counts do not add up to the last digit: it is the highest.
    let highest = buckets.iter().rfind(|(_, count)| *count > 0.0);
    highest.map(|it| it.0).filter(|it| it.is_finite())
}

/// The bucket that a quantile is in.
struct Bucket {
    lower: f64,
    width: f64,
    count: f64,
}

impl Bucket {
    /// The value above which there are `wanted`, where `above` are from its lower bound on, and `rest` from its upper.
    fn value(
        &self,
        buckets: &[(f64, f64)],
        sum: Option<f64>,
        above: f64,
        rest: f64,
        wanted: f64,
    ) -> f64 {
        let falls = above / rest;
        // The mean of its values under log-linear interpolation, as part of its width.
        let log_linear = match rest > 0.0 {
            true => 1.0 / falls.ln() - rest / self.count,
            false => 0.5,
        };
        let known = sum.and_then(|sum| self.mean(buckets, sum));
        let mean = known.map_or(log_linear, |(low, high)| log_linear.clamp(low, high));
        let part = if (mean - log_linear).abs() > 1e-9 {
            // The distribution on a bucket with this mean whose quantiles are a power.
            ((above - wanted) / self.count).powf(1.0 / mean - 1.0)
        } else if rest > 0.0 {
            (above / wanted).ln() / falls.ln()
        } else {
            (above - wanted) / self.count
        };
        self.lower + self.width * part
    }

    /// Between which two parts of its width the mean of its values lies, wherever those of others do in theirs;
    /// `None` where the sum is of other values.
    fn mean(&self, buckets: &[(f64, f64)], sum: f64) -> Option<(f64, f64)> {
        /// A mean closer to an end than this is one of rounding.
        const LEAST: f64 = 1e-3;
        let (mut least, mut most, mut from) = (0.0, 0.0, 0.0);
        for &(upper, count) in buckets {
            if count > 0.0 && from != self.lower {
                least += count * from;
                most += count * upper;
            }
            from = upper;
        }
        let part = |sum: f64| (sum / self.count - self.lower) / self.width;
        let (low, high) = (part(sum - most), part(sum - least));
        let fits = self.width.is_finite() && low <= 1.0 && high >= 0.0;
        fits.then(|| (low.max(LEAST), high.min(1.0 - LEAST)))
            .filter(|(low, high)| low <= high)
    }
}

/// The same with the values that were left out because each was only asked for when the one before was there, as if
/// one were asked for every `interval`: for each value v also v - i, v - 2i and so on, down to i (HdrHistogram,
/// `recordValueWithExpectedInterval`; Tene 2013, How NOT to measure latency). A bucket's values count as its middle.
pub fn with_omitted(buckets: &[(f64, f64)], interval: f64) -> Vec<(f64, f64)> {
    let mut all = buckets.to_vec();
    if interval.is_nan() || interval <= 0.0 {
        return all;
    }
    let mut from = 0.0;
    for &(upper, count) in buckets {
        let value = match upper.is_finite() {
            true => f64::midpoint(from, upper),
            false => from,
        };
        from = upper;
        if count <= 0.0 || value < 2.0 * interval {
            continue;
        }
        // How many of the values that are added are `at` or more.
        let from_on = |at: f64| ((value - at.max(interval)) / interval).floor().max(0.0);
        let mut lower = 0.0;
        for (bound, counted) in &mut all {
            *counted += count * (from_on(lower) - from_on(*bound));
            lower = *bound;
        }
    }
    all
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
        assert_eq!(quantile(&[], None, 0.5), None);
        assert_eq!(quantile(&[(1.0, 0.0), (2.0, 0.0)], None, 0.5), None);
        assert_eq!(
            quantile(&[(1.0, 0.0), (f64::INFINITY, 3.0)], None, 0.5),
            None
        );
        assert_eq!(quantile(&[(1.0, 4.0)], None, 0.5), Some(0.5));
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
            let value = quantile(&buckets, None, q).expect("it is within the bounds");
            assert!((value + (1.0 - q).ln()).abs() < 1e-9, "{q}: {value}");
        }
    }

    #[test]
    fn values_of_one_bucket_lie_around_their_mean() {
        // 1,000 values of 20.3 each, all in one bucket: none of p50 and p99 is far from that.
        let buckets = [(16.8, 0.0), (21.0, 1_000.0), (25.0, 0.0)];
        let [p50, p99] = [0.5, 0.99].map(|q| quantile(&buckets, Some(20_300.0), q).expect("known"));
        assert!(20.3 < p50 && p50 < 20.6, "{p50}");
        assert!(p50 < p99 && p99 < 21.0, "{p99}");
        // Of another sum nothing is known.
        assert_eq!(
            quantile(&buckets, Some(9e9), 0.5),
            quantile(&buckets, None, 0.5)
        );
    }

    #[test]
    fn the_highest_of_parts_of_counts_is_found_whatever_their_sum_rounds_to() {
        let part = 0.1 + 0.2;
        let buckets: Vec<(f64, f64)> = (1..40).map(|it| (f64::from(it), part / 3.0)).collect();
        for last in 1..40 {
            assert_eq!(quantile(&buckets[..last], None, 1.0), Some(last as f64));
        }
    }

    #[test]
    fn a_stall_holds_as_many_values_as_would_have_been_asked_for_in_it() {
        // One of 1 s to 1.003 s among thousands of 0.1 ms, asked for each ms: 1,000 more, evenly below it.
        let buckets = [(0.0002, 1e4), (0.5, 0.0), (1.0, 0.0), (1.003, 1.0)];
        let all = with_omitted(&buckets, 0.001);
        let added: Vec<f64> = all.iter().zip(&buckets).map(|(a, b)| a.1 - b.1).collect();
        assert_eq!(added.iter().sum::<f64>(), 1_000.0);
        assert!(
            (added[1] - 499.5).abs() <= 1.5 && (added[2] - 500.0).abs() <= 1.5,
            "{added:?}"
        );
        assert_eq!(with_omitted(&buckets, 0.0), buckets);
        assert_eq!(with_omitted(&buckets, f64::NAN), buckets);
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
            let both = quantile(&buckets, None, low).zip(quantile(&buckets, None, high));
            prop_assert_eq!(both.is_some(), first.is_some());
            if let (Some((low, high)), Some(first)) = (both, first) {
                let begins = first.checked_sub(1).map_or(0.0, |before| buckets[before].0);
                let last = buckets.iter().rfind(|(_, count)| *count > 0.0);
                prop_assert!(begins <= low + 1e-9 && low <= high + 1e-9);
                prop_assert!(last.is_some_and(|(bound, _)| high <= bound + 1e-9));
            }
        }

        #[test]
        fn a_sum_moves_no_quantile_out_of_its_bucket_and_keeps_their_order(
            buckets in buckets(),
            parts in prop::collection::vec(0.0..1.0f64, 40),
            (low, high) in (0.0..=1.0f64, 0.0..=1.0f64),
        ) {
            let (low, high) = (low.min(high), low.max(high));
            let mut from = 0.0;
            let sum: f64 = buckets.iter().zip(&parts).map(|((upper, count), part)| {
                let value = from + (upper - from) * part;
                from = *upper;
                value * count
            }).sum();
            let place = |value: f64| buckets.iter().position(|(bound, _)| value <= bound + 1e-9);
            let both = |q| quantile(&buckets, None, q).zip(quantile(&buckets, Some(sum), q));
            if let (Some((_, first)), Some((plain, second))) = (both(low), both(high)) {
                prop_assert!(first <= second + 1e-9, "{} and {}", first, second);
                let apart = place(plain).zip(place(second)).is_some_and(|(a, b)| a.abs_diff(b) <= 1);
                prop_assert!(apart, "{} and {}", plain, second);
            }
        }

        #[test]
        fn what_is_left_out_is_never_above_what_was_measured(
            buckets in buckets(),
            interval in 0.01..50.0f64,
        ) {
            let all = with_omitted(&buckets, interval);
            let last = buckets.iter().rposition(|(_, count)| *count > 0.0);
            for (place, (own, before)) in all.iter().zip(&buckets).enumerate() {
                prop_assert!(own.1 >= before.1);
                prop_assert!(own.1 == before.1 || last.is_some_and(|last| place <= last));
                prop_assert!(own.1 == before.1 || own.0 > interval - 1e-9);
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
            if let Some(value) = quantile(&endless, None, q) {
                let low = quantile(&ended, None, q).expect("as many are below");
                prop_assert!(bucket(low) <= bucket(value), "{} and {}", low, value);
            }
        }
    }
}
