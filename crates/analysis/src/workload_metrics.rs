//! Throughput and latency: where they come from, and how they are reported.

pub(crate) mod bin;

use crate::request_times::End;
use crate::stats::{Group, pooled_deviation};
use crate::{labels, quantiles, request_times};
use model::{
    LatencyQuantile, MISSING, Meta, Provenance, Quantile, Signal, Timeline, Timestamp, Window,
};

pub use bin::Mean;
pub(crate) use bin::{Bin, inside, mean, mean_at, whole_bins};

/// A longer bin, or one without length, is damage.
const LONGEST_NS: i64 = 86_400_000_000_000;

/// Where throughput and latency come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Source {
    /// The workload says both, or nobody knows.
    Workload,
    /// The workload says its throughput; its latency is missing, or derived from that, and is taken where the kernel saw
    /// its requests.
    Latency(End),
    /// The kernel counted the target's requests, and saw how long they took at this end: no adapter reads the workload's
    /// output, or there is no workload.
    Kernel(End),
}

impl Source {
    /// Whether response times were taken at the target's own sockets.
    pub(crate) fn is_at_target(self) -> bool {
        matches!(self, Self::Kernel(End::Target) | Self::Latency(End::Target))
    }

    /// Whether the kernel counted what was completed.
    pub(crate) fn is_kernel(self) -> bool {
        matches!(self, Self::Kernel(_))
    }
}

/// Where throughput and latency of a recording come from.
pub(crate) fn source(timeline: &Timeline, meta: &Meta) -> Source {
    let Some(end) = request_times::nearest_end(timeline) else {
        return Source::Workload;
    };
    let workload = meta.workload.as_ref();
    match workload.filter(|it| it.adapter.is_some() || !it.signals.is_empty()) {
        None => Source::Kernel(end),
        // What it derives from clients and throughput is no evidence, and of a workload that reported no interval the
        // kernel knows the throughput too.
        Some(heard) if heard.latency == Provenance::Derived => match reports_intervals(timeline) {
            true => Source::Latency(end),
            false => Source::Kernel(end),
        },
        // A tool that speaks at its end only: what it says then is of its whole run, warm-up included, and of no window.
        Some(heard)
            if heard.adapter.is_some()
                && heard.latency == Provenance::None
                && !reports_intervals(timeline) =>
        {
            Source::Kernel(end)
        }
        Some(_) if !says_latency(timeline) && timeline.table("signal").is_some() => {
            Source::Latency(end)
        }
        Some(_) => Source::Workload,
    }
}

fn reports_intervals(timeline: &Timeline) -> bool {
    timeline.table("signal").is_some_and(|it| !it.is_empty())
}

fn says_latency(timeline: &Timeline) -> bool {
    let mut tables = ["signal", "signal_by_label"]
        .into_iter()
        .filter_map(|name| timeline.table(name));
    tables.any(|table| {
        let column = table.table.position("latency_mean_ns");
        column.is_some_and(|column| {
            (0..table.len()).any(|row| table.row(row).nth(column).is_some_and(|it| it != MISSING))
        })
    })
}

/// The bins of the recording, in the order of time.
pub(crate) fn bins(timeline: &Timeline, meta: &Meta) -> Vec<Bin> {
    match source(timeline, meta) {
        Source::Workload => workload_bins(timeline),
        Source::Kernel(end) => request_times::bins(timeline, end),
        Source::Latency(end) => {
            let mut bins = workload_bins(timeline);
            request_times::fill_latency(&mut bins, timeline, end);
            bins
        }
    }
}

