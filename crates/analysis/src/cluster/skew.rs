//! Nodes that do more or less than the others, in a phase.

use std::ops::Range;

use model::NodeSkew;

use super::grid::{Grid, known};
use super::quantity::Quantity;
use crate::stats::{dominance, mean, median};

/// How many nodes there must be for one to differ from the others.
const LEAST_NODES: usize = 3;
/// A node differs by this factor, or more.
const FACTOR: f64 = 1.5;
/// Cliff's delta of its values and the others' medians.
const PLAIN: f64 = 0.8;

/// By what a node is known to have more or less to do.
struct Judged {
    quantity: Quantity,
    /// The least difference.
    least: f64,
}

const fn by(quantity: Quantity, least: f64) -> Judged {
    Judged { quantity, least }
}

/// What says most first: one of these is reported of each node.
const JUDGED: [Judged; 5] = [
    by(Quantity::CpuBusy, 0.15),
    by(Quantity::CpuSome, 0.15),
    by(Quantity::IoSome, 0.15),
    by(Quantity::DiskRead, 5e6),
    by(Quantity::DiskWritten, 5e6),
];

/// The nodes that differ.
pub(super) fn skew(grid: &Grid, names: &[&str], steps: &Range<usize>) -> Vec<NodeSkew> {
    let present: Vec<usize> = grid
        .nodes()
        .filter(|node| grid.is_present_in(*node, steps))
        .collect();
    if present.len() < LEAST_NODES {
        return Vec::new();
    }
    let of_node = |node: &usize| {
        let mut all = JUDGED.iter();
        all.find_map(|it| differs(grid, names, steps, &present, *node, it))
    };
    present.iter().filter_map(of_node).collect()
}

fn differs(
    grid: &Grid,
    names: &[&str],
    steps: &Range<usize>,
    present: &[usize],
    node: usize,
    judged: &Judged,
) -> Option<NodeSkew> {
    let Judged { quantity, least } = *judged;
    let own = &grid.row(node, quantity)[steps.clone()];
    let others: Vec<f64> = steps
        .clone()
        .map(|step| {
            let each = present.iter().filter(|it| **it != node);
            let values: Vec<f64> = each.map(|it| grid.row(*it, quantity)[step]).collect();
            median(&known(&values)).unwrap_or(f64::NAN)
        })
        .collect();
    let value = mean(&known(own))?;
    let usual = median(&known(&others))?;
    let plainly = dominance(&others, own)?;
    let is_more = value >= usual * FACTOR && value - usual >= least && plainly >= PLAIN;
    let is_less = usual >= value * FACTOR && usual - value >= least && plainly <= -PLAIN;
    if !is_more && !is_less {
        return None;
    }
    let name = names[node];
    let waits = [Quantity::CpuSome, Quantity::IoSome].contains(&quantity);
    let does = match (is_more, waits) {
        (true, false) => "does more than the others",
        (false, false) => "does less than the others",
        (true, true) => "waits more than the others",
        (false, true) => "waits less than the others",
    };
    let (own, all) = (quantity.text(value), quantity.text(usual));
    Some(NodeSkew {
        node: name.to_owned(),
        quantity: quantity.word().to_owned(),
        value,
        others: usual,
        sentence: format!(
            "{name} {does}: {} {own}, the others' median {all}.",
            quantity.named()
        ),
    })
}
