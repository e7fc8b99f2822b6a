//! The entities of one recording: assigns their numbers, and turns every change into an event. Vanished
//! entities are forgotten: a machine creates millions of processes during a recording.

use std::collections::HashMap;

use model::{Entity, EntityEvent, EntityId, EntityKind, EntityRecord, Role, Timestamp};

/// The machine's entity, which is added first.
pub(crate) const MACHINE: EntityId = EntityId(0);

/// Assigns numbers and collects events.
#[derive(Default)]
pub(crate) struct Registry {
    next: u32,
    /// Entities that exist now.
    records: HashMap<EntityId, EntityRecord>,
    /// Parts (disks, CPUs, interfaces) by the entity that they belong to.
    parts: HashMap<EntityId, Vec<EntityId>>,
    events: Vec<EntityEvent>,
}

impl Registry {
    /// Adds an entity without a role.
    pub(crate) fn add(
        &mut self,
        entity: Entity,
        parent: Option<EntityId>,
        now: Timestamp,
    ) -> EntityId {
        let id = EntityId(self.next);
        self.next += 1;
        let record = EntityRecord {
            id,
            entity,
            parent,
            group: None,
            pressure_group: None,
            memory_group: None,
            io_group: None,
            role: Role::Background,
            serving: false,
            first_seen: now,
            vanished: None,
        };
        self.events.push(EntityEvent {
            time: now,
            record: record.clone(),
        });
        self.records.insert(id, record);
        id
    }

    /// Leaves numbers from `first` on to somebody else; those below are given or never will be.
    pub(crate) fn reserve(&mut self, first: EntityId, count: u32) {
        debug_assert!(self.next <= first.0, "they are not given yet");
        self.next = first.0 + count;
    }

    /// The part of `whole` that the kernel calls `name`. Several sensors may report the same part, such as a
    /// CPU, which stays one entity.
    pub(crate) fn part(
        &mut self,
        kind: EntityKind,
        name: &str,
        whole: EntityId,
        now: Timestamp,
    ) -> EntityId {
        let path = match self.get(whole).map(|record| &record.entity) {
            Some(of) if of.kind != EntityKind::Machine => {
                format!("{}/{name}", of.path.trim_end_matches('/'))
            }
            _ => name.to_owned(),
        };
        let known = self.parts.get(&whole).into_iter().flatten();
        let known = known.copied().find(|part| {
            self.get(*part)
                .is_some_and(|part| part.entity.kind == kind && part.entity.path == path)
        });
        known.unwrap_or_else(|| {
            let part = self.add(Entity::new(kind, name, path), Some(whole), now);
            self.parts.entry(whole).or_default().push(part);
            part
        })
    }

    /// Adds a filesystem. Two containers may each have one at the same mount point: the device distinguishes
    /// the second.
    pub(crate) fn add_filesystem(
        &mut self,
        mut entity: Entity,
        device: &str,
        now: Timestamp,
    ) -> EntityId {
        let taken = |record: &EntityRecord| {
            record.entity.kind == entity.kind && record.entity.path == entity.path
        };
        if self.records.values().any(taken) {
            entity.path = format!("{}@{device}", entity.path);
        }
        self.add(entity, None, now)
    }

    /// The record of an entity, as long as it exists.
    pub(crate) fn get(&self, id: EntityId) -> Option<&EntityRecord> {
        self.records.get(&id)
    }

    /// Applies `change` to an entity, if it exists; an event follows only if something changed.
    pub(crate) fn change(
        &mut self,
        id: EntityId,
        now: Timestamp,
        change: impl FnOnce(&mut EntityRecord),
    ) {
        let Some(record) = self.records.get_mut(&id) else {
            return;
        };
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
        if let Some(mut record) = self.records.remove(&id) {
            if let Some(parts) = record.parent.and_then(|whole| self.parts.get_mut(&whole)) {
                parts.retain(|part| *part != id);
            }
            record.vanished = Some(now);
            self.events.push(EntityEvent { time: now, record });
        }
    }

