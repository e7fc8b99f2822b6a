//! What limits a node in a phase, by its pressure and use, and what that makes of the cluster.
//!
//! Pressure says that tasks waited for a resource, and not whose they were; so nothing here is more than *consistent*.

use std::collections::BTreeMap;

use model::{Confidence, NodeLimit, NodePhase, Quantities};

use super::quantity::Quantity;
use crate::number_format::percent;

/// Part of the time that tasks wait for a CPU or I/O from which on that is a limit; for memory the second.
const WAITED: f64 = 0.10;
const MEMORY_WAITED: f64 = 0.05;
/// A resource that is waited for at least so much of what the most waited for is, is named beside it.
const BESIDE: f64 = 0.4;
/// Part of the time from which on a wait holds back most of what a node does; below, it is the nearest limit.
const STRONG: f64 = 0.40;
/// Without pressure: a resource as busy as this is full.
const FULL: f64 = 0.90;
/// CPU time that the hypervisor gave to others.
const STOLEN: f64 = 0.10;
/// CPUs that are less busy than this have time left: waits for them come in bursts, or from a quota.
const BUSY: f64 = 0.70;

/// The limits of a node, the most waited for first; `named` are causes that its recording is consistent with.
pub(super) fn of_node(means: &Quantities, named: &[String]) -> Vec<NodeLimit> {
    let get = |quantity: Quantity| means.get(quantity.word()).copied();
    let mut limits: Vec<NodeLimit> = [
        cpu(&get, named),
        waited(
            &get,
            Quantity::IoSome,
            ["io", "I/O"],
            WAITED,
            disks(&get),
            named,
        ),
        waited(
            &get,
            Quantity::MemorySome,
            ["memory", "memory"],
            MEMORY_WAITED,
            String::new(),
            named,
        ),
    ]
    .into_iter()
    .flatten()
    .collect();
    if get(Quantity::CpuSome).is_none() && get(Quantity::IoSome).is_none() {
        limits = without_pressure(&get);
    }
    limits.sort_by(|a, b| b.share.total_cmp(&a.share));
    let most = limits.first().map_or(0.0, |it| it.share);
    limits.retain(|it| it.share >= BESIDE * most);
    limits
}

type Get<'a> = &'a dyn Fn(Quantity) -> Option<f64>;

fn cpu(get: Get<'_>, named: &[String]) -> Option<NodeLimit> {
    let share = get(Quantity::CpuSome).filter(|it| *it >= WAITED)?;
    let busy = get(Quantity::CpuBusy);
    let steal = get(Quantity::Steal).filter(|it| *it >= STOLEN);
    let tasks = get(Quantity::WaitingTasks);
    let tasks = tasks.map_or(String::new(), |it| {
        format!(", {} of them on average", crate::number_format::rate(it))
    });
    let used = busy.map_or(String::new(), |it| {
        format!("; its CPUs were {} busy", percent(it))
    });
    let (limit, why) = match (steal, busy) {
        _ if named.iter().any(|it| it == "cpu.quota") => (
            "cpu.quota",
            "; that is longer than any CPU was busy, as under a quota".to_owned(),
        ),
        (Some(steal), _) => (
            "steal",
            format!(
                "; the hypervisor gave {} of its CPU time to others",
                percent(steal)
            ),
        ),
        (None, Some(busy)) if busy < BUSY => (
            "cpu",
            format!(
                "; its CPUs were only {} busy, so work comes in bursts or a quota holds it back",
                percent(busy)
            ),
        ),
        _ => ("cpu", used),
    };
    Some(NodeLimit {
        limit: limit.to_owned(),
        share,
        confidence: Confidence::Consistent,
        sentence: format!(
            "Tasks waited for a CPU {} of the time{tasks}{why}.",
            percent(share)
        ),
    })
}

fn waited(
    get: Get<'_>,
    quantity: Quantity,
    [word, what]: [&str; 2],
    least: f64,
    beside: String,
    named: &[String],
) -> Option<NodeLimit> {
    let share = get(quantity).filter(|it| *it >= least)?;
    // A cause of the same resource says more than the resource.
    let cause = named.iter().find(|it| it.split('.').next() == Some(word));
    Some(NodeLimit {
        limit: cause.map_or(word, String::as_str).to_owned(),
        share,
        confidence: Confidence::Consistent,
        sentence: format!(
            "Tasks waited for {what} {} of the time{beside}.",
            percent(share)
        ),
    })
}

fn disks(get: Get<'_>) -> String {
    let busy = get(Quantity::DiskBusy);
    let busy = busy.map(|it| format!("its busiest disk was busy {} of it", percent(it)));
    let moved = get(Quantity::DiskRead).zip(get(Quantity::DiskWritten));
    let moved = moved.map(|(read, written)| {
        format!(
            "read {} and wrote {}",
            Quantity::DiskRead.text(read),
            Quantity::DiskWritten.text(written)
        )
    });
    let said: Vec<String> = [busy, moved].into_iter().flatten().collect();
    match said.is_empty() {
        true => String::new(),
        false => format!("; {}", said.join(", ")),
    }
}

/// How busy things were is all that is known.
fn without_pressure(get: Get<'_>) -> Vec<NodeLimit> {
    let each = [
        (Quantity::CpuBusy, "cpu", "Its CPUs were"),
        (Quantity::DiskBusy, "io", "Its busiest disk was"),
    ];
    let full = each.into_iter().filter_map(|(quantity, word, subject)| {
        let share = get(quantity).filter(|it| *it >= FULL)?;
        Some(NodeLimit {
            limit: word.to_owned(),
            share,
            confidence: Confidence::Suspected,
            sentence: format!(
                "{subject} {} busy; whether tasks waited is not known, for it has no pressure.",
                percent(share)
            ),
        })
    });
    full.collect()
}

