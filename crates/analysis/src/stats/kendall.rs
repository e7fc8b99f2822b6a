//! Whether values rise or fall with their order, by ranks: how far they move does not count.

use super::normal::Z_99;

/// Pairs that rise less pairs that fall.
fn score(values: &[f64]) -> f64 {
    let mut score = 0.0;
    for (i, earlier) in values.iter().enumerate() {
        for later in &values[i + 1..] {
            if later > earlier {
                score += 1.0;
            } else if later < earlier {
                score -= 1.0;
            }
        }
    }
    score
}

/// Kendall's tau (a) between values and their order (Kendall 1938, Biometrika 30): from -1, always
/// falling, to 1, always rising. 0 of fewer than two values.
pub fn kendall_tau(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let pairs = count * (count - 1.0) / 2.0;
    if pairs > 0.0 {
        score(values) / pairs
    } else {
        0.0
    }
}

/// Whether more pairs rise than fall, or fall than rise, than chance makes in 1 of 100 (Mann 1945,
/// Econometrica 13(3); Kendall 1975, Rank Correlation Methods). `inflation` is the factor of the variance
/// for values that follow their neighbours (Hamed and Rao 1998, J. Hydrology 204); 1 where they are
/// independent. False of fewer than six values: chance brings them into any order often enough.
pub fn is_monotone(values: &[f64], inflation: f64) -> bool {
    let n = values.len() as f64;
    let variance = n * (n - 1.0) * (2.0 * n + 5.0) / 18.0 * inflation;
    score(values).abs() - 1.0 >= Z_99 * variance.sqrt()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn tau_is_the_order() {
        assert_eq!(kendall_tau(&[3.0, 2.0, 1.0]), -1.0);
        assert_eq!(kendall_tau(&[1.0, 2.0, 3.0]), 1.0);
        assert_eq!(kendall_tau(&[1.0, 1.0, 1.0]), 0.0);
        assert_eq!(kendall_tau(&[1.0]), 0.0);
        assert_eq!(kendall_tau(&[]), 0.0);
    }

    #[test]
    fn few_values_are_no_trend_and_memory_makes_one_less_sure() {
        let rising = |count: i32| (0..count).map(f64::from).collect::<Vec<_>>();
        assert!((0..6).all(|count| !is_monotone(&rising(count), 1.0)));
        assert!(is_monotone(&rising(6), 1.0));
        assert!(!is_monotone(&rising(6), 2.0));
        assert!(!is_monotone(&[1.0; 100], 1.0));
    }

    proptest! {
        #[test]
        fn tau_turns_with_the_order_and_knows_no_unit(
            values in prop::collection::vec(-1e6..1e6f64, 0..60),
        ) {
            let tau = kendall_tau(&values);
            prop_assert!((-1.0..=1.0).contains(&tau));
            let reversed: Vec<f64> = values.iter().rev().copied().collect();
            prop_assert_eq!(kendall_tau(&reversed), -tau);
            prop_assert_eq!(is_monotone(&reversed, 1.0), is_monotone(&values, 1.0));
            let doubled: Vec<f64> = values.iter().map(|value| value * 2.0).collect();
            prop_assert_eq!(kendall_tau(&doubled), tau);
        }
    }
}
