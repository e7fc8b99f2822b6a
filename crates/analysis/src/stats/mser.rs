//! Where a run's warm-up ends, by the marginal standard error (MSER).

/// How many of the first values to leave out, at most `most`, so that the error of the mean of the others
/// is least (White 1997, Simulation 69(6)); at least `least_left` are left. 0 without values.
pub fn warm_up_length(values: &[f64], most: usize, least_left: usize) -> usize {
    let errors = marginal_errors(values);
    (0..=most)
        .take_while(|cut| cut + least_left.max(1) <= values.len())
        .min_by(|a, b| errors[*a].total_cmp(&errors[*b]))
        .unwrap_or(0)
}

/// The error of the mean of what is left from each value on, squared: in one pass (Welford 1962,
/// Technometrics 4(3)), since a day has as many values as it has seconds.
fn marginal_errors(values: &[f64]) -> Vec<f64> {
    let mut errors = vec![0.0; values.len()];
    let (mut mean, mut squares) = (0.0, 0.0);
    for (first, value) in values.iter().enumerate().rev() {
        let count = (values.len() - first) as f64;
        let apart = value - mean;
        mean += apart / count;
        squares += apart * (value - mean);
        errors[first] = squares / count.powi(2);
    }
    errors
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_slow_start_is_cut_off() {
        let mut values = vec![2.0, 5.0, 8.0];
        values.extend((0..20).map(|i| 10.0 + 0.1 * f64::from(i % 3)));
        assert_eq!(warm_up_length(&values, 10, 3), 3);
        assert_eq!(warm_up_length(&values, 2, 3), 2);
        assert_eq!(warm_up_length(&[1.0; 20], 10, 3), 0);
        assert_eq!(warm_up_length(&[], 10, 3), 0);
        assert_eq!(warm_up_length(&[1.0, 9.0], 10, 3), 0);
    }

    proptest! {
        #[test]
        fn enough_is_left_and_the_error_of_it_is_least(
            values in prop::collection::vec(0.0..1e6f64, 0..60),
            most in 0..80usize,
            least_left in 0..10usize,
        ) {
            let cut = warm_up_length(&values, most, least_left);
            prop_assert!(cut <= most);
            prop_assert!(cut == 0 || values.len() - cut >= least_left.max(1));
            let error = |cut: usize| {
                let left = &values[cut..];
                let count = left.len() as f64;
                let mean = left.iter().sum::<f64>() / count;
                left.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count.powi(2)
            };
            let allowed = (0..=most).take_while(|cut| cut + least_left.max(1) <= values.len());
            for other in allowed {
                prop_assert!(error(cut) <= error(other) * (1.0 + 1e-6) + 1e-6);
            }
        }
    }
}
