//! The parts of a run: warm-up, what holds a level or changes evenly, and what hangs over at the end.
//!
//! The first bin is always warm-up (clients connect, caches fill). The rest is cut where it changed
//! (`changes`), and where a limit of the target was set or lifted (`borders`). A slow start is warm-up
//! too: up to the first stretch that settled, as much is cut off as the marginal standard error says
//! (MSER), if the difference is large enough to matter.

use std::ops::Range;

use model::{Meta, Phase, PhaseKind, Timeline, Timestamp, Window};

use crate::borders;
use crate::changes::{self, Series};
use crate::scene::Roles;
use crate::stats::change_points::{LEAST_BINS, Segment, Shape};
use crate::stats::{self, median_high};
use crate::thresholds::Thresholds;
use crate::workload_metrics::{self, Bin, Mean};

/// Without a signal, this much after the start is left out.
const SETTLE_NS: i64 = 1_000_000_000;
/// Shorter bins are merged before changes are sought.
const SECOND_NS: i64 = 1_000_000_000;

/// The phases in the order of time, from the first instant to the last.
pub(crate) fn phases(roles: &Roles<'_>, thresholds: &Thresholds) -> Vec<Phase> {
    let (timeline, meta, bins) = (roles.timeline, roles.meta, &roles.bins[..]);
    let whole = timeline.window;
    let origin = origin(timeline, meta, bins);
    let found = found_at(meta);
    let mut parts = match settled(bins, &borders::limits_set(roles), thresholds) {
        Some((segments, end)) => from_stretches(bins, &segments, end, thresholds),
        None => {
            let (start, end) = without_signal(meta, origin, whole);
            vec![(PhaseKind::Steady, Window::new(start, end))]
        }
    };
    for (_, window) in &mut parts {
        let (start, end) = (window.start.max(found), window.end.min(whole.end));
        *window = Window::new(start.min(whole.end), end);
    }
    let start = parts.first().map_or(whole.end, |(_, window)| window.start);
    let end = parts.last().map_or(whole.end, |(_, window)| window.end);
    parts.insert(0, (PhaseKind::WarmUp, Window::new(origin, start)));
    parts.push((PhaseKind::End, Window::new(end, whole.end)));
    parts
        .into_iter()
        .filter(|(_, window)| !window.is_empty())
        .map(|(kind, window)| phase(bins, kind, window))
        .collect()
}

fn phase(bins: &[Bin], kind: PhaseKind, window: Window) -> Phase {
    let mean = workload_metrics::mean(bins, window);
    Phase {
        kind,
        window,
        throughput: mean.map(|mean| mean.throughput),
        latency_ns: mean
            .and_then(|mean| mean.latency_ns)
            .map(|ns| ns.round() as i64),
        verdict: None,
        change: None,
        disks: Vec::new(),
    }
}

/// From the first phase's start to the last one's end; `otherwise` without any.
pub(crate) fn all(phases: &[Phase], otherwise: Window) -> Window {
    let starts = phases.iter().map(|it| it.window.start).min();
    let ends = phases.iter().map(|it| it.window.end).max();
    let all = starts.zip(ends).map(|(start, end)| Window::new(start, end));
    all.unwrap_or(otherwise)
}

/// The window that the verdict is about: the longest steady phase, of equal ones the last. Where one
/// is congested for more than twice as long, that is what the run was; a ramp where nothing settled.
pub(crate) fn judged(phases: &[Phase], whole: Window) -> Window {
    let longest = |kind| {
        let of = phases.iter().filter(|phase| phase.kind == kind);
        of.map(|phase| phase.window)
            .max_by_key(|window| window.len_ns())
    };
    let steady = longest(PhaseKind::Steady);
    let least = steady.map_or(0, |window| 2 * window.len_ns());
    longest(PhaseKind::Congested)
        .filter(|window| window.len_ns() > least)
        .or(steady)
        .or_else(|| longest(PhaseKind::Ramp))
        .unwrap_or(whole)
}

