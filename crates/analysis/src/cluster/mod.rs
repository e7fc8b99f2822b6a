//! Several nodes at once: what limits each in each phase, what changed between phases, who differs, what happened.
//!
//! Each node is a recording of its own (`Node`), on a clock of its own; all are laid on one grid of intervals of the clock on
//! the wall (`grid`). A node's recording is judged as any other (`crate::diagnose`), and what it is consistent with
//! sharpens what pressure says.

mod calls;
mod changes;
mod clocks;
mod configurations;
mod events;
mod grid;
mod headline;
mod limits;
mod phases;
mod quantity;
mod skew;
mod spikes;

use std::ops::Range;

use model::{
    CLUSTER_SCHEMA, ClusterNode, ClusterPhase, ClusterReport, Meta, NodeClock, NodePhase,
    PhaseVerdict, Report, Span, SpikeReport, Timeline, Window,
};

use crate::number_format::{duration, rate};
use crate::stats::mean;
use crate::thresholds::Thresholds;
use crate::workload_metrics;
pub use clocks::{CLOCK_AHEAD, CLOCK_AHEAD_OF, CLOCK_AHEAD_WITHIN, against_a_store, clocks};
use grid::{Grid, known};

/// With more nodes than this none is judged by itself in each phase: that would take longer than all else.
const MOST_JUDGED: usize = 24;

/// A node's recording, and what is known of it beside.
pub struct Node<'a> {
    /// What sentences call it.
    pub name: &'a str,
    /// Its rows.
    pub timeline: &'a Timeline,
    /// Its description; the anchor lays its clock on the one on the wall.
    pub meta: &'a Meta,
    /// When it was not read, on its own clock.
    pub holes: &'a [Window],
    /// Its memory, bytes.
    pub memory_bytes: Option<f64>,
    /// How many CPUs it had, or might use, each from an instant on, ns since 1970.
    pub sizes: &'a [(i64, f64)],
    /// What is known to have happened to it.
    pub happened: Vec<Happening>,
    /// What its own recording says, where it has threads and requests to say it by.
    pub verdict: Option<PhaseVerdict>,
    /// The spikes that its own recording has.
    pub spikes: Option<&'a SpikeReport>,
    /// How far its clock on the wall is ahead, ns: what its times are corrected by.
    pub ahead_ns: i64,
}

/// What is known to have happened to a node.
#[derive(Clone, PartialEq, Debug)]
pub enum Happening {
    /// It was booted.
    Restarted {
        /// First seen so, ns since 1970.
        at_ns: i64,
    },
    /// Another machine took its name.
    Replaced {
        /// First seen so, ns since 1970.
        at_ns: i64,
    },
    /// A counter fell without a restart.
    RanBackwards {
        /// First seen so, ns since 1970.
        at_ns: i64,
        /// Which.
        metric: String,
        /// How often.
        times: u32,
        /// By how much at most, in its unit.
        most: f64,
    },
}

/// What to look at.
pub struct Asked<'a> {
    /// Where the numbers are from, as it is shown.
    pub source: &'a str,
    /// The time.
    pub span: Span,
    /// The length of an interval, ns: how far readings lie apart.
    pub step_ns: i64,
    /// Operations per second: each value holds from its instant on, ns since 1970; empty where that is not known.
    pub throughput: &'a [(i64, f64)],
    /// How far the nodes' clocks are apart; of a store those that are not its own.
    pub clocks: &'a [NodeClock],
    /// What such a source cannot hold, as sentences.
    pub lacks: &'a [String],
}

