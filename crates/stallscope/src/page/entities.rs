//! Who is in the page, by place.

use std::collections::{BTreeMap, BTreeSet};

use model::{EntityId, EntityKind, EntityRecord, PageEntity, Role, Timeline, Window};

/// Steps up that are followed: nothing real lies that deep, and a recording may come from anybody.
pub(super) const MOST_ABOVE: usize = 100;

/// The entities that tables name, in the order in which they are first named.
pub(super) struct Places<'a> {
    timeline: &'a Timeline,
    /// Threads that serve requests.
    serving: &'a BTreeSet<EntityId>,
    /// Groups by path, to find what they lie in.
    groups: BTreeMap<&'a str, EntityId>,
    places: BTreeMap<EntityId, u32>,
    named: Vec<Named>,
}

enum Named {
    Recorded(EntityId),
    Others(Others),
}

/// Several that are left out, as one.
pub(super) struct Others {
    pub(super) kind: EntityKind,
    /// How many: `9,000 others`.
    pub(super) name: String,
    pub(super) role: Role,
    pub(super) serving: bool,
    /// From the first of them to the last.
    pub(super) seen: Window,
}

impl<'a> Places<'a> {
    pub(super) fn new(timeline: &'a Timeline, serving: &'a BTreeSet<EntityId>) -> Self {
        let groups = timeline.entities.of_kind(EntityKind::Cgroup);
        Self {
            timeline,
            serving,
            groups: groups
                .map(|group| (group.entity.path.as_str(), group.id))
                .collect(),
            places: BTreeMap::new(),
            named: Vec::new(),
        }
    }

    /// Where an entity stands, with what it belongs to; `None` of one that nothing is known of.
    pub(super) fn of(&mut self, id: EntityId) -> Option<u32> {
        let mut waiting = vec![(id, 0)];
        while let Some((id, above)) = waiting.pop() {
            let Some(record) = self.timeline.entities.get(id) else {
                continue;
            };
            if self.places.contains_key(&id) || above > MOST_ABOVE {
                continue;
            }
            // Before what it belongs to, so that entities that are each other's parents end here.
            let place = u32::try_from(self.named.len()).ok()?;
            self.places.insert(id, place);
            self.named.push(Named::Recorded(id));
            let holders = [group(record), self.parent(record)];
            waiting.extend(holders.into_iter().flatten().map(|it| (it, above + 1)));
        }
        self.places.get(&id).copied()
    }

    /// Where several stand that are left out, taken as one.
    pub(super) fn others(&mut self, others: Others) -> u32 {
        self.named.push(Named::Others(others));
        u32::try_from(self.named.len() - 1).unwrap_or(u32::MAX)
    }

    /// The list, complete.
    pub(super) fn list(self) -> Vec<PageEntity> {
        let entity = |named: &Named| match named {
            Named::Recorded(id) => Some(self.recorded(self.timeline.entities.get(*id)?)),
            Named::Others(others) => Some(PageEntity {
                id: None,
                kind: others.kind,
                name: others.name.clone(),
                path: String::new(),
                role: others.role,
                serving: others.serving,
                parent: None,
                group: None,
                first_seen: others.seen.start,
                vanished: Some(others.seen.end),
            }),
        };
        self.named.iter().filter_map(entity).collect()
    }

    fn recorded(&self, record: &EntityRecord) -> PageEntity {
        let place = |id: Option<EntityId>| self.places.get(&id?).copied();
        PageEntity {
            id: Some(record.id),
            kind: record.entity.kind,
            name: record.entity.name.clone(),
            path: record.entity.path.clone(),
            role: record.role,
            serving: match record.entity.kind {
                EntityKind::Thread => self.serving.contains(&record.id),
                _ => record.serving,
            },
            parent: place(self.parent(record)),
            group: place(group(record)),
            first_seen: record.first_seen,
            vanished: record.vanished,
        }
    }

    fn parent(&self, record: &EntityRecord) -> Option<EntityId> {
        if record.entity.kind != EntityKind::Cgroup {
            return record.parent;
        }
        // A group between may never have been read.
        let group = |path: &str| {
            let name = if path.is_empty() { "/" } else { path };
            self.groups.get(name).copied()
        };
        above(&record.entity.path)
            .filter_map(group)
            .find(|group| *group != record.id)
    }
}

/// The paths that a path lies in, the nearest first.
pub(super) fn above(path: &str) -> impl Iterator<Item = &str> {
    let slashes = path.rmatch_indices('/').take(MOST_ABOVE);
    slashes.map(|(slash, _)| &path[..slash])
}

/// A process's group: where CPU is limited, or else where pressure is known.
fn group(record: &EntityRecord) -> Option<EntityId> {
    record.group.or(record.pressure_group)
}
