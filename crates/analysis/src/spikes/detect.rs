//! Which intervals stand out from those around them.
//!
//! An interval belongs to a spike where its latency, or its throughput, is further from the median of the 30 s before
//! and after it than noise ever is, and by a factor that somebody would notice.

use std::ops::Range;

use model::{Spike, Window};

use crate::stats::{median, median_and_noise};
use crate::workload_metrics::bin::Bin;

/// How far around an interval others are compared, ns.
const AROUND_NS: i64 = 30_000_000_000;
/// The least number of intervals that say what is usual.
const LEAST_BINS: usize = 20;
/// Intervals so near to each other share what is usual around them, ns.
const SHARED_NS: i64 = 1_000_000_000;
/// Noise is never taken for less than this part of the median.
const LEAST_NOISE: f64 = 0.02;

/// How far an interval must be from the usual.
struct Bar {
    deviations: f64,
    slower: f64,
    rate: f64,
}

/// A spike has an interval beyond this.
const CORE: Bar = Bar {
    deviations: 6.0,
    slower: 2.0,
    rate: 0.5,
};
/// And goes on as long as intervals are beyond this.
const SKIRT: Bar = Bar {
    deviations: 3.0,
    slower: 1.5,
    rate: 0.75,
};
/// A single interval must be beyond this: one of some thousand is twice as slow by chance.
const SINGLE: Bar = Bar {
    deviations: 6.0,
    slower: 4.0,
    rate: 0.25,
};

/// Less of what a spike costs than this is no part of it at its ends.
const LITTLE: f64 = 0.05;

/// What is usual.
#[derive(Clone, Copy, Debug)]
pub(super) struct Usual {
    pub(super) latency_ns: Option<f64>,
    pub(super) throughput: f64,
}

/// Over all intervals in a window; `None` without any.
pub(super) fn usual(bins: &[Bin], window: Window) -> Option<Usual> {
    let inside = || bins.iter().filter(|it| lies_in(it, window));
    let latencies: Vec<f64> = inside().filter_map(|it| it.latency_ns).collect();
    let rates: Vec<f64> = inside().map(|it| it.throughput).collect();
    Some(Usual {
        latency_ns: median(&latencies),
        throughput: median(&rates)?,
    })
}

fn lies_in(bin: &Bin, window: Window) -> bool {
    bin.window.start >= window.start && bin.window.end <= window.end
}

/// Median and noise of some values.
#[derive(Clone, Copy)]
struct Level {
    median: f64,
    noise: f64,
}

impl Level {
    fn of(values: &[f64]) -> Option<Self> {
        if values.len() < LEAST_BINS {
            return None;
        }
        let (median, noise) = median_and_noise(values)?;
        Some(Self {
            median,
            noise: noise.max(LEAST_NOISE * median),
        })
    }
}

#[derive(Clone, Copy)]
struct Around {
    latency: Option<Level>,
    rate: Option<Level>,
}

impl Around {
    fn of(bins: &[Bin]) -> Self {
        let latencies: Vec<f64> = bins.iter().filter_map(|it| it.latency_ns).collect();
        let rates: Vec<f64> = bins.iter().map(|it| it.throughput).collect();
        Self {
            latency: Level::of(&latencies),
            rate: Level::of(&rates).filter(|it| it.median > 0.0),
        }
    }

    fn is_beyond(&self, bin: &Bin, bar: &Bar) -> bool {
        let slow = self.latency.zip(bin.latency_ns).is_some_and(|(level, ns)| {
            ns >= bar.slower * level.median && ns > level.median + bar.deviations * level.noise
        });
        let few = self.rate.is_some_and(|level| {
            bin.throughput <= bar.rate * level.median
                && bin.throughput < level.median - bar.deviations * level.noise
        });
        slow || few
    }
}

/// The intervals of each spike in a window, in the order of time.
pub(super) fn spikes(bins: &[Bin], window: Window) -> Vec<Range<usize>> {
    let first = bins.partition_point(|it| it.window.start < window.start);
    // A window may lie within one interval.
    let last = bins
        .partition_point(|it| it.window.end <= window.end)
        .max(first);
    let around = around(bins, first..last);
    let beyond = |at: usize, bar: &Bar| around[at - first].is_beyond(&bins[at], bar);
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut at = first;
    while at < last {
        if !beyond(at, &CORE) {
            at += 1;
            continue;
        }
        let least = found.last().map_or(first, |it| it.end);
        let mut range = at..at + 1;
        while range.start > least && beyond(range.start - 1, &SKIRT) {
            range.start -= 1;
        }
        while range.end < last && beyond(range.end, &SKIRT) {
            range.end += 1;
        }
        at = range.end;
        found.push(range);
    }
    let mut merged: Vec<Range<usize>> = together(found)
        .into_iter()
        .map(|parts| costly(bins, &parts, &around[parts[0].start - first]))
        .collect();
    // What reaches an end may be the load's beginning or its end, and what lasts for most of the run is what is usual in
    // it.
    let most = (last - first) / 2;
    merged.retain(|it| {
        let is_whole = it.start > first && it.end < last;
        is_whole && it.len() <= most && (it.len() > 1 || beyond(it.start, &SINGLE))
    });
    merged
}

/// What is usual around each of some intervals.
fn around(bins: &[Bin], range: Range<usize>) -> Vec<Around> {
    let mut all: Vec<Around> = Vec::with_capacity(range.len());
    let mut known: Option<(Window, Around)> = None;
    for at in range {
        let own = bins[at].window;
        if let Some((_, around)) = known.filter(|(block, _)| own.end <= block.end) {
            all.push(around);
            continue;
        }
        let block = Window::new(own.start, own.end.max(own.start + SHARED_NS));
        let (from, to) = (block.start + -AROUND_NS, block.end + AROUND_NS);
        let from = bins.partition_point(|it| it.window.start < from);
        let to = bins.partition_point(|it| it.window.end <= to);
        let around = Around::of(&bins[from..to.max(from)]);
        known = Some((block, around));
        all.push(around);
    }
    all
}

