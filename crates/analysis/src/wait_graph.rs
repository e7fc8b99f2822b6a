//! Who waits for whom: the graph of a report, between thread pools.
//!
//! Nothing here decides a cause; `waits_for` follows the graph for those.

use std::collections::BTreeMap;

use model::{
    ClassState, EntityId, EntityKind, LedgerClass, Meanwhile, PoolName, Report, Role, Timeline,
    WaitEdge, Waker, WakerKind,
};
use sensors::serving::Serving;
use sensors::wakeup::{By, CLASSES};

use crate::wakers::{Edge, edges};

/// Edges of a report.
const MOST: usize = 40;
/// Threads that wait at a time, of an edge that is reported.
const LEAST: f64 = 0.001;
/// Parts of what a waker did that are reported.
const LEAST_PART: f64 = 0.005;

/// The report with the graph of its window, where wake-ups were recorded.
pub(crate) fn with_wait_graph(mut report: Report, timeline: &Timeline) -> Report {
    let length_ns = report.window.len_ns().max(1) as f64;
    report.wait_graph = graph(timeline, edges(timeline, report.window), length_ns);
    report
}

/// Waits of several edges that read alike: time and number of waits, and what the wakers did.
#[derive(Default)]
struct Sum {
    ns: f64,
    waits: f64,
    did: [f64; CLASSES.len()],
}

fn graph(timeline: &Timeline, edges: impl Iterator<Item = Edge>, length_ns: f64) -> Vec<WaitEdge> {
    let mut sums: BTreeMap<(PoolName, LedgerClass, Waker), Sum> = BTreeMap::new();
    for edge in edges {
        let Some(waiter) = pool(timeline, edge.woken) else {
            continue;
        };
        let waker = waker(timeline, &edge);
        if is_idle(&edge, &waiter, &waker) {
            continue;
        }
        let sum = sums.entry((waiter, edge.class, waker)).or_default();
        sum.ns += edge.ns;
        sum.waits += edge.waits;
        let pairs = sum.did.iter_mut().zip(edge.did);
        pairs.for_each(|(sum, ns)| *sum += ns);
    }
    let edges = sums.into_iter().map(|((waiter, class, waker), sum)| {
        let share = |ns: f64| if sum.ns > 0.0 { ns / sum.ns } else { 0.0 };
        let did = CLASSES
            .into_iter()
            .zip(sum.did)
            .map(|(class, ns)| Meanwhile {
                class,
                share: share(ns),
            });
        let mut meanwhile: Vec<Meanwhile> = did.filter(|it| it.share >= LEAST_PART).collect();
        meanwhile.sort_by(|a, b| b.share.total_cmp(&a.share));
        WaitEdge {
            waiter,
            class,
            waker,
            threads: sum.ns / length_ns,
            rate: 1e9 * sum.waits / length_ns,
            mean_ns: if sum.waits > 0.0 {
                sum.ns / sum.waits
            } else {
                0.0
            },
            meanwhile,
        }
    });
    let mut edges: Vec<WaitEdge> = edges.filter(|it| it.threads >= LEAST).collect();
    edges.sort_by(|a, b| b.threads.total_cmp(&a.threads));
    edges.truncate(MOST);
    edges
}

/// Whether these waits are for work, or for a time: nobody keeps the threads from going on.
fn is_idle(edge: &Edge, waiter: &PoolName, waker: &Waker) -> bool {
    if edge.serving == Some(Serving::Outside) {
        return true;
    }
    let may_be = edge.class.state() == ClassState::Idle && edge.serving != Some(Serving::Inside);
    let is_asked = match waker.kind {
        WakerKind::Threads => waiter.role != Role::Generator && waker.role == Some(Role::Generator),
        WakerKind::Ended => waiter.role != Role::Generator,
        // A timer, or what comes from another machine.
        WakerKind::Interrupt | WakerKind::Kernel => true,
    };
    may_be && is_asked
}

fn pool(timeline: &Timeline, id: EntityId) -> Option<PoolName> {
    let record = timeline.entities.get(id)?;
    // A pool is its process's.
    let process = record
        .parent
        .filter(|_| record.entity.kind == EntityKind::Pool);
    let process = process.and_then(|it| timeline.entities.get(it));
    Some(PoolName {
        name: record.entity.name.clone(),
        role: process.unwrap_or(record).role,
    })
}

