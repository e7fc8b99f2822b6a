//! Means and ratios that say `None` where there is nothing to divide by.

/// Arithmetic mean, in the unit of the values; `None` without values.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// `part / whole`; `None` unless the whole is above 0.
pub fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_has_no_mean_and_no_part() {
        assert_eq!(mean(&[]), None);
        assert_eq!(mean(&[3.0]), Some(3.0));
        assert_eq!(mean(&[1.0, 2.0, 6.0]), Some(3.0));
        assert_eq!(ratio(1.0, 4.0), Some(0.25));
        assert_eq!(ratio(1.0, 0.0), None);
        assert_eq!(ratio(1.0, f64::NAN), None);
    }

    proptest! {
        #[test]
        fn a_mean_lies_between_the_least_and_the_largest(
            values in prop::collection::vec(-1e9..1e9f64, 1..100),
        ) {
            let mean = mean(&values).expect("there are values");
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            prop_assert!(least - 1e-3 <= mean && mean <= largest + 1e-3);
        }
    }
}