/// Spikes nearer to each other than either is long, or than three intervals, are one.
pub(super) fn merge(found: Vec<Range<usize>>) -> Vec<Range<usize>> {
    together(found).iter().map(|it| whole(it)).collect()
}

/// The parts of each spike, at least one.
fn together(found: Vec<Range<usize>>) -> Vec<Vec<Range<usize>>> {
    let mut spikes: Vec<Vec<Range<usize>>> = Vec::new();
    for range in found {
        let is_near = |parts: &&mut Vec<Range<usize>>| {
            let so_far = whole(parts);
            range.start - so_far.end <= so_far.len().min(range.len()).max(3)
        };
        match spikes.last_mut().filter(is_near) {
            Some(parts) => parts.push(range),
            None => spikes.push(vec![range]),
        }
    }
    spikes
}

/// From the first part to the last.
fn whole(parts: &[Range<usize>]) -> Range<usize> {
    let end = parts.last().map_or(0, |it| it.end);
    parts.first().map_or(0, |it| it.start)..end
}

/// A spike without what hardly adds to it at its ends: an interval of noise just before it would make the onset earlier.
fn costly(bins: &[Bin], parts: &[Range<usize>], usual: &Around) -> Range<usize> {
    let costs: Vec<Cost> = parts
        .iter()
        .map(|it| Cost::of(&bins[it.clone()], usual))
        .collect();
    let all = costs.iter().fold(Cost::default(), |sum, it| Cost {
        added_ns: sum.added_ns + it.added_ns,
        lost: sum.lost + it.lost,
    });
    let counts =
        |cost: &Cost| cost.added_ns > LITTLE * all.added_ns || cost.lost > LITTLE * all.lost;
    let first = costs.iter().position(counts).unwrap_or(0);
    let last = costs.iter().rposition(counts).unwrap_or(parts.len() - 1);
    whole(&parts[first..=last])
}

/// What intervals cost beyond the usual.
#[derive(Clone, Copy, Default)]
struct Cost {
    /// Time of requests, ns.
    added_ns: f64,
    /// Requests that did not come.
    lost: f64,
}

impl Cost {
    fn of(bins: &[Bin], usual: &Around) -> Self {
        let added = |it: &Bin| {
            let longer = it.latency_ns? - usual.latency?.median;
            Some(it.completed() * longer.max(0.0))
        };
        let lost = |it: &Bin| {
            let missing = usual.rate?.median - it.throughput;
            Some(missing.max(0.0) * it.window.seconds())
        };
        Self {
            added_ns: bins.iter().filter_map(added).sum(),
            lost: bins.iter().filter_map(lost).sum(),
        }
    }
}

/// One spike, from its intervals.
pub(super) fn spike(bins: &[Bin], usual_rate: f64) -> Spike {
    let window = Window::new(bins[0].window.start, bins[bins.len() - 1].window.end);
    let lost = bins
        .iter()
        .map(|it| (usual_rate - it.throughput) * it.window.seconds());
    let latencies = bins.iter().filter_map(|it| it.latency_ns);
    Spike {
        window,
        peak_latency_ns: latencies.reduce(f64::max),
        lowest_throughput: bins.iter().map(|it| it.throughput).fold(f64::MAX, f64::min),
        peak_threads: None,
        lost: lost.sum::<f64>().max(0.0),
    }
}

/// Part of all the time of requests in a window which its spikes add: a request in a spike takes so much longer than
/// the middle one of the intervals outside. `None` where no latency is known.
pub(super) fn added(bins: &[Bin], spikes: &[Range<usize>], window: Window) -> Option<f64> {
    let is_spike = |at: usize| spikes.iter().any(|it| it.contains(&at));
    let inside = bins
        .iter()
        .enumerate()
        .filter(|(_, it)| lies_in(it, window));
    let timed = inside.filter_map(|(at, it)| Some((is_spike(at), it.completed(), it.latency_ns?)));
    let timed: Vec<(bool, f64, f64)> = timed.collect();
    let calm: Vec<f64> = timed.iter().filter(|it| !it.0).map(|it| it.2).collect();
    let usual_ns = median(&calm)?;
    let all_ns: f64 = timed.iter().map(|(_, count, ns)| count * ns).sum();
    let added_ns = timed.iter().filter(|it| it.0);
    let added_ns: f64 = added_ns.map(|(_, count, ns)| count * (ns - usual_ns)).sum();
    (all_ns > 0.0).then(|| (added_ns / all_ns).clamp(0.0, 1.0))
}

/// What each spike adds to the time of requests, in ns: requests in it take so much longer than usually.
pub(super) fn weights(bins: &[Bin], spikes: &[Range<usize>], usual: &Usual) -> Vec<f64> {
    let usual_ns = usual.latency_ns.unwrap_or(0.0);
    let added = |it: &Bin| Some(it.completed() * (it.latency_ns? - usual_ns).max(0.0));
    let of = |range: &Range<usize>| bins[range.clone()].iter().filter_map(added).sum();
    spikes.iter().map(of).collect()
}

/// After the onset of a spike no other can be seen for this long, s.
pub(super) fn dead_time(spikes: &[Spike], interval_ns: i64) -> f64 {
    let widths: Vec<f64> = spikes.iter().map(|it| it.window.seconds()).collect();
    median(&widths).unwrap_or(0.0) + 3.0 * interval_ns as f64 / 1e9
}
