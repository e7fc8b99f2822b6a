//! Single values far from their neighbours.

use super::median::median;
use super::normal::DEVIATIONS_PER_MAD;

/// The values without outliers (Hampel 1974, JASA 69(346)): one that is far from the median of itself and
/// two neighbours on each side is replaced by that median, so an outlier of one or two values is gone, and
/// what holds for three stays. Far is five standard deviations, which are taken from the differences of
/// neighbours; `floor` is the least that they are taken to be, in the unit of the values. Nothing stays
/// nothing.
pub fn without_outliers(values: &[f64], floor: f64) -> Vec<f64> {
    const REACH: usize = 2;
    const FAR: f64 = 5.0;
    let middle = |at: usize| {
        let from = at.saturating_sub(REACH);
        let to = (at + REACH + 1).min(values.len());
        median(&values[from..to]).unwrap_or(values[at])
    };
    let middles: Vec<f64> = (0..values.len()).map(middle).collect();
    let steps: Vec<f64> = values
        .windows(2)
        .map(|pair| (pair[1] - pair[0]).abs())
        .collect();
    // Not of the residuals: medians of five are themselves values, and many residuals are 0.
    let usual = DEVIATIONS_PER_MAD * median(&steps).unwrap_or(0.0) / 2f64.sqrt();
    let far = FAR * usual.max(floor);
    let both = values.iter().zip(middles);
    both.map(|(value, middle)| {
        if (value - middle).abs() > far {
            middle
        } else {
            *value
        }
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_or_two_values_far_off_go_and_three_stay() {
        for (length, stays) in [(1, false), (2, false), (3, true)] {
            let mut values = vec![1.0; 20];
            values[8..8 + length].fill(9.0);
            let cleaned = without_outliers(&values, 0.1);
            assert_eq!(cleaned.contains(&9.0), stays, "{length}: {cleaned:?}");
        }
        assert!(without_outliers(&[], 0.1).is_empty());
        assert_eq!(without_outliers(&[5.0], 0.1), [5.0]);
    }

    proptest! {
        #[test]
        fn values_stay_or_become_the_middle_of_neighbours(
            values in prop::collection::vec(-1e3..1e3f64, 0..60),
            floor in 0.0..10.0f64,
        ) {
            let cleaned = without_outliers(&values, floor);
            prop_assert_eq!(cleaned.len(), values.len());
            for (at, value) in cleaned.iter().enumerate() {
                let near = &values[at.saturating_sub(2)..(at + 3).min(values.len())];
                prop_assert!(*value == values[at] || Some(*value) == median(near));
            }
            let calm = without_outliers(&values, 1e6);
            prop_assert_eq!(calm, values);
        }
    }
}
