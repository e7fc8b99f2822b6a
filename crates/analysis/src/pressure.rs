//! Mean pressure of the machine and of the target's group, from differences of the totals.

use model::{EntityKind, Pressure, Resource, Role, StallKind, Timeline, Window};

pub(crate) fn pressure(timeline: &Timeline, window: Window) -> Vec<Pressure> {
    /// The kernel's own averaging period: how often the files are read.
    const FOLD_NS: i64 = 2_000_000_000;
    let target = timeline
        .entities
        .of_kind(EntityKind::Process)
        .find(|process| process.role == Role::Target && process.serving);
    let target = target.or_else(|| {
        timeline
            .entities
            .of_kind(EntityKind::Process)
            .find(|process| process.role == Role::Target)
    });
    let group = target
        .and_then(|process| process.pressure_group)
        .and_then(|id| timeline.entities.get(id));
    let group = group.filter(|group| group.entity.path != "/");
    let places = timeline
        .entities
        .machine()
        .map(|machine| ("pressure", machine))
        .into_iter();
    let mut all = Vec::new();
    for (table, record) in places.chain(group.map(|group| ("cgroup_pressure", group))) {
        for resource in Resource::ALL {
            for (kind, word) in [(StallKind::Some, "some"), (StallKind::Full, "full")] {
                let column = format!("{}_{word}_ns", resource.word());
                let share = timeline
                    .series(table, record.id, &column)
                    .and_then(|series| series.rate(window));
                all.extend(share.map(|rate| Pressure {
                    entity: record.entity.clone(),
                    resource,
                    kind,
                    share: rate / 1e9,
                    fold_ns: FOLD_NS,
                }));
            }
        }
    }
    all
}
