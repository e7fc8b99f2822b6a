//! CPU limits of the groups that hold the target, or the load generator.

use model::{Entity, EntityId};

use crate::groups::Groups;
use crate::scene::Scene;

/// The CPU limit that held the target, or the generator, back most.
#[derive(Clone, Debug)]
pub struct Quota {
    /// The group's number in the recording.
    pub id: EntityId,
    /// The control group with the limit.
    pub group: Entity,
    /// Part of the quota periods in which it ran out.
    pub throttled_periods: f64,
    /// Part of the window for which its queues were held back, per CPU.
    pub throttled_time: f64,
    /// CPUs that the quota allows.
    pub cpus: Option<f64>,
    /// CPUs that the group used.
    pub used_cpus: Option<f64>,
}

/// The limit, of the groups that hold processes of the target or are above them.
pub(crate) fn quota(scene: &Scene<'_>, cpus: u32) -> Option<Quota> {
    worst(scene, &scene.roles.cpu_groups.all, cpus)
}

/// The same of the generator, of groups that have nothing to do with the target.
pub(crate) fn generators_quota(scene: &Scene<'_>) -> Option<Quota> {
    let processes = scene.roles.generator.processes.iter();
    let mut groups = Groups::of(scene.timeline, processes.filter_map(|it| it.group)).all;
    groups.retain(|it| !scene.roles.cpu_groups.all.contains(it));
    worst(scene, &groups, scene.meta.cpus)
}

/// The one of these groups that was held back most.
fn worst(scene: &Scene<'_>, groups: &[EntityId], cpus: u32) -> Option<Quota> {
    let (timeline, window) = (scene.timeline, scene.window);
    // Per second of what is known of the group.
    let rate = |group: EntityId, column| {
        timeline
            .series("cgroup_cpu", group, column)
            .and_then(|series| series.rate(window))
    };
    let worst = groups
        .iter()
        .filter_map(|group| Some((*group, rate(*group, "throttled_ns")?)))
        .filter(|(_, throttled)| *throttled > 0.0)
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    let (group, throttled_ns) = worst;
    let periods = rate(group, "periods").unwrap_or(0.0);
    let limit = |column| {
        timeline
            .series("cgroup_limit", group, column)
            .and_then(|series| series.gauge_at(window.end))
    };
    Some(Quota {
        id: group,
        group: timeline.entities.get(group)?.entity.clone(),
        throttled_periods: if periods > 0.0 {
            rate(group, "throttled_periods").unwrap_or(0.0) / periods
        } else {
            0.0
        },
        throttled_time: throttled_ns / 1e9 / f64::from(cpus.max(1)),
        cpus: limit("quota_ns")
            .zip(limit("period_ns").filter(|period| *period > 0))
            .map(|(quota, period)| quota as f64 / period as f64),
        used_cpus: rate(group, "usage_ns").map(|usage| usage / 1e9),
    })
}

/// Whether the CPU account of every group that holds the target was seen in the window; a group
/// without a limit has one too.
pub(crate) fn quota_seen(scene: &Scene<'_>) -> bool {
    let groups = &scene.roles.cpu_groups.own;
    !groups.is_empty()
        && groups.iter().all(|group| {
            let usage = scene.timeline.series("cgroup_cpu", *group, "usage_ns");
            usage.is_some_and(|usage| usage.covered(scene.window).is_some())
        })
}
