//! Whether one variance is larger than another by more than chance.

use statrs::distribution::{ChiSquared, ContinuousCDF, FisherSnedecor};

/// Ratios beyond this are as unlikely as this one; products with them stay finite.
const LARGEST: f64 = 1e30;

/// How likely the ratio of a variance with `degrees` of freedom to one with `degrees_below` is at least `ratio` where both
/// estimate the same (Fisher 1924, Proceedings of the International Congress of Mathematics 2; Snedecor 1934). The one
/// below is known exactly where its degrees are infinite (then chi-squared). `None` where a number of degrees is not above
/// 0, or the ratio is none.
pub fn f_test(ratio: f64, degrees: f64, degrees_below: f64) -> Option<f64> {
    if ratio.is_nan() || ratio < 0.0 {
        return None;
    }
    let ratio = ratio.min(LARGEST);
    let p = match degrees_below == f64::INFINITY {
        true => ChiSquared::new(degrees).ok()?.sf(ratio * degrees),
        false => FisherSnedecor::new(degrees, degrees_below).ok()?.sf(ratio),
    };
    Some(p.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ratios_have_their_tabled_probabilities() {
        // Abramowitz and Stegun 1964, tables 26.9 (F) and 26.8 (chi-squared).
        for (ratio, degrees, below, expected) in [
            (161.45, 1.0, 1.0, 0.05),
            (4.96, 1.0, 10.0, 0.05),
            (3.33, 5.0, 10.0, 0.05),
            (4.56, 10.0, 11.0, 0.01),
            (18.51, 1.0, 2.0, 0.05),
            (11.07 / 5.0, 5.0, f64::INFINITY, 0.05),
            (15.09 / 5.0, 5.0, f64::INFINITY, 0.01),
        ] {
            let p = f_test(ratio, degrees, below).expect("degrees");
            assert!(
                (p - expected).abs() < 0.02 * expected + 5e-4,
                "{ratio}: {p}"
            );
        }
    }

    #[test]
    fn what_is_no_ratio_has_no_probability() {
        assert_eq!(f_test(f64::NAN, 1.0, 1.0), None);
        assert_eq!(f_test(-1.0, 1.0, 1.0), None);
        assert_eq!(f_test(1.0, 0.0, 1.0), None);
        assert_eq!(f_test(1.0, 1.0, 0.0), None);
        assert_eq!(f_test(0.0, 3.0, 5.0), Some(1.0));
        assert!(f_test(f64::INFINITY, 3.0, 5.0).is_some_and(|p| p < 1e-9));
    }

    proptest! {
        #[test]
        fn larger_ratios_are_less_likely(
            (low, high) in (0.0..1e6f64, 0.0..1e6f64),
            degrees in 1..200u32,
            below in 1..200u32,
        ) {
            let (low, high) = (low.min(high), low.max(high));
            let p = |ratio| f_test(ratio, f64::from(degrees), f64::from(below)).expect("degrees");
            prop_assert!(p(low) + 1e-9 >= p(high));
            prop_assert!((0.0..=1.0).contains(&p(low)));
        }
    }
}
