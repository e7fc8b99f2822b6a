//! What happened to single nodes: they leave, come, start anew, read from a cold cache, or a counter of theirs runs backwards.

use std::collections::BTreeMap;
use std::ops::Range;

use model::{ClusterEvent, Span};

use super::grid::{Grid, known};
use super::quantity::Quantity;
use super::{Happening, Node};
use crate::number_format::{memory, percent, storage};
use crate::stats::{mean, median};

/// A node that is away for fewer intervals than this was not looked at in time.
const AWAY: usize = 2;
/// Reads from disk are many when they are this many times what is usual for the node, and at least so many bytes per second.
const MANY_READS: f64 = 3.0;
const LEAST_READS: f64 = 1e6;
/// A page cache that loses this part of itself at once was emptied.
const LOST: f64 = 0.2;
/// Intervals in which a cache that was emptied must begin to fill.
const SOON: usize = 4;
/// So many nodes whose caches are cold one after the other were restarted in turn.
const ROLLING: usize = 3;

/// The stretches in which a node was there.
pub(super) fn present(grid: &Grid, node: usize) -> Vec<Range<usize>> {
    let mut all: Vec<Range<usize>> = Vec::new();
    for step in (0..grid.steps).filter(|step| grid.is_present(node, *step)) {
        match all.last_mut() {
            Some(last) if step - last.end < AWAY => last.end = step + 1,
            _ => all.push(step..step + 1),
        }
    }
    all
}

/// All events, in the order of time.
pub(super) fn events(grid: &Grid, nodes: &[Node<'_>]) -> Vec<ClusterEvent> {
    let mut events = presence(grid, nodes);
    let mut cold = Vec::new();
    for (number, node) in nodes.iter().enumerate() {
        events.extend(node.happened.iter().map(|it| happened(node.name, it)));
        cold.extend(cold_caches(grid, number, node.name));
    }
    cold.sort_by_key(|it: &ClusterEvent| it.at_ns);
    events.extend(rolling(&cold));
    events.extend(cold);
    events.sort_by_key(|it| it.at_ns);
    events
}

fn event(at_ns: i64, node: &str, kind: &str, sentence: String) -> ClusterEvent {
    ClusterEvent {
        at_ns,
        nodes: vec![node.to_owned()],
        kind: kind.to_owned(),
        sentence,
    }
}

/// What several nodes may do at once: when it was, and how long it lasted where it ended, ns.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Presence {
    at_ns: i64,
    kind: Kind,
    length_ns: i64,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Joined,
    Gap,
    Left,
    PressureBegins,
}

