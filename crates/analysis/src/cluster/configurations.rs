//! What each number of nodes of one size gave, by the phases in which there were so many.

use std::collections::BTreeMap;
use std::ops::Range;

use model::{ClusterConfiguration, ClusterPhase};

use super::grid::{Grid, known};
use crate::number_format::{percent, rate};
use crate::stats::{mean, mean_of_normal};

/// A phase with its intervals.
pub(super) type Phased = (Range<usize>, ClusterPhase);

/// Batches that a configuration's time is cut into: their means are nearly independent (batch means; Law & Kelton,
/// Simulation Modeling and Analysis, chapter 9).
const BATCHES: usize = 10;
/// Intervals that a batch has at least.
const LEAST_BATCH: usize = 3;
/// Throughput within this part of the highest is as high: the order of `compare`.
pub(super) const SAME: f64 = 0.03;
/// A phase with less than this part of the highest throughput of its configuration is not under the same load, or something
/// was in its way: a cold cache, an uneven shard.
const LOADED: f64 = 0.9;
/// Batches from which on an interval is given.
const LEAST_BATCHES: usize = 4;

/// Best first: of those with the highest throughput the one with the fewest CPUs.
pub(super) fn configurations(
    grid: &Grid,
    phases: &[Phased],
    throughput: &[f64],
) -> Vec<ClusterConfiguration> {
    let mut by_shape: BTreeMap<(u32, i64), Vec<&Phased>> = BTreeMap::new();
    for phase in phases {
        if let (Some(cpus), Some(_)) = (phase.1.cpus_each, phase.1.throughput) {
            let shape = (phase.1.nodes_present, (cpus * 1000.0).round() as i64);
            by_shape.entry(shape).or_default().push(phase);
        }
    }
    if by_shape.len() < 2 {
        return Vec::new();
    }
    let mut all: Vec<ClusterConfiguration> = by_shape
        .into_iter()
        .filter_map(|((nodes, cpus), phases)| {
            configuration(grid, nodes, cpus as f64 / 1000.0, &phases, throughput)
        })
        .collect();
    let most = all.iter().map(|it| it.throughput).fold(0.0, f64::max);
    let rank = |it: &ClusterConfiguration| {
        let is_best = it.throughput >= most * (1.0 - SAME);
        let cost = f64::from(it.nodes) * it.cpus_each;
        match is_best {
            true => (0, cost, f64::from(it.nodes)),
            false => (1, -it.throughput, 0.0),
        }
    };
    all.sort_by(|a, b| {
        let (a, b) = (rank(a), rank(b));
        a.0.cmp(&b.0)
            .then(a.1.total_cmp(&b.1))
            .then(a.2.total_cmp(&b.2))
    });
    all
}

fn configuration(
    grid: &Grid,
    nodes: u32,
    cpus_each: f64,
    phases: &[&Phased],
    throughput: &[f64],
) -> Option<ClusterConfiguration> {
    let most = phases
        .iter()
        .filter_map(|it| it.1.throughput)
        .fold(0.0, f64::max);
    let loaded = |it: &&&Phased| it.1.throughput.is_some_and(|it| it >= most * LOADED);
    let phases: Vec<_> = phases.iter().filter(loaded).collect();
    // Not while nodes come or go.
    let is_whole = |step: &usize| grid.present_at(*step) == nodes as usize;
    let steps = phases.iter().flat_map(|it| it.0.clone()).filter(is_whole);
    let values: Vec<f64> = known(&steps.map(|it| throughput[it]).collect::<Vec<f64>>());
    if values.len() < super::phases::LEAST {
        return None;
    }
    let value = mean(&values)?;
    let number = (values.len() / LEAST_BATCH).min(BATCHES);
    let border = |batch: usize| batch * values.len() / number.max(1);
    let batches = (0..number).filter_map(|it| mean(&values[border(it)..border(it + 1)]));
    let batches: Vec<f64> = batches.collect();
    let is_enough = batches.len() >= LEAST_BATCHES;
    let interval = mean_of_normal(&batches).filter(|_| is_enough);
    let interval = interval.map(|it| it.interval);
    let longest = phases.iter().max_by_key(|it| it.0.len())?;
    let means = grid.cluster_means(&longest.0);
    let limits = longest.1.limits.clone();
    let seconds = phases.iter().map(|it| it.1.span.seconds()).sum();
    let name = super::shape(nodes, cpus_each);
    let spread = interval.as_ref().map_or(String::new(), |it| {
        format!(" (95 % CI {} to {})", rate(it.low), rate(it.high))
    });
    let cpu = means
        .get("cpu_busy")
        .map_or(String::new(), |it| format!(", CPUs {} busy", percent(*it)));
    Some(ClusterConfiguration {
        sentence: format!("{name}: {}/s{spread}{cpu}.", rate(value)),
        name,
        nodes,
        cpus_each,
        seconds,
        throughput: value,
        interval,
        means,
        limits,
    })
}
