//! What else the machine did: the CPU time of the rest, who of it used most, and who of it had the CPUs
//! that the target waited for.

use std::collections::BTreeMap;

use model::{Entity, EntityId, EntityKind, EntityRecord, Role, Timeline, Window};

use crate::coverage;
use crate::scene::Scene;
use crate::thresholds::CULPRIT;

/// Who of the rest stands out.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Culprit {
    /// A control group where one stands for it, else the top of a process tree.
    pub(crate) entity: Entity,
    /// CPU time, ns.
    pub(crate) cpu_ns: f64,
    /// Its part of what the rest did: of the target's waits for CPUs that the rest had, where that was
    /// told, else of the rest's CPU time.
    pub(crate) part: f64,
    /// Of a group, the process in it that did most.
    pub(crate) foremost: Option<Entity>,
}

/// One process of the rest.
#[derive(Clone, Copy)]
struct Used<'a> {
    process: &'a EntityRecord,
    cpu_ns: f64,
    /// What it is held against the others by.
    weight: f64,
}

/// CPU time of processes that are neither target, generator, dependency nor the recorder, ns.
pub(crate) fn background_cpu_ns(scene: &Scene<'_>) -> f64 {
    background(scene).iter().map(|used| used.cpu_ns).sum()
}

/// The smallest thing that holds at least the demanded part of what the rest did: a control group that
/// does not hold the target, else the top of a process tree, else the busiest process.
///
/// `queued_ns` is how long the target's threads waited for CPUs that the rest had, where that was told.
pub(crate) fn culprit(scene: &Scene<'_>, rest_ns: f64, queued_ns: f64) -> Option<Culprit> {
    let held = holding(scene, Role::Background);
    let sum = |used: &[Used<'_>]| used.iter().map(|it| it.weight).sum::<f64>();
    let (used, all) = match sum(&held) {
        sum if sum > 0.0 && queued_ns > 0.0 => (held, sum.max(queued_ns)),
        _ => (background(scene), rest_ns.max(1.0)),
    };
    let busiest = used
        .iter()
        .max_by(|a, b| a.weight.total_cmp(&b.weight))
        .filter(|it| it.weight > 0.0)?;
    let enough = all * CULPRIT.value;
    let chosen =
        group_with(scene, &used, enough).or_else(|| tree_with(scene.timeline, &used, enough));
    let (entity, (cpu_ns, weight), foremost) = chosen.unwrap_or_else(|| {
        let own = (busiest.cpu_ns, busiest.weight);
        (busiest.process.entity.clone(), own, None)
    });
    Some(Culprit {
        entity,
        cpu_ns,
        part: weight / all,
        foremost,
    })
}

/// A control group or processes of one name that had CPUs which the target waited for.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Holding {
    /// Of several processes, the one that had them longest.
    pub(crate) entity: Entity,
    pub(crate) processes: usize,
    /// Its part of the waits for those that the rest had.
    pub(crate) part: f64,
}

/// Who of the rest had the CPUs that the target waited for, longest first, as parts of `queued_ns`: by
/// control group where one stands for it, else by name.
pub(crate) fn holders(scene: &Scene<'_>, queued_ns: f64) -> Vec<Holding> {
    let timeline = scene.timeline;
    let mut held = holding(scene, Role::Background);
    held.retain(|used| used.weight > 0.0);
    held.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    let all = held
        .iter()
        .map(|used| used.weight)
        .sum::<f64>()
        .max(queued_ns);
    let own = own_groups(scene);
    let mut named: BTreeMap<(EntityKind, &str), Holding> = BTreeMap::new();
    for used in &held {
        let group = used.process.group;
        let group = group.filter(|group| stands(timeline, *group, &own));
        let group = group.and_then(|group| timeline.entities.get(group));
        let entity = &group.unwrap_or(used.process).entity;
        let name = group.map_or(&entity.name, |group| &group.entity.path);
        let holding = named.entry((entity.kind, name)).or_insert_with(|| Holding {
            entity: entity.clone(),
            processes: 0,
            part: 0.0,
        });
        holding.processes += 1;
        holding.part += used.weight / all;
    }
    let mut named: Vec<_> = named.into_values().collect();
    named.sort_by(|a, b| b.part.total_cmp(&a.part));
    named
}

/// The recorder's part of the time for which the target waited behind background threads, where only on-windows tell
/// who had the CPUs; 0 elsewhere.
///
/// What recording costs is mostly the attaching and reading of its programs, all of it in on-windows: there it holds
/// many times the part of a CPU that it has of all the time, which `process` counts exactly. Shared out over all the
/// time, that would be a neighbour who is not there.
pub(crate) fn recorder_part(scene: &Scene<'_>, queued_ns: f64) -> f64 {
    if coverage::off_part(scene.timeline, scene.window).is_none() || queued_ns <= 0.0 {
        return 0.0;
    }
    let own: f64 = holding(scene, Role::Recorder)
        .iter()
        .map(|used| used.weight)
        .sum();
    let others: f64 = holding(scene, Role::Background)
        .iter()
        .map(|used| used.weight)
        .sum();
    own / queued_ns.max(own + others).max(1.0)
}

