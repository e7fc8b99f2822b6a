//! Where a run changed: change points of its throughput and latency, on their logarithms.
//!
//! A factor matters and not a difference, a stall is no endless fall, and a single bin far off is no
//! change: here bins become channels of which `stats::change_points` can be asked.

use crate::stats::change_points::{self, MOST_BINS, Segment, Sensitivity};
use crate::stats::{mean, median, without_outliers};
use crate::thresholds::Phases;

/// Throughput (operations per second) and mean latency (ns) of each bin, in the order of time.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Series {
    pub(crate) throughput: Vec<f64>,
    pub(crate) latency_ns: Vec<Option<f64>>,
}

/// The segments, in the order of time: together they hold every bin once. Bins are merged by `group`
/// first (1 for none), so that all that is said here is about bins of at least a second.
pub(crate) fn segments(series: &Series, group: usize, thresholds: &Phases) -> Vec<Segment> {
    let bins = series.throughput.len();
    if bins == 0 {
        return Vec::new();
    }
    // Too few to merge are taken as they are.
    let group = if bins < group { 1 } else { group };
    let group = group.max(bins.div_ceil(MOST_BINS)).max(1);
    let sensitivity = Sensitivity {
        least_difference: (1.0 + thresholds.effect).ln(),
        noise_floor: thresholds.noise,
    };
    let channels = channels(&series.merged(group), thresholds.noise);
    let mut segments = change_points::segments(&channels, &sensitivity);
    for segment in &mut segments {
        segment.first *= group;
        segment.end = (segment.end * group).min(bins);
    }
    // A remainder that filled no group belongs to the last.
    if let Some(last) = segments.last_mut() {
        last.end = bins;
    }
    segments
}

impl Series {
    /// Every `group` neighbours as one; a remainder at the end is left out.
    fn merged(&self, group: usize) -> Series {
        if group == 1 {
            return self.clone();
        }
        let throughput = self.throughput.chunks_exact(group);
        let latency = |values: &[Option<f64>]| {
            let known: Vec<f64> = values.iter().flatten().copied().collect();
            mean(&known)
        };
        Series {
            throughput: throughput.filter_map(mean).collect(),
            latency_ns: self.latency_ns.chunks_exact(group).map(latency).collect(),
        }
    }
}

/// The logarithms in which changes are sought: of throughput, and of latency where most bins have one.
fn channels(series: &Series, floor: f64) -> Vec<Vec<f64>> {
    let positive = |value: f64| (value.is_finite() && value > 0.0).then_some(value);
    let throughput: Vec<Option<f64>> = series.throughput.iter().map(|v| positive(*v)).collect();
    let latency: Vec<Option<f64>> = series.latency_ns.iter().map(|v| positive((*v)?)).collect();
    let mut channels = vec![without_outliers(&stalls_at_floor(&throughput), floor)];
    if 2 * latency.iter().flatten().count() > latency.len() {
        channels.push(without_outliers(&filled(&latency), floor));
    }
    channels
}

/// Logarithms; a stalled bin has no logarithm and stands at a hundredth of what is usual.
fn stalls_at_floor(values: &[Option<f64>]) -> Vec<f64> {
    const FLOOR: f64 = 0.01;
    let known: Vec<f64> = values.iter().flatten().copied().collect();
    let floor = median(&known).map_or(1.0, |usual| usual * FLOOR);
    let log = |value: &Option<f64>| value.map_or(floor, |value| value.max(floor)).ln();
    values.iter().map(log).collect()
}

/// Logarithms; a bin without latency is taken to be as the one before it, or the first known.
fn filled(values: &[Option<f64>]) -> Vec<f64> {
    let mut last = values.iter().flatten().next().copied().unwrap_or(1.0);
    let mut fill = |value: &Option<f64>| {
        last = value.unwrap_or(last);
        last.ln()
    };
    values.iter().map(&mut fill).collect()
}

#[cfg(test)]
mod tests;
