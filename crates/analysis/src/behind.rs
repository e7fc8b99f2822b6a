//! What a peer that the target waits for waits for itself.
//!
//! A peer that was recorded as a dependency has all that a target has: its threads, its requests at its sockets. So it
//! is judged as one, over the same window, on a timeline in which whoever asks it makes its load.

use std::collections::BTreeSet;

use model::{EntityId, EntityKind, EntityRecord, Finding, Meta, Role, Target, Timeline};

use crate::peers::Calls;
use crate::scene::{Scene, Scope};

/// Ancestors that are looked at: a damaged recording may hold a circle.
const MOST_ANCESTORS: usize = 64;
/// Answers that name nothing to change at the peer: none, and limits of those who ask it, which are here.
const NOT_ITS_OWN: [&str; 3] = ["healthy", "undetermined", "load."];

/// The cause at the peer that the target asks longest; `None` where it was not recorded as a dependency, and where
/// nothing is known to hold it back.
pub(crate) fn of_peer(scene: &Scene<'_>, calls: &Calls) -> Option<Finding> {
    let (timeline, meta) = (scene.timeline, scene.meta);
    let peer = calls.peers.first().filter(|_| scene.scope == Scope::Run)?;
    let process = peer.process.as_ref()?;
    let mut processes = timeline.entities.of_kind(EntityKind::Process);
    let process = processes.find(|it| it.entity == *process && it.role == Role::Dependency)?;
    let target = dependency(timeline, meta, process)?;
    let (timeline, meta) = as_target(timeline, meta, target);
    let report = crate::diagnose(&timeline, &meta, Some(scene.window));
    let first = report.verdict.findings.into_iter().next()?;
    let is_its_own = !NOT_ITS_OWN.iter().any(|it| first.cause.starts_with(it));
    is_its_own.then_some(first)
}

/// The dependency that a process belongs to: the nearest above it, itself included.
fn dependency<'a>(
    timeline: &Timeline,
    meta: &'a Meta,
    record: &EntityRecord,
) -> Option<&'a Target> {
    let above = |it: &&EntityRecord| timeline.entities.get(it.parent?);
    let mut line = std::iter::successors(Some(record), above).take(MOST_ANCESTORS);
    line.find_map(|it| {
        let mut targets = meta.targets.iter();
        targets.find(|target| target.role == Role::Dependency && target.root == Some(it.id))
    })
}

/// Timeline and description in which this dependency is the target, and whoever was makes its load.
fn as_target(timeline: &Timeline, meta: &Meta, target: &Target) -> (Timeline, Meta) {
    let is_part = |record: &EntityRecord| {
        record.role == Role::Dependency
            && dependency(timeline, meta, record).is_some_and(|it| it.root == target.root)
    };
    let parts = timeline.entities.iter().filter(|it| is_part(it));
    let parts: BTreeSet<EntityId> = parts.map(|it| it.id).collect();
    let mut seen = timeline.clone();
    for record in seen.entities.iter_mut() {
        record.role = match record.role {
            _ if parts.contains(&record.id) => Role::Target,
            Role::Target => Role::Generator,
            Role::Generator => Role::Background,
            other => other,
        };
    }
    let mut meta = meta.clone();
    // Its load is what its callers ask, not what the workload says of itself.
    meta.workload = None;
    let asking = meta.targets.iter().filter(|it| it.role == Role::Target);
    let asking = asking.map(|it| Target {
        role: Role::Generator,
        ..it.clone()
    });
    let own = Target {
        role: Role::Target,
        ..target.clone()
    };
    meta.targets = std::iter::once(own).chain(asking).collect();
    (seen, meta)
}
