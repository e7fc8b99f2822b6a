//! What else the machine did: the CPU time of the rest, who of it used most, and who of it had the CPUs
//! that the target waited for.

use std::collections::BTreeMap;

use model::{Entity, EntityId, EntityKind, EntityRecord, Role, Timeline, Window};

use crate::coverage;
use crate::scene::Scene;
use crate::thresholds::CULPRIT;

/// Who of the rest stands out.
#[derive(Clone, PartialEq, Debug)]
pub struct Culprit {
    /// Its number in the recording.
    pub id: EntityId,
    /// A control group where one stands for it, else the top of a process tree.
    pub entity: Entity,
    /// CPU time, ns.
    pub cpu_ns: f64,
    /// Its part of what the rest did: of the target's waits for CPUs that the rest had, where that was
    /// told, else of the rest's CPU time.
    pub part: f64,
    /// Whether that was told by who had the CPUs.
    pub is_by_delay: bool,
    /// Of a group, the process in it that did most.
    pub foremost: Option<Entity>,
}

/// Generations of processes that are followed.
const MOST_ABOVE: usize = 64;

/// One process of the rest.
#[derive(Clone, Copy)]
struct Used<'a> {
    process: &'a EntityRecord,
    /// What it is held against the others by: its CPU time, or how long it held up the target, ns.
    weight: f64,
}

/// CPU time of processes that are neither target, generator, dependency nor the recorder, ns.
pub(crate) fn background_cpu_ns(scene: &Scene<'_>) -> f64 {
    background(scene).iter().map(|used| used.weight).sum()
}

/// The smallest thing that holds at least the demanded part of what the rest did: a control group that
/// does not hold the target, else the top of a process tree; without one the tree that did most.
///
/// `queued_ns` is how long the target's threads waited for CPUs that the rest had, where that was told. Where that
/// is known of too little of them to name anybody, it is whom the rest's CPU time points to.
pub(crate) fn culprit(scene: &Scene<'_>, rest_ns: f64, queued_ns: f64) -> Option<Culprit> {
    let held = holding(scene, Role::Background);
    let told = held.iter().map(|it| it.weight).sum::<f64>();
    let by_delay =
        (told > 0.0 && queued_ns > 0.0).then(|| most_of(scene, &held, told.max(queued_ns), true));
    let by_use = || most_of(scene, &background(scene), rest_ns.max(1.0), false);
    let untold = 1.0 - told / told.max(queued_ns).max(1.0);
    match by_delay.flatten() {
        Some(most) if most.part >= CULPRIT.value() => Some(most),
        Some(most) if most.part + untold >= CULPRIT.value() => by_use().or(Some(most)),
        Some(most) => Some(most),
        None => by_use(),
    }
}

/// Who holds most of what processes were weighed by, and which part of `all`.
fn most_of(scene: &Scene<'_>, used: &[Used<'_>], all: f64, is_by_delay: bool) -> Option<Culprit> {
    let enough = all * CULPRIT.value();
    let chosen = group_with(scene, used, enough).or_else(|| tree_with(scene, used, enough));
    let (id, weight, foremost) = chosen.filter(|it| it.1 > 0.0)?;
    // Of whoever is in it, those too that held nobody up.
    let under = background(scene).into_iter();
    let under = under.filter(|it| is_under(scene.timeline, it.process, id));
    Some(Culprit {
        id,
        entity: scene.timeline.entities.get(id)?.entity.clone(),
        cpu_ns: under.map(|it| it.weight).sum(),
        part: weight / all,
        is_by_delay,
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
            let weight = cpu_ns(scene.timeline, process.id, scene.window)?;
            Some(Used { process, weight })
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
        .filter_map(|id| timeline.entities.get(id))
        // In a damaged recording somebody else may have rows there.
        .filter(|record| record.entity.kind == EntityKind::Process);
    processes
        // Who became target or generator later was nobody's neighbour.
        .filter(|process| process.role == role)
        .filter_map(|process| {
            let held_up = timeline.series("process_time", process.id, "delay_caused_ns")?;
            Some(Used {
                process,
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

type Chosen = (EntityId, f64, Option<Entity>);

fn group_with(scene: &Scene<'_>, used: &[Used<'_>], enough: f64) -> Option<Chosen> {
    let timeline = scene.timeline;
    let mut sums: BTreeMap<EntityId, f64> = BTreeMap::new();
    for own in used {
        if let Some(group) = own.process.group {
            *sums.entry(group).or_default() += own.weight;
        }
    }
    let own = own_groups(scene);
    let (group, sum) = sums
        .into_iter()
        .filter(|(group, weight)| *weight >= enough && !own.contains(group))
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .filter(|(group, _)| stands(timeline, *group, &own))?;
    let inside = used.iter().filter(|it| it.process.group == Some(group));
    let foremost = inside.max_by(|a, b| a.weight.total_cmp(&b.weight));
    Some((group, sum, foremost.map(|it| it.process.entity.clone())))
}

/// The top of a process tree. Whom target or generator descend from holds what everybody does, and explains nothing: then
/// the one below under which most was done.
fn tree_with(scene: &Scene<'_>, used: &[Used<'_>], enough: f64) -> Option<Chosen> {
    let timeline = scene.timeline;
    let mut sums: BTreeMap<EntityId, f64> = BTreeMap::new();
    for own in used {
        for above in line_of(timeline, own.process) {
            *sums.entry(above.id).or_default() += own.weight;
        }
    }
    let own = [&scene.roles.target, &scene.roles.generator];
    for process in own.into_iter().flat_map(|it| &it.processes) {
        for above in above(timeline, process) {
            sums.remove(&above.id);
        }
    }
    // The deepest that still holds enough.
    let trees = sums
        .iter()
        .map(|(id, sum)| (*id, *sum, depth(timeline, *id)));
    let holds = trees.clone().filter(|(_, sum, _)| *sum >= enough);
    let deepest = holds.max_by_key(|(id, _, depth)| (*depth, *id));
    let most = trees.max_by(|a, b| a.1.total_cmp(&b.1).then(a.2.cmp(&b.2)).then(a.0.cmp(&b.0)));
    let (id, sum, _) = deepest.or(most)?;
    Some((id, sum, None))
}

/// Those that a process descends from, the nearest first.
fn above<'a>(
    timeline: &'a Timeline,
    process: &EntityRecord,
) -> impl Iterator<Item = &'a EntityRecord> + use<'a> {
    let get = |id| timeline.entities.get(id);
    let first = process.parent.and_then(get);
    // A damaged recording may hold a circle.
    std::iter::successors(first, move |it| it.parent.and_then(get)).take(MOST_ABOVE)
}

/// A background process and those above it, up to the first that is none.
fn line_of<'a>(
    timeline: &'a Timeline,
    process: &'a EntityRecord,
) -> impl Iterator<Item = &'a EntityRecord> {
    let line = std::iter::once(process).chain(above(timeline, process));
    line.take_while(|it| it.role == Role::Background)
}

fn depth(timeline: &Timeline, id: EntityId) -> usize {
    let record = timeline.entities.get(id);
    record.map_or(0, |it| above(timeline, it).count())
}

/// Whether a background process is in a control group, or is a process or below it.
pub(crate) fn is_under(timeline: &Timeline, process: &EntityRecord, top: EntityId) -> bool {
    let groups = [process.group, process.io_group];
    let mut line = line_of(timeline, process);
    process.role == Role::Background && (groups.contains(&Some(top)) || line.any(|it| it.id == top))
}
