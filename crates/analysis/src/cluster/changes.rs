//! What is different behind the border of two phases: quantities of the cluster, and metrics that were asked for beside.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use model::{ClusterChange, ClusterPhase, EntityKind, Series, Window};

use super::Node;
use super::grid::{Grid, known};
use super::quantity::{Quantity, Together};
use crate::number_format::rate;
use crate::stats::{dominance, mean};

/// Cliff's delta from which on two phases differ plainly.
const PLAIN: f64 = 0.8;
/// A mean that is less than this factor off is as it was.
const FACTOR: f64 = 1.2;
/// Changes that are reported at each border.
const MOST: usize = 4;
/// Metrics that are compared.
const MOST_METRICS: usize = 500;

/// Something over the intervals of the grid.
pub(super) struct Row {
    name: String,
    subject: String,
    values: Vec<f64>,
    /// A difference below this is not worth a word.
    least: f64,
    text: Box<dyn Fn(f64) -> String>,
}

/// All that phases are compared by.
pub(super) fn rows(grid: &Grid, nodes: &[Node<'_>], throughput: &[f64]) -> Vec<Row> {
    let number = nodes.len() as f64;
    let own = Quantity::ALL.iter().map(|quantity| {
        let quantity = *quantity;
        Row {
            name: quantity.word().to_owned(),
            subject: quantity.named().to_owned(),
            values: (0..grid.steps)
                .map(|step| grid.together(quantity, step))
                .collect(),
            least: match quantity.together() {
                Together::Sum => quantity.least() * number,
                Together::Mean => quantity.least(),
            },
            text: Box::new(move |value| quantity.text(value)),
        }
    });
    let throughput = (!throughput.is_empty()).then(|| Row {
        name: "throughput".to_owned(),
        subject: "throughput".to_owned(),
        values: throughput.to_vec(),
        least: 0.0,
        text: Box::new(|value| format!("{}/s", rate(value))),
    });
    throughput
        .into_iter()
        .chain(own)
        .chain(metrics(grid, nodes))
        .collect()
}

/// Metrics that were asked for beside, each added up over its labels and over the nodes.
fn metrics(grid: &Grid, nodes: &[Node<'_>]) -> Vec<Row> {
    let mut sums: BTreeMap<String, (bool, Vec<f64>)> = BTreeMap::new();
    for node in nodes {
        for entity in node.timeline.entities.of_kind(EntityKind::Series) {
            let metric = entity.entity.name.split('{').next().unwrap_or_default();
            let of = |column| node.timeline.series("scraped", entity.id, column);
            let counter = of("counter_millionths").filter(|it| it.known().is_some());
            let Some((series, is_counter)) = counter
                .map(|it| (it, true))
                .or_else(|| Some((of("gauge_millionths")?, false)))
            else {
                continue;
            };
            if !sums.contains_key(metric) && sums.len() >= MOST_METRICS {
                continue;
            }
            let (_, row) = sums
                .entry(metric.to_owned())
                .or_insert_with(|| (is_counter, vec![f64::NAN; grid.steps]));
            for (step, sum) in row.iter_mut().enumerate() {
                if let Some(value) = value(&series, node, grid, step, is_counter) {
                    *sum = value + if sum.is_nan() { 0.0 } else { *sum };
                }
            }
        }
    }
    let row = |(name, (is_counter, values)): (String, (bool, Vec<f64>))| Row {
        subject: name.clone(),
        name,
        values,
        least: 0.0,
        text: Box::new(move |value| match is_counter {
            true => format!("{}/s", rate(value)),
            false => rate(value),
        }),
    };
    sums.into_iter().map(row).collect()
}

fn value(
    series: &Series<'_>,
    node: &Node<'_>,
    grid: &Grid,
    step: usize,
    is_counter: bool,
) -> Option<f64> {
    const MILLIONTHS: f64 = 1e6;
    let at = |step| node.on_its_clock(grid.starts_at(step));
    let window = Window::new(at(step), at(step + 1)).intersect(node.timeline.window)?;
    let value = match is_counter {
        true => series.rate(window)?,
        false => series.mean(window)?,
    };
    Some(value / MILLIONTHS)
}

/// What is plainly different behind a border: throughput first, then by the factor.
pub(super) fn changes(
    rows: &[Row],
    before: &Range<usize>,
    behind: &Range<usize>,
) -> Vec<ClusterChange> {
    let mut found: Vec<(f64, ClusterChange)> = rows
        .iter()
        .filter_map(|row| {
            let of = |steps: &Range<usize>| known(&row.values[steps.clone()]);
            let (first, second) = (of(before), of(behind));
            let (a, b) = (mean(&first)?, mean(&second)?);
            let delta = dominance(&first, &second)?;
            let (low, high) = (a.abs().min(b.abs()), a.abs().max(b.abs()));
            let is_plain = delta.abs() >= PLAIN && high - low > row.least && high >= low * FACTOR;
            // Amounts that nearly vanish are infinitely different.
            let weight = ((high + row.least) / (low + row.least).max(f64::MIN_POSITIVE)).ln();
            let change = || ClusterChange {
                quantity: row.name.clone(),
                before: a,
                after: b,
                dominance: delta,
                sentence: sentence(row, a, b),
            };
            let first = if row.name == "throughput" {
                f64::MAX
            } else {
                weight
            };
            is_plain.then(|| (first, change()))
        })
        .collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut families = BTreeSet::new();
    let found = found.into_iter().map(|it| it.1);
    found
        .filter(|it| families.insert(family(&it.quantity)))
        .take(MOST)
        .collect()
}

/// A quantity, or what shows the same.
fn family(name: &str) -> String {
    let own = Quantity::ALL.iter().find(|it| it.word() == name);
    own.map_or(name, |it| it.family().word()).to_owned()
}

/// Nodes that came, went, or got another size.
pub(super) fn of_shape(before: &ClusterPhase, behind: &ClusterPhase) -> Option<ClusterChange> {
    let shape = |it: &ClusterPhase| (it.nodes_present, it.cpus_each);
    let named = |it: &ClusterPhase| match it.cpus_each {
        Some(cpus) => super::shape(it.nodes_present, cpus),
        None => format!("{} nodes", it.nodes_present),
    };
    let size = |it: &ClusterPhase| f64::from(it.nodes_present) * it.cpus_each.unwrap_or(1.0);
    (shape(before) != shape(behind)).then(|| ClusterChange {
        quantity: "nodes".to_owned(),
        before: size(before),
        after: size(behind),
        dominance: if size(behind) >= size(before) {
            1.0
        } else {
            -1.0
        },
        sentence: format!("{} became {}", named(before), named(behind)),
    })
}

fn sentence(row: &Row, before: f64, after: f64) -> String {
    let verb = if after > before { "rose" } else { "fell" };
    let subject = &row.subject;
    format!(
        "{subject} {verb} from {} to {}",
        (row.text)(before),
        (row.text)(after)
    )
}
