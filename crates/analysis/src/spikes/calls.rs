//! Bursts of calls, as logs report them: a signal where nobody else gives one, and what was called in spikes that others
//! show.

use std::collections::BTreeMap;
use std::ops::Range;

use model::{BurstingMethod, EntityKind, Provenance, Series, Spike, Timeline, Window};
use sensors::log::{CallName, LOGGED_CALL};

use super::Signal;
use super::detect::merge;
use crate::stats::{median, median_and_noise, ratio};
use crate::workload_metrics::bin::Bin;

/// The step in which calls are counted, ns, and the most steps.
const STEP_NS: i64 = 100_000_000;
const MOST_STEPS: i64 = 20_000;
/// Calls of a method in a step are a burst from so many on, beyond so many times the median of all steps, and beyond so
/// many deviations.
const LEAST_CALLS: f64 = 5.0;
const BURST: f64 = 3.0;
const DEVIATIONS: f64 = 6.0;
/// What bursts take of the steps at most: else they are what is usual.
const MOST_BURSTING: f64 = 0.3;
/// A method belongs to the spikes where it bursts in this part of them.
const LEAST_SPIKES: f64 = 0.5;
/// Methods that are reported.
const MOST_METHODS: usize = 10;

/// All calls of a method to a callee, by any caller.
struct Method<'a> {
    name: String,
    callee: String,
    calls: Vec<Series<'a>>,
    took_ns: Vec<Series<'a>>,
}

/// Those that logs report, by name.
fn methods_of(timeline: &Timeline) -> Vec<Method<'_>> {
    let mut all: BTreeMap<(String, String), Method<'_>> = BTreeMap::new();
    for entity in timeline.entities.of_kind(EntityKind::LoggedCall) {
        let Some(CallName { method, callee, .. }) = CallName::parse(&entity.entity.name) else {
            continue;
        };
        let series = |column| timeline.series(&LOGGED_CALL.name, entity.id, column);
        let (Some(calls), Some(took_ns)) = (series("calls"), series("took_ns")) else {
            continue;
        };
        let known = all.entry((method.clone(), callee.clone()));
        let own = known.or_insert_with(|| Method {
            name: method,
            callee,
            calls: Vec::new(),
            took_ns: Vec::new(),
        });
        own.calls.push(calls);
        own.took_ns.push(took_ns);
    }
    all.into_values().collect()
}

/// The calls of all methods as a signal, with the bursts in it; `None` without any.
pub(super) fn bursts(timeline: &Timeline, window: Window) -> Option<(Signal, Vec<Range<usize>>)> {
    let step_ns = STEP_NS.max(window.len_ns() / MOST_STEPS);
    let count = usize::try_from(window.len_ns() / step_ns).ok()?;
    let step = |at: usize| {
        let start = window.start + at as i64 * step_ns;
        Window::new(start, start + step_ns)
    };
    let (mut calls, mut took_ns) = (vec![0.0; count], vec![0.0; count]);
    let mut is_bursting = vec![false; count];
    for method in methods_of(timeline) {
        let own = grown(&method.calls, count, step);
        for at in bursting(&own) {
            is_bursting[at] = true;
        }
        add(&mut calls, &own);
        add(&mut took_ns, &grown(&method.took_ns, count, step));
    }
    let steps = (0..count).filter(|at| is_bursting[*at]);
    let mut found = merge(steps.map(|at| at..at + 1).collect());
    // What reaches the end may go on.
    found.retain(|it| it.end < count);
    if found.is_empty() {
        return None;
    }
    let bins = (0..count).map(|at| Bin {
        latency_ns: ratio(took_ns[at], calls[at]),
        ..Bin::new(step(at), calls[at] / step(at).seconds())
    });
    let signal = Signal::new(Provenance::Log, bins.collect(), None)?;
    Some((signal, found))
}

fn add(sums: &mut [f64], more: &[f64]) {
    sums.iter_mut()
        .zip(more)
        .for_each(|(sum, more)| *sum += more);
}

