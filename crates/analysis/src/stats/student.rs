//! Quantiles of Student's t distribution, and the mean with its interval.

use model::Interval;

use super::mean::mean;
use super::signed_rank::Estimate;

/// What the absolute value exceeds in 5 of 100 draws, by degrees of freedom from 1 on (Student's t, the 97.5 % quantile;
/// Abramowitz and Stegun 1964, Handbook of Mathematical Functions, table 26.10).
const T_95: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
    2.052, 2.048, 2.045, 2.042,
];

/// The same for any degrees of freedom, rounded down, so that an interval is rather too wide; `None` under one.
pub fn t_95(degrees: f64) -> Option<f64> {
    let whole = degrees.floor();
    if whole.is_nan() || whole < 1.0 {
        return None;
    }
    Some(match T_95.get(whole as usize - 1) {
        Some(known) => *known,
        // The last line's is wider than that of more degrees.
        None if whole < 120.0 => T_95[T_95.len() - 1],
        None => super::normal::Z_95,
    })
}

/// The mean of independent, normally distributed values with its 95 % interval (Student 1908, Biometrika 6); `None` of
/// fewer than two.
pub fn mean_of_normal(values: &[f64]) -> Option<Estimate> {
    let value = mean(values)?;
    let degrees = (values.len() - 1) as f64;
    let half = t_95(degrees)?;
    let squares: f64 = values.iter().map(|it| (it - value).powi(2)).sum();
    let half = half * (squares / degrees / values.len() as f64).sqrt();
    Some(Estimate {
        value,
        interval: Interval {
            low: value - half,
            high: value + half,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_has_the_interval_of_its_scatter() {
        let Estimate { value, interval } = mean_of_normal(&[1.0, 2.0, 3.0]).expect("three values");
        assert_eq!(value, 2.0);
        // A standard error of 1 / sqrt(3), with 2 degrees of freedom.
        assert!(
            (interval.high - 2.0 - 4.303 / 3f64.sqrt()).abs() < 1e-9,
            "{interval:?}"
        );
        assert!((interval.low + interval.high - 4.0).abs() < 1e-9);
        assert!(mean_of_normal(&[]).is_none() && mean_of_normal(&[1.0]).is_none());
    }

    #[test]
    fn degrees_are_rounded_down_and_many_are_normal() {
        assert_eq!(t_95(0.9), None);
        assert_eq!(t_95(f64::NAN), None);
        assert_eq!(t_95(1.0), Some(12.706));
        assert_eq!(t_95(2.9), Some(4.303));
        assert_eq!(t_95(60.0), Some(2.042));
        assert_eq!(t_95(1e6), Some(1.960));
    }
}