/// By CPU time.
fn background<'a>(scene: &Scene<'a>) -> Vec<Used<'a>> {
    let processes = scene.roles.background.iter();
    processes
        .filter_map(|process| {
            let cpu_ns = cpu_ns(scene.timeline, process.id, scene.window)?;
            Some(Used {
                process,
                cpu_ns,
                weight: cpu_ns,
            })
        })
        .collect()
}

/// Processes of a role by the target's waits for the CPUs that they had meanwhile, where that was told.
fn holding<'a>(scene: &Scene<'a>, role: Role) -> Vec<Used<'a>> {
    let (timeline, window) = (scene.timeline, scene.window);
    let Some(thread_times) = timeline.table("process_time") else {
        return Vec::new();
    };
    let processes = thread_times
        .entities()
        .filter_map(|id| timeline.entities.get(id));
    processes
        // Who became target or generator later was nobody's neighbour.
        .filter(|process| process.role == role)
        .filter_map(|process| {
            let held_up = timeline.series("process_time", process.id, "delay_caused_ns")?;
            Some(Used {
                process,
                cpu_ns: cpu_ns(timeline, process.id, window).unwrap_or(0.0),
                weight: held_up.growth(window)?.max(0.0),
            })
        })
        .collect()
}

fn cpu_ns(timeline: &Timeline, process: EntityId, window: Window) -> Option<f64> {
    let growth = |column| timeline.series("process", process, column)?.growth(window);
    Some(growth("user_ns")? + growth("system_ns")?)
}

/// The groups that processes of target or generator live in.
fn own_groups(scene: &Scene<'_>) -> Vec<EntityId> {
    let own = [&scene.roles.target, &scene.roles.generator];
    let processes = own.into_iter().flat_map(|members| &members.processes);
    processes.filter_map(|process| process.group).collect()
}

/// Whether a group stands for the processes in it: not the root, and not where target or generator live.
fn stands(timeline: &Timeline, group: EntityId, own: &[EntityId]) -> bool {
    let record = timeline.entities.get(group);
    !own.contains(&group) && record.is_some_and(|record| record.entity.path != "/")
}

type Chosen = (Entity, (f64, f64), Option<Entity>);

fn group_with(scene: &Scene<'_>, used: &[Used<'_>], enough: f64) -> Option<Chosen> {
    let timeline = scene.timeline;
    let mut sums: BTreeMap<EntityId, (f64, f64)> = BTreeMap::new();
    for own in used {
        if let Some(group) = own.process.group {
            let sum = sums.entry(group).or_default();
            *sum = (sum.0 + own.cpu_ns, sum.1 + own.weight);
        }
    }
    let own = own_groups(scene);
    let (group, sum) = sums
        .into_iter()
        .filter(|(group, (_, weight))| *weight >= enough && !own.contains(group))
        .max_by(|a, b| a.1.1.total_cmp(&b.1.1))
        .filter(|(group, _)| stands(timeline, *group, &own))?;
    let inside = used.iter().filter(|it| it.process.group == Some(group));
    let foremost = inside.max_by(|a, b| a.weight.total_cmp(&b.weight));
    Some((
        timeline.entities.get(group)?.entity.clone(),
        sum,
        foremost.map(|it| it.process.entity.clone()),
    ))
}

fn tree_with(timeline: &Timeline, used: &[Used<'_>], enough: f64) -> Option<Chosen> {
    let mut sums: BTreeMap<EntityId, ((f64, f64), u32)> = BTreeMap::new();
    for own in used {
        let mut above = Some(own.process.id);
        let mut height = 0;
        while let Some(record) = above
            .and_then(|id| timeline.entities.get(id))
            .filter(|record| record.role == Role::Background)
        {
            let sum = &mut sums.entry(record.id).or_default().0;
            *sum = (sum.0 + own.cpu_ns, sum.1 + own.weight);
            height += 1;
            // A damaged recording may hold a circle.
            above = record.parent.filter(|_| height < 64);
        }
    }
    for (id, sum) in &mut sums {
        sum.1 = depth(timeline, *id);
    }
    // The deepest that still holds enough; init and the like hold everything and explain nothing.
    let (id, (sum, _)) = sums
        .into_iter()
        .filter(|(_, ((_, weight), _))| *weight >= enough)
        .max_by_key(|(id, (_, depth))| (*depth, *id))?;
    Some((timeline.entities.get(id)?.entity.clone(), sum, None))
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
