//! The target's own account as a signal, where nobody reports requests: how many of its threads work, or wait for what
//! they need.

use std::ops::Range;

use model::{
    EntityId, EntityKind, LedgerClass, Meta, Provenance, Role, SpikeReport, Timeline, Timestamp,
    Window,
};

use super::{Signal, detect};
use crate::over_time::{LedgerOverTime, THREAD_CLASSES};
use crate::workload_metrics::bin::Bin;

/// The step in which threads are looked at, ns.
const STEP_NS: i64 = 100_000_000;
/// Steps of all threads together: of more threads, or of a longer recording, steps are longer.
const MOST_STEPS: i64 = 1_000_000;
/// Threads that are added to those of each step: of an idle target anything at all would be many times the usual.
const LEAST_THREADS: f64 = 0.1;

/// Spikes of the number of the target's threads that work or wait, and the signal that has them.
pub(super) fn spikes(
    timeline: &Timeline,
    meta: &Meta,
    window: Window,
) -> Option<(Signal, Vec<Range<usize>>)> {
    let threads = threads(timeline);
    let step_ns = STEP_NS
        .max(window.len_ns().saturating_mul(threads.len() as i64) / MOST_STEPS)
        .max(read_every_ns(timeline, window));
    let many = window.len_ns() / step_ns;
    let edges: Vec<Timestamp> = (0..=many).map(|at| window.start + at * step_ns).collect();
    let ledgers = LedgerOverTime::new(timeline, meta, &edges);
    let mut needed_ns = vec![0.0; edges.len() - 1];
    for thread in threads {
        let Some(time) = ledgers.of(thread) else {
            continue;
        };
        let steps = needed_ns.iter_mut().skip(time.first_bin);
        for (sum, classes) in steps.zip(&time.bins) {
            *sum += needed(classes);
        }
    }
    let bins = edges.windows(2).zip(needed_ns).map(|(edges, ns)| {
        let threads = ns / step_ns as f64 + LEAST_THREADS;
        // One more thread for as long as an interval is as if each request took that much longer: Little's law, at a
        // throughput that is not known and does not change.
        Bin {
            latency_ns: Some(threads * 1e9),
            ..Bin::new(Window::new(edges[0], edges[1]), 1.0)
        }
    });
    let signal = Signal::new(Provenance::Account, bins.collect(), None)?;
    let found = detect::spikes(&signal.bins, window);
    (!found.is_empty()).then_some((signal, found))
}

/// How long there is between two readings of threads at the end of a window, ns: it only ever grows. Shorter steps would
/// have each onset at the reading before it, and so earlier the longer that was: periods would come out too short.
fn read_every_ns(timeline: &Timeline, window: Window) -> i64 {
    let machine = timeline.entities.machine();
    let periods = machine.and_then(|it| timeline.series("recorder", it.id, "period_ns"));
    periods.and_then(|it| it.gauge_at(window.end)).unwrap_or(0)
}

/// The target's threads.
fn threads(timeline: &Timeline) -> Vec<EntityId> {
    let threads = timeline.entities.of_kind(EntityKind::Thread);
    let own = threads.filter(|it| {
        let process = it.parent.and_then(|it| timeline.entities.get(it));
        process.is_some_and(|it| it.role == Role::Target)
    });
    own.map(|it| it.id).collect()
}

/// Time of a thread that surely served somebody: that in futex may be idle, as in `Ledger::busy_ns`.
fn needed(classes: &[i64; THREAD_CLASSES]) -> f64 {
    let idle = [
        LedgerClass::Input,
        LedgerClass::Sleep,
        LedgerClass::Futex,
        LedgerClass::OtherCall,
        LedgerClass::Unknown,
    ];
    let all = LedgerClass::ALL.into_iter().zip(classes);
    let needed = all.filter(|(class, _)| !idle.contains(class));
    needed.map(|(_, ns)| *ns as f64).sum()
}

/// Gives a report of such spikes its own numbers: threads, and neither latency nor throughput.
pub(super) fn in_threads(report: &mut SpikeReport) {
    let threads = |ns: f64| (ns / 1e9 - LEAST_THREADS).max(0.0);
    report.usual_threads = report.usual_latency_ns.take().map(threads);
    report.usual_throughput = 0.0;
    report.lost = 0.0;
    for spike in &mut report.spikes {
        spike.peak_threads = spike.peak_latency_ns.take().map(threads);
        spike.lowest_throughput = 0.0;
        spike.lost = 0.0;
    }
}
