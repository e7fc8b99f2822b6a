//! How much bins differ without any change: the spread of a channel and its memory.
//!
//! Both are taken from differences of neighbours, which a level or a slow trend does not move, and
//! in which a step counts once. Means of bins with memory scatter more than those of bins without.

use std::ops::Range;

use crate::stats::mean::mean;
use crate::stats::median::median;
use crate::stats::normal::DEVIATIONS_PER_MAD;

/// Noise as an autoregression of first order: x(t) = rho x(t-1) + e(t).
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Noise {
    /// Variance of one bin, in squares of the channel's unit.
    pub(super) variance: f64,
    /// Correlation of neighbours.
    pub(super) rho: f64,
}

/// The memory that noise is taken to have where bins are too few to tell, and the bins that this
/// weighs as much as: of 20 bins a correlation is known to 0.2 at best.
const USUAL_RHO: f64 = 0.3;
const PRIOR_RHO: f64 = 60.0;
/// Beyond this noise cannot be told from change in any run of usual length.
const MOST_RHO: f64 = 0.8;
/// Differences of the whole run that those of a stretch are weighed against: of few bins alone no
/// spread is available.
const PRIOR: f64 = 6.0;
/// How far squares about means may exceed what differences say before a change that is not yet
/// known must be among them.
const CONTAMINATED: f64 = 2.5;

impl Noise {
    /// The noise of a channel over `range`, known `cuts` left out; `floor` is the least standard
    /// deviation.
    ///
    /// For AR(1) the mean square of x(t+1) - x(t) is 2 var (1 - rho), and that of x(t+2) - x(t) is
    /// 2 var (1 - rho^2); their quotient is 1 + rho.
    pub(super) fn of(channel: &[f64], cuts: &[usize], range: Range<usize>, floor: f64) -> Self {
        let everywhere = 0..channel.len();
        let one = half_mean_square(&differences(channel, cuts, &everywhere, 1));
        let two = half_mean_square(&differences(channel, cuts, &everywhere, 2));
        let rho = if one > 0.0 { two / one - 1.0 } else { 0.0 };
        let bins = channel.len() as f64;
        let rho = (rho.clamp(0.0, MOST_RHO) * bins + USUAL_RHO * PRIOR_RHO) / (bins + PRIOR_RHO);
        let usual = one / (1.0 - rho);
        let residuals = Residuals::of(channel, cuts, range, rho);
        let here = (residuals.squares + usual * PRIOR) / (residuals.freedom + PRIOR);
        Self {
            variance: here.min(CONTAMINATED * usual).max(floor * floor),
            rho,
        }
    }

    pub(super) fn deviation(&self) -> f64 {
        self.variance.sqrt()
    }

    /// Variance of the mean of `bins` neighbours: var / n (1 + 2 sum (1 - j/n) rho^j).
    pub(super) fn variance_of_mean(&self, bins: usize) -> f64 {
        let n = bins as f64;
        let rho = self.rho;
        // The sum in closed form.
        let sum =
            rho / (1.0 - rho) - rho * (1.0 - rho.powi(bins as i32)) / (n * (1.0 - rho).powi(2));
        self.variance / n * (1.0 + 2.0 * sum)
    }

    /// By how many the bins must be divided to count as independent.
    pub(super) fn inflation(&self) -> f64 {
        (1.0 + self.rho) / (1.0 - self.rho)
    }
}

/// Squares about the means of the pieces between cuts, and how many independent ones they amount to.
struct Residuals {
    squares: f64,
    freedom: f64,
}

impl Residuals {
    fn of(channel: &[f64], cuts: &[usize], range: Range<usize>, rho: f64) -> Self {
        let mut borders: Vec<usize> = cuts
            .iter()
            .copied()
            .filter(|cut| range.contains(cut))
            .collect();
        borders.extend([range.start, range.end]);
        borders.sort_unstable();
        borders.dedup();
        let mut all = Residuals {
            squares: 0.0,
            freedom: 0.0,
        };
        for pair in borders.windows(2) {
            let part = &channel[pair[0]..pair[1]];
            let mean = mean(part).unwrap_or(0.0);
            all.squares += part.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
            // The mean follows noise with memory closer than noise without.
            let one = Noise { variance: 1.0, rho };
            all.freedom += part.len() as f64 * (1.0 - one.variance_of_mean(part.len()));
        }
        all
    }
}

/// Differences over `lag` bins that cross no cut; those far outside the others are steps that are
/// not yet known.
fn differences(channel: &[f64], cuts: &[usize], range: &Range<usize>, lag: usize) -> Vec<f64> {
    const FAR: f64 = 5.0;
    let crosses = |at: usize| cuts.iter().any(|cut| at < *cut && *cut <= at + lag);
    let mut found: Vec<f64> = (range.start..range.end.saturating_sub(lag))
        .filter(|at| !crosses(*at))
        .map(|at| (channel[at + lag] - channel[at]).abs())
        .collect();
    let usual = median(&found).unwrap_or(0.0) * DEVIATIONS_PER_MAD;
    if usual > 0.0 {
        found.retain(|difference| *difference <= FAR * usual);
    }
    found
}

fn half_mean_square(values: &[f64]) -> f64 {
    let sum: f64 = values.iter().map(|value| value * value).sum();
    sum / (2.0 * values.len().max(1) as f64)
}
