//! Where a run changed: its bins cut into segments of one level, or of one trend.
//!
//! Where to cut is found by E-divisive (Matteson & James 2014, JASA 109(505)): the energy distance
//! between two neighbouring sets of bins, over every end of the right one, on the logarithms of
//! throughput and latency together. Whether to cut is not asked of permutations: four blocks of
//! five seconds have 24 orders, and no p under 0.04. It is a difference of means held against
//! noise with memory (`noise`) and what the largest such difference is by chance (`CRITICAL`).
//! What rises or falls evenly is one stretch and not many steps (`trend`).
//!
//! Pure and deterministic: numbers in, indices out. Nothing is drawn by chance.

mod noise;
#[cfg(test)]
mod tests;
mod trend;

use std::collections::BTreeMap;

use crate::thresholds::Phases;
use noise::Noise;

/// Fewest bins of a segment: what holds for less is an outlier, not a phase.
pub(crate) const LEAST_BINS: usize = 3;
/// Fewest bins of a right set that ends before its stretch does. A change and its way back are found
/// by it; every further choice of sets is one more in which chance may differ.
const LEAST_RIGHT: usize = 6;
/// Above this many bins neighbours are merged: the table of distances holds n^2 numbers.
const MOST_BINS: usize = 2_000;
/// Cuts after which no further one is sought: more phases than that are a pattern, not phases.
const MOST_CUTS: usize = 15;

/// How the bins of a stretch lie.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shape {
    /// Around one level.
    Level,
    /// Along a line that rises or falls.
    Trend,
}

/// A stretch of bins, half-open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Segment {
    pub(crate) first: usize,
    pub(crate) end: usize,
    pub(crate) shape: Shape,
}

impl Segment {
    pub(crate) fn len(&self) -> usize {
        self.end - self.first
    }
}

/// Throughput (operations per second) and mean latency (ns) of each bin, in the order of time.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Series {
    pub(crate) throughput: Vec<f64>,
    pub(crate) latency_ns: Vec<Option<f64>>,
}

/// The segments, in the order of time: together they hold every bin once, and each holds at least
/// `LEAST_BINS` where the series does. Bins are merged by `group` first (1 for none), so that all
/// that is said here is about bins of at least a second.
pub(crate) fn segments(series: &Series, group: usize, thresholds: &Phases) -> Vec<Segment> {
    let bins = series.throughput.len();
    if bins == 0 {
        return Vec::new();
    }
    // Too few to merge are taken as they are.
    let group = if bins < group { 1 } else { group };
    let group = group.max(bins.div_ceil(MOST_BINS)).max(1);
    let channels = channels(&series.merged(group), thresholds.noise);
    let changes = Changes::new(&channels, thresholds);
    let mut cuts = changes.cuts();
    changes.unite(&mut cuts);
    let mut segments = trend::shaped(&channels, &cuts, thresholds);
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
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let latency = |values: &[Option<f64>]| {
            let known: Vec<f64> = values.iter().flatten().copied().collect();
            (!known.is_empty()).then(|| mean(&known))
        };
        if group == 1 {
            return self.clone();
        }
        Series {
            throughput: self.throughput.chunks_exact(group).map(mean).collect(),
            latency_ns: self.latency_ns.chunks_exact(group).map(latency).collect(),
        }
    }
}

/// The logarithms in which changes are sought: of throughput, and of latency where most bins have one.
fn channels(series: &Series, floor: f64) -> Vec<Vec<f64>> {
    let positive = |value: f64| (value.is_finite() && value > 0.0).then_some(value);
    let throughput: Vec<Option<f64>> = series.throughput.iter().map(|v| positive(*v)).collect();
    let latency: Vec<Option<f64>> = series.latency_ns.iter().map(|v| positive((*v)?)).collect();
    let mut channels = vec![noise::cleaned(&stalls_at_floor(&throughput), floor)];
    if 2 * latency.iter().flatten().count() > latency.len() {
        channels.push(noise::cleaned(&filled(&latency), floor));
    }
    channels
}

/// Logarithms; a stalled bin has no logarithm and stands at a hundredth of what is usual.
fn stalls_at_floor(values: &[Option<f64>]) -> Vec<f64> {
    const FLOOR: f64 = 0.01;
    let known: Vec<f64> = values.iter().flatten().copied().collect();
    let floor = noise::median(&known).map_or(1.0, |usual| usual * FLOOR);
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

/// A place to cut and the segments on both sides that differ there: `[first, cut)`, `[cut, until)`.
#[derive(Clone, Copy, Debug)]
struct Split {
    first: usize,
    cut: usize,
    until: usize,
}

/// One series under examination.
struct Changes<'a> {
    channels: &'a [Vec<f64>],
    distances: Distances,
    thresholds: &'a Phases,
    bins: usize,
}

impl<'a> Changes<'a> {
    fn new(channels: &'a [Vec<f64>], thresholds: &'a Phases) -> Self {
        let bins = channels[0].len();
        // In units of its own noise each of the two weighs the same.
        let scaled: Vec<Vec<f64>> = channels
            .iter()
            .map(|channel| {
                let scale = Noise::of(channel, &[], 0..bins, thresholds.noise).deviation();
                channel.iter().map(|value| value / scale).collect()
            })
            .collect();
        Self {
            channels,
            distances: Distances::of(&scaled),
            thresholds,
            bins,
        }
    }

