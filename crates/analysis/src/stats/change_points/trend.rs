//! Levels or one even change: which neighbouring levels are better told as a ramp.
//!
//! A ramp is cut into steps by any search for steps. So every run of neighbouring levels is also
//! told as a line, and the cheapest way of telling the whole run wins: squared residuals in units of
//! the noise, and ln n for every number that is told (BIC, Schwarz 1978, Annals of Statistics 6(2)).

use super::noise::Noise;
use super::segment::{LEAST_BINS, Segment, Sensitivity, Shape};
use crate::stats::kendall::is_monotone;
use crate::stats::line::{least_squares, theil_sen};
use crate::stats::mean::mean;
use crate::stats::normal::Z_95;

/// Stretches from the borders of levels.
pub(super) fn shaped(
    channels: &[Vec<f64>],
    cuts: &[usize],
    sensitivity: &Sensitivity,
) -> Vec<Segment> {
    let levels = cuts.len() - 1;
    let bins = channels[0].len();
    if levels < 2 {
        // Where nothing changed nothing rose.
        return vec![Segment {
            first: 0,
            end: bins,
            shape: Shape::Level,
        }];
    }
    let noises: Vec<Noise> = channels
        .iter()
        .map(|channel| Noise::of(channel, cuts, 0..bins, sensitivity.noise_floor))
        .collect();
    let fit = TrendFit {
        channels,
        noises,
        sensitivity,
        price: (bins as f64).ln(),
    };
    // The cheapest way of telling the first k levels, and its last segment.
    let mut cheapest = vec![(0.0, None)];
    for end in 1..=levels {
        let ways = (0..end).flat_map(|from| {
            let (a, b) = (cuts[from], cuts[end]);
            let level = (end - from == 1).then(|| (fit.level(a, b), Shape::Level));
            let trend = fit.trend(a, b).map(|cost| (cost, Shape::Trend));
            let before: f64 = cheapest[from].0;
            level
                .into_iter()
                .chain(trend)
                .map(move |(cost, shape)| (before + cost, from, shape))
        });
        let best = ways.min_by(|a, b| a.0.total_cmp(&b.0));
        let (cost, from, shape) = best.expect("one level can always be told as one");
        cheapest.push((cost, Some((from, shape))));
    }
    let mut segments = Vec::new();
    let mut end = levels;
    while let Some((from, shape)) = cheapest[end].1 {
        segments.push(Segment {
            first: cuts[from],
            end: cuts[end],
            shape,
        });
        end = from;
    }
    segments.reverse();
    segments
}

struct TrendFit<'a> {
    channels: &'a [Vec<f64>],
    noises: Vec<Noise>,
    sensitivity: &'a Sensitivity,
    /// Of one number, in units of twice the logarithm of the likelihood.
    price: f64,
}

impl TrendFit<'_> {
    fn level(&self, first: usize, end: usize) -> f64 {
        let cost = |(channel, noise): (&Vec<f64>, &Noise)| {
            let part = &channel[first..end];
            let mean = mean(part).unwrap_or(0.0);
            self.price + in_noise(part.iter().map(|value| value - mean), noise)
        };
        self.price
            + self
                .channels
                .iter()
                .zip(&self.noises)
                .map(cost)
                .sum::<f64>()
    }

    /// The cost of a line; `None` where there is no trend that matters.
    fn trend(&self, first: usize, end: usize) -> Option<f64> {
        if end - first < 2 * LEAST_BINS {
            return None;
        }
        let parts = || {
            self.channels
                .iter()
                .map(|channel| &channel[first..end])
                .zip(&self.noises)
        };
        let matters = |(part, noise): (&[f64], &Noise)| {
            is_trend(part, noise) && {
                let change = slope(part) * (part.len() - 1) as f64;
                change.abs() >= self.sensitivity.least_difference && is_throughout(part)
            }
        };
        if !parts().any(matters) {
            return None;
        }
        let cost = |(part, noise): (&[f64], &Noise)| {
            let line = least_squares(part)?;
            let residuals = part
                .iter()
                .enumerate()
                .map(|(i, value)| value - line.level - line.slope * i as f64);
            Some(2.0 * self.price + in_noise(residuals, noise))
        };
        Some(self.price + parts().map(cost).sum::<Option<f64>>()?)
    }
}

fn in_noise(residuals: impl Iterator<Item = f64>, noise: &Noise) -> f64 {
    residuals.map(|residual| residual * residual).sum::<f64>()
        / (noise.variance * noise.inflation())
}

/// Bins that trends are judged by: pairs of them grow with the square.
const MOST_JUDGED: usize = 200;

fn thinned(part: &[f64]) -> (Vec<f64>, usize) {
    let step = part.len().div_ceil(MOST_JUDGED).max(1);
    (part.iter().step_by(step).copied().collect(), step)
}

/// Change per bin.
fn slope(part: &[f64]) -> f64 {
    let (values, step) = thinned(part);
    theil_sen(&values, step as f64).unwrap_or(0.0)
}

/// Whether each half changes the same way, and by no less than a quarter of its part: a rise to a
/// level that then stays is a ramp and a level.
fn is_throughout(part: &[f64]) -> bool {
    const LEAST: f64 = 0.25;
    let whole = slope(part);
    let (early, late) = part.split_at(part.len() / 2);
    let holds = |half| slope(half) * whole.signum() >= LEAST * whole.abs();
    holds(early) && holds(late)
}

/// Whether it rises or falls more than noise with memory does.
fn is_trend(part: &[f64], noise: &Noise) -> bool {
    let (values, step) = thinned(part);
    // As Hamed and Rao do, by a correlation only that so many bins can show.
    let shown = step == 1 && noise.rho > Z_95 / (values.len() as f64).sqrt();
    is_monotone(&values, if shown { noise.inflation() } else { 1.0 })
}
