//! Spikes of one node's requests, with what starts them and what is different then on all nodes.

use model::{ClusterSpikes, NodeClock, Span, SpikeReport};

use super::{MOST_JUDGED, Node, length};
use crate::number_format::percent;
use crate::spikes::{Beside, across};
use crate::stats::median;

/// `None` where no node's own recording has spikes.
pub(super) fn spikes(nodes: &[Node<'_>], clocks: &[NodeClock]) -> Option<ClusterSpikes> {
    if nodes.len() > MOST_JUDGED {
        return None;
    }
    let with = nodes.iter().enumerate();
    let with = with.filter_map(|(number, node)| Some((number, node.spikes?)));
    let (number, own) = with.max_by(|a, b| weight(a.1).total_cmp(&weight(b.1)))?;
    let node = &nodes[number];
    let others: Vec<Beside<'_>> = nodes
        .iter()
        .enumerate()
        .filter(|(other, _)| *other != number)
        .map(|(_, other)| beside(node, other, clocks))
        .collect();
    let (report, elsewhere) = across(node.name, node.timeline, own, &others);
    let spans = report.spikes.iter().map(|it| Span {
        from_ns: node.on_the_wall(it.window.start),
        to_ns: node.on_the_wall(it.window.end),
    });
    Some(ClusterSpikes {
        node: node.name.to_owned(),
        spans: spans.collect(),
        sentence: sentence(node.name, &report),
        elsewhere,
        report,
    })
}

/// Requests' spikes before bursts of calls in a log, those with most time first.
fn weight(report: &SpikeReport) -> f64 {
    let added = report.added.unwrap_or(0.0);
    let is_of_requests = f64::from(u8::from(report.provenance.is_of_requests()));
    10.0 * is_of_requests + added + report.spiking_ns as f64 / report.window.len_ns().max(1) as f64
}

fn beside<'a>(own: &Node<'_>, other: &Node<'a>, clocks: &[NodeClock]) -> Beside<'a> {
    let start = own.timeline.window.start;
    let there = other.on_its_clock(own.on_the_wall(start));
    Beside {
        name: other.name,
        timeline: other.timeline,
        meta: other.meta,
        ahead_ns: there.ns_since(start),
        within_ns: within(own.name, clocks).saturating_add(within(other.name, clocks)),
    }
}

/// How exactly a node's clock is known, ns; 0 where it is taken to be right.
fn within(node: &str, clocks: &[NodeClock]) -> i64 {
    let clock = clocks.iter().find(|it| it.node == node);
    let known = clock.and_then(|it| Some((it.least_ns?, it.most_ns?, it.ahead_ns)));
    known.map_or(0, |(least, most, ahead)| {
        let (above, below) = (most.saturating_sub(ahead), ahead.saturating_sub(least));
        above.max(below).max(0)
    })
}

/// Whether spikes are worth the first sentence of the answer, as in one recording's verdict.
pub(super) fn lead(spikes: &ClusterSpikes) -> bool {
    let added = spikes.report.added;
    added.is_some_and(|it| it >= crate::causes::events::ADDED.value())
}

/// `Spikes on b: 11 of 800 ms, every 15.00 s, add 85 % of the time of its requests.`, and the chain.
fn sentence(node: &str, report: &SpikeReport) -> String {
    let widths: Vec<f64> = report.spikes.iter().map(|it| it.window.seconds()).collect();
    let middle = median(&widths).unwrap_or(0.0);
    let period = report.trains.first();
    let period = period.map_or(String::new(), |it| {
        format!(", every {:.2} s", it.period_ns / 1e9)
    });
    let added = report.added.map_or(String::new(), |it| {
        let comma = if period.is_empty() { "" } else { "," };
        format!("{comma} add {} of the time of its requests", percent(it))
    });
    let many = report.spikes.len();
    let said = format!(
        "Spikes on {node}: {many} of {}{period}{added}.",
        length(middle)
    );
    match report.chain.is_empty() {
        true => said,
        false => format!("{said} {}", report.chain),
    }
}
