//! The middle of some values: a few that are far off do not move it.

use std::cmp::Ordering;

use super::normal::DEVIATIONS_PER_MAD;

/// The middle value, of an even number the mean of both (Hyndman and Fan 1996, The American Statistician
/// 50(4), definition 2), in the unit of the values; `None` without values.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    median_of_sorted(&sorted)
}

fn median_of_sorted(sorted: &[f64]) -> Option<f64> {
    let half = sorted.len() / 2;
    let upper = sorted.get(half)?;
    Some(if sorted.len() % 2 == 1 {
        *upper
    } else {
        (sorted[half - 1] + upper) / 2.0
    })
}

/// The middle value, of an even number the upper one: a value that occurred (`median_high` in Python's
/// `statistics`); `None` without values.
pub fn median_high<T: Copy>(values: &[T], order: impl FnMut(&T, &T) -> Ordering) -> Option<T> {
    if values.is_empty() {
        return None;
    }
    let mut values = values.to_vec();
    let half = values.len() / 2;
    Some(*values.select_nth_unstable_by(half, order).1)
}

/// The median of some values, and their noise by it: the standard deviation that a normal distribution with the same
/// median absolute deviation has (Leys et al. 2013, Journal of Experimental Social Psychology 49(4)); both in the unit
/// of the values, `None` without values.
pub fn median_and_noise(values: &[f64]) -> Option<(f64, f64)> {
    let middle = median(values)?;
    let off: Vec<f64> = values.iter().map(|it| (it - middle).abs()).collect();
    Some((middle, DEVIATIONS_PER_MAD * median(&off)?))
}

/// Where some values lie, in their unit.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Summary {
    /// The smallest value.
    pub minimum: f64,
    /// See [`median`].
    pub median: f64,
    /// The largest value.
    pub maximum: f64,
}

impl Summary {
    /// `None` without values.
    pub fn of(values: &[f64]) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        Some(Self {
            minimum: *sorted.first()?,
            median: median_of_sorted(&sorted)?,
            maximum: *sorted.last()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn of_an_even_number_both_count_or_the_upper_one() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median_high::<i64>(&[], i64::cmp), None);
        assert_eq!(median_high(&[3, 1, 2], i32::cmp), Some(2));
        assert_eq!(
            median_high(&[4.0, 1.0, 2.0, 3.0], f64::total_cmp),
            Some(3.0)
        );
        assert_eq!(Summary::of(&[]), None);
    }

    proptest! {
        #[test]
        fn half_of_the_values_lie_on_each_side(
            values in prop::collection::vec(-1e9..1e9f64, 1..100),
        ) {
            let middle = median(&values).expect("there are values");
            let below = values.iter().filter(|it| **it < middle).count();
            let above = values.iter().filter(|it| **it > middle).count();
            prop_assert!(2 * below <= values.len() && 2 * above <= values.len());
            let high = median_high(&values, f64::total_cmp).expect("there are values");
            prop_assert!(high >= middle && values.contains(&high));
            let all = Summary::of(&values).expect("there are values");
            prop_assert_eq!(all.median, middle);
            prop_assert!(values.iter().all(|it| (all.minimum..=all.maximum).contains(it)));
        }
    }
}
