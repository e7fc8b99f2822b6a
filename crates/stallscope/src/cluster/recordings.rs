//! `explain A.stall B.stall`: several nodes from a recording of each, laid beside each other by their clocks.

use std::path::Path;

use anyhow::{Result, bail};
use model::{ClusterReport, Meta, Span, Timeline};

use crate::export::WallClock;
use crate::open_recording;
use crate::part::{Instant, Part};

/// Pressure is read so often; no interval is shorter.
const SHORTEST_NS: i64 = 2_000_000_000;
/// Intervals that the time is looked at in, at most.
const MOST_INTERVALS: i64 = 720;

/// A recording that was opened and judged by itself.
struct Judged {
    name: String,
    timeline: Timeline,
    meta: Meta,
    verdict: Option<model::PhaseVerdict>,
    spikes: Option<model::SpikeReport>,
    span: Span,
    sizes: Vec<(i64, f64)>,
    holes: Vec<model::Window>,
}

/// The report on all of them, over the time that they cover together, or over a part of it.
pub(super) fn report(
    paths: &[impl AsRef<Path>],
    from: Option<Instant>,
    to: Option<Instant>,
) -> Result<ClusterReport> {
    let all: Result<Vec<Judged>> = paths.iter().map(|it| judged(it.as_ref())).collect();
    let mut all = all?;
    tell_apart(&mut all, paths);
    let start = all.iter().map(|it| it.span.from_ns).min().unwrap_or(0);
    let end = all.iter().map(|it| it.span.to_ns).max().unwrap_or(0);
    let at = |instant: Option<Instant>, otherwise: i64| match instant {
        None => otherwise,
        Some(Instant::After(length)) => start + crate::duration::nanoseconds(length),
        Some(instant) => instant.realtime(end).unwrap_or(otherwise),
    };
    let span = Span {
        from_ns: at(from, start),
        to_ns: at(to, end),
    };
    if span.to_ns - span.from_ns < 2 * SHORTEST_NS {
        bail!("the recordings have less than 4 s between --from and --to: give more");
    }
    let mut nodes: Vec<analysis::cluster::Node<'_>> = all.iter().map(node).collect();
    let clocks = analysis::cluster::clocks(&nodes);
    for (node, clock) in nodes.iter_mut().skip(1).zip(&clocks) {
        node.ahead_ns = clock.ahead_ns;
    }
    let throughput = nodes.iter().map(analysis::cluster::throughput);
    let throughput = throughput.max_by_key(Vec::len).unwrap_or_default();
    let asked = analysis::cluster::Asked {
        source: "recordings",
        span,
        step_ns: ((span.to_ns - span.from_ns) / MOST_INTERVALS).max(SHORTEST_NS),
        throughput: &throughput,
        clocks: &clocks,
        lacks: &[],
    };
    Ok(analysis::cluster::cluster(&nodes, &asked))
}

fn judged(path: &Path) -> Result<Judged> {
    let mut recording = open_recording::to_judge(Some(path), &Part::default())?.recording;
    let report = analysis::conclude(&mut recording.timeline, &mut recording.meta, None, 1);
    let recording::Recording { timeline, meta, .. } = recording;
    let clock = WallClock::of(&meta.identity, &timeline);
    let window = timeline.window;
    let span = clock.at(window.start).zip(clock.at(window.end));
    let Some((from_ns, to_ns)) = span else {
        bail!("{} does not say what time it was", path.display());
    };
    let whole = timeline.gaps.iter().filter(|it| it.table == "*");
    let holes = whole.filter_map(|it| it.window).collect();
    let cpus = f64::from(meta.cpus);
    Ok(Judged {
        name: meta.identity.node.clone(),
        verdict: analysis::cluster::verdict(&report),
        spikes: report.spikes,
        span: Span { from_ns, to_ns },
        sizes: Vec::from_iter((cpus > 0.0).then_some((0, cpus))),
        holes,
        timeline,
        meta,
    })
}

fn node(judged: &Judged) -> analysis::cluster::Node<'_> {
    analysis::cluster::Node {
        name: &judged.name,
        timeline: &judged.timeline,
        meta: &judged.meta,
        holes: &judged.holes,
        memory_bytes: None,
        sizes: &judged.sizes,
        happened: Vec::new(),
        verdict: judged.verdict.clone(),
        spikes: judged.spikes.as_ref(),
        ahead_ns: 0,
    }
}

/// Nodes of one name, or of none, are called after their recordings.
fn tell_apart(all: &mut [Judged], paths: &[impl AsRef<Path>]) {
    let names: std::collections::BTreeSet<String> = all.iter().map(|it| it.name.clone()).collect();
    if names.len() == all.len() && !names.contains("") {
        return;
    }
    for (judged, path) in all.iter_mut().zip(paths) {
        judged.name = open_recording::short_name(path.as_ref());
    }
}
