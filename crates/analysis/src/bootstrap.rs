//! Intervals of ratios over time by block bootstrap.
//!
//! Seconds of one run resemble their neighbours, so blocks of them are drawn, not single ones
//! (moving blocks, Künsch 1989, The Annals of Statistics 17(3)). The seed is fixed: the same
//! recording always gives the same interval.

use model::Interval;

const RESAMPLES: usize = 500;
const BLOCK: usize = 3;

/// The 95 % interval of `sum(part) / sum(whole)` over bins; `None` under five bins, of which no
/// interval is available.
pub(crate) fn ratio_interval(bins: &[(f64, f64)]) -> Option<Interval> {
    const LEAST: usize = 5;
    if bins.len() < LEAST {
        return None;
    }
    let mut random = Xorshift(0x9E37_79B9_7F4A_7C15);
    let mut ratios: Vec<f64> = (0..RESAMPLES)
        .filter_map(|_| resample(bins, &mut random))
        .collect();
    if ratios.is_empty() {
        return None;
    }
    ratios.sort_by(f64::total_cmp);
    let at = |q: f64| ratios[((ratios.len() - 1) as f64 * q).round() as usize];
    Some(Interval {
        low: at(0.025),
        high: at(0.975),
    })
}

fn resample(bins: &[(f64, f64)], random: &mut Xorshift) -> Option<f64> {
    let (mut part, mut whole) = (0.0, 0.0);
    let starts = bins.len() - BLOCK + 1;
    let mut drawn = 0;
    while drawn < bins.len() {
        let start = random.below(starts);
        for (p, w) in &bins[start..start + BLOCK] {
            part += p;
            whole += w;
        }
        drawn += BLOCK;
    }
    (whole > 0.0).then(|| part / whole)
}

/// Marsaglia 2003, Journal of Statistical Software 8(14).
struct Xorshift(u64);

impl Xorshift {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_few_bins_have_no_interval_and_constant_ones_a_point() {
        assert_eq!(ratio_interval(&[(1.0, 2.0); 4]), None);
        assert_eq!(
            ratio_interval(&[(1.0, 2.0); 20]),
            Some(Interval {
                low: 0.5,
                high: 0.5
            })
        );
        assert_eq!(ratio_interval(&[(0.0, 0.0); 20]), None);
    }

    #[test]
    fn the_interval_holds_the_ratio_and_narrows_with_length() {
        let bins = |n: usize| {
            (0..n)
                .map(|i| (0.3 + 0.1 * ((i * 7 % 5) as f64 - 2.0), 1.0))
                .collect::<Vec<_>>()
        };
        let short = ratio_interval(&bins(10)).expect("enough bins");
        let long = ratio_interval(&bins(100)).expect("enough bins");
        assert!(short.low <= 0.3 && 0.3 <= short.high);
        assert!(long.high - long.low < short.high - short.low);
    }
}