pub(crate) fn workload_bins(timeline: &Timeline) -> Vec<Bin> {
    let Some(table) = timeline.table("signal") else {
        return Vec::new();
    };
    let position = |column: &str| table.table.position(column);
    let columns = [
        "interval_ns",
        "throughput_milli",
        "latency_mean_ns",
        "latency_stddev_ns",
        "lag_mean_ns",
        "failed",
        "skipped",
        "retried",
    ]
    .map(position);
    let mut bins: Vec<Bin> = (0..table.len())
        .filter_map(|row| {
            let values: Vec<i64> = table.row(row).collect();
            let value = |column: usize| {
                columns[column]
                    .map(|index| values[index])
                    .filter(|value| *value != MISSING)
                    .map(|value| value as f64)
            };
            let end = table.key(row).0;
            let interval = values[columns[0]?];
            if !(1..=LONGEST_NS).contains(&interval) {
                return None;
            }
            let start = Timestamp::from_ns(end.as_ns().checked_sub(interval)?);
            Some(Bin {
                window: Window::new(start, end),
                throughput: value(1)? / 1e3,
                latency_ns: value(2),
                stddev_ns: value(3),
                lag_ns: value(4),
                failed: value(5),
                skipped: value(6),
                retried: value(7),
                stalled: value(1)? == 0.0,
            })
        })
        .collect();
    bins.sort_by_key(|bin| bin.window.end);
    labels::fill_latency(&mut bins, timeline);
    bins
}

/// One of a bin's values.
type Field = fn(&Bin) -> Option<f64>;

/// The signals as they are reported.
pub(crate) fn report(
    timeline: &Timeline,
    bins: &[Bin],
    meta: &Meta,
    window: Window,
) -> Vec<Signal> {
    let source = source(timeline, meta);
    let said = meta.workload.as_ref().map(|workload| workload.latency);
    let (counted, provenance) = match source {
        Source::Kernel(_) => (Provenance::Kernel, Provenance::Kernel),
        Source::Latency(_) => (Provenance::ToolCount, Provenance::Kernel),
        Source::Workload => (Provenance::ToolCount, said.unwrap_or_default()),
    };
    let Some(mean) = mean(bins, window) else {
        // A window between bins has no signal; the whole run's would be another's.
        return if bins.is_empty() {
            let alone = without_throughput(timeline, provenance, window);
            let mut signals = alone.map_or_else(|| from_summary(meta), |latency| vec![latency]);
            with_printed_quantiles(&mut signals, meta);
            signals
        } else {
            Vec::new()
        };
    };
    let mut signals = vec![signal("throughput", "per_second", mean.throughput, counted)];
    // Whether a tool says its latency may only be known when it has.
    let provenance = match provenance {
        Provenance::None if mean.latency_ns.is_some() => Provenance::ToolMean,
        other => other,
    };
    // A tool that never says its latency is not one that completed nothing.
    if provenance != Provenance::None {
        signals.push(Signal {
            stddev: pooled_stddev(bins, window, &mean),
            quantiles: latency_quantiles(timeline, source, window),
            ..signal("latency", "ns", mean.latency_ns, provenance)
        });
    }
    signals.extend(
        mean.lag_ns
            .map(|lag_ns| signal("lag", "ns", lag_ns, provenance)),
    );
    with_printed_quantiles(&mut signals, meta);
    signals.extend(counts(bins, window));
    let empty = inside(bins, window).filter(|bin| bin.stalled).count();
    for signal in &mut signals {
        signal.empty_intervals = empty as u32;
    }
    signals
}

fn signal(name: &str, unit: &str, mean: impl Into<Option<f64>>, provenance: Provenance) -> Signal {
    Signal {
        name: name.to_owned(),
        unit: unit.to_owned(),
        mean: mean.into(),
        stddev: None,
        quantiles: Vec::new(),
        provenance,
        empty_intervals: 0,
    }
}

/// What half of the requests take at most, ns, as far as quantiles say.
pub(crate) fn usual_ns(
    timeline: &Timeline,
    meta: &Meta,
    source: Source,
    window: Window,
) -> Option<f64> {
    let timed = latency_quantiles(timeline, source, window);
    let known = match timed.is_empty() {
        true => printed_quantiles(meta),
        false => timed,
    };
    let bounds = known.iter().filter(|it| it.q >= 0.5 && !it.at_least);
    bounds.map(|it| it.value).min_by(f64::total_cmp)
}

