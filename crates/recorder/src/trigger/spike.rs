//! Whether an interval's latency stands out from those before it: the rule by which a recording's spikes are found
//! (`docs/spikes.md`), as far as it can be told without what comes after.

use std::collections::VecDeque;

/// Intervals of 100 ms that say what is usual: 30 s.
const AROUND: usize = 300;
/// The least number of them.
const LEAST: usize = 20;
/// Median absolute deviations of a normal distribution in one standard deviation.
const DEVIATION: f64 = 1.4826;
/// Noise is never taken for less than this part of the median.
const LEAST_NOISE: f64 = 0.02;

/// Mean latencies of the intervals so far.
#[derive(Default)]
pub(super) struct SpikeDetector {
    before: VecDeque<f64>,
    sorted: Vec<f64>,
    /// Whether the interval before stood out.
    was_beyond: bool,
}

impl SpikeDetector {
    /// Takes an interval's mean latency, ns; whether it begins a spike, or goes on with one: two intervals twice as slow
    /// as usual, or one that is four times as slow, each by more than six deviations.
    pub(super) fn take(&mut self, latency_ns: f64) -> bool {
        let level = self.level();
        self.before.push_back(latency_ns);
        if self.before.len() > AROUND {
            self.before.pop_front();
        }
        let Some((median, noise)) = level else {
            return false;
        };
        let is_beyond = latency_ns >= 2.0 * median && latency_ns > median + 6.0 * noise;
        let was_beyond = std::mem::replace(&mut self.was_beyond, is_beyond);
        is_beyond && (was_beyond || latency_ns >= 4.0 * median)
    }

    fn level(&mut self) -> Option<(f64, f64)> {
        if self.before.len() < LEAST {
            return None;
        }
        let sorted = &mut self.sorted;
        sorted.clear();
        sorted.extend(&self.before);
        sorted.sort_unstable_by(f64::total_cmp);
        let median = middle(sorted);
        sorted.iter_mut().for_each(|it| *it = (*it - median).abs());
        sorted.sort_unstable_by(f64::total_cmp);
        let noise = (DEVIATION * middle(sorted)).max(LEAST_NOISE * median);
        Some((median, noise))
    }
}

/// The median of values in order, which are not none.
fn middle(sorted: &[f64]) -> f64 {
    let half = sorted.len() / 2;
    match sorted.len() % 2 {
        0 => (sorted[half - 1] + sorted[half]) / 2.0,
        _ => sorted[half],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEVER: [usize; 0] = [];

    fn fired(latencies: impl IntoIterator<Item = f64>) -> Vec<usize> {
        let mut detector = SpikeDetector::default();
        let beyond = latencies.into_iter().enumerate();
        beyond
            .filter(|(_, ns)| detector.take(*ns))
            .map(|(at, _)| at)
            .collect()
    }

    /// 1 ms, and 5 % of noise that is the same each time.
    fn usual(count: usize) -> impl Iterator<Item = f64> {
        (0..count).map(|at| 1e6 * (1.0 + 0.05 * ((at * 7919 % 21) as f64 / 10.0 - 1.0)))
    }

    #[test]
    fn what_stands_out_is_a_spike_and_noise_is_none() {
        assert_eq!(fired(usual(1_000)), NEVER);
        assert_eq!(
            fired(usual(100).chain([5e6]).chain(usual(50))),
            [100],
            "four times as slow"
        );
        assert_eq!(
            fired(usual(100).chain([2.5e6, 2.5e6])),
            [101],
            "twice, and again"
        );
        assert_eq!(fired(usual(100).chain([1.9e6; 9])), NEVER);
        assert_eq!(
            fired(usual(19).chain([50e6])),
            NEVER,
            "too few say what is usual"
        );
        let other_level = usual(100).chain(usual(400).map(|it| 3.0 * it));
        assert!(
            fired(other_level).iter().all(|at| *at < 300),
            "it becomes what is usual"
        );
    }
}
