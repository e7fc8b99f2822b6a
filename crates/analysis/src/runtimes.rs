//! Language runtimes that count for how long they stop all their threads: Java virtual machines.

use model::{Entity, EntityId, EntityRecord, Window};
use sensors::jvm::JVM;

use crate::measure::Of;
use crate::scene::Scene;

/// Time of collections, pauses and what ran beside the application alike.
pub(crate) const COLLECTIONS: [&str; 3] = ["collector0_ns", "collector1_ns", "collector2_ns"];
/// What its time is counted in, one after the other.
const TIMES: [&str; 3] = ["safepoint_ns", "safepoint_sync_ns", "application_ns"];

/// A runtime of the target, and for how long it stood still.
#[derive(Clone, PartialEq, Debug)]
pub struct Runtime {
    /// Its process's number in the recording.
    pub id: EntityId,
    /// Its process.
    pub entity: Entity,
    /// Part of the time in which none of its threads ran the program: safepoints.
    pub stopped: f64,
    /// Time of garbage collections in proportion to that; over 1 where they ran beside the program.
    pub collecting: f64,
    /// Part of its heap in use, as of the ends of collections; `None` where it does not say.
    pub heap_used: Option<f64>,
    /// Part of the window that its own account of its time covers.
    pub accounted: f64,
    /// Processes of the target that serve, this one among them.
    pub serving: usize,
}

impl Runtime {
    /// The runtime of the target that stood still longest, of those that serve; `None` without one, and where it was not
    /// read over the window.
    pub(crate) fn of(scene: &Scene<'_>) -> Option<Self> {
        let (serve, serving) = serving(scene);
        let all = serve.filter_map(|it| Self::of_process(scene, it, serving));
        all.max_by(|a, b| a.stopped.total_cmp(&b.stopped))
    }

    fn of_process(scene: &Scene<'_>, process: &EntityRecord, serving: usize) -> Option<Self> {
        let of = Of::new(scene.timeline, &JVM.name, process.id, scene.window);
        let rate = |column: &&str| of.rate(column);
        let stopped = of.rate("safepoint_ns")? / 1e9;
        let collecting: f64 = COLLECTIONS.iter().filter_map(rate).sum::<f64>() / 1e9;
        let capacity = of.mean("heap_capacity_bytes").filter(|it| *it > 0.0);
        Some(Self {
            id: process.id,
            entity: process.entity.clone(),
            stopped,
            collecting: collecting / stopped.max(f64::MIN_POSITIVE),
            heap_used: of
                .mean("heap_used_bytes")
                .zip(capacity)
                .map(|(used, all)| used / all),
            accounted: TIMES.iter().filter_map(rate).sum::<f64>() / 1e9,
            serving,
        })
    }

    /// The part of requests that it serves, where every process serves as many.
    pub(crate) fn part_of_requests(&self) -> f64 {
        1.0 / self.serving as f64
    }

    /// For how long it stood still in a part of the window, ns.
    pub(crate) fn stopped_ns(&self, scene: &Scene<'_>, part: Window) -> f64 {
        let of = Of::new(scene.timeline, &JVM.name, self.id, part);
        of.growth("safepoint_ns").unwrap_or(0.0)
    }
}

/// The target's processes that serve, and how many those are; all of them, as one, where none is known to.
pub(crate) fn serving<'a>(scene: &'a Scene<'_>) -> (impl Iterator<Item = &'a EntityRecord>, usize) {
    let window = scene.window;
    let lives = move |it: &&EntityRecord| {
        it.first_seen < window.end && it.vanished.is_none_or(|end| end > window.start)
    };
    let processes = scene.roles.target.processes.iter().copied().filter(lives);
    let count = processes.clone().filter(|it| it.serving).count();
    let serve = processes.filter(move |it| it.serving || count == 0);
    (serve, count.max(1))
}