/// How much some counters grow together, step by step.
fn grown(all: &[Series<'_>], count: usize, step: impl Fn(usize) -> Window) -> Vec<f64> {
    let mut sums = vec![0.0; count];
    for series in all {
        let mut cursor = series.cursor();
        for (at, sum) in sums.iter_mut().enumerate() {
            *sum += cursor.growth(step(at)).unwrap_or(0.0);
        }
    }
    sums
}

/// The steps in which a method is called far more than usual; none where that is no exception.
fn bursting(calls: &[f64]) -> Vec<usize> {
    let Some((usual, noise)) = median_and_noise(calls) else {
        return Vec::new();
    };
    let bar = (BURST * usual).max(usual + DEVIATIONS * noise);
    let is_burst = |it: &usize| calls[*it] >= LEAST_CALLS && calls[*it] > bar;
    let steps: Vec<usize> = (0..calls.len()).filter(is_burst).collect();
    match steps.len() as f64 <= MOST_BURSTING * calls.len() as f64 {
        true => steps,
        false => Vec::new(),
    }
}

/// The methods that are called far more in spikes than between them, those with most calls first.
pub(super) fn methods(
    timeline: &Timeline,
    window: Window,
    spikes: &[Spike],
) -> Vec<BurstingMethod> {
    // The line of a call is written when it has ended, and may be read a step later.
    let late = |it: &Spike| Window::new(it.window.start, it.window.end + STEP_NS);
    let inside: Vec<Window> = spikes.iter().map(late).collect();
    let all = methods_of(timeline);
    let mut found: Vec<BurstingMethod> = all
        .iter()
        .filter_map(|it| it.in_spikes(window, &inside))
        .collect();
    found.sort_by(|a, b| b.calls.total_cmp(&a.calls));
    found.truncate(MOST_METHODS);
    found
}

impl Method<'_> {
    /// `None` where it does not belong to the spikes.
    fn in_spikes(&self, window: Window, spikes: &[Window]) -> Option<BurstingMethod> {
        let each: Vec<f64> = spikes.iter().map(|it| sum(&self.calls, *it)).collect();
        let (all, took_ns) = (sum(&self.calls, window), sum(&self.took_ns, window));
        let inside: f64 = each.iter().sum();
        let took_inside_ns: f64 = spikes.iter().map(|it| sum(&self.took_ns, *it)).sum();
        let seconds: f64 = spikes.iter().map(|it| it.seconds()).sum();
        let per_second = ratio((all - inside).max(0.0), window.seconds() - seconds)?;
        let usual = |it: &Window| per_second * it.seconds();
        let bursts = each
            .iter()
            .zip(spikes)
            .filter(|(calls, spike)| **calls >= LEAST_CALLS && **calls > BURST * usual(spike));
        let bursts = bursts.count();
        if bursts == 0 || (bursts as f64) < LEAST_SPIKES * spikes.len() as f64 {
            return None;
        }
        let calls_in = |series: &&Series<'_>| spikes.iter().any(|it| grows(series, *it) > 0.0);
        let each_usual: Vec<f64> = spikes.iter().map(usual).collect();
        Some(BurstingMethod {
            method: self.name.clone(),
            callee: self.callee.clone(),
            callers: self.calls.iter().filter(calls_in).count() as u64,
            spikes: bursts as u64,
            calls: median(&each)?,
            usual_calls: median(&each_usual)?,
            mean_ns: ratio(took_inside_ns, inside),
            usual_mean_ns: ratio((took_ns - took_inside_ns).max(0.0), all - inside),
        })
    }
}

fn grows(series: &Series<'_>, window: Window) -> f64 {
    series.growth(window).unwrap_or(0.0)
}

fn sum(all: &[Series<'_>], window: Window) -> f64 {
    all.iter().map(|it| grows(it, window)).sum()
}

#[cfg(test)]
mod tests;