/// The phases that a cause can be looked for in, one by one: none where there is only one.
pub(crate) fn of_several<'a>(
    phases: &'a mut [Phase],
    bins: &[Bin],
) -> impl Iterator<Item = &'a mut Phase> {
    let long = |phase: &Phase| {
        !matches!(phase.kind, PhaseKind::WarmUp | PhaseKind::End)
            && workload_metrics::inside(bins, phase.window).count() >= LEAST_BINS
    };
    let several = phases.iter().filter(|phase| long(phase)).count() > 1;
    phases
        .iter_mut()
        .filter(move |phase| several && long(phase))
}

/// The instant that is shown as 0 s: where the workload's own clock starts.
pub(crate) fn origin(timeline: &Timeline, meta: &Meta, bins: &[Bin]) -> Timestamp {
    let started = meta.workload.as_ref().map(|workload| workload.started);
    let first = bins.first().map(|bin| bin.window.start);
    let known = timeline.origin.or(first).or(started);
    known.unwrap_or(timeline.window.start)
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
    // Of a part of a recording the start may be long past.
    ((origin + settle).max(whole.start), end)
}

/// What is neither warm-up nor end, cut where it changed and where a limit was `set`, in indices of bins, and the end
/// of the last bin that is long enough to count; `None` under three bins.
fn settled(
    bins: &[Bin],
    set: &[Timestamp],
    thresholds: &Thresholds,
) -> Option<(Vec<Segment>, usize)> {
    if bins.len() < LEAST_BINS {
        return None;
    }
    let lengths: Vec<i64> = bins.iter().map(|bin| bin.window.len_ns()).collect();
    let usual = median_high(&lengths, i64::cmp)?;
    let last = bins
        .iter()
        .rposition(|bin| bin.window.len_ns() >= usual - usual / 2)?;
    if last == 0 {
        return None;
    }
    let kept = &bins[1..=last];
    // Bins of a damaged recording may be nanoseconds long.
    let group = ((SECOND_NS + usual / 2) / usual).clamp(1, kept.len() as i64) as usize;
    let mut segments = Vec::new();
    for range in between(kept, set, thresholds.phases.settled * group) {
        let part = &kept[range.clone()];
        let series = Series {
            throughput: part.iter().map(|bin| bin.throughput).collect(),
            latency_ns: part.iter().map(|bin| bin.latency_ns).collect(),
        };
        let found = changes::segments(&series, group, &thresholds.phases);
        segments.extend(found.into_iter().map(|it| Segment {
            first: it.first + range.start,
            end: it.end + range.start,
            shape: it.shape,
        }));
    }
    let throughput: Vec<f64> = kept.iter().map(|bin| bin.throughput).collect();
    let mut segments = without_warm_up(&throughput, segments, thresholds);
    for segment in &mut segments {
        segment.first += 1;
        segment.end += 1;
    }
    (!segments.is_empty()).then_some((segments, last + 1))
}

/// The bins between the instants at which something was `set`, each part at least so many: together all of them.
fn between(bins: &[Bin], set: &[Timestamp], least: usize) -> Vec<Range<usize>> {
    let is_before = |bin: &Bin, at: Timestamp| bin.window.start + bin.window.len_ns() / 2 < at;
    let mut first = 0;
    let mut parts = Vec::new();
    for at in set {
        let cut = bins.partition_point(|bin| is_before(bin, *at));
        if cut >= first + least && cut + least <= bins.len() {
            parts.push(first..cut);
            first = cut;
        }
    }
    parts.push(first..bins.len());
    parts
}

/// The segments less the warm-up: that is sought up to the first of them that settled.
fn without_warm_up(
    throughput: &[f64],
    mut segments: Vec<Segment>,
    thresholds: &Thresholds,
) -> Vec<Segment> {
    let most = (throughput.len() as f64 * thresholds.warm_up.most).ceil() as usize;
    let mean = |segment: &Segment| mean_of(&throughput[segment.first..segment.end]);
    let starts_slowly = |pair: &&[Segment]| {
        let slower = mean(&pair[1]) >= mean(&pair[0]) * (1.0 + thresholds.warm_up.effect);
        let short = pair[0].len() < thresholds.phases.settled || pair[0].shape == Shape::Trend;
        slower && short && pair[0].end <= most
    };
    let slow = segments.windows(2).take_while(starts_slowly).count();
    let settled = segments[slow];
    let cut = match settled.shape {
        Shape::Level => warm_up_length(&throughput[..settled.end], thresholds),
        Shape::Trend => 0,
    };
    // What is left of a segment in under three bins goes to the next.
    let early = |segment: &&Segment| segment.end < cut + LEAST_BINS;
    let early = segments.iter().take_while(early).count();
    segments.drain(..early.min(segments.len() - 1));
    if let Some(first) = segments.first_mut() {
        first.first = cut;
    }
    segments
}

