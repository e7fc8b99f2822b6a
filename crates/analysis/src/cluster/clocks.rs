//! How far the nodes' clocks are apart.
//!
//! Data arrives after it was sent. Both ends of a connection say how many bytes went over it, and when the last of them did, to a
//! tick of the kernel's timer; so each reading of a sender, and the first reading of the receiver that has as much, bound
//! how far the receiver's clock can be behind (Marzullo, Owicki, "Maintaining the time in a distributed system", 1983,
//! intersects such intervals). Data in the other direction bounds it on the other side. Where a connection rests
//! after data went over it both bounds are as tight as the way is short. Of clocks that drift apart all bounds together
//! contradict each other; then what is between them is taken.

use std::collections::{BTreeMap, HashMap};

use model::{EntityId, MISSING, NodeClock, TableData, Timestamp};

use super::calls::is_shared;
use super::{Node, listed};
use crate::number_format::duration;

/// How exactly a socket tells when data was sent or received, ns: a tick of the slowest timer (CONFIG_HZ=100).
const TICK_NS: i64 = 10_000_000;
/// What `run --on` notes in the environment of a node's recording: how far its clock is ahead, ns.
pub const CLOCK_AHEAD: &str = "clock.ahead_ns";
/// How exactly that is known, ns.
pub const CLOCK_AHEAD_WITHIN: &str = "clock.ahead_within_ns";
/// Of which recording's machine, by the recording's id.
pub const CLOCK_AHEAD_OF: &str = "clock.ahead_of";
/// A connection with more readings is looked at in so many of them.
const MOST_READINGS: usize = 20_000;

/// Both ends of a connection: `10.0.0.1:5432-10.0.0.2:40312`.
type Ends<'a> = (&'a str, &'a str);

/// What is known of two clocks: the first key's clock is ahead of the second one's by at most so much, ns.
#[derive(Default)]
struct Bounds {
    most: BTreeMap<(usize, usize), i64>,
    shown_by: BTreeMap<(usize, usize), &'static str>,
}

/// What a node's clock showed.
#[derive(Clone, Copy)]
struct Shown {
    node: usize,
    /// ns since 1970.
    ns: i64,
}

impl Bounds {
    /// `later` was shown at or after `earlier`.
    fn take(&mut self, later: Shown, earlier: Shown, slack_ns: i64, by: &'static str) {
        let most = later.ns.checked_sub(earlier.ns);
        let Some(most) = most.and_then(|it| it.checked_add(slack_ns)) else {
            return;
        };
        let known = self
            .most
            .entry((later.node, earlier.node))
            .or_insert(i64::MAX);
        if most < *known {
            *known = most;
            self.shown_by.insert((later.node, earlier.node), by);
        }
    }

    /// Clocks that moved against each other have been ahead by as much as either bound says.
    fn make_agree(&mut self) {
        let pairs: Vec<(usize, usize)> =
            self.most.keys().copied().filter(|it| it.0 < it.1).collect();
        for (a, b) in pairs {
            let (Some(most), Some(back)) = (
                self.most.get(&(a, b)).copied(),
                self.most.get(&(b, a)).copied(),
            ) else {
                continue;
            };
            if most < back.saturating_neg() {
                // The ticks that either was widened by narrow what lies between them.
                let widened = |it: i64| it.saturating_neg().saturating_add(2 * TICK_NS);
                self.most.insert((a, b), widened(back));
                self.most.insert((b, a), widened(most));
            }
        }
    }

    /// The tightest bounds that follow over other nodes (Floyd, Warshall).
    fn all(&self, nodes: usize) -> Vec<Vec<Option<i64>>> {
        let mut most = vec![vec![None; nodes]; nodes];
        for (node, row) in most.iter_mut().enumerate() {
            row[node] = Some(0);
        }
        for ((a, b), bound) in &self.most {
            most[*a][*b] = Some(*bound);
        }
        for over in 0..nodes {
            for a in 0..nodes {
                for b in 0..nodes {
                    let way = most[a][over]
                        .zip(most[over][b])
                        .map(|(x, y): (i64, i64)| x.saturating_add(y));
                    if let Some(way) = way.filter(|it| most[a][b].is_none_or(|known| *it < known)) {
                        most[a][b] = Some(way);
                    }
                }
            }
        }
        most
    }
}