    /// The borders of the levels, 0 and the end among them: the plainest change first, until none
    /// is plain.
    fn cuts(&self) -> Vec<usize> {
        let mut cuts = vec![0, self.bins];
        let mut splits = BTreeMap::new();
        while cuts.len() < MOST_CUTS + 2 {
            let best = cuts
                .windows(2)
                .filter_map(|pair| {
                    let split = || self.distances.best_split(pair[0], pair[1]);
                    *splits.entry((pair[0], pair[1])).or_insert_with(split)
                })
                .map(|split| (self.excess(split, &cuts), split.cut))
                .max_by(|a, b| a.0.total_cmp(&b.0));
            match best {
                Some((excess, cut)) if excess >= 1.0 => cuts.push(cut),
                _ => break,
            }
            cuts.sort_unstable();
        }
        cuts
    }

    /// Takes back cuts between neighbours that do not differ once all others are made.
    fn unite(&self, cuts: &mut Vec<usize>) {
        loop {
            let faint = cuts
                .windows(3)
                .enumerate()
                .map(|(at, it)| {
                    let split = Split {
                        first: it[0],
                        cut: it[1],
                        until: it[2],
                    };
                    (self.excess(split, cuts), at + 1)
                })
                .min_by(|a, b| a.0.total_cmp(&b.0));
            match faint {
                Some((excess, at)) if excess < 1.0 => cuts.remove(at),
                _ => return,
            };
        }
    }

    /// How far the difference at a split passes what chance does, 1 being the border; 0 for a
    /// difference that is too small to matter.
    fn excess(&self, split: Split, cuts: &[usize]) -> f64 {
        let Split { first, cut, until } = split;
        let mut known = cuts.to_vec();
        known.extend([cut, until]);
        let range = enclosing(cuts, first, until);
        let least = (1.0 + self.thresholds.effect).ln();
        let of = |channel: &Vec<f64>| {
            let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
            let difference = (mean(&channel[cut..until]) - mean(&channel[first..cut])).abs();
            let noise = Noise::of(channel, &known, range.clone(), self.thresholds.noise);
            let variance =
                noise.variance_of_mean(cut - first) + noise.variance_of_mean(until - cut);
            if difference < least {
                0.0
            } else {
                difference / variance.sqrt() / CRITICAL[self.channels.len() - 1]
            }
        };
        self.channels.iter().map(of).fold(0.0, f64::max)
    }
}

/// The stretch between two cuts that holds both ends.
fn enclosing(cuts: &[usize], first: usize, until: usize) -> std::ops::Range<usize> {
    let start = cuts.iter().filter(|cut| **cut <= first).max();
    let end = cuts.iter().filter(|cut| **cut >= until).min();
    start.copied().unwrap_or(first)..end.copied().unwrap_or(until)
}

/// What the difference at the best split of a run without any change exceeds in 1 of 40 runs, in
/// standard deviations, with one channel and with two: simulated with independent channels of AR(1)
/// noise of rho 0.5, for 6 to 1,000 bins, for all of which it is nearly the same (`false_alarms` in
/// the tests repeats it). In noise without memory that is less than 1 of 1,000 runs of 20 bins.
const CRITICAL: [f64; 2] = [4.6, 5.0];

/// Sums of the distances between bins, so that the sum over any rectangle is four look-ups.
struct Distances {
    /// `sums[i * (bins + 1) + j]`: over all pairs of the first i and the first j bins.
    sums: Vec<f64>,
    bins: usize,
}

impl Distances {
    fn of(channels: &[Vec<f64>]) -> Self {
        let bins = channels[0].len();
        let width = bins + 1;
        let mut sums = vec![0.0; width * width];
        for i in 0..bins {
            let mut row = 0.0;
            for j in 0..bins {
                let square: f64 = channels.iter().map(|c| (c[i] - c[j]).powi(2)).sum();
                row += square.sqrt();
                sums[(i + 1) * width + j + 1] = sums[i * width + j + 1] + row;
            }
        }
        Self { sums, bins }
    }

    fn between(&self, a: (usize, usize), b: (usize, usize)) -> f64 {
        let at = |i: usize, j: usize| self.sums[i * (self.bins + 1) + j];
        at(a.1, b.1) - at(a.0, b.1) - at(a.1, b.0) + at(a.0, b.0)
    }

    /// The scaled energy distance of two neighbouring sets, equation 5 of Matteson & James 2014
    /// with alpha = 1.
    fn energy(&self, split: Split) -> f64 {
        let (left, right) = ((split.first, split.cut), (split.cut, split.until));
        let (m, n) = (
            (split.cut - split.first) as f64,
            (split.until - split.cut) as f64,
        );
        let across = 2.0 * self.between(left, right) / (m * n);
        // The sums hold each pair twice.
        let within_left = self.between(left, left) / (m * (m - 1.0));
        let within_right = self.between(right, right) / (n * (n - 1.0));
        m * n / (m + n) * (across - within_left - within_right)
    }

    /// The split of `[first, end)` with the largest distance, over every cut and every end of the
    /// right set; `None` where there is no room for one.
    fn best_split(&self, first: usize, end: usize) -> Option<Split> {
        let mut best: Option<(f64, Split)> = None;
        for cut in first + LEAST_BINS..(end + 1).saturating_sub(LEAST_BINS) {
            let shorter = (cut + LEAST_RIGHT..(end + 1).saturating_sub(LEAST_BINS)).chain([end]);
            for until in shorter {
                let split = Split { first, cut, until };
                let energy = self.energy(split);
                if best.is_none_or(|(most, _)| energy > most) {
                    best = Some((energy, split));
                }
            }
        }
        best.map(|(_, split)| split)
    }
}