/// Nodes that come, go, are not read for a while, or begin to count pressure; those that do it at once in one sentence.
fn presence(grid: &Grid, nodes: &[Node<'_>]) -> Vec<ClusterEvent> {
    let mut all: BTreeMap<Presence, Vec<String>> = BTreeMap::new();
    for (number, node) in nodes.iter().enumerate() {
        for it in of_node(grid, number) {
            all.entry(it).or_default().push(node.name.to_owned());
        }
    }
    let event = |(it, nodes): (Presence, Vec<String>)| {
        let who = super::listed(&nodes);
        let (kind, sentence) = told(&it, &who, nodes.len() > 1);
        ClusterEvent {
            at_ns: it.at_ns,
            nodes,
            kind: kind.to_owned(),
            sentence,
        }
    };
    all.into_iter().map(event).collect()
}

fn told(it: &Presence, who: &str, are_several: bool) -> (&'static str, String) {
    let (s, was) = match are_several {
        true => ("", "were"),
        false => ("s", "was"),
    };
    match it.kind {
        Kind::Joined => ("joined", format!("{who} join{s}.")),
        Kind::Left => (
            "left",
            format!("{who} leave{s}, or {was} not read any more."),
        ),
        Kind::Gap => {
            let length = super::length(it.length_ns as f64 / 1e9);
            (
                "gap",
                format!("{who} {was} away, or not read, for {length}."),
            )
        }
        Kind::PressureBegins => (
            "pressure_begins",
            format!("{who} count{s} pressure from here on, and did not before."),
        ),
    }
}

fn of_node(grid: &Grid, node: usize) -> Vec<Presence> {
    let present = present(grid, node);
    let at = |step: usize, kind| Presence {
        at_ns: grid.starts_at(step),
        kind,
        length_ns: 0,
    };
    let mut events = Vec::new();
    let (Some(first), Some(last)) = (present.first(), present.last()) else {
        return events;
    };
    events.extend((first.start >= AWAY).then(|| at(first.start, Kind::Joined)));
    events.extend(present.windows(2).map(|pair| Presence {
        length_ns: grid.starts_at(pair[1].start) - grid.starts_at(pair[0].end),
        ..at(pair[0].end, Kind::Gap)
    }));
    events.extend((last.end + AWAY <= grid.steps).then(|| at(last.end, Kind::Left)));
    let counts = grid
        .row(node, Quantity::CpuSome)
        .iter()
        .position(|it| !it.is_nan());
    let begins = counts.filter(|it| *it >= first.start + AWAY);
    events.extend(begins.map(|it| at(it, Kind::PressureBegins)));
    events
}

fn happened(name: &str, what: &Happening) -> ClusterEvent {
    match what {
        Happening::Restarted { at_ns } => event(
            *at_ns,
            name,
            "restarted",
            format!("{name} was booted anew; its counters began again."),
        ),
        Happening::Replaced { at_ns } => event(
            *at_ns,
            name,
            "replaced",
            format!(
                "Another machine has the name {name} from here on: its host name or its memory is different."
            ),
        ),
        Happening::RanBackwards {
            at_ns,
            metric,
            times,
            most,
        } => event(
            *at_ns,
            name,
            "runs_backwards",
            format!(
                "{metric} of {name} ran backwards {}, by {} at most, without a restart; no growth is counted there.",
                match times {
                    1 => "once".to_owned(),
                    more => format!("{more} times"),
                },
                crate::number_format::rate(*most)
            ),
        ),
    }
}

/// Times when a node read much more than usual while its page cache, which had been emptied, filled.
fn cold_caches(grid: &Grid, node: usize, name: &str) -> Vec<ClusterEvent> {
    let cache = grid.row(node, Quantity::PageCache);
    let reads = grid.row(node, Quantity::DiskRead);
    let Some(usual) = median(&known(reads)) else {
        return Vec::new();
    };
    let many = (usual * MANY_READS).max(LEAST_READS);
    let mut events = Vec::new();
    let mut step = 1;
    while step < grid.steps {
        let before = cache[..step].iter().rev().find(|it| !it.is_nan()).copied();
        let emptied = before.is_some_and(|before| cache[step] < before * (1.0 - LOST));
        let soon =
            (step.saturating_sub(1)..(step + SOON).min(grid.steps)).find(|at| reads[*at] >= many);
        let (true, Some(first)) = (emptied, soon) else {
            step += 1;
            continue;
        };
        let last = (first..grid.steps)
            .take_while(|at| reads[*at] >= many)
            .last()
            .unwrap_or(first);
        let span = grid.span(&(first..last + 1));
        events.push(cold_cache(
            grid,
            node,
            name,
            fall(cache, step),
            first..last + 1,
            span,
        ));
        // The reads may have begun in the interval before the one that shows the cache empty.
        step = (last + 1).max(step + 1);
    }
    events
}

/// From how much to how little a page cache fell around an interval: it may take several to be emptied.
fn fall(cache: &[f64], step: usize) -> (f64, f64) {
    let before = known(&cache[step.saturating_sub(SOON)..step]);
    let behind = known(&cache[step..(step + SOON).min(cache.len())]);
    let most = before.into_iter().fold(0.0, f64::max);
    (most, behind.into_iter().fold(f64::MAX, f64::min).min(most))
}

fn cold_cache(
    grid: &Grid,
    node: usize,
    name: &str,
    (before, after): (f64, f64),
    steps: Range<usize>,
    span: Span,
) -> ClusterEvent {
    let mean_of = |quantity| mean(&known(&grid.row(node, quantity)[steps.clone()]));
    let read = mean_of(Quantity::DiskRead).unwrap_or(0.0);
    let io = mean_of(Quantity::IoSome).map_or(String::new(), |it| {
        format!("; tasks waited for I/O {} of that time", percent(it))
    });
    let sentence = format!(
        "{name} read from a cold cache for {}: its page cache fell from {} to {}, and it read {}/s{io}.",
        super::length(span.seconds()),
        memory(before),
        memory(after),
        storage(read)
    );
    event(span.from_ns, name, "cold_cache", sentence)
}

/// Nodes whose caches are cold one after the other, in one sentence.
fn rolling(cold: &[ClusterEvent]) -> Option<ClusterEvent> {
    let mut nodes: Vec<String> = Vec::new();
    for event in cold {
        for node in &event.nodes {
            if !nodes.contains(node) {
                nodes.push(node.clone());
            }
        }
    }
    let apart = cold.windows(2).all(|it| it[0].at_ns < it[1].at_ns);
    let first = cold.first()?;
    (nodes.len() >= ROLLING && apart).then(|| ClusterEvent {
        at_ns: first.at_ns,
        kind: "rolling_restart".to_owned(),
        sentence: format!(
            "{} read from cold caches one after the other, as in a rolling restart.",
            super::listed(&nodes)
        ),
        nodes,
    })
}
