//! Threads that have nothing to do: idle workers of a pool, helpers of a database.
//!
//! Who answers requests runs. A thread that hardly ran while another of its process's kind did was in
//! no request, wherever it sat: idle workers sit in futex, helpers in timed sleeps. Without this the
//! dozen helpers of a database look like a dozen requests that wait for a lock.

use std::collections::BTreeSet;

use model::{EntityId, Timeline, Window};

/// A thread that ran for less than this part of what the busiest did was idle.
const HARDLY: f64 = 0.01;

/// Those of the threads that were idle over the window; none where none ran at all.
pub(crate) fn idle_threads(
    timeline: &Timeline,
    threads: &[EntityId],
    window: Window,
) -> BTreeSet<EntityId> {
    let ran: Vec<(EntityId, f64, f64)> = threads
        .iter()
        .filter_map(|thread| {
            let run = timeline.series("thread", *thread, "run_ns")?;
            let covered = run.covered(window)?;
            let ns = run.growth(covered)?.max(0.0);
            // Of its life, so that one that came late is held against the same.
            Some((*thread, ns, ns / covered.len_ns().max(1) as f64))
        })
        .collect();
    let busiest = ran.iter().max_by(|a, b| a.1.total_cmp(&b.1));
    let least = busiest.map_or(0.0, |(_, _, part)| part * HARDLY);
    ran.into_iter()
        .filter(|(_, _, part)| *part < least)
        .map(|(thread, _, _)| thread)
        .collect()
}