fn waker(timeline: &Timeline, edge: &Edge) -> Waker {
    let known = edge.waker.and_then(|it| pool(timeline, it));
    let (kind, name) = match (edge.by, known) {
        (By::Pool | By::Background, Some(PoolName { name, role })) => {
            return Waker {
                kind: WakerKind::Threads,
                name,
                role: Some(role),
            };
        }
        (By::Pool | By::Background, None) => (WakerKind::Ended, "threads that have ended"),
        (By::Kernel, _) => (WakerKind::Kernel, "the kernel"),
        (By::Interrupt, _) => (WakerKind::Interrupt, interrupt(edge.class)),
    };
    Waker {
        kind,
        name: name.to_owned(),
        role: None,
    }
}

/// What an interrupt was that ended such a wait: who gives a lock to others is a thread (kernel/futex/waitwake.c).
fn interrupt(class: LedgerClass) -> &'static str {
    match class {
        LedgerClass::Futex
        | LedgerClass::DatabaseLock
        | LedgerClass::InternalLock
        | LedgerClass::Sleep => "a timer",
        LedgerClass::Input | LedgerClass::Output => "the network or a timer",
        class if class.state() == ClassState::Disk => "the disk",
        _ => "a device or a timer",
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use model::{Entity, EntityEvent, EntityRecord, Timestamp, Window};

    use super::*;

    const CLIENTS: EntityId = EntityId(0);
    const WORKERS: EntityId = EntityId(1);
    const SYNCER: EntityId = EntityId(2);

    fn recording() -> Timeline {
        let at = Timestamp::from_ns(0);
        let mut timeline = Timeline::new(Window::new(at, Timestamp::from_ns(1_000)));
        let pools = [
            (CLIENTS, "wrk", Role::Generator),
            (WORKERS, "worker", Role::Target),
            (SYNCER, "syncer", Role::Target),
        ];
        for (id, name, role) in pools {
            let entity = Entity::new(EntityKind::Pool, name, format!("pool:{}", id.0));
            let mut record = EntityRecord::new(id, entity, at);
            record.role = role;
            timeline.entities.apply(EntityEvent { time: at, record });
        }
        timeline
    }

    fn edge(woken: EntityId, class: LedgerClass, by: By, waker: Option<EntityId>, ns: f64) -> Edge {
        let mut did = [0.0; CLASSES.len()];
        did[0] = ns / 4.0;
        Edge {
            woken,
            class,
            by,
            waker,
            ns,
            waits: 2.0,
            serving: None,
            did,
        }
    }

    fn told(edges: Vec<Edge>) -> String {
        let graph = graph(&recording(), edges.into_iter(), 1_000.0);
        let line = |it: &WaitEdge| {
            let did = it.meanwhile.iter();
            let did: Vec<String> = did
                .map(|it| format!("{} {:.2}", it.class.word(), it.share))
                .collect();
            format!(
                "{} for {} ({}): {:.2}, {:.0} ns; {}\n",
                it.waiter.name,
                it.waker.name,
                it.class.word(),
                it.threads,
                it.mean_ns,
                did.join(", ")
            )
        };
        graph.iter().map(line).collect()
    }

    use LedgerClass::{Futex, Input, Sleep};

    #[test]
    fn pools_wait_for_pools_and_who_has_no_work_for_nobody() {
        let inside = |edge| Edge {
            serving: Some(Serving::Inside),
            ..edge
        };
        let outside = |edge| Edge {
            serving: Some(Serving::Outside),
            ..edge
        };
        let found = told(vec![
            edge(CLIENTS, Input, By::Pool, Some(WORKERS), 800.0),
            edge(CLIENTS, Sleep, By::Interrupt, None, 900.0),
            edge(WORKERS, Input, By::Pool, Some(CLIENTS), 700.0),
            edge(WORKERS, Futex, By::Pool, Some(SYNCER), 300.0),
            inside(edge(WORKERS, Futex, By::Pool, Some(SYNCER), 100.0)),
            outside(edge(WORKERS, Futex, By::Pool, Some(WORKERS), 600.0)),
            inside(edge(WORKERS, Input, By::Interrupt, None, 50.0)),
            edge(SYNCER, Input, By::Pool, Some(WORKERS), 20.0),
        ]);
        expect![[r#"
            wrk for worker (input): 0.80, 400 ns; on_cpu 0.25
            worker for syncer (futex): 0.40, 100 ns; on_cpu 0.25
            worker for the network or a timer (input): 0.05, 25 ns; on_cpu 0.25
            syncer for worker (input): 0.02, 10 ns; on_cpu 0.25
        "#]]
        .assert_eq(&found);
    }
}