/// What is known of each node's clock but the first one's, in the order of the nodes. Of a node that nothing shows it is
/// taken to be right.
pub fn clocks(nodes: &[Node<'_>]) -> Vec<NodeClock> {
    let mut bounds = Bounds::default();
    by_connections(nodes, &mut bounds);
    as_measured(nodes, &mut bounds);
    bounds.make_agree();
    let most = bounds.all(nodes.len());
    let clock = |node: usize| {
        // The first node that it is known against; that one's own clock is known against no earlier one.
        let known =
            (0..node).find_map(|of| Some((of, most[node][of]?, most[of][node]?.saturating_neg())));
        let by = |of: usize| {
            let direct = bounds
                .shown_by
                .get(&(node, of))
                .or(bounds.shown_by.get(&(of, node)));
            direct.copied().unwrap_or("connections")
        };
        told(
            nodes,
            node,
            known.map(|(of, most, least)| Known {
                of,
                least,
                most,
                by: by(of),
            }),
        )
    };
    (1..nodes.len()).map(clock).collect()
}

struct Known {
    of: usize,
    least: i64,
    most: i64,
    by: &'static str,
}

fn told(nodes: &[Node<'_>], node: usize, known: Option<Known>) -> NodeClock {
    let name = nodes[node].name;
    let Some(Known {
        of,
        least,
        most,
        by,
    }) = known
    else {
        return NodeClock {
            node: name.to_owned(),
            of: nodes[0].name.to_owned(),
            ahead_ns: 0,
            least_ns: None,
            most_ns: None,
            shown_by: None,
            sentence: format!(
                "{name}'s clock is taken to be right: no connection to another node shows how far it is off."
            ),
        };
    };
    let (least, most) = (least.min(most), most.max(least));
    let of = nodes[of].name;
    let apart = |ns: i64| duration(ns.unsigned_abs() as f64);
    let half = most.saturating_sub(least) / 2;
    let is_right = least <= 0 && most >= 0;
    let ahead = if is_right {
        0
    } else {
        least.saturating_add(half)
    };
    let sentence = match is_right {
        true => format!(
            "{name}'s clock agrees with {of}'s within {}.",
            apart(most.max(least.saturating_neg()))
        ),
        false => format!(
            "{name}'s clock is {} {} {of}'s, within {}; its times are corrected.",
            apart(ahead),
            if ahead > 0 { "ahead of" } else { "behind" },
            apart(half)
        ),
    };
    NodeClock {
        node: name.to_owned(),
        of: of.to_owned(),
        ahead_ns: ahead,
        least_ns: Some(least),
        most_ns: Some(most),
        shown_by: Some(by.to_owned()),
        sentence,
    }
}

/// Clocks that are less apart are not worth a word where readings lie seconds apart, ns.
const WORTH_A_WORD_NS: i64 = 100_000_000;
/// An exporter says what time it is some milliseconds into a scrape, ns.
const INTO_A_SCRAPE_NS: i64 = 10_000_000;

/// A node's clock against that of the store that scraped it, by whose times the node's are told. `None` where it is right.
pub fn against_a_store(node: &str, ahead_ns: i64, within_ns: i64) -> Option<NodeClock> {
    let apart = ahead_ns.saturating_abs();
    let is_apart = apart >= WORTH_A_WORD_NS && apart > within_ns;
    is_apart.then(|| NodeClock {
        node: node.to_owned(),
        of: "the store".to_owned(),
        ahead_ns: 0,
        least_ns: Some(ahead_ns.saturating_sub(within_ns)),
        most_ns: Some(ahead_ns.saturating_add(within_ns)),
        shown_by: Some("scrapes".to_owned()),
        sentence: format!(
            "{node}'s clock is {} {} the store's, within {}; times here are the store's, times in its logs are its own.",
            duration(apart as f64),
            if ahead_ns > 0 { "ahead of" } else { "behind" },
            duration(within_ns.max(INTO_A_SCRAPE_NS) as f64)
        ),
    })
}

/// Names of the nodes whose clocks were taken to be right, as a list.
pub(super) fn unknown(clocks: &[NodeClock]) -> Option<String> {
    let names = clocks.iter().filter(|it| it.least_ns.is_none());
    let names: Vec<String> = names.map(|it| it.node.clone()).collect();
    (!names.is_empty()).then(|| listed(&names))
}

/// What was measured when the nodes were recorded together.
fn as_measured(nodes: &[Node<'_>], bounds: &mut Bounds) {
    for (number, node) in nodes.iter().enumerate() {
        let said = |name: &str| node.meta.environment.get(name);
        let number_of = |name| said(name)?.parse::<i64>().ok();
        let of = said(CLOCK_AHEAD_OF).and_then(|id| {
            nodes
                .iter()
                .position(|it| it.meta.identity.recording_id == *id)
        });
        let Some(((ahead, within), of)) = number_of(CLOCK_AHEAD)
            .zip(number_of(CLOCK_AHEAD_WITHIN))
            .zip(of)
        else {
            continue;
        };
        let within = within.max(0);
        let own = Shown {
            node: number,
            ns: ahead,
        };
        let asker = Shown { node: of, ns: 0 };
        bounds.take(own, asker, within, "ssh");
        bounds.take(asker, own, within, "ssh");
    }
}

fn by_connections(nodes: &[Node<'_>], bounds: &mut Bounds) {
    // A node may have been recorded with both ends: that of its own and that of a server on the same machine.
    let mut ends: HashMap<Ends<'_>, Vec<(usize, EntityId)>> = HashMap::new();
    for (number, node) in nodes.iter().enumerate() {
        for ((here, there), id) in connections(node) {
            for (other, far) in ends.get(&(there, here)).into_iter().flatten().copied() {
                let near = Readings::of(node, id);
                let far = Readings::of(&nodes[other], far);
                near.arrive_at(number, &far, other, bounds);
                far.arrive_at(other, &near, number, bounds);
            }
        }
        for (own, id) in connections(node) {
            ends.entry(own).or_default().push((number, id));
        }
    }
}

/// A node's connections, by their ends; not those of loopback, which every machine has. Of several with the same ends, one
/// after the other, it is not known which is the other node's.
fn connections<'a>(node: &Node<'a>) -> impl Iterator<Item = (Ends<'a>, EntityId)> {
    let mut all: BTreeMap<Ends<'a>, Option<EntityId>> = BTreeMap::new();
    let read = node.timeline.table("connection");
    let read = read.into_iter().flat_map(TableData::entities);
    for it in read.filter_map(|it| node.timeline.entities.get(it)) {
        let ends = it.entity.name.split_once('-');
        if let Some(ends) = ends.filter(|it| !is_shared(it.0) && !is_shared(it.1)) {
            all.entry(ends)
                .and_modify(|known| *known = None)
                .or_insert(Some(it.id));
        }
    }
    all.into_iter().filter_map(|(ends, id)| Some((ends, id?)))
}

/// Readings of one end: how much went over it in a direction, bytes, and when the last of it did, ns since 1970 by the node's
/// clock. Both rise.
#[derive(Default)]
struct Readings {
    sent: Vec<(i64, i64)>,
    received: Vec<(i64, i64)>,
}

impl Readings {
    fn of(node: &Node<'_>, id: EntityId) -> Self {
        let table = node.timeline.table("connection");
        table.map_or_else(Self::default, |it| Self::among(it, node, id))
    }

    fn among(table: &TableData, node: &Node<'_>, id: EntityId) -> Self {
        let names = [
            "bytes_sent",
            "last_sent_ns",
            "bytes_received",
            "last_received_ns",
            "retransmitted_segments",
            "retransmitted_bytes",
        ];
        let columns = names.map(|it| table.table.position(it));
        let mut own = Self::default();
        let mut retransmitted = 0;
        let rows = table.rows_of(id).unwrap_or_default();
        for row in rows.iter().map(|it| *it as usize).take(MOST_READINGS) {
            let [sent, sent_at, received, received_at, again, again_bytes] =
                columns.map(|it| it.map_or(MISSING, |column| table.value(row, column)));
            // An older kernel does not say how much was sent again: then nothing is known from there on.
            let sent = match again_bytes {
                MISSING if again > 0 => MISSING,
                MISSING => sent,
                bytes => sent.saturating_sub(bytes),
            };
            // What is sent again moves the time of the last, and not what the other end has.
            let is_first = again == std::mem::replace(&mut retransmitted, again.max(0)).max(0);
            let both = [
                (sent, sent_at, is_first, &mut own.sent),
                (received, received_at, true, &mut own.received),
            ];
            for (bytes, at, is_told, into) in both {
                let is_more = into.last().is_none_or(|last: &(i64, i64)| bytes > last.0);
                if is_told && is_more && bytes > 0 && at != MISSING {
                    into.push((bytes, node.on_the_wall(Timestamp::from_ns(at))));
                }
            }
        }
        own
    }

    /// What the other end has sent arrives here, no earlier.
    fn arrive_at(&self, here: usize, sender: &Self, there: usize, bounds: &mut Bounds) {
        for (bytes, sent_at) in &sender.sent {
            let first = self.received.partition_point(|it| it.0 < *bytes);
            if let Some((_, arrived_at)) = self.received.get(first) {
                let arrived = Shown {
                    node: here,
                    ns: *arrived_at,
                };
                let sent = Shown {
                    node: there,
                    ns: *sent_at,
                };
                bounds.take(arrived, sent, TICK_NS, "connections");
            }
        }
    }
}

#[cfg(test)]
mod tests;