/// Kinds and windows of segments: each lasts until the next begins.
fn from_stretches(
    bins: &[Bin],
    segments: &[Segment],
    end: usize,
    thresholds: &Thresholds,
) -> Vec<(PhaseKind, Window)> {
    let starts = segments
        .iter()
        .map(|segment| bins[segment.first].window.start);
    let ends = starts.clone().skip(1).chain([bins[end - 1].window.end]);
    let windows: Vec<Window> = starts
        .zip(ends)
        .map(|(start, end)| Window::new(start, end))
        .collect();
    let means: Vec<_> = windows
        .iter()
        .map(|window| workload_metrics::mean(bins, *window))
        .collect();
    let congested = |at: usize| {
        let beside = [at.checked_sub(1), Some(at + 1)].into_iter().flatten();
        let mut levels =
            beside.filter(|it| segments.get(*it).is_some_and(|it| it.shape == Shape::Level));
        levels.any(|beside| {
            let pair = means[at].zip(means[beside]);
            pair.is_some_and(|(here, there)| is_congested(&here, &there, thresholds))
        })
    };
    let kind = |at: usize| match segments[at].shape {
        Shape::Trend => PhaseKind::Ramp,
        Shape::Level if congested(at) => PhaseKind::Congested,
        Shape::Level => PhaseKind::Steady,
    };
    windows
        .iter()
        .enumerate()
        .map(|(at, window)| (kind(at), *window))
        .collect()
}

/// Many more requests in progress than beside it (N = X R), and no more throughput: they queue. A
/// closed loop that is slowed has as many as before and is not congested.
fn is_congested(here: &Mean, there: &Mean, thresholds: &Thresholds) -> bool {
    let in_flight = |mean: &Mean| Some(mean.throughput * mean.latency_ns?);
    in_flight(here)
        .zip(in_flight(there))
        .is_some_and(|(here, there)| here >= there * thresholds.phases.congested)
        && here.throughput <= there.throughput * (1.0 + thresholds.phases.effect)
}

/// How many of the first values are warm-up.
fn warm_up_length(values: &[f64], thresholds: &Thresholds) -> usize {
    let most = (values.len() as f64 * thresholds.warm_up.most) as usize;
    let cut = stats::warm_up_length(values, most, LEAST_BINS);
    // The middle of what would be cut off, so that one stalled bin is not taken for a slow start.
    let before = median_high(&values[..cut], f64::total_cmp).unwrap_or(0.0);
    let after = mean_of(&values[cut..]);
    // A start that was faster than the rest is no warm-up: something slowed it down later.
    let effect = (after - before) / after.abs().max(f64::MIN_POSITIVE);
    if cut > 0 && effect >= thresholds.warm_up.effect {
        cut
    } else {
        0
    }
}

fn mean_of(values: &[f64]) -> f64 {
    stats::mean(values).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_set_parts_the_bins_where_both_sides_are_long_enough() {
        let at = Timestamp::from_seconds;
        let bins: Vec<Bin> = (0..20)
            .map(f64::from)
            .map(|second| Bin::new(Window::new(at(second), at(second + 1.0)), 100.0))
            .collect();
        let parts = |set: &[f64]| {
            let set: Vec<Timestamp> = set.iter().map(|it| at(*it)).collect();
            let parts = between(&bins, &set, 5).into_iter();
            parts.map(|it| (it.start, it.end)).collect::<Vec<_>>()
        };
        assert_eq!(parts(&[]), [(0, 20)]);
        assert_eq!(parts(&[8.4]), [(0, 8), (8, 20)]);
        assert_eq!(parts(&[8.6]), [(0, 9), (9, 20)]);
        assert_eq!(parts(&[4.0, 10.0, 12.0, 16.5]), [(0, 10), (10, 20)]);
        assert_eq!(parts(&[-3.0, 90.0]), [(0, 20)]);
    }

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
