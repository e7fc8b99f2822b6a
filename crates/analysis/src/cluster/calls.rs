//! Who among the nodes waits for whom: calls of one to an address that another one's connections have.

use std::collections::BTreeMap;

use model::{NodeCalls, PhaseVerdict, Span, Window};

use super::Node;
use crate::number_format::{duration, rate};
use crate::peers::Calls;

/// Calls that take less than this part of the time are nobody's wait.
const LEAST: f64 = 0.01;

/// Calls between nodes, those with most time first.
pub(super) fn calls(nodes: &[Node<'_>], span: Span) -> Vec<NodeCalls> {
    let serves = addresses(nodes);
    let mut all = Vec::new();
    for node in nodes {
        let window = Window::new(
            node.on_its_clock(span.from_ns),
            node.on_its_clock(span.to_ns),
        );
        let Some(window) = node.timeline.window.intersect(window) else {
            continue;
        };
        let Some(calls) = Calls::of(node.timeline, node.meta, window) else {
            continue;
        };
        for peer in calls.peers {
            let address = &peer.calls.name;
            let there = serves.get(&**address).and_then(|it| nodes.get(*it));
            let Some(there) = there.filter(|it| it.name != node.name) else {
                continue;
            };
            let waited = peer.ns / window.len_ns().max(1) as f64;
            if waited >= LEAST && peer.count > 0.0 {
                let per_second = peer.count / window.seconds();
                all.push(NodeCalls {
                    from: node.name.to_owned(),
                    to: there.name.to_owned(),
                    address: address.clone(),
                    per_second,
                    mean_ns: peer.ns / peer.count,
                    under_way: waited,
                    sentence: sentence(node, there, address, per_second, peer.ns / peer.count),
                });
            }
        }
    }
    all.sort_by(|a, b| b.under_way.total_cmp(&a.under_way));
    all
}

/// Which node has which address: the near ends of its connections. Loopback is everybody's, and nobody's.
fn addresses<'a>(nodes: &[Node<'a>]) -> BTreeMap<&'a str, usize> {
    let mut all = BTreeMap::new();
    for (number, node) in nodes.iter().enumerate() {
        let Some(table) = node.timeline.table("connection") else {
            continue;
        };
        for record in table
            .entities()
            .filter_map(|it| node.timeline.entities.get(it))
        {
            let near = record.entity.name.split_once('-').map(|it| it.0);
            if let Some(near) = near.filter(|it| !is_shared(it)) {
                all.insert(near, number);
            }
        }
    }
    all
}

/// Whether every machine has an address of its own that is called so.
pub(super) fn is_shared(address: &str) -> bool {
    address.starts_with("127.") || address.starts_with("[::1]")
}

fn sentence(
    node: &Node<'_>,
    there: &Node<'_>,
    address: &str,
    per_second: f64,
    mean_ns: f64,
) -> String {
    let what = format!(
        "{} waits for {} at {address}: {} calls a second of {} each",
        node.name,
        there.name,
        rate(per_second),
        duration(mean_ns)
    );
    match there.verdict.as_ref().filter(|it| is_cause(it)) {
        Some(verdict) => format!("{what}. There: {}", verdict.sentence),
        None => format!("{what}."),
    }
}

/// Whether a verdict names what is in the way.
pub(super) fn is_cause(verdict: &PhaseVerdict) -> bool {
    !["healthy", "undetermined"].contains(&&*verdict.cause)
}
