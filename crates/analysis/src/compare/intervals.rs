//! A recording in intervals of the workload's signal, for what varies within it.

use std::collections::BTreeMap;

use model::{Meta, Timeline, Window};

use crate::latency_sample::Samples;
use crate::request_times::{self, End};
use crate::workload_metrics::{self, Bin, Source, inside};

/// An interval of the workload's signal.
pub(super) struct Second {
    pub(super) length_s: f64,
    pub(super) requests: f64,
    /// How long they took together, ns.
    pub(super) response_ns: Option<f64>,
    /// What their times are below, ns, and how many there are; empty where single ones are not known.
    pub(super) buckets: Vec<(f64, f64)>,
}

/// The judged window in intervals.
pub(super) fn seconds(
    timeline: &Timeline,
    meta: &Meta,
    bins: &[Bin],
    window: Window,
) -> Vec<Second> {
    let mut source = workload_metrics::source(timeline, meta);
    let finer = counted(timeline, bins, window);
    let bins: Vec<&Bin> = match &finer {
        Some((end, finer)) => {
            source = Source::Kernel(*end);
            inside(finer, window).collect()
        }
        None => inside(bins, window).collect(),
    };
    let windows: Vec<Window> = bins.iter().map(|it| it.window).collect();
    let times = match source {
        Source::Kernel(end) => {
            let each = request_times::over_each(timeline, end, &windows);
            each.into_iter().map(|it| it.buckets).collect()
        }
        Source::Workload => sampled(timeline, &windows),
        // Of operations nothing is known but the mean.
        Source::Latency(_) => vec![Vec::new(); windows.len()],
    };
    let second = |(bin, buckets): (&&Bin, Vec<(f64, f64)>)| Second {
        length_s: bin.window.seconds(),
        requests: bin.completed(),
        response_ns: bin.latency_ns.map(|ns| ns * bin.completed()),
        buckets,
    };
    bins.iter().zip(times).map(second).collect()
}

/// Seconds as the kernel counted them, where the workload speaks so rarely that little is seen to vary, and both counted
/// as many requests.
pub(super) fn counted(
    timeline: &Timeline,
    bins: &[Bin],
    window: Window,
) -> Option<(End, Vec<Bin>)> {
    /// Intervals of the workload's own that are longer on average are too long, s.
    const LONG_S: f64 = 2.0;
    /// So many seconds are better than few longer intervals.
    const ENOUGH: usize = 10;
    /// Counts that differ by more are not of the same requests.
    const APART: f64 = 0.05;
    let lengths: Vec<f64> = inside(bins, window).map(|it| it.window.seconds()).collect();
    if lengths.iter().sum::<f64>() <= LONG_S * lengths.len() as f64 {
        return None;
    }
    let end = request_times::nearest_end(timeline)?;
    let finer = request_times::bins(timeline, end);
    let all = |bins: &[Bin]| -> f64 { inside(bins, window).map(Bin::completed).sum() };
    let (told, counted) = (all(bins), all(&finer));
    let is_same = (counted - told).abs() <= APART * told;
    (is_same && inside(&finer, window).count() >= ENOUGH).then_some((end, finer))
}

/// Single operations that the workload wrote down, in buckets each 1 % wider than the one before.
fn sampled(timeline: &Timeline, windows: &[Window]) -> Vec<Vec<(f64, f64)>> {
    const STEP: f64 = 1.01;
    let samples = Samples::of(timeline);
    let each = windows.iter().map(|window| {
        let mut buckets = BTreeMap::new();
        for ns in samples.inside(*window) {
            let step = ((ns as f64).max(1.0).ln() / STEP.ln()).ceil() as i32;
            *buckets.entry(step).or_insert(0.0) += 1.0;
        }
        let bound = |(step, count)| (STEP.powi(step), count);
        buckets.into_iter().map(bound).collect()
    });
    each.collect()
}
