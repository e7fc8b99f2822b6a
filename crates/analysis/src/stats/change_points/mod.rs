//! Where a series changed: it is cut into segments of one level, or of one trend.
//!
//! Where to cut is found by E-divisive (Matteson & James 2014, JASA 109(505)): the energy distance
//! between two neighbouring sets of bins, over every end of the right one, on all channels together
//! (`energy`). Whether to cut is not asked of permutations: four blocks of five seconds have 24 orders,
//! and no p under 0.04. It is a difference of means held against noise with memory (`noise`) and what
//! the largest such difference is by chance (`CRITICAL`). What rises or falls evenly is one stretch and
//! not many steps (`trend`).

mod energy;
mod noise;
mod segment;
mod trend;

pub use segment::{LEAST_BINS, Segment, Sensitivity, Shape};

use std::collections::BTreeMap;
use std::ops::Range;

use super::mean::mean;
use energy::{Distances, Split};
use noise::Noise;

/// Above so many bins the caller should merge neighbours: the table of distances holds n^2 numbers.
pub const MOST_BINS: usize = 2_000;
/// Cuts after which no further one is sought: more phases than that are a pattern, not phases.
const MOST_CUTS: usize = 15;

/// What the difference at the best split of a run without any change exceeds in 1 of 40 runs, in
/// standard deviations, with one channel and with two: simulated with independent channels of AR(1)
/// noise of rho 0.5, for 6 to 1,000 bins, for all of which it is nearly the same (`false_alarms` in
/// the tests of `changes` repeats it). In noise without memory that is less than 1 of 1,000 runs of 20
/// bins.
const CRITICAL: [f64; 2] = [4.6, 5.0];

/// The segments of one or two channels that change together, each as long as the other, in the order of
/// time: together they hold every bin once, and each holds at least `LEAST_BINS` where the series does.
/// Of more than two channels the first two are used. Empty without bins.
pub fn segments(channels: &[Vec<f64>], sensitivity: &Sensitivity) -> Vec<Segment> {
    let channels = &channels[..channels.len().min(CRITICAL.len())];
    if channels.first().is_none_or(Vec::is_empty) {
        return Vec::new();
    }
    let changes = Changes::new(channels, sensitivity);
    let mut cuts = changes.cuts();
    changes.unite(&mut cuts);
    trend::shaped(channels, &cuts, sensitivity)
}

/// One series under examination.
struct Changes<'a> {
    channels: &'a [Vec<f64>],
    distances: Distances,
    sensitivity: &'a Sensitivity,
    bins: usize,
}

impl<'a> Changes<'a> {
    fn new(channels: &'a [Vec<f64>], sensitivity: &'a Sensitivity) -> Self {
        let bins = channels[0].len();
        // In units of its own noise each of the two weighs the same.
        let scaled: Vec<Vec<f64>> = channels
            .iter()
            .map(|channel| {
                let noise = Noise::of(channel, &[], 0..bins, sensitivity.noise_floor);
                let scale = noise.deviation();
                channel.iter().map(|value| value / scale).collect()
            })
            .collect();
        Self {
            channels,
            distances: Distances::of(&scaled),
            sensitivity,
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
        let of = |channel: &Vec<f64>| {
            let means = mean(&channel[cut..until]).zip(mean(&channel[first..cut]));
            let difference = means.map_or(0.0, |(after, before)| (after - before).abs());
            let noise = Noise::of(channel, &known, range.clone(), self.sensitivity.noise_floor);
            let variance =
                noise.variance_of_mean(cut - first) + noise.variance_of_mean(until - cut);
            if difference < self.sensitivity.least_difference {
                0.0
            } else {
                difference / variance.sqrt() / CRITICAL[self.channels.len() - 1]
            }
        };
        self.channels.iter().map(of).fold(0.0, f64::max)
    }
}

/// The stretch between two cuts that holds both ends.
fn enclosing(cuts: &[usize], first: usize, until: usize) -> Range<usize> {
    let start = cuts.iter().filter(|cut| **cut <= first).max();
    let end = cuts.iter().filter(|cut| **cut >= until).min();
    start.copied().unwrap_or(first)..end.copied().unwrap_or(until)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SENSITIVITY: Sensitivity = Sensitivity {
        least_difference: 0.05,
        noise_floor: 0.01,
    };

    #[test]
    fn a_step_is_cut_and_nothing_has_no_segment() {
        assert!(segments(&[], &SENSITIVITY).is_empty());
        assert!(segments(&[Vec::new()], &SENSITIVITY).is_empty());
        let mut step = vec![1.0; 10];
        step.extend([2.0; 10]);
        let ends = |channels: &[Vec<f64>]| -> Vec<usize> {
            let all = segments(channels, &SENSITIVITY).into_iter();
            all.map(|it| it.end).collect()
        };
        assert_eq!(ends(&[step.clone()]), [10, 20]);
        assert_eq!(ends(&[vec![1.0; 20], step.clone()]), [10, 20]);
        // There is no critical value for a third.
        assert_eq!(ends(&[vec![1.0; 20], vec![1.0; 20], step]), [20]);
    }

    proptest! {
        #[test]
        fn segments_hold_every_bin_once(
            bins in prop::collection::vec(0.0..8.0f64, 1..60),
        ) {
            let all = segments(std::slice::from_ref(&bins), &SENSITIVITY);
            let mut next = 0;
            for segment in &all {
                prop_assert_eq!(segment.first, next);
                prop_assert!(segment.len() >= LEAST_BINS || all.len() == 1);
                next = segment.end;
            }
            prop_assert_eq!(next, bins.len());
        }
    }
}
