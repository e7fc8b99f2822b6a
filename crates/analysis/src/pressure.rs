//! Mean pressure of the machine and of the target, from differences of the totals: of its group, or of its
//! processes where it has no group of its own.

use model::{EntityRecord, Pressure, Resource, StallKind, Timeline, Window};
use sensors::stall::PROCESS_PRESSURE;

use crate::scene::Scene;

pub(crate) fn pressure(scene: &Scene<'_>) -> Vec<Pressure> {
    let (timeline, window) = (scene.timeline, scene.window);
    let sources = sources(scene).into_iter();
    sources
        .flat_map(|(table, record)| of_record(timeline, table, record, window))
        .collect()
}

/// Whose pressure that is, the machine first, each with its table.
pub(crate) fn sources<'a>(scene: &Scene<'a>) -> Vec<(&'static str, &'a EntityRecord)> {
    let timeline = scene.timeline;
    let processes = &scene.roles.target.processes;
    let target = processes.iter().find(|process| process.serving);
    let target = target.or(processes.first()).copied();
    let group = target
        .and_then(|process| process.pressure_group)
        .and_then(|id| timeline.entities.get(id));
    let group = group.filter(|group| group.entity.path != "/");
    let group = group.map(|group| ("cgroup_pressure", group));
    let group = group.filter(|(table, group)| is_counted(timeline, table, group));
    let machine = timeline.entities.machine();
    let machine = machine.map(|machine| ("pressure", machine));
    let own = group.or_else(|| Some((PROCESS_PRESSURE.name.as_ref(), service(timeline, target?)?)));
    machine.into_iter().chain(own).collect()
}

/// Mean pressure of a control group.
pub(crate) fn of_group(timeline: &Timeline, group: &EntityRecord, window: Window) -> Vec<Pressure> {
    of_record(timeline, "cgroup_pressure", group, window)
}

fn of_record(
    timeline: &Timeline,
    table: &str,
    record: &EntityRecord,
    window: Window,
) -> Vec<Pressure> {
    /// The kernel's own averaging period: how often the files are read.
    const FOLD_NS: i64 = 2_000_000_000;
    let mut all = Vec::new();
    for resource in Resource::ALL {
        for (kind, word) in [(StallKind::Some, "some"), (StallKind::Full, "full")] {
            let column = format!("{}_{word}_ns", resource.word());
            let series = timeline.series(table, record.id, &column);
            let rate = series.and_then(|series| series.rate(window));
            all.extend(rate.map(|rate| Pressure {
                entity: record.entity.clone(),
                resource,
                kind,
                share: rate / 1e9,
                fold_ns: FOLD_NS,
            }));
        }
    }
    all
}

/// The process that a target descends from of which pressure was counted.
fn service<'a>(timeline: &'a Timeline, target: &'a EntityRecord) -> Option<&'a EntityRecord> {
    /// A damaged recording may hold a circle.
    const MOST_ANCESTORS: usize = 64;
    let parent = |it: &&EntityRecord| timeline.entities.get(it.parent?);
    let mut above = std::iter::successors(Some(target), parent).take(MOST_ANCESTORS);
    above.find(|it| is_counted(timeline, &PROCESS_PRESSURE.name, it))
}

fn is_counted(timeline: &Timeline, table: &str, whose: &EntityRecord) -> bool {
    timeline.series(table, whose.id, "cpu_some_ns").is_some()
}