    /// Notes the end of an entity and of its parts.
    pub(crate) fn vanish_with_parts(&mut self, id: EntityId, now: Timestamp) {
        self.vanish(id, now);
        for part in self.parts.remove(&id).unwrap_or_default() {
            self.vanish(part, now);
        }
    }

    /// The events since the last call; `None` if there are none.
    pub(crate) fn take_events(&mut self) -> Option<Vec<EntityEvent>> {
        (!self.events.is_empty()).then(|| std::mem::take(&mut self.events))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_one_entity_for_all_sensors_and_vanishes_with_its_parent() {
        let mut registry = Registry::default();
        let now = Timestamp::from_ns(1);
        let machine = registry.add(Entity::new(EntityKind::Machine, "m", "/"), None, now);
        let mut group = |path| registry.add(Entity::new(EntityKind::Cgroup, "g", path), None, now);
        let (a, root) = (group("/a"), group("/"));
        let cpu = registry.part(EntityKind::Cpu, "cpu0", machine, now);
        assert_eq!(registry.part(EntityKind::Cpu, "cpu0", machine, now), cpu);
        let path = |registry: &Registry, id| {
            let record = registry.get(id);
            record.map(|record| record.entity.path.clone())
        };
        assert_eq!(path(&registry, cpu).as_deref(), Some("cpu0"));
        let of_a = registry.part(EntityKind::GroupDisk, "254:0", a, now);
        let of_root = registry.part(EntityKind::GroupDisk, "254:0", root, now);
        assert_eq!(path(&registry, of_a).as_deref(), Some("/a/254:0"));
        assert_eq!(path(&registry, of_root).as_deref(), Some("/254:0"));
        let end = Timestamp::from_ns(2);
        registry.vanish_with_parts(a, end);
        assert!(path(&registry, of_a).is_none() && path(&registry, of_root).is_some());
        let ends = registry.take_events().into_iter().flatten();
        let ends = ends.filter_map(|event| Some((event.record.id, event.record.vanished?)));
        assert_eq!(ends.collect::<Vec<_>>(), [(a, end), (of_a, end)]);
    }

    #[test]
    fn vanished_entities_are_forgotten_and_their_ids_not_reused() {
        let mut registry = Registry::default();
        let at = Timestamp::from_ns;
        let machine = registry.add(Entity::new(EntityKind::Machine, "m", "/"), None, at(0));
        let mut last = machine;
        for time in 1..1_000 {
            let group = Entity::new(EntityKind::Cgroup, "g", "/g");
            let group = registry.add(group, None, at(time));
            let disk = registry.part(EntityKind::GroupDisk, "8:0", group, at(time));
            assert!(group > last && disk > group);
            last = disk;
            registry.vanish_with_parts(group, at(time));
            registry.vanish(disk, at(time + 1));
            registry.change(disk, at(time + 1), |record| record.serving = true);
        }
        assert_eq!((registry.records.len(), registry.parts.len()), (1, 0));
        assert_eq!(
            registry.take_events().map(|events| events.len()),
            Some(1 + 999 * 4)
        );
        let mut interface = |time| registry.part(EntityKind::Interface, "veth", machine, at(time));
        let first = interface(1_000);
        assert_eq!(interface(1_001), first);
        registry.vanish(first, at(1_001));
        assert!(registry.part(EntityKind::Interface, "veth", machine, at(1_002)) > first);
        assert_eq!(registry.parts[&machine].len(), 1);
    }

    #[test]
    fn reserved_numbers_are_not_given() {
        let mut registry = Registry::default();
        let add = |registry: &mut Registry| {
            let entity = Entity::new(EntityKind::Process, "p", "pid:1@1");
            registry.add(entity, None, Timestamp::default())
        };
        assert_eq!(add(&mut registry), EntityId(0));
        registry.reserve(EntityId(2), 5);
        assert_eq!(add(&mut registry), EntityId(7));
    }
}
