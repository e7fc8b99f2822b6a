//! What else the machine did: the CPU time of the rest, and who of it used most.

use std::collections::BTreeMap;

use model::{Entity, EntityId, EntityKind, EntityRecord, Role, Timeline, Window};

use crate::thresholds::Thresholds;

/// Who of the rest used most CPU.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Culprit {
    /// A control group where one stands for it, else the top of a process tree.
    pub(crate) entity: Entity,
    /// CPU time, ns.
    pub(crate) cpu_ns: f64,
}

/// CPU time of processes that are neither target, generator, dependency nor the recorder, ns.
pub(crate) fn rest_cpu_ns(timeline: &Timeline, window: Window) -> f64 {
    rest(timeline, window).iter().map(|(_, ns)| ns).sum()
}

/// The smallest thing that holds at least the demanded part of the rest's CPU time: a control group
/// that does not hold the target, else the top of a process tree, else the busiest process.
pub(crate) fn culprit(
    timeline: &Timeline,
    window: Window,
    rest_ns: f64,
    thresholds: &Thresholds,
) -> Option<Culprit> {
    let used = rest(timeline, window);
    let busiest = used
        .iter()
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .filter(|(_, ns)| *ns > 0.0)?;
    let enough = rest_ns.max(1.0) * thresholds.cpu_neighbour.culprit;
    let chosen = group_with(timeline, &used, enough).or_else(|| tree_with(timeline, &used, enough));
    chosen.or_else(|| {
        Some(Culprit {
            entity: busiest.0.entity.clone(),
            cpu_ns: busiest.1,
        })
    })
}

fn rest(timeline: &Timeline, window: Window) -> Vec<(&EntityRecord, f64)> {
    let processes = timeline
        .entities
        .of_kind(EntityKind::Process)
        .filter(|process| process.role == Role::Rest);
    processes
        .filter_map(|process| {
            let growth = |column| {
                timeline
                    .series("process", process.id, column)?
                    .growth(window)
            };
            Some((process, growth("user_ns")? + growth("system_ns")?))
        })
        .collect()
}

fn group_with(timeline: &Timeline, used: &[(&EntityRecord, f64)], enough: f64) -> Option<Culprit> {
    let mut sums: BTreeMap<EntityId, f64> = BTreeMap::new();
    for (process, ns) in used {
        if let Some(group) = process.group {
            *sums.entry(group).or_default() += ns;
        }
    }
    let own: Vec<EntityId> = timeline
        .entities
        .of_kind(EntityKind::Process)
        .filter(|process| matches!(process.role, Role::Target | Role::Generator))
        .filter_map(|process| process.group)
        .collect();
    let (group, cpu_ns) = sums
        .into_iter()
        .filter(|(group, ns)| *ns >= enough && !own.contains(group))
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    let record = timeline
        .entities
        .get(group)
        .filter(|record| record.entity.path != "/")?;
    Some(Culprit {
        entity: record.entity.clone(),
        cpu_ns,
    })
}

fn tree_with(timeline: &Timeline, used: &[(&EntityRecord, f64)], enough: f64) -> Option<Culprit> {
    let mut sums: BTreeMap<EntityId, (f64, u32)> = BTreeMap::new();
    for (process, ns) in used {
        let mut above = Some(process.id);
        let mut height = 0;
        while let Some(record) = above
            .and_then(|id| timeline.entities.get(id))
            .filter(|record| record.role == Role::Rest)
        {
            sums.entry(record.id).or_default().0 += ns;
            height += 1;
            // A damaged recording may hold a circle.
            above = record.parent.filter(|_| height < 64);
        }
    }
    for (id, sum) in &mut sums {
        sum.1 = depth(timeline, *id);
    }
    // The deepest that still holds enough; init and the like hold everything and explain nothing.
    let (id, (cpu_ns, _)) = sums
        .into_iter()
        .filter(|(_, (ns, _))| *ns >= enough)
        .max_by_key(|(id, (_, depth))| (*depth, *id))?;
    Some(Culprit {
        entity: timeline.entities.get(id)?.entity.clone(),
        cpu_ns,
    })
}

fn depth(timeline: &Timeline, id: EntityId) -> u32 {
    let mut depth = 0;
    let mut above = timeline.entities.get(id).and_then(|record| record.parent);
    while let Some(record) = above
        .and_then(|id| timeline.entities.get(id))
        .filter(|_| depth < 64)
    {
        depth += 1;
        above = record.parent;
    }
    depth
}
