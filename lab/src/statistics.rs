//! The lab's statistics. They are its own, though `analysis::stats` has most of them: the lab judges the
//! program from outside, and a number that is compared with one from the same function agrees with it
//! even where both are wrong.

use std::fmt;

/// The normal quantile of 97.5 %: 2.5 % are left out on each side.
const Z: f64 = 1.959_963_984_540_054;

/// Arithmetic mean, in the unit of the values; `None` without values.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Standard deviation of a sample (divided by n - 1), in the unit of the values: 0 of one value, `None`
/// without values.
pub fn deviation(values: &[f64]) -> Option<f64> {
    let mean = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((squares / (values.len() as f64 - 1.0).max(1.0)).sqrt())
}

/// The 95 % interval of a mean by Student's t, as (low, high) in the unit of the values: of one value anything is
/// possible; `None` without values.
pub fn interval_of_mean(values: &[f64]) -> Option<(f64, f64)> {
    /// The quantile of 97.5 % by degrees of freedom, from one on; of more than these it is hardly above the normal one.
    const T: [f64; 10] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    ];
    let middle = mean(values)?;
    let reach = match values.len() - 1 {
        0 => f64::INFINITY,
        freedom => {
            let quantile = T.get(freedom - 1).copied().unwrap_or(T[T.len() - 1]);
            quantile * deviation(values)? / (values.len() as f64).sqrt()
        }
    };
    Some((middle - reach, middle + reach))
}

/// The middle value, of an even number the mean of both; `None` without values.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let [lower, upper] = [values.len().checked_sub(1)? / 2, values.len() / 2];
    Some((values[lower] + values[upper]) / 2.0)
}

/// The value that `percent` of 100 values in rising order do not exceed, a value that occurred and of two
/// the larger one; `None` without values.
pub fn percentile(sorted: &[f64], percent: usize) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    Some(sorted[(sorted.len() * percent / 100).min(last)])
}

/// `right` of `total`, with its 95 % interval by E. B. Wilson, "Probable Inference, the Law of Succession,
/// and Statistical Inference", Journal of the American Statistical Association 22 (1927): it stays
/// inside 0 to 1 and says something useful when all or none of few runs were right.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Proportion {
    right: u32,
    total: u32,
}

impl Proportion {
    /// `right` of `total`; more right ones than there are count as all.
    pub fn new(right: u32, total: u32) -> Self {
        Self {
            right: right.min(total),
            total,
        }
    }

    /// The interval (low, high), 0 to 1; everything is possible when nothing was tried.
    pub fn interval(self) -> (f64, f64) {
        if self.total == 0 {
            return (0.0, 1.0);
        }
        let n = f64::from(self.total);
        let p = f64::from(self.right) / n;
        let centre = p + Z * Z / (2.0 * n);
        let reach = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
        let scale = 1.0 + Z * Z / n;
        // At the edges the ends are 0 and 1 exactly; rounding would leave them a hair off.
        let low = if self.right == 0 {
            0.0
        } else {
            (centre - reach) / scale
        };
        let high = if self.right == self.total {
            1.0
        } else {
            (centre + reach) / scale
        };
        (low, high)
    }

    /// In words, with the interval: `3 of 4 right (95 % interval 30 to 95 %)`.
    pub fn counted(self, what: &str) -> String {
        let (low, high) = self.interval();
        format!(
            "{} of {} {what} (95 % interval {:.0} to {:.0} %)",
            self.right,
            self.total,
            low * 100.0,
            high * 100.0
        )
    }
}

impl fmt::Display for Proportion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.counted("right"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: (f64, f64), low: f64, high: f64) {
        assert!(
            (found.0 - low).abs() < 5e-4 && (found.1 - high).abs() < 5e-4,
            "{found:?}"
        );
    }

    #[test]
    fn means_deviations_and_percentiles_of_known_values() {
        assert_eq!(mean(&[2.0, 4.0, 4.0, 6.0]), Some(4.0));
        let spread = deviation(&[2.0, 4.0, 4.0, 6.0]).expect("there are values");
        assert!((spread - (8.0_f64 / 3.0).sqrt()).abs() < 1e-12);
        assert_eq!(deviation(&[3.0]), Some(0.0));
        let hundred: Vec<f64> = (0..100).map(f64::from).collect();
        assert_eq!(percentile(&hundred, 99), Some(99.0));
        assert_eq!(percentile(&hundred, 100), Some(99.0));
        assert_eq!(percentile(&[3.0], 50), Some(3.0));
        assert_eq!(median(vec![9.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0, 2.0, 9.0]), Some(3.0));
        assert_eq!(median(Vec::new()), None);
        assert_eq!(
            (mean(&[]), deviation(&[]), percentile(&[], 99)),
            (None, None, None)
        );
    }

    #[test]
    fn few_values_say_little_of_their_mean() {
        assert_eq!(interval_of_mean(&[]), None);
        assert_eq!(
            interval_of_mean(&[3.0]),
            Some((f64::NEG_INFINITY, f64::INFINITY))
        );
        // The deviation is 1, so each end is 4.303 / sqrt(3) away.
        let (low, high) = interval_of_mean(&[1.0, 2.0, 3.0]).expect("there are values");
        assert!((low + 0.4843).abs() < 1e-3 && (high - 4.4843).abs() < 1e-3);
    }

    #[test]
    fn known_values() {
        // n/(n + z^2) and z^2/(n + z^2) at the edges, worked out by hand for n = 10.
        close(Proportion::new(10, 10).interval(), 0.7225, 1.0);
        close(Proportion::new(0, 10).interval(), 0.0, 0.2775);
        close(Proportion::new(5, 10).interval(), 0.2366, 0.7634);
    }

    #[test]
    fn edges_are_exact_and_nothing_tried_says_nothing() {
        assert_eq!(Proportion::new(0, 3).interval().0, 0.0);
        assert_eq!(Proportion::new(3, 3).interval().1, 1.0);
        assert_eq!(Proportion::new(0, 0).interval(), (0.0, 1.0));
        assert_eq!(Proportion::new(7, 3), Proportion::new(3, 3));
    }

    #[test]
    fn is_symmetric() {
        let (low, high) = Proportion::new(2, 9).interval();
        let (mirror_low, mirror_high) = Proportion::new(7, 9).interval();
        assert!((low - (1.0 - mirror_high)).abs() < 1e-12);
        assert!((high - (1.0 - mirror_low)).abs() < 1e-12);
    }

    #[test]
    fn reads_as_a_sentence() {
        assert_eq!(
            Proportion::new(4, 4).to_string(),
            "4 of 4 right (95 % interval 51 to 100 %)"
        );
    }
}
