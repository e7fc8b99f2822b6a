//! What a point says of its configuration: throughput, latency, what is nearest to full, and the headroom that leaves.

use model::{
    Confidence, Goal, Interval, Latency, NearestFull, SizedConfiguration, SizingEstimate, Sweep,
    SweepPoint,
};

use super::axes::Axes;
use super::prices::Prices;
use crate::compare::used;

/// From here on a resource counts as full enough to have been tested.
pub(super) const TESTED: f64 = 0.8;

/// What can become full, in words.
const RESOURCES: [(&str, &str); 4] = [
    (used::CPUS, "CPUs"),
    (used::QUOTA, "CPU quota"),
    (used::THREAD, "one thread"),
    (used::DISK, "disk"),
];

const PRESSURE: [&str; 3] = [
    "pressure.cpu_some",
    "pressure.io_some",
    "pressure.memory_some",
];

/// Causes that hold a server back while nothing is full: a lock, a pool, another server, disks that answer late. More load
/// shows no more, and neither does a larger machine by itself.
const HOLDS: [&str; 6] = [
    "lock.",
    "limit.",
    "net.",
    "io.",
    "memory.",
    "cpu.single_thread",
];

/// Whether such a cause limits most of the runs.
pub(super) fn is_held(point: &SweepPoint) -> bool {
    let limit = point.limit.as_ref();
    limit.is_some_and(|it| {
        let holds = HOLDS.iter().any(|cause| it.cause.starts_with(cause));
        holds && it.confidence != Confidence::Suspected
    })
}

/// What a point gives.
pub(super) fn configuration(
    sweep: &Sweep,
    axes: &Axes,
    prices: Option<&Prices>,
    goal: Option<Goal>,
    point: &SweepPoint,
) -> SizedConfiguration {
    let nearest = nearest(point);
    let is_full = nearest.as_ref().is_some_and(|it| it.busy.value >= TESTED);
    let is_held = !is_full && is_held(point);
    let throughput = estimate(point, "throughput");
    let value = |key| point.figure(key).map(|it| it.value);
    // A figure that is 0 everywhere is left out of a sweep.
    let is_recorded = PRESSURE.iter().any(|it| point.figure(it).is_some());
    let pressure = |key| value(key).or(is_recorded.then_some(0.0));
    SizedConfiguration {
        values: point.values.clone(),
        runs: u32::try_from(point.runs.len()).unwrap_or(u32::MAX),
        units: units(axes, point),
        per_hour: prices.and_then(|it| it.of(&sweep.parameters, &point.values)),
        latency_ns: estimate(point, "latency"),
        goal_latency_ns: goal.and_then(|it| estimate(point, &key_of(it.of))),
        headroom: nearest
            .as_ref()
            .filter(|_| !is_held)
            .and_then(|it| headroom(&it.busy)),
        waiting: waiting(point),
        cpu_some: pressure("pressure.cpu_some"),
        io_some: pressure("pressure.io_some"),
        memory_some: pressure("pressure.memory_some"),
        memory_in_use: value(used::MEMORY),
        tested: nearest.as_ref().map(|_| is_held || is_full),
        limit: point.limit.clone(),
        nearest,
        throughput,
        meets: None,
        model: None,
        refused: None,
    }
}

/// The figure of a latency.
pub(super) fn key_of(latency: Latency) -> String {
    match latency {
        Latency::Mean => "latency".to_owned(),
        of => format!("latency.{of}"),
    }
}

pub(super) fn estimate(point: &SweepPoint, key: &str) -> Option<SizingEstimate> {
    let figure = point.figure(key)?;
    Some(SizingEstimate {
        value: figure.value,
        interval: figure.interval,
    })
}

fn units(axes: &Axes, point: &SweepPoint) -> Option<f64> {
    let cpus = point.setting.as_ref().map(|it| it.cpus);
    axes.units(&point.values).or(cpus.filter(|it| *it > 0.0))
}

/// Run-queue delay of the server's threads per second. Of sweeps that do not have it, requests that wait for a CPU:
/// throughput times the wait of each (Little's law).
fn waiting(point: &SweepPoint) -> Option<SizingEstimate> {
    if let Some(counted) = estimate(point, used::WAITING) {
        return Some(counted);
    }
    let rate = point.figure("throughput")?.value;
    let wait = estimate(point, "wait.cpu_wait")?;
    let of = |ns: f64| rate * ns / 1e9;
    Some(SizingEstimate {
        value: of(wait.value),
        interval: wait.interval.map(|it| Interval {
            low: of(it.low),
            high: of(it.high),
        }),
    })
}

/// The resource of which the largest part is busy.
fn nearest(point: &SweepPoint) -> Option<NearestFull> {
    let known = RESOURCES.iter().filter_map(|(key, label)| {
        let mut busy = estimate(point, key)?;
        // A busy unit is sampled a little too long now and then.
        busy.value = busy.value.clamp(0.0, 1.0);
        busy.interval = busy.interval.map(|it| Interval {
            low: it.low.clamp(0.0, busy.value),
            high: it.high.clamp(busy.value, 1.0),
        });
        Some(NearestFull {
            key: (*key).to_owned(),
            label: (*label).to_owned(),
            busy,
        })
    });
    known.max_by(|one, other| one.busy.value.total_cmp(&other.busy.value))
}

/// How many times the throughput fills it: utilisation law with an unchanged demand.
fn headroom(busy: &SizingEstimate) -> Option<SizingEstimate> {
    /// Of a resource that was hardly used nothing follows.
    const LEAST: f64 = 0.05;
    let times = |busy: f64| 1.0 / busy.max(LEAST);
    (busy.value >= LEAST).then(|| SizingEstimate {
        value: times(busy.value),
        interval: busy.interval.map(|it| Interval {
            low: times(it.high),
            high: times(it.low),
        }),
    })
}
