//! Where the threads of the target and of those whom it calls spend spikes.

use std::collections::BTreeMap;

use model::{
    EntityKind, EntityRecord, LedgerClass, MeasureKind, Meta, Role, Timeline, Timestamp, Unit,
    Window,
};

use super::{Measure, Pair, rates};
use crate::ledger::is_inside;
use crate::over_time::{LedgerOverTime, THREAD_CLASSES};
use crate::peers::Calls;

/// Time around each spike and in each calm stretch, ns, by class.
type Sums = Vec<[[f64; THREAD_CLASSES]; 2]>;

/// Time by pool of threads and wait class, and in calls to each peer; with what spikes add to the time of the target's
/// threads inside requests, ns.
pub(super) fn measures(
    timeline: &Timeline,
    meta: &Meta,
    pairs: &[Pair],
    window: Window,
) -> (Vec<Measure>, f64) {
    let pools = pools(timeline, meta, pairs);
    let mut of_target = Vec::new();
    let mut of_others = Vec::new();
    for ((role, pool), sums) in &pools {
        let own = classes(pool, sums, pairs);
        match role {
            Role::Target => of_target.extend(own),
            _ => of_others.extend(own),
        }
    }
    of_target.extend(calls(timeline, meta, pairs, window));
    let added = |it: &Measure| added_ns(it, pairs).max(0.0);
    let all: f64 = of_target.iter().map(added).sum();
    for measure in &mut of_target {
        measure.share = (all > 0.0).then(|| added(measure) / all);
    }
    of_target.extend(of_others);
    (of_target, all)
}

fn pools(timeline: &Timeline, meta: &Meta, pairs: &[Pair]) -> BTreeMap<(Role, String), Sums> {
    let edges: Vec<Timestamp> = pairs
        .iter()
        .flat_map(|it| [it.calm.start, it.calm.end, it.around.start, it.around.end])
        .collect();
    let ledger = LedgerOverTime::new(timeline, meta, &edges);
    let mut pools: BTreeMap<(Role, String), Sums> = BTreeMap::new();
    for thread in timeline.entities.of_kind(EntityKind::Thread) {
        if !matches!(thread.role, Role::Target | Role::Dependency) {
            continue;
        }
        let Some(own) = ledger.of(thread.id) else {
            continue;
        };
        let process = thread.parent.and_then(|it| timeline.entities.get(it));
        let pool = pool(process, &thread.entity.name);
        let sums = pools
            .entry((thread.role, pool))
            .or_insert_with(|| vec![[[0.0; THREAD_CLASSES]; 2]; pairs.len()]);
        for (bin, classes) in (own.first_bin..).zip(&own.bins) {
            // Of the four bins that a pair has, the first is calm, the third the spike.
            let side = match bin % 4 {
                0 => 1,
                2 => 0,
                _ => continue,
            };
            let Some(of_pair) = sums.get_mut(bin / 4) else {
                break;
            };
            let sums = of_pair[side].iter_mut().zip(classes);
            sums.for_each(|(sum, ns)| *sum += *ns as f64);
        }
    }
    pools
}

/// Threads of a name that differ in a number do the same.
fn pool(process: Option<&EntityRecord>, thread: &str) -> String {
    let own = thread.trim_end_matches(|it: char| it.is_ascii_digit() || "-_#:/.".contains(it));
    let own = if own.is_empty() { thread } else { own };
    match process.map(|it| &*it.entity.name) {
        Some(process) if process != thread => format!("{process}/{own}"),
        _ => own.to_owned(),
    }
}

fn classes(pool: &str, sums: &Sums, pairs: &[Pair]) -> Vec<Measure> {
    let inside = LedgerClass::ALL[..THREAD_CLASSES].iter();
    let inside = inside.filter(|it| is_inside(**it));
    let measures = inside.map(|class| {
        let of_pairs = sums.iter().zip(pairs);
        let of_class = |it: &[[f64; THREAD_CLASSES]; 2]| it.map(|side| side[*class as usize]);
        Measure {
            kind: MeasureKind::Time,
            who: pool.to_owned(),
            what: class.label().to_owned(),
            entity: None,
            unit: Unit::Nanoseconds,
            rates: of_pairs
                .map(|(sums, pair)| {
                    let [around, calm] = of_class(sums);
                    rates(pair, around, calm)
                })
                .collect(),
            share: None,
            told: true,
        }
    });
    measures.collect()
}

/// Time of the target's threads in calls, by peer.
fn calls(timeline: &Timeline, meta: &Meta, pairs: &[Pair], window: Window) -> Vec<Measure> {
    let Some(calls) = Calls::of(timeline, meta, window) else {
        return Vec::new();
    };
    let mut processes = timeline.entities.of_kind(EntityKind::Process);
    let target = processes.find(|it| it.role == Role::Target);
    let measures = calls.peers.iter().map(|peer| {
        let ns = |part| peer.ns_in(timeline, part).unwrap_or(0.0);
        Measure {
            kind: MeasureKind::Calls,
            who: target.map_or(String::new(), |it| it.entity.name.clone()),
            what: format!("waiting for {}", peer.name()),
            entity: Some(peer.id),
            unit: Unit::Nanoseconds,
            rates: pairs
                .iter()
                .map(|pair| rates(pair, ns(pair.around), ns(pair.calm)))
                .collect(),
            share: None,
            told: true,
        }
    });
    measures.collect()
}

/// What spikes add to a time, ns; below 0 where they take from it.
fn added_ns(measure: &Measure, pairs: &[Pair]) -> f64 {
    let each = measure.rates.iter().zip(pairs);
    each.map(|([inside, outside], pair)| (inside - outside) * pair.spike.seconds())
        .sum()
}
