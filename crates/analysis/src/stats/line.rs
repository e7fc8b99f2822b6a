//! Straight lines through values that lie evenly spaced.

use super::median::median;

/// A line over the values' places 0, 1, 2 and so on.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Line {
    /// The value at place 0, in the unit of the values.
    pub level: f64,
    /// The change from a place to the next, in the unit of the values.
    pub slope: f64,
}

/// The line by least squares (Legendre 1805); `None` of fewer than two values.
pub fn least_squares(values: &[f64]) -> Option<Line> {
    if values.len() < 2 {
        return None;
    }
    let n = values.len() as f64;
    let (middle, mean) = ((n - 1.0) / 2.0, values.iter().sum::<f64>() / n);
    let (mut across, mut square) = (0.0, 0.0);
    for (i, value) in values.iter().enumerate() {
        let x = i as f64 - middle;
        across += x * (value - mean);
        square += x * x;
    }
    let slope = across / square;
    Some(Line {
        level: mean - slope * middle,
        slope,
    })
}

/// The slope per unit of `spacing`, which is the distance of neighbours: the median over all pairs, which
/// outliers do not move (Theil 1950; Sen 1968, JASA 63(324)). `None` of fewer than two values.
pub fn theil_sen(values: &[f64], spacing: f64) -> Option<f64> {
    let mut slopes = Vec::new();
    for (i, a) in values.iter().enumerate() {
        for (j, b) in values.iter().enumerate().skip(i + 1) {
            slopes.push((b - a) / ((j - i) as f64 * spacing));
        }
    }
    median(&slopes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_value_has_no_slope() {
        assert_eq!(least_squares(&[]), None);
        assert_eq!(least_squares(&[1.0]), None);
        assert_eq!(theil_sen(&[], 1.0), None);
        assert_eq!(theil_sen(&[1.0], 1.0), None);
    }

    #[test]
    fn an_outlier_moves_least_squares_and_not_the_median_of_slopes() {
        let mut values: Vec<f64> = (0..9).map(f64::from).collect();
        values[8] = 1_000.0;
        assert_eq!(theil_sen(&values, 1.0), Some(1.0));
        assert!(least_squares(&values).is_some_and(|line| line.slope > 60.0));
    }

    proptest! {
        #[test]
        fn a_line_is_found_again(
            (level, slope) in (-1e3..1e3f64, -1e3..1e3f64),
            count in 2..60usize,
            spacing in 1..9u8,
        ) {
            let values: Vec<f64> = (0..count).map(|at| level + slope * at as f64).collect();
            let line = least_squares(&values).expect("two values");
            prop_assert!((line.level - level).abs() < 1e-6 && (line.slope - slope).abs() < 1e-6);
            let spacing = f64::from(spacing);
            let steep = theil_sen(&values, spacing).expect("two values");
            prop_assert!((steep * spacing - slope).abs() < 1e-6);
        }
    }
}
