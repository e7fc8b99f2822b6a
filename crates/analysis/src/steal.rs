//! Awake and not on a CPU: where the time of each of the target's threads went, one by one.
//!
//! The same arithmetic as the ledger's, in the five words that an event loop is measured by. Without the
//! scheduler's events a quota's part is known only of all threads together, so here it stays in the run
//! queue.

use model::{LedgerClass, ThreadTimes};

use crate::ledger::Ledger;
use crate::monitored::Monitored;
use crate::scene::Scene;

/// More threads than a person goes through.
const MOST: usize = 50;

/// Waiting for work, or for a time of one's own choice.
const SLEEP: [LedgerClass; 2] = [LedgerClass::Input, LedgerClass::Sleep];

/// In the run queue, as the kernel counts it: what a quota withholds included.
const QUEUED: [LedgerClass; 2] = [LedgerClass::CpuWait, LedgerClass::Throttled];

/// The target's threads that were watched in the window, those that wanted a CPU for longest first.
pub(crate) fn of_threads(scene: &Scene<'_>) -> Vec<ThreadTimes> {
    let timeline = scene.timeline;
    let threads = scene.roles.target.threads.iter();
    let mut times: Vec<ThreadTimes> = threads
        .filter_map(|(thread, _)| {
            let mut ledger = Monitored::new(timeline, scene.meta, *thread)?.ledger(scene.window)?;
            if scene.target_idle.contains(thread) {
                ledger.reclassify_idle();
            }
            let entity = timeline.entities.get(*thread)?.entity.clone();
            Some(times(entity, &ledger))
        })
        .collect();
    // In whole percents: threads that did the same stay in the order in which they were met.
    times.sort_by_key(|times| {
        let part = |ns: i64| (100.0 * ns as f64 / times.wall_ns.max(1) as f64).round() as i64;
        let wanted = times.on_cpu_ns + times.run_queue_ns.unwrap_or(0);
        std::cmp::Reverse((part(wanted), part(times.blocked_ns)))
    });
    times.truncate(MOST);
    times
}

fn times(entity: model::Entity, ledger: &Ledger) -> ThreadTimes {
    let wall_ns = ledger.wall_ns.round() as i64;
    let mut left = wall_ns;
    // What rounding leaves stands in the last part, so that they add up.
    let mut part = |ns: f64| {
        let part = (ns.round() as i64).clamp(0, left);
        left -= part;
        part
    };
    let is_queued_known = ledger.wait_unseen_ns == 0.0;
    ThreadTimes {
        entity,
        wall_ns,
        on_cpu_ns: part(ledger.get(LedgerClass::OnCpu)),
        run_queue_ns: is_queued_known.then(|| part(ledger.sum(&QUEUED))),
        sleep_ns: part(ledger.sum(&SLEEP)),
        unseen_ns: part(ledger.get(LedgerClass::Unknown)),
        blocked_ns: left,
    }
}