/// The report on several nodes.
pub fn cluster(nodes: &[Node<'_>], asked: &Asked<'_>) -> ClusterReport {
    let thresholds = Thresholds::default();
    let grid = Grid::of(nodes, asked.span, asked.step_ns);
    let throughput = on_grid(&grid, asked.throughput);
    let names: Vec<&str> = nodes.iter().map(|it| it.name).collect();
    let rows = changes::rows(&grid, nodes, &throughput);
    let ranges = phases::phases(&grid, &throughput, &thresholds.phases);
    let mut phases: Vec<configurations::Phased> = Vec::new();
    for steps in ranges {
        let mut phase = phase(&grid, nodes, &names, &steps, &throughput);
        if let Some((before, earlier)) = phases.last() {
            let shapes = changes::of_shape(earlier, &phase);
            let others = changes::changes(&rows, before, &steps);
            phase.changes = shapes.into_iter().chain(others).collect();
        }
        phases.push((steps, phase));
    }
    let configurations = configurations::configurations(&grid, &phases, &throughput);
    let phases: Vec<ClusterPhase> = phases.into_iter().map(|it| it.1).collect();
    let report = ClusterReport {
        schema: CLUSTER_SCHEMA.to_owned(),
        source: asked.source.to_owned(),
        span: asked.span,
        resolution_ns: asked.step_ns,
        sentence: String::new(),
        nodes: described(&grid, nodes),
        events: events::events(&grid, nodes),
        calls: calls::calls(nodes, asked.span),
        clocks: asked.clocks.to_vec(),
        spikes: spikes::spikes(nodes, asked.clocks),
        configurations,
        not_collected: not_collected(&grid, nodes, asked),
        over_time: grid.over_time(&throughput),
        phases,
    };
    ClusterReport {
        sentence: headline::headline(&report),
        ..report
    }
}

/// Values of a step function as means of the grid's intervals; empty without any.
fn on_grid(grid: &Grid, values: &[(i64, f64)]) -> Vec<f64> {
    if values.is_empty() {
        return Vec::new();
    }
    let mut row = vec![Vec::new(); grid.steps];
    for (at, value) in values {
        // A range query's value stands for what lies before it.
        let step = (at - grid.start_ns - 1).div_euclid(grid.step_ns.max(1));
        if let Some(all) = usize::try_from(step).ok().and_then(|it| row.get_mut(it)) {
            all.push(*value);
        }
    }
    row.iter()
        .map(|all| mean(all).unwrap_or(f64::NAN))
        .collect()
}

fn phase(
    grid: &Grid,
    nodes: &[Node<'_>],
    names: &[&str],
    steps: &Range<usize>,
    throughput: &[f64],
) -> ClusterPhase {
    let present: Vec<usize> = grid
        .nodes()
        .filter(|node| grid.is_present_in(*node, steps))
        .collect();
    let each: Vec<NodePhase> = present
        .iter()
        .map(|node| {
            let means = grid.means(*node, steps);
            let named = match nodes.len() <= MOST_JUDGED {
                true => named_causes(&nodes[*node], grid.span(steps), &means),
                false => Vec::new(),
            };
            NodePhase {
                node: names[*node].to_owned(),
                limits: limits::of_node(&means, &named),
                means,
            }
        })
        .collect();
    let means = grid.cluster_means(steps);
    let cluster = limits::of_cluster(&each, &means);
    let sizes: Vec<f64> = present
        .iter()
        .filter_map(|node| grid.size(*node, (steps.start + steps.end) / 2))
        .collect();
    let is_alike = sizes.len() == present.len() && sizes.windows(2).all(|it| it[0] == it[1]);
    ClusterPhase {
        span: grid.span(steps),
        nodes_present: present.len() as u32,
        cpus_each: sizes.first().copied().filter(|_| is_alike),
        throughput: throughput
            .get(steps.clone())
            .and_then(|it| mean(&known(it))),
        means,
        sentence: cluster.sentence,
        limits: cluster.limits,
        confidence: cluster.confidence,
        nodes: each,
        skew: skew::skew(grid, names, steps),
        changes: Vec::new(),
    }
}

/// The causes that a node's recording is consistent with over a span; nothing where it hardly waited.
fn named_causes(node: &Node<'_>, span: Span, means: &model::Quantities) -> Vec<String> {
    /// Less than this is nobody's bottleneck.
    const LEAST: f64 = 0.05;
    let waited = ["cpu_some", "io_some", "memory_some"]
        .iter()
        .any(|it| means.get(*it).is_some_and(|it| *it >= LEAST));
    let window = Window::new(
        node.on_its_clock(span.from_ns),
        node.on_its_clock(span.to_ns),
    );
    // A recording of the node itself has a verdict of its own.
    let is_import = node.verdict.is_none();
    let window = node.timeline.window.intersect(window);
    let window = window.filter(|_| waited && is_import);
    let Some(window) = window else {
        return Vec::new();
    };
    let report = crate::diagnose(node.timeline, node.meta, Some(window));
    let findings = report.verdict.findings.into_iter();
    findings
        .filter(|it| it.confidence >= model::Confidence::Consistent)
        .map(|it| it.cause)
        .collect()
}

fn described(grid: &Grid, nodes: &[Node<'_>]) -> Vec<ClusterNode> {
    let each = nodes.iter().enumerate().map(|(number, node)| ClusterNode {
        name: node.name.to_owned(),
        cpus: node.sizes.last().map(|it| it.1),
        memory_bytes: node.memory_bytes,
        kernel: node.meta.environment.get("kernel.release").cloned(),
        present: events::present(grid, number)
            .iter()
            .map(|it| grid.span(it))
            .collect(),
        means: grid.means(number, &(0..grid.steps)),
        verdict: node.verdict.clone(),
    });
    each.collect()
}

/// What the source cannot hold, and what of the rest is not in it.
fn not_collected(grid: &Grid, nodes: &[Node<'_>], asked: &Asked<'_>) -> Vec<String> {
    let lacking = |quantity: quantity::Quantity| -> Vec<String> {
        let without = grid
            .nodes()
            .filter(|node| grid.row(*node, quantity).iter().all(|it| it.is_nan()));
        without.map(|node| nodes[node].name.to_owned()).collect()
    };
    let mut said = Vec::new();
    let pressure = lacking(quantity::Quantity::CpuSome);
    if !pressure.is_empty() {
        said.push(format!(
            "Pressure of {}: boot with psi=1 (RHEL: grubby --update-kernel=ALL --args=psi=1), see that /proc/pressure/cpu can be read, and run node_exporter without --no-collector.pressure.",
            listed(&pressure)
        ));
    }
    let tasks = lacking(quantity::Quantity::WaitingTasks);
    if !tasks.is_empty() {
        said.push(format!(
            "How many tasks waited at once on {}: pressure does not say it; node_exporter's collector schedstat does.",
            listed(&tasks)
        ));
    }
    if asked.throughput.is_empty() {
        said.push(
            "The load's throughput: name a query for it, --metric 'sum(rate(requests_total[1m]))'."
                .to_owned(),
        );
    }
    if let Some(names) = clocks::unknown(asked.clocks) {
        said.push(format!(
            "How far the clocks of {names} are off: they are taken to be right, as NTP keeps them. Connections between the nodes that were recorded at both ends show it, and run --on measures it."
        ));
    }
    said.extend(asked.lacks.iter().cloned());
    said.push(format!(
        "What is shorter than {}: readings lie that far apart.",
        length(asked.step_ns as f64 / 1e9)
    ));
    said
}

/// `n1`, `n1 and n2`, `n1, n2 and n3`, `n1, n2 and 4 more`.
fn listed(names: &[String]) -> String {
    const MOST: usize = 6;
    match names {
        [] => String::new(),
        [only] => only.clone(),
        many if many.len() > MOST => {
            format!("{}, {} and {} more", many[0], many[1], many.len() - 2)
        }
        many => {
            let (last, first) = many.split_last().expect("there are two or more");
            format!("{} and {last}", first.join(", "))
        }
    }
}

/// A sentence with its first letter large.
fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

/// `3 x 2 CPUs`.
pub fn shape(nodes: u32, cpus: f64) -> String {
    let unit = if cpus == 1.0 { "CPU" } else { "CPUs" };
    format!("{nodes} x {} {unit}", short(cpus))
}

/// A number of CPUs: whole ones without digits behind the point.
pub fn short(cpus: f64) -> String {
    match cpus.fract() == 0.0 {
        true => format!("{cpus:.0}"),
        false => rate(cpus),
    }
}

/// A length of time as people say it: `45 s`, `12 min`, `2.5 h`.
pub fn length(seconds: f64) -> String {
    const MINUTE: f64 = 60.0;
    const SECOND: f64 = 1.0;
    const HOUR: f64 = 3_600.0;
    let tenths = |value: f64| format!("{:.1}", value).trim_end_matches(".0").to_owned();
    match seconds {
        it if it < SECOND => duration(it * 1e9),
        it if it < MINUTE => format!("{} s", tenths(it)),
        it if it < 2.0 * HOUR => format!("{} min", tenths(it / MINUTE)),
        it if it < 48.0 * HOUR => format!("{} h", tenths(it / HOUR)),
        it => format!("{} days", tenths(it / HOUR / 24.0)),
    }
}

/// What a node's own report says first.
pub fn verdict(report: &Report) -> Option<PhaseVerdict> {
    let finding = report.verdict.findings.first()?;
    Some(PhaseVerdict {
        cause: finding.cause.clone(),
        entity: finding.entity.clone(),
        share: finding.share,
        confidence: finding.confidence,
        sentence: finding.sentence.clone(),
        at_peer: finding.at_peer.as_ref().map(|it| it.cause.clone()),
    })
}

/// The throughput of a node's workload: operations per second, each since the value before it, ns since 1970.
pub fn throughput(node: &Node<'_>) -> Vec<(i64, f64)> {
    let bins = workload_metrics::bins(node.timeline, node.meta);
    bins.iter()
        .map(|bin| (node.on_the_wall(bin.window.end), bin.throughput))
        .collect()
}

#[cfg(test)]
pub(crate) mod tests;
