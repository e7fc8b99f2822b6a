//! The entities of one recording: numbers are given out here, and every change becomes an event.

use model::{Entity, EntityEvent, EntityId, EntityKind, EntityRecord, Role, Timestamp};

/// Gives out numbers and notes changes.
#[derive(Default)]
pub(crate) struct Registry {
    records: Vec<EntityRecord>,
    events: Vec<EntityEvent>,
}

impl Registry {
    /// A new entity of no role.
    pub(crate) fn add(
        &mut self,
        entity: Entity,
        parent: Option<EntityId>,
        now: Timestamp,
    ) -> EntityId {
        let id = EntityId(self.records.len() as u32);
        let record = EntityRecord {
            id,
            entity,
            parent,
            group: None,
            pressure_group: None,
            memory_group: None,
            io_group: None,
            role: Role::Rest,
            serving: false,
            first_seen: now,
            vanished: None,
        };
        self.events.push(EntityEvent {
            time: now,
            record: record.clone(),
        });
        self.records.push(record);
        id
    }

    /// The part of `whole` that the kernel calls `name`. Several sensors may tell of the same part (a
    /// CPU, say), which stays one entity.
    pub(crate) fn part(
        &mut self,
        kind: EntityKind,
        name: &str,
        whole: EntityId,
        now: Timestamp,
    ) -> EntityId {
        let of = &self.get(whole).entity;
        let path = if of.kind == EntityKind::Machine {
            name.to_owned()
        } else {
            format!("{}/{name}", of.path.trim_end_matches('/'))
        };
        let known = self.records.iter().find(|record| {
            record.entity.kind == kind
                && record.entity.path == path
                && record.parent == Some(whole)
                && record.vanished.is_none()
        });
        known.map(|record| record.id).unwrap_or_else(|| {
            let entity = Entity::new(kind, name, path);
            self.add(entity, Some(whole), now)
        })
    }

    /// A new filesystem. Two containers may each have one at the same place: the second is told from the
    /// first by its device.
    pub(crate) fn add_filesystem(
        &mut self,
        mut entity: Entity,
        (major, minor): (u32, u32),
        now: Timestamp,
    ) -> EntityId {
        let taken = |record: &EntityRecord| {
            record.entity.kind == entity.kind && record.entity.path == entity.path
        };
        if self.records.iter().any(taken) {
            entity.path = format!("{}@{major}:{minor}", entity.path);
        }
        self.add(entity, None, now)
    }

    /// What is known of an entity.
    pub(crate) fn get(&self, id: EntityId) -> &EntityRecord {
        &self.records[id.0 as usize]
    }

    /// Changes an entity, if `change` does change it.
    pub(crate) fn change(
        &mut self,
        id: EntityId,
        now: Timestamp,
        change: impl FnOnce(&mut EntityRecord),
    ) {
        let record = &mut self.records[id.0 as usize];
        let before = record.clone();
        change(record);
        if *record != before {
            self.events.push(EntityEvent {
                time: now,
                record: record.clone(),
            });
        }
    }

    /// Notes the end of an entity.
    pub(crate) fn vanish(&mut self, id: EntityId, now: Timestamp) {
        self.change(id, now, |record| {
            record.vanished = record.vanished.or(Some(now))
        });
    }

    /// Notes the end of an entity and of its parts.
    pub(crate) fn vanish_with_parts(&mut self, id: EntityId, now: Timestamp) {
        self.vanish(id, now);
        for part in 0..self.records.len() {
            if self.records[part].parent == Some(id) {
                self.vanish(EntityId(part as u32), now);
            }
        }
    }

    /// The events since the last call.
    pub(crate) fn take_events(&mut self) -> Option<Vec<EntityEvent>> {
        (!self.events.is_empty()).then(|| std::mem::take(&mut self.events))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_one_entity_whoever_tells_of_it_and_ends_with_its_whole() {
        let mut registry = Registry::default();
        let now = Timestamp::from_ns(1);
        let machine = registry.add(Entity::new(EntityKind::Machine, "m", "/"), None, now);
        let mut group = |path| registry.add(Entity::new(EntityKind::Cgroup, "g", path), None, now);
        let (a, root) = (group("/a"), group("/"));
        let cpu = registry.part(EntityKind::Cpu, "cpu0", machine, now);
        assert_eq!(registry.part(EntityKind::Cpu, "cpu0", machine, now), cpu);
        assert_eq!(registry.get(cpu).entity.path, "cpu0");
        let of_a = registry.part(EntityKind::GroupDisk, "254:0", a, now);
        let of_root = registry.part(EntityKind::GroupDisk, "254:0", root, now);
        assert_eq!(registry.get(of_a).entity.path, "/a/254:0");
        assert_eq!(registry.get(of_root).entity.path, "/254:0");
        assert_eq!(registry.get(of_a).parent, Some(a));
        registry.vanish_with_parts(a, Timestamp::from_ns(2));
        assert!(registry.get(of_a).vanished.is_some() && registry.get(of_root).vanished.is_none());
        assert_ne!(registry.part(EntityKind::GroupDisk, "254:0", a, now), of_a);
    }
}