fn latency_quantiles(timeline: &Timeline, source: Source, window: Window) -> Vec<Quantile> {
    match source {
        Source::Kernel(end) => request_times::quantiles(timeline, end, window),
        Source::Latency(_) | Source::Workload => quantiles::of(timeline, window),
    }
}

/// Where no single operations are known, the quantiles that the tool printed of its whole run.
fn with_printed_quantiles(signals: &mut [Signal], meta: &Meta) {
    let latency = signals.iter_mut().find(|it| it.name == "latency");
    let latency = latency.filter(|it| it.mean.is_some() && it.quantiles.is_empty());
    if let Some(latency) = latency {
        latency.quantiles = printed_quantiles(meta);
    }
}

fn printed_quantiles(meta: &Meta) -> Vec<Quantile> {
    let outcome = meta.workload.as_ref().and_then(|it| it.outcome.as_ref());
    let summary = outcome.and_then(|it| it.summary.as_ref());
    let printed = summary.into_iter().flat_map(|it| &it.latency_quantiles);
    let quantile = |it: &LatencyQuantile| Quantile {
        q: it.q,
        value: it.latency_ns as f64,
        sampled: None,
        at_least: false,
        of_whole_run: true,
    };
    printed.map(quantile).collect()
}

/// What did not go well, per second; only what the workload says.
fn counts(bins: &[Bin], window: Window) -> impl Iterator<Item = Signal> {
    let counts: [(&str, Field); 3] = [
        ("failed", |bin| bin.failed),
        ("skipped", |bin| bin.skipped),
        ("retried", |bin| bin.retried),
    ];
    counts.into_iter().filter_map(move |(name, of)| {
        let sum = inside(bins, window).filter_map(of).reduce(|a, b| a + b)?;
        let rate = sum / window.seconds();
        Some(signal(name, "per_second", rate, Provenance::ToolCount))
    })
}

/// Latency of a tool that says nothing else: its mean over the time of the rows in the window, as how
/// many operations each stands for is not known.
fn without_throughput(
    timeline: &Timeline,
    provenance: Provenance,
    window: Window,
) -> Option<Signal> {
    let table = timeline.table("signal")?;
    let interval = table.table.position("interval_ns")?;
    let latency = table.table.position("latency_mean_ns")?;
    let (mut sum, mut total) = (0.0, 0.0);
    for row in 0..table.len() {
        let values: Vec<i64> = table.row(row).collect();
        let known = (1..=LONGEST_NS).contains(&values[interval]) && values[latency] != MISSING;
        if known && window.contains(table.key(row).0) {
            sum += values[latency] as f64 * values[interval] as f64;
            total += values[interval] as f64;
        }
    }
    (total > 0.0).then(|| signal("latency", "ns", sum / total, provenance))
}

/// Without bins the tool's closing report is all there is: the whole run, warm-up included.
fn from_summary(meta: &Meta) -> Vec<Signal> {
    let Some(workload) = &meta.workload else {
        return Vec::new();
    };
    let Some(summary) = workload
        .outcome
        .as_ref()
        .and_then(|outcome| outcome.summary.as_ref())
    else {
        return Vec::new();
    };
    let latency_ns = summary.latency_mean_ns.map(|ns| ns as f64);
    let latency = match workload.latency {
        _ if summary.latency_derived => Provenance::Derived,
        // It says none while it runs, and at its end the mean of all operations.
        Provenance::None if latency_ns.is_some() => Provenance::ToolMean,
        said => said,
    };
    vec![
        signal(
            "throughput",
            "per_second",
            summary.throughput,
            Provenance::ToolCount,
        ),
        signal("latency", "ns", latency_ns, latency),
    ]
}

/// Standard deviation over all operations of bins that say it, ns.
fn pooled_stddev(bins: &[Bin], window: Window, mean: &Mean) -> Option<f64> {
    let group = |bin: &Bin| {
        Some(Group {
            count: bin.completed(),
            mean: bin.latency_ns?,
            deviation: bin.stddev_ns?,
        })
    };
    pooled_deviation(inside(bins, window).filter_map(group), mean.latency_ns?)
}