/// What limits the cluster: the limits of at least half of its nodes, else those of single ones.
pub(super) struct Limits {
    pub(super) limits: Vec<String>,
    pub(super) confidence: Confidence,
    pub(super) sentence: String,
}

pub(super) fn of_cluster(nodes: &[NodePhase], means: &Quantities) -> Limits {
    let mut by_limit: BTreeMap<&str, Vec<&NodePhase>> = BTreeMap::new();
    for node in nodes {
        for limit in &node.limits {
            by_limit.entry(&limit.limit).or_default().push(node);
        }
    }
    let mut ranked: Vec<(&str, Vec<&NodePhase>)> = by_limit.into_iter().collect();
    let weight = |(limit, of): &(&str, Vec<&NodePhase>)| -> f64 {
        let share = |it: &&NodePhase| {
            it.limits
                .iter()
                .find(|each| each.limit == *limit)
                .map_or(0.0, |each| each.share)
        };
        of.iter().map(share).sum()
    };
    ranked.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
    if ranked.is_empty() {
        return nothing(nodes, means);
    }
    let is_sure = |limit: &str| {
        let mut all = nodes.iter().flat_map(|it| &it.limits);
        all.any(|it| it.limit == limit && it.confidence == Confidence::Consistent)
    };
    let confidence = match is_sure(ranked[0].0) {
        true => Confidence::Consistent,
        false => Confidence::Suspected,
    };
    let all: Vec<Shared<'_>> = ranked
        .iter()
        .map(|it| Shared {
            limit: it.0,
            nodes: it.1.iter().map(|it| &*it.node).collect(),
            share: weight(it) / it.1.len() as f64,
        })
        .collect();
    Limits {
        limits: ranked.iter().map(|it| it.0.to_owned()).collect(),
        confidence,
        sentence: sentences(&all, nodes.len()),
    }
}

/// A limit, with the nodes that have it and how long their tasks waited on average.
struct Shared<'a> {
    limit: &'a str,
    nodes: Vec<&'a str>,
    share: f64,
}

/// A sentence for each set of nodes, the limits of which they share.
fn sentences(all: &[Shared<'_>], number: usize) -> String {
    let mut sets: Vec<Vec<&Shared<'_>>> = Vec::new();
    for each in all {
        match sets.iter_mut().find(|it| it[0].nodes == each.nodes) {
            Some(set) => set.push(each),
            None => sets.push(vec![each]),
        }
    }
    let said: Vec<String> = sets.iter().map(|it| sentence(it, number)).collect();
    said.join(" ")
}

/// `CPU is the limit of all 6 nodes: tasks waited 81 % of the time.`
fn sentence(set: &[&Shared<'_>], number: usize) -> String {
    let whose = match &*set[0].nodes {
        [only] => (*only).to_owned(),
        all if all.len() == number && number == 2 => "both nodes".to_owned(),
        all if all.len() == number => format!("all {number} nodes"),
        [first, second] => format!("{first} and {second}"),
        some => format!("{} of {number} nodes", some.len()),
    };
    let is_strong = set[0].share >= STRONG;
    let near = if is_strong { "" } else { "nearest " };
    let each = set.iter().enumerate().map(|(place, it)| {
        let (name, share) = (named(it.limit), percent(it.share));
        match place {
            0 => format!("{name} (tasks waited {share} of the time)"),
            _ => format!("{name} ({share})"),
        }
    });
    let all: Vec<String> = each.collect();
    match set {
        [only] => format!(
            "{} is the {near}limit of {whose}: tasks waited {} of the time.",
            super::capitalised(named(only.limit)),
            percent(only.share)
        ),
        _ => format!(
            "{} are the {near}limits of {whose}.",
            super::capitalised(&super::listed(&all))
        ),
    }
}

/// What a sentence calls a limit.
pub(super) fn named(limit: &str) -> &'static str {
    match limit {
        "cpu" => "CPU",
        "cpu.quota" => "a CPU quota",
        "steal" => "steal by the hypervisor",
        "memory" => "memory",
        "memory.limit" => "a memory limit",
        "io.sync" => "syncing to disk",
        "io.throttled" => "an I/O limit",
        _ => "I/O",
    }
}

/// No node waited long enough for anything.
fn nothing(nodes: &[NodePhase], means: &Quantities) -> Limits {
    let get = |quantity: Quantity| means.get(quantity.word()).copied();
    let has_pressure = get(Quantity::CpuSome).is_some();
    let busy = get(Quantity::CpuBusy).map_or(String::new(), |it| {
        format!("; CPUs were {} busy", percent(it))
    });
    let which = match nodes {
        [] => "No node was there".to_owned(),
        _ if has_pressure => format!(
            "Nothing limits the nodes: tasks waited less than {} of the time for any resource{busy}",
            percent(WAITED)
        ),
        _ => format!("What limits the nodes is not known: they have no pressure{busy}"),
    };
    Limits {
        limits: vec![if has_pressure { "none" } else { "unknown" }.to_owned()],
        confidence: match has_pressure {
            true => Confidence::Consistent,
            false => Confidence::Suspected,
        },
        sentence: format!("{which}."),
    }
}
