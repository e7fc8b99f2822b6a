//! How far values scatter about their mean.

use super::mean::mean;

/// Coefficient of variation, without unit: the sample's standard deviation (divided by n - 1) over the
/// mean. `None` of fewer than three values, or of a mean that is not above 0.
pub fn coefficient_of_variation(values: &[f64]) -> Option<f64> {
    const LEAST: usize = 3;
    let centre = mean(values).filter(|mean| values.len() >= LEAST && *mean > 0.0)?;
    let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt() / centre)
}

/// What is known of some values that are summed up: mean and deviation in the unit of the values.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Group {
    /// How many values there are.
    pub count: f64,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation.
    pub deviation: f64,
}

/// Standard deviation of all values about `centre`, the mean of them all: within groups and between
/// their means (the law of total variance). `None` without values.
pub fn pooled_deviation(groups: impl IntoIterator<Item = Group>, centre: f64) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0.0);
    for group in groups {
        let within = group.deviation * group.deviation;
        sum += group.count * (within + (group.mean - centre).powi(2));
        count += group.count;
    }
    (count > 0.0).then(|| (sum / count).sqrt())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn variation_is_relative_and_needs_values() {
        assert_eq!(coefficient_of_variation(&[5.0, 5.0, 5.0, 5.0]), Some(0.0));
        let varied = coefficient_of_variation(&[4.0, 5.0, 6.0]).expect("three values");
        assert!((varied - 0.2).abs() < 1e-9);
        assert_eq!(coefficient_of_variation(&[1.0, 2.0]), None);
        assert_eq!(coefficient_of_variation(&[0.0; 5]), None);
    }

    fn group(values: &[f64]) -> Group {
        let mean = mean(values).expect("there are values");
        let count = values.len() as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Group {
            count,
            mean,
            deviation: (squares / count).sqrt(),
        }
    }

    #[test]
    fn no_group_has_no_deviation() {
        assert_eq!(pooled_deviation([], 1.0), None);
    }

    proptest! {
        #[test]
        fn groups_together_deviate_as_all_their_values_do(
            groups in prop::collection::vec(prop::collection::vec(0.0..1e6f64, 1..10), 1..10),
        ) {
            let whole = group(&groups.concat());
            let parts = groups.iter().map(|values| group(values));
            let pooled = pooled_deviation(parts, whole.mean).expect("there are values");
            prop_assert!((pooled - whole.deviation).abs() <= 1e-6 * whole.mean.max(1.0));
        }

        #[test]
        fn variation_has_no_unit(
            values in prop::collection::vec(1.0..1e6f64, 3..50),
            factor in 0.001..1_000.0f64,
        ) {
            let scaled: Vec<f64> = values.iter().map(|value| value * factor).collect();
            let one = coefficient_of_variation(&values).expect("three values");
            let other = coefficient_of_variation(&scaled).expect("three values");
            prop_assert!((one - other).abs() < 1e-9);
        }
    }
}
