//! Spikes of latency and dips of throughput: when they come, how often, and what comes before them.
//!
//! A mean over half a minute hides a stall of two seconds. Here the run is looked at in steps of a tenth of a second,
//! or in the workload's own intervals where the kernel counted no requests; where there are neither, bursts of the calls
//! that logs report are taken, or the target's own account.
//!
//! Nothing here decides a cause.

mod account;
mod across;
mod bursts;
mod calls;
mod chain;
mod detect;
mod differences;
mod events;
mod pairs;
mod sampled;
mod schedule;
mod trains;
mod triggers;

pub(crate) use across::{Beside, across};

use std::ops::Range;

use model::{Meta, Provenance, Spike, SpikeReport, Timeline, TriggerKind, Window};

use crate::by_second;
use crate::request_times::{self, End};
use crate::stats::{is_supported, median};
use crate::thresholds::Thresholds;
use crate::workload_metrics::{self, bin::Bin};

/// `None` where nobody said what was completed when, or nothing stands out.
pub(crate) fn of(timeline: &Timeline, meta: &Meta, window: Window) -> Option<SpikeReport> {
    let (signal, found) = signal(timeline, meta, window)?;
    let usual = detect::usual(&signal.bins, window)?;
    let spikes: Vec<Spike> = found
        .iter()
        .map(|range| detect::spike(&signal.bins[range.clone()], usual.throughput))
        .collect();
    let (inside, outside) = signal.p99(timeline, &spikes, window);
    let onsets: Vec<f64> = spikes
        .iter()
        .map(|it| it.window.start.ns_since(window.start) as f64 / 1e9)
        .collect();
    let dead = detect::dead_time(&spikes, signal.interval_ns);
    let mut trains = trains::trains(&onsets, window.seconds(), dead);
    if trains.is_empty() {
        let weights = detect::weights(&signal.bins, &found, &usual);
        trains = trains::of_the_largest(&onsets, &weights, window.seconds(), dead);
    }
    let interval = signal.interval_ns as f64 / 1e9;
    let reported = trains.iter();
    let reported = reported.map(|train| schedule::reported(train, &onsets, interval, window, meta));
    let mut streams = events::streams(timeline, window);
    // What the bursts are made of does not start them.
    streams.retain(|it| (it.kind, signal.provenance) != (TriggerKind::Calls, Provenance::Log));
    let (triggers, compared) = triggers::of(&streams, &onsets, &trains, window.seconds(), interval);
    let (differences, measures) = differences::of(timeline, meta, &spikes, window);
    let mut report = SpikeReport {
        window,
        provenance: signal.provenance,
        interval_ns: signal.interval_ns,
        usual_latency_ns: usual.latency_ns,
        usual_throughput: usual.throughput,
        usual_threads: None,
        spiking_ns: spikes.iter().map(|it| it.window.len_ns()).sum(),
        p99_inside_ns: inside,
        p99_outside_ns: outside,
        // What is not about the requests of a target leads no verdict.
        added: (signal.provenance.is_of_requests())
            .then(|| detect::added(&signal.bins, &found, window))
            .flatten(),
        lost: spikes.iter().map(|it| it.lost).sum(),
        trains: reported.collect(),
        triggers,
        compared,
        chain: String::new(),
        differences,
        measures,
        methods: calls::methods(timeline, window, &spikes),
        spikes,
    };
    if report.provenance == Provenance::Account {
        account::in_threads(&mut report);
    }
    report.chain = chain::sentence(&report, &[]);
    Some(report)
}

/// The signal in which spikes are looked for, with those that it has: requests, else calls in a log, and where nobody
/// reports requests the target's threads.
fn signal(timeline: &Timeline, meta: &Meta, window: Window) -> Option<(Signal, Vec<Range<usize>>)> {
    let requests = Signal::of(timeline, meta);
    let is_unreported = requests.is_none();
    let of_requests = requests.and_then(|signal| {
        let found = detect::spikes(&signal.bins, window);
        (!found.is_empty()).then_some((signal, found))
    });
    let of_calls = || calls::bursts(timeline, window);
    let of_threads = || {
        is_unreported
            .then(|| account::spikes(timeline, meta, window))
            .flatten()
    };
    of_requests.or_else(of_calls).or_else(of_threads)
}

/// Throughput and latency in short intervals.
struct Signal {
    provenance: Provenance,
    bins: Vec<Bin>,
    interval_ns: i64,
    /// Whose sockets, where the kernel counted requests.
    end: Option<End>,
}

impl Signal {
    fn of(timeline: &Timeline, meta: &Meta) -> Option<Self> {
        if let Some(end) = request_times::nearest_end(timeline) {
            let rules = &Thresholds::default().stalls;
            let step_ns = by_second::step_ns(timeline, end, rules)?;
            let bins = request_times::between_readings(timeline, end, step_ns)?;
            return Self::new(Provenance::Kernel, bins, Some(end));
        }
        let own = workload_metrics::bins(timeline, meta);
        let bins = sampled::bins(timeline, &own).unwrap_or(own);
        let said = meta.workload.as_ref().map(|it| it.latency);
        Self::new(said.unwrap_or(Provenance::ToolCount), bins, None)
    }

    fn new(provenance: Provenance, bins: Vec<Bin>, end: Option<End>) -> Option<Self> {
        let lengths: Vec<f64> = bins.iter().map(|it| it.window.len_ns() as f64).collect();
        Some(Self {
            provenance,
            interval_ns: median(&lengths)? as i64,
            bins,
            end,
        })
    }

    /// p99 of the requests that ended in spikes, and of the others.
    fn p99(
        &self,
        timeline: &Timeline,
        spikes: &[Spike],
        window: Window,
    ) -> (Option<f64>, Option<f64>) {
        let Some(end) = self.end else {
            return (None, None);
        };
        let inside: Vec<Window> = spikes.iter().map(|it| it.window).collect();
        let mut outside = Vec::new();
        let mut from = window.start;
        for spike in &inside {
            outside.push(Window::new(from, spike.start));
            from = spike.end;
        }
        outside.push(Window::new(from, window.end));
        outside.retain(|it| it.len_ns() > 0);
        let p99 = |windows: &[Window]| {
            let times = request_times::over_all(timeline, end, windows);
            is_supported(times.timed, 0.99).then(|| times.quantile_ns(0.99))?
        };
        (p99(&inside), p99(&outside))
    }
}

#[cfg(test)]
mod tests;
