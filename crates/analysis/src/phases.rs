//! The parts of a run: warm-up, steady, and what hangs over at the end.
//!
//! The first bin is always warm-up (clients connect, caches fill); more is cut off where the marginal
//! standard error of the rest says so (MSER, White 1997, Simulation 69(6)) and the difference is
//! large enough to matter.

use model::{Meta, Phase, PhaseKind, Timeline, Timestamp, Window};

use crate::signals::{self, Bin};
use crate::thresholds::Thresholds;

/// Without a signal, this much after the start is left out.
const SETTLE_NS: i64 = 1_000_000_000;

/// The phases in the order of time.
pub(crate) fn phases(
    timeline: &Timeline,
    meta: &Meta,
    bins: &[Bin],
    thresholds: &Thresholds,
) -> Vec<Phase> {
    let whole = timeline.window;
    let origin = origin(timeline, meta, bins);
    let (start, end) = match steady_bins(bins, thresholds) {
        Some((first, last)) => (bins[first].window.start, bins[last].window.end),
        None => without_signal(meta, origin, whole),
    };
    let (start, end) = (start.max(found_at(meta)).min(whole.end), end.min(whole.end));
    let phase = |kind, start, end| {
        let window = Window::new(start, end);
        let mean = signals::mean(bins, window);
        Phase {
            kind,
            window,
            throughput: mean.map(|mean| mean.throughput),
            latency_ns: mean
                .and_then(|mean| mean.latency_ns)
                .map(|ns| ns.round() as i64),
        }
    };
    let phases = [
        phase(PhaseKind::WarmUp, origin, start),
        phase(PhaseKind::Steady, start, end),
        phase(PhaseKind::End, end, whole.end),
    ];
    phases
        .into_iter()
        .filter(|phase| !phase.window.is_empty())
        .collect()
}

/// The window that the verdict is about.
pub(crate) fn judged(phases: &[Phase], whole: Window) -> Window {
    phases
        .iter()
        .find(|phase| phase.kind == PhaseKind::Steady)
        .map_or(whole, |phase| phase.window)
}

/// The instant that is shown as 0 s: where the workload's own clock starts.
pub(crate) fn origin(timeline: &Timeline, meta: &Meta, bins: &[Bin]) -> Timestamp {
    let started = meta.workload.as_ref().map(|workload| workload.started);
    bins.first()
        .map(|bin| bin.window.start)
        .or(started)
        .unwrap_or(timeline.window.start)
}

fn found_at(meta: &Meta) -> Timestamp {
    let targets = meta
        .targets
        .iter()
        .filter(|target| target.role == model::Role::Target);
    targets
        .map(|target| target.found_at)
        .min()
        .unwrap_or_default()
}

fn without_signal(meta: &Meta, origin: Timestamp, whole: Window) -> (Timestamp, Timestamp) {
    let ended = meta
        .workload
        .as_ref()
        .and_then(|workload| workload.outcome.as_ref())
        .map(|outcome| outcome.ended);
    let end = ended.unwrap_or(whole.end).min(whole.end);
    // A command that ends within seconds is judged whole.
    let settle = if end.ns_since(origin) > 5 * SETTLE_NS {
        SETTLE_NS
    } else {
        0
    };
    (origin + settle, end)
}

/// The first and the last bin of the steady phase; `None` under three bins.
fn steady_bins(bins: &[Bin], thresholds: &Thresholds) -> Option<(usize, usize)> {
    if bins.len() < 3 {
        return None;
    }
    let mut lengths: Vec<i64> = bins.iter().map(|bin| bin.window.len_ns()).collect();
    lengths.sort_unstable();
    let usual = lengths[lengths.len() / 2];
    let last = bins
        .iter()
        .rposition(|bin| bin.window.len_ns() >= usual - usual / 2)?;
    let values: Vec<f64> = bins[1..=last].iter().map(|bin| bin.throughput).collect();
    let cut = warm_up_length(&values, thresholds);
    (last > cut).then_some((1 + cut, last))
}

/// How many of the first values are warm-up.
fn warm_up_length(values: &[f64], thresholds: &Thresholds) -> usize {
    const LEAST_BINS: usize = 3;
    let most = (values.len() as f64 * thresholds.warm_up.most) as usize;
    let cut = (0..=most)
        .filter(|cut| values.len() - cut >= LEAST_BINS)
        .min_by(|a, b| marginal_error(&values[*a..]).total_cmp(&marginal_error(&values[*b..])))
        .unwrap_or(0);
    // The middle of what would be cut off, so that one stalled bin is not taken for a slow start.
    let (before, after) = (middle_of(&values[..cut]), mean_of(&values[cut..]));
    // A start that was faster than the rest is no warm-up: something slowed it down later.
    let effect = (after - before) / after.abs().max(f64::MIN_POSITIVE);
    if cut > 0 && effect >= thresholds.warm_up.effect {
        cut
    } else {
        0
    }
}

fn marginal_error(values: &[f64]) -> f64 {
    let mean = mean_of(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    squares / (values.len() as f64).powi(2)
}

fn middle_of(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}

fn mean_of(values: &[f64]) -> f64 {
    if values.is_empty() {
        0.0
    } else {
        values.iter().sum::<f64>() / values.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_start_is_cut_off_and_noise_is_not() {
        let thresholds = Thresholds::default();
        let mut values = vec![2.0, 5.0, 8.0];
        values.extend((0..20).map(|i| 10.0 + 0.1 * f64::from(i % 3)));
        assert_eq!(warm_up_length(&values, &thresholds), 3);
        let noise: Vec<f64> = (0..30).map(|i| 10.0 + 0.2 * f64::from(i * 7 % 5)).collect();
        assert_eq!(warm_up_length(&noise, &thresholds), 0);
        let slowed: Vec<f64> = (0..20).map(|i| if i < 6 { 12.0 } else { 10.0 }).collect();
        assert_eq!(warm_up_length(&slowed, &thresholds), 0);
        assert_eq!(warm_up_length(&[1.0; 2], &thresholds), 0);
        let mut stalled = vec![10.0; 20];
        stalled[5] = 0.0;
        assert_eq!(warm_up_length(&stalled, &thresholds), 0);
        assert_eq!(warm_up_length(&[0.0; 10], &thresholds), 0);
    }
}
