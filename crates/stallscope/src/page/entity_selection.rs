//! Who is in the page: those near to what is measured, in fine bins, and of the others those that did most.

use std::collections::{BTreeMap, BTreeSet};

use model::{ColumnKind, EntityId, EntityKind, EntityRecord, Role, TableData, Timeline, Unit};

use super::entities::above;

/// The entities that are in the page's tables.
pub(super) struct EntitySelection {
    near: BTreeSet<EntityId>,
    kept: BTreeSet<EntityId>,
}

impl EntitySelection {
    /// Keeps at most `most` of each kind among the near ones; of groups and disks a third of that among the
    /// others, of processes and the like a sixth.
    pub(super) fn of(timeline: &Timeline, most: usize) -> Self {
        let near = near(timeline);
        let mut did: BTreeMap<(EntityKind, EntityId), f64> = BTreeMap::new();
        for data in timeline.tables() {
            for entity in data.entities() {
                *did.entry((data.table.entity, entity)).or_default() +=
                    done(timeline, data, entity);
            }
        }
        let mut ranked: Vec<(EntityKind, bool, f64, EntityId)> = did
            .into_iter()
            .map(|((kind, entity), did)| (kind, near.contains(&entity), did, entity))
            .collect();
        ranked.sort_by(|a, b| {
            let group = (a.0, a.1).cmp(&(b.0, b.1));
            group.then(b.2.total_cmp(&a.2)).then(a.3.cmp(&b.3))
        });
        let groups = ranked.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1));
        let kept = groups.flat_map(|group| {
            let most = match group.first() {
                Some((_, true, ..)) => most,
                Some((EntityKind::Process | EntityKind::Thread | EntityKind::Connection, ..)) => {
                    most / 6
                }
                _ => most / 3,
            };
            group.iter().take(most)
        });
        Self {
            kept: kept.map(|(.., entity)| *entity).collect(),
            near,
        }
    }

    /// Whether an entity is near to what is measured.
    pub(super) fn is_near(&self, entity: EntityId) -> bool {
        self.near.contains(&entity)
    }

    /// The entities of a table that are kept, each with whether it is near, in the order of their numbers,
    /// and how many are left out.
    pub(super) fn of_table(&self, data: &TableData) -> (Vec<(EntityId, bool)>, u32) {
        let all = data.entities().count();
        let kept = data.entities().filter(|entity| self.kept.contains(entity));
        let kept: Vec<_> = kept
            .map(|entity| (entity, self.near.contains(&entity)))
            .collect();
        let left_out = all - kept.len();
        (kept, u32::try_from(left_out).unwrap_or(u32::MAX))
    }
}

/// How much an entity did by one of its tables: time that it used or waited, else whatever is counted.
fn done(timeline: &Timeline, data: &TableData, entity: EntityId) -> f64 {
    let (mut time, mut counted) = (0.0, 0.0);
    let counters = data.table.columns.iter();
    for column in counters.filter(|column| column.kind == ColumnKind::Counter) {
        let series = timeline.series(&data.table.name, entity, &column.name);
        let ends = series.and_then(|series| {
            let mut values = series.values();
            let first = values.next()?.1;
            Some(
                values
                    .next_back()
                    .map_or(0, |last| last.1.wrapping_sub(first)),
            )
        });
        let grown = ends.unwrap_or(0) as f64;
        counted += grown;
        if column.unit == Unit::Nanoseconds {
            time += grown;
        }
    }
    if time > 0.0 { time } else { counted }
}

/// The machine and its parts, all that plays a part in what is measured, and the groups that hold it.
fn near(timeline: &Timeline) -> BTreeSet<EntityId> {
    let entities = &timeline.entities;
    let plays = |record: &EntityRecord| record.role != Role::Background;
    let mut groups = BTreeSet::new();
    for process in entities.of_kind(EntityKind::Process) {
        if plays(process) {
            let own = [
                process.group,
                process.pressure_group,
                process.memory_group,
                process.io_group,
            ];
            groups.extend(own.into_iter().flatten());
        }
    }
    let paths = groups
        .iter()
        .filter_map(|group| Some(entities.get(*group)?.entity.path.as_str()));
    let holding: BTreeSet<&str> = paths.flat_map(above).collect();
    let holds = |record: &EntityRecord| {
        let path = record.entity.path.trim_end_matches('/');
        groups.contains(&record.id) || holding.contains(path)
    };
    let is_near = |record: &EntityRecord| {
        let parent = || record.parent.and_then(|parent| entities.get(parent));
        match record.entity.kind {
            EntityKind::Machine
            | EntityKind::Cpu
            | EntityKind::Disk
            | EntityKind::Filesystem
            | EntityKind::Interface
            | EntityKind::Workload
            | EntityKind::Series
            | EntityKind::Log
            | EntityKind::LogTemplate
            | EntityKind::LoggedCall => true,
            EntityKind::Process => plays(record),
            EntityKind::Thread | EntityKind::Connection | EntityKind::Pool | EntityKind::File => {
                parent().is_some_and(plays)
            }
            EntityKind::Waker | EntityKind::WaitEvent | EntityKind::Statement => {
                let process = parent().and_then(|pool| entities.get(pool.parent?));
                process.is_some_and(plays)
            }
            EntityKind::Cgroup => holds(record),
            EntityKind::GroupDisk => parent().is_some_and(holds),
            EntityKind::Flow => parent().is_some_and(plays),
            EntityKind::BlockStream => {
                parent().is_some_and(|it| it.entity.kind == EntityKind::Disk || plays(it))
            }
        }
    };
    let near = entities.iter().filter(|record| is_near(record));
    near.map(|record| record.id).collect()
}
