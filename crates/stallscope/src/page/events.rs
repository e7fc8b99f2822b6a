//! What happened at an instant: the workload's start and end, the target found, processes killed, what people marked.

use std::collections::BTreeSet;

use model::{EntityId, EntityKind, Meta, PageEvent, PageEventKind, Role, Timeline, Timestamp};

/// In the order of time.
pub(super) fn events(timeline: &Timeline, meta: &Meta) -> Vec<PageEvent> {
    let mut events = kills(timeline);
    if let Some(workload) = &meta.workload {
        events.push(PageEvent {
            at: workload.started,
            kind: PageEventKind::WorkloadStarted,
            text: format!("{} was started", workload.name),
        });
        events.extend(workload.outcome.as_ref().map(|outcome| PageEvent {
            at: outcome.ended,
            kind: PageEventKind::WorkloadEnded,
            text: match outcome.exit.status() {
                0 => format!("{} ended", workload.name),
                status => format!("{} ended with status {status}", workload.name),
            },
        }));
    }
    let found = meta.targets.iter().filter(|it| it.role == Role::Target);
    events.extend(found.map(|target| PageEvent {
        at: target.found_at,
        kind: PageEventKind::TargetFound,
        text: format!("{} was found ({})", target.name, target.found_by),
    }));
    let marks = timeline.marks.iter().take(MOST_MARKS);
    events.extend(marks.map(|mark| PageEvent {
        at: mark.at,
        kind: PageEventKind::Mark,
        text: mark.text.clone(),
    }));
    events.sort_by_key(|event| event.at);
    events
}

/// Events of the kind at most: a group may be killed from all the time.
const MOST_KILLS: usize = 200;
/// A script may mark whatever it does.
const MOST_MARKS: usize = 200;
/// Two tables that report the same kill are read within so much of each other, ns.
const SAME_NS: i64 = 500_000_000;

/// Processes that the kernel killed for want of memory: those of the target's groups, and those that only
/// the machine's count shows.
fn kills(timeline: &Timeline) -> Vec<PageEvent> {
    let processes = timeline.entities.of_kind(EntityKind::Process);
    let of_target = processes.filter(|process| process.role == Role::Target);
    let groups: BTreeSet<EntityId> = of_target.filter_map(|it| it.memory_group).collect();
    let mut found: Vec<(Timestamp, String)> = Vec::new();
    for group in groups {
        let Some(record) = timeline.entities.get(group) else {
            continue;
        };
        let of_group = steps(timeline, "cgroup_memory", group);
        found.extend(of_group.map(|(at, many)| {
            let what = format!(
                "the kernel killed {} of {} for want of memory",
                analysis::count(many, "process"),
                record.entity.path
            );
            (at, what)
        }));
    }
    let machine = timeline.entities.machine().map(|machine| machine.id);
    let known: Vec<Timestamp> = found.iter().map(|(at, _)| *at).collect();
    for (at, many) in machine
        .into_iter()
        .flat_map(|it| steps(timeline, "paging", it))
    {
        let same = |other: &Timestamp| at.ns_since(*other).abs() <= SAME_NS;
        if !known.iter().any(same) {
            let who = analysis::count(many, "process");
            found.push((at, format!("the kernel killed {who} for want of memory")));
        }
    }
    found.sort();
    found.truncate(MOST_KILLS);
    let event = |(at, text)| PageEvent {
        at,
        kind: PageEventKind::OomKill,
        text,
    };
    found.into_iter().map(event).collect()
}

/// When a count of kills was seen to have grown, and by how many.
fn steps(
    timeline: &Timeline,
    table: &str,
    entity: EntityId,
) -> impl Iterator<Item = (Timestamp, u32)> {
    let series = timeline.series(table, entity, "oom_kills");
    let values: Vec<_> = series.iter().flat_map(|it| it.values()).collect();
    let grown = |pair: &[(Timestamp, i64)]| {
        let many = u32::try_from(pair[1].1.checked_sub(pair[0].1)?).ok()?;
        (many > 0).then_some((pair[1].0, many))
    };
    let steps: Vec<_> = values.windows(2).filter_map(grown).collect();
    steps.into_iter()
}
