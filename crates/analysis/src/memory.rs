//! What memory cost: refaults, reclaim, swap and limits, of the machine and of the target's groups.

use model::{Amount, Entity, EntityId, Formula, Timeline, Whose, Window};

use crate::formula;
use crate::measure::Of;
use crate::scene::Scene;

/// Bytes of a page where the recording does not say otherwise.
const PAGE_BYTES: f64 = 4096.0;

/// Memory over the window; rates are per second.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Memory {
    /// Bytes read again soon after they had been evicted; `None` when that was not recorded.
    pub refaulted: Option<f64>,
    /// Bytes read from disks by anybody.
    pub read: Option<f64>,
    /// Bytes brought back from swap.
    pub swapped_in: Option<f64>,
    /// Times that somebody had to free memory before it got some.
    pub stalls: Option<f64>,
    /// Kills for want of memory, over the whole recording; of a phase, over the phase.
    pub kills: Option<f64>,
    /// Those in the groups that hold the target; `None` where one of them was not seen to the end. The
    /// kernel counts a kill in the group of who was killed, whoever ran out of memory.
    pub own_kills: Option<f64>,
    /// Least part of the machine's memory that was available.
    pub available: Option<f64>,
    /// The groups where the target's memory is limited, and those above.
    pub groups: Vec<GroupMemory>,
    /// Bytes read again by the groups that hold the target's memory; `None` where not all were seen.
    pub own_refaulted: Option<f64>,
    /// Whether every group that holds the target's memory is among them.
    pub groups_seen: bool,
}

/// Memory of one control group.
#[derive(Clone, PartialEq, Debug)]
pub struct GroupMemory {
    /// Its number in the recording.
    pub id: EntityId,
    /// Which one.
    pub group: Entity,
    /// Mean bytes charged to it.
    pub used: Option<f64>,
    /// The lower of its limits, bytes.
    pub limit: Option<f64>,
    /// The columns of those that it has.
    pub(crate) limit_columns: Vec<&'static str>,
    /// Times per second that it met a limit.
    pub met: Option<f64>,
    /// Bytes per second read again.
    pub refaulted: Option<f64>,
    /// Bytes that its members hold in swap.
    pub swapped: Option<f64>,
    /// Kills, over the same time as those of the machine.
    pub kills: Option<f64>,
}

impl GroupMemory {
    /// Used part of the limit; `None` where it has none, or its use was not recorded.
    pub fn fullness(&self) -> Option<f64> {
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
    let limits = ["limit_bytes", "high_bytes"].into_iter();
    let limits = limits.filter_map(|column| Some((column, of.last(column)?)));
    let limits: Vec<(&str, f64)> = limits.collect();
    let pages = |column| of.rate(column).map(|pages| pages * PAGE_BYTES);
    Some(GroupMemory {
        id,
        group: timeline.entities.get(id)?.entity.clone(),
        used,
        limit: limits.iter().map(|(_, bytes)| *bytes).reduce(f64::min),
        limit_columns: limits.iter().map(|(column, _)| *column).collect(),
        met: sum(&[of.rate("limit_events"), of.rate("high_events")]),
        refaulted: sum(&[pages("refault_anon"), pages("refault_file")]),
        swapped: of.mean("swap_bytes"),
        kills: whole.growth("oom_kills"),
    })
}

/// How bytes brought back from swap are worked out, per second.
pub(crate) fn swapped_in() -> Amount {
    bytes(formula::rate("paging", &["swap_in"], Whose::All))
}

/// How the part of the disk reads is that brought back evicted pages: `Facts::refaulted_part`.
pub(crate) fn refaulted_part() -> Formula {
    let again = formula::rate("paging", &["refault_anon", "refault_file"], Whose::All);
    part_again(
        again,
        formula::rate("paging", &["page_in_bytes"], Whose::All),
    )
}

/// The same of a group, of what it or anybody read; what comes from a compressed swap in memory reads no disk.
pub(crate) fn refaulted_part_of(group: EntityId) -> Formula {
    let columns = ["refault_anon", "refault_file"];
    let again = formula::rate("cgroup_memory", &columns, formula::one(group));
    let read = formula::rate("paging", &["page_in_bytes"], Whose::All);
    part_again(
        again,
        formula::most([read, formula::or_nothing(swapped_in())]),
    )
}

/// Pages are counted when they are asked for, bytes when they arrive: never more than were read.
fn part_again(pages: Amount, read: Amount) -> Formula {
    let again = formula::least([bytes(pages), read.clone()]);
    formula::part(again, read)
}

fn bytes(pages: Amount) -> Amount {
    formula::product([formula::number(PAGE_BYTES), pages])
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
