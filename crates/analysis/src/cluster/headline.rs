//! The answer in a few sentences: what the nodes' own recordings say, what limits for how long, who waits for whom, the best
//! configuration, the node that has most to do.

use std::collections::BTreeMap;

use model::{ClusterNode, ClusterPhase, ClusterReport, NodeSkew, PhaseVerdict, Span};

use super::{calls, capitalised, configurations, length, limits, listed, spikes};
use crate::causes::events;
use crate::number_format::{percent, rate};

/// What the nodes' own recordings say, surest first; causes of several nodes once.
fn verdicts(report: &ClusterReport) -> Vec<String> {
    const MOST: usize = 2;
    let with = report
        .nodes
        .iter()
        .filter_map(|it| Some((it, it.verdict.as_ref()?)));
    // A node that does not know what starts its spikes: here it may be known, and is said already.
    let spiking = report.spikes.as_ref().filter(|it| spikes::lead(it));
    let spiking = spiking.map(|it| &it.node);
    let is_said = |(node, verdict): &(&ClusterNode, &PhaseVerdict)| {
        spiking == Some(&node.name) && events::is_one(&verdict.cause)
    };
    let with = with.filter(|it| calls::is_cause(it.1) && !is_said(it));
    let mut with: Vec<(&ClusterNode, &PhaseVerdict)> = with.collect();
    with.sort_by(|a, b| {
        let share = |it: &PhaseVerdict| it.share.unwrap_or(0.0);
        (b.1.confidence.cmp(&a.1.confidence)).then(share(b.1).total_cmp(&share(a.1)))
    });
    let mut said: Vec<String> = Vec::new();
    let mut causes: Vec<&str> = Vec::new();
    for (node, verdict) in &with {
        if causes.contains(&&*verdict.cause) || causes.len() == MOST {
            continue;
        }
        causes.push(&verdict.cause);
        let others = with
            .iter()
            .filter(|it| it.1.cause == verdict.cause && it.0.name != node.name);
        let others: Vec<String> = others.map(|it| it.0.name.clone()).collect();
        let so = match others.is_empty() {
            true => String::new(),
            false => format!(" The same at {}.", listed(&others)),
        };
        said.push(format!("{}: {}{so}", node.name, verdict.sentence));
    }
    said
}

/// The answer: what limits for how long, the best configuration where there were several, a node that has more to do.
pub(super) fn headline(report: &ClusterReport) -> String {
    let leading = report.spikes.iter().filter(|it| spikes::lead(it));
    let mut said: Vec<String> = leading.map(|it| it.sentence.clone()).collect();
    said.extend(verdicts(report));
    said.push(limited(report));
    said.extend(report.calls.first().map(|it| it.sentence.clone()));
    said.extend(best(report));
    said.extend(hottest(report));
    said.join(" ")
}

/// The node that did more than the others for longest, with when it did.
fn hottest(report: &ClusterReport) -> Option<String> {
    let mut by_node: BTreeMap<&str, (f64, &NodeSkew, Span)> = BTreeMap::new();
    for phase in &report.phases {
        for skew in phase.skew.iter().filter(|it| it.value > it.others) {
            let seconds = phase.span.seconds();
            let known = by_node.entry(&skew.node).or_insert((0.0, skew, phase.span));
            known.0 += seconds;
            if seconds > known.2.seconds() {
                (known.1, known.2) = (skew, phase.span);
            }
        }
    }
    let (seconds, skew, _) = by_node.into_values().max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(match report.phases.len() {
        1 => skew.sentence.clone(),
        _ => format!("For {}, {}", length(seconds), skew.sentence),
    })
}

/// `CPU is the limit for 37 min of 60 min (tasks waited up to 81 % of the time), I/O for 12 min (up to 70 %).`
fn limited(report: &ClusterReport) -> String {
    let whole = length(report.span.seconds());
    let of = |phase: &ClusterPhase| -> Option<(String, f64)> {
        let limit = phase
            .limits
            .first()
            .filter(|it| !["none", "unknown"].contains(&&***it))?;
        let shares = phase.nodes.iter().flat_map(|it| &it.limits);
        let shares: Vec<f64> = shares
            .filter(|it| it.limit == *limit)
            .map(|it| it.share)
            .collect();
        // What limits a few nodes limits these, and not the cluster; its phase says so.
        if 2 * shares.len() < phase.nodes.len() {
            return None;
        }
        let most = shares.into_iter();
        Some((limits::named(limit).to_owned(), most.fold(0.0, f64::max)))
    };
    let mut all: Vec<(String, f64, f64)> = Vec::new();
    for phase in &report.phases {
        let Some((limit, share)) = of(phase) else {
            continue;
        };
        let seconds = phase.span.seconds();
        match all.iter_mut().find(|it| it.0 == limit) {
            Some(known) => (known.1, known.2) = (known.1 + seconds, known.2.max(share)),
            None => all.push((limit, seconds, share)),
        }
    }
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    let Some(((limit, seconds, share), others)) = all.split_first() else {
        return report.phases.first().map_or_else(
            || "The source has nothing of these nodes then.".to_owned(),
            |it| it.sentence.clone(),
        );
    };
    if let [only] = &*report.phases {
        return only.sentence.clone();
    }
    let mut said = format!(
        "{limit} is the limit for {} of {whole} (tasks waited up to {} of the time)",
        length(*seconds),
        percent(*share)
    );
    for (limit, seconds, share) in others {
        said.push_str(&format!(
            ", {limit} for {} (up to {})",
            length(*seconds),
            percent(*share)
        ));
    }
    said.push('.');
    capitalised(&said)
}

fn best(report: &ClusterReport) -> Option<String> {
    let (best, rest) = report.configurations.split_first()?;
    let is_as_good = |it: &&model::ClusterConfiguration| {
        it.throughput >= best.throughput * (1.0 - configurations::SAME)
    };
    let shown =
        |it: &model::ClusterConfiguration| format!("{} ({}/s)", it.name, rate(it.throughput));
    let as_good: Vec<String> = rest.iter().filter(is_as_good).map(shown).collect();
    let next = rest.iter().find(|it| !is_as_good(it));
    let number = report.configurations.len();
    let mut said = format!(
        "{} is the best of {number} configurations: {}/s",
        best.name,
        rate(best.throughput)
    );
    if !as_good.is_empty() {
        said.push_str(&format!(", as much as {} with less", listed(&as_good)));
    }
    said.push_str(&next.map_or(String::new(), |it| format!("; the next is {}", shown(it))));
    said.push('.');
    Some(said)
}
