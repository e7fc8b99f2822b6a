//! What memory cost: refaults, reclaim, swap and limits, of the machine and of the target's groups.

use model::{Entity, EntityId, Timeline, Window};

use crate::measure::Of;
use crate::scene::Scene;

/// Bytes of a page where the recording does not say otherwise.
const PAGE_BYTES: f64 = 4096.0;

/// Memory over the window; rates are per second.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Memory {
    /// Bytes read again soon after they had been evicted; `None` when that was not recorded.
    pub(crate) refaulted: Option<f64>,
    /// Bytes read from disks by anybody.
    pub(crate) read: Option<f64>,
    /// Bytes brought back from swap.
    pub(crate) swapped_in: Option<f64>,
    /// Times that somebody had to free memory before it got some.
    pub(crate) stalls: Option<f64>,
    /// Kills for want of memory, over the whole recording; of a phase, over the phase.
    pub(crate) kills: Option<f64>,
    /// Those in the groups that hold the target; `None` where one of them was not seen to the end. The
    /// kernel counts a kill in the group of who was killed, whoever ran out of memory.
    pub(crate) own_kills: Option<f64>,
    /// Least part of the machine's memory that was available.
    pub(crate) available: Option<f64>,
    /// The groups where the target's memory is limited, and those above.
    pub(crate) groups: Vec<GroupMemory>,
    /// Bytes read again by the groups that hold the target's memory; `None` where not all were seen.
    pub(crate) own_refaulted: Option<f64>,
    /// Whether every group that holds the target's memory is among them.
    pub(crate) groups_seen: bool,
}

/// Memory of one control group.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct GroupMemory {
    pub(crate) group: Entity,
    /// Mean bytes charged to it.
    pub(crate) used: Option<f64>,
    /// The lower of its limits, bytes.
    pub(crate) limit: Option<f64>,
    /// Times per second that it met a limit.
    pub(crate) met: Option<f64>,
    /// Bytes per second read again.
    pub(crate) refaulted: Option<f64>,
    /// Bytes that its members hold in swap.
    pub(crate) swapped: Option<f64>,
    /// Kills, over the same time as those of the machine.
    pub(crate) kills: Option<f64>,
}

impl GroupMemory {
    /// Used part of the limit.
    pub(crate) fn fullness(&self) -> Option<f64> {
        Some(self.used? / self.limit.filter(|limit| *limit > 0.0)?)
    }
}

pub(crate) fn memory(scene: &Scene<'_>) -> Memory {
    let (timeline, window) = (scene.timeline, scene.window);
    let kills = scene.whole_scope();
    let groups = &scene.roles.memory_groups;
    let seen = groups.all.iter();
    let seen: Vec<(EntityId, GroupMemory)> = seen
        .filter_map(|id| Some((*id, group_memory(timeline, *id, (window, kills))?)))
        .collect();
    let own = &groups.own;
    let groups_seen = !own.is_empty()
        && own
            .iter()
            .all(|id| seen.iter().any(|(other, _)| other == id));
    let of_own = own.iter().map(|id| {
        let group = seen.iter().find(|(other, _)| other == id);
        group.and_then(|(_, group)| group.refaulted)
    });
    let own_refaulted: Option<f64> = of_own.sum();
    let own_refaulted = own_refaulted.filter(|_| groups_seen);
    let own_kills = own.iter().map(|id| {
        let group = seen.iter().find(|(other, _)| other == id);
        let alive = |id: &EntityId| timeline.entities.get(*id)?.vanished.is_none().then_some(());
        alive(id).and_then(|()| group?.1.kills)
    });
    let own_kills: Option<f64> = own_kills.sum();
    let own_kills = own_kills.filter(|_| groups_seen);
    let groups = seen.into_iter().map(|(_, group)| group).collect();
    let Some(machine) = timeline.entities.machine() else {
        return Memory::default();
    };
    let paging = Of::new(timeline, "paging", machine.id, window);
    let pages = |column| paging.rate(column).map(|pages| pages * PAGE_BYTES);
    let refaulted = [pages("refault_anon"), pages("refault_file")];
    let whole = Of::new(timeline, "paging", machine.id, kills);
    Memory {
        refaulted: sum(&refaulted),
        read: paging.rate("page_in_bytes"),
        swapped_in: pages("swap_in"),
        stalls: paging.rate("allocation_stalls"),
        kills: whole.growth("oom_kills"),
        available: least_available(timeline, machine.id, window),
        own_kills,
        groups,
        own_refaulted,
        groups_seen,
    }
}

fn group_memory(
    timeline: &Timeline,
    id: EntityId,
    (window, kills): (Window, Window),
) -> Option<GroupMemory> {
    let of = Of::new(timeline, "cgroup_memory", id, window);
    let whole = Of::new(timeline, "cgroup_memory", id, kills);
    let used = of.mean("usage_bytes");
    used?;
    let limits = [of.last("limit_bytes"), of.last("high_bytes")];
    let pages = |column| of.rate(column).map(|pages| pages * PAGE_BYTES);
    Some(GroupMemory {
        group: timeline.entities.get(id)?.entity.clone(),
        used,
        limit: limits.into_iter().flatten().reduce(f64::min),
        met: sum(&[of.rate("limit_events"), of.rate("high_events")]),
        refaulted: sum(&[pages("refault_anon"), pages("refault_file")]),
        swapped: of.mean("swap_bytes"),
        kills: whole.growth("oom_kills"),
    })
}

/// Sum of what is known; `None` when nothing is.
fn sum(values: &[Option<f64>]) -> Option<f64> {
    values.iter().flatten().copied().reduce(|a, b| a + b)
}

fn least_available(timeline: &Timeline, machine: EntityId, window: Window) -> Option<f64> {
    let total = Of::new(timeline, "memory", machine, window).last("total_bytes")?;
    let available = timeline.series("memory", machine, "available_bytes")?;
    let least = available.values_in(window).map(|(_, bytes)| bytes).min()?;
    (total > 0.0).then(|| least as f64 / total)
}
