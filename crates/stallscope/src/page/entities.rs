//! Who is in the page, by place.

use std::collections::BTreeMap;

use model::{EntityId, EntityKind, EntityRecord, PageEntity, Timeline};

/// The entities that tables name, in the order in which they are first named.
pub(super) struct Places<'a> {
    timeline: &'a Timeline,
    /// Groups by path, to find what they lie in.
    groups: BTreeMap<&'a str, EntityId>,
    places: BTreeMap<EntityId, u32>,
    named: Vec<EntityId>,
}

impl<'a> Places<'a> {
    pub(super) fn new(timeline: &'a Timeline) -> Self {
        let groups = timeline.entities.of_kind(EntityKind::Cgroup);
        Self {
            timeline,
            groups: groups
                .map(|group| (group.entity.path.as_str(), group.id))
                .collect(),
            places: BTreeMap::new(),
            named: Vec::new(),
        }
    }

    /// Where an entity stands, with all that it belongs to; `None` of one that nothing is known of.
    pub(super) fn of(&mut self, id: EntityId) -> Option<u32> {
        if let Some(place) = self.places.get(&id) {
            return Some(*place);
        }
        let record = self.timeline.entities.get(id)?;
        let place = u32::try_from(self.named.len()).ok()?;
        // Before what it belongs to, so that entities that are each other's parents end here.
        self.places.insert(id, place);
        self.named.push(id);
        for other in [self.parent(record), group(record)].into_iter().flatten() {
            self.of(other);
        }
        Some(place)
    }

    /// The list, complete.
    pub(super) fn list(self) -> Vec<PageEntity> {
        let place = |id: Option<EntityId>| self.places.get(&id?).copied();
        let records = self.named.iter();
        let records = records.filter_map(|id| self.timeline.entities.get(*id));
        let entity = |record: &EntityRecord| PageEntity {
            kind: record.entity.kind,
            name: record.entity.name.clone(),
            path: record.entity.path.clone(),
            role: record.role,
            serving: record.serving,
            parent: place(self.parent(record)),
            group: place(group(record)),
            first_seen: record.first_seen,
            vanished: record.vanished,
        };
        records.map(entity).collect()
    }

    fn parent(&self, record: &EntityRecord) -> Option<EntityId> {
        if record.entity.kind != EntityKind::Cgroup {
            return record.parent;
        }
        let mut path = record.entity.path.as_str();
        // A group between may never have been read.
        while let Some((above, _)) = path.rsplit_once('/') {
            path = above;
            let name = if above.is_empty() { "/" } else { above };
            let group = self.groups.get(name).copied();
            if let Some(group) = group.filter(|group| *group != record.id) {
                return Some(group);
            }
        }
        None
    }
}

/// A process's group: where CPU is limited, or else where pressure is known.
fn group(record: &EntityRecord) -> Option<EntityId> {
    record.group.or(record.pressure_group)
}
