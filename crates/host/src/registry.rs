//! The entities of one recording: numbers are given out here, and every change becomes an event.

use model::{Entity, EntityEvent, EntityId, EntityRecord, Role, Timestamp};

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

    /// The events since the last call.
    pub(crate) fn take_events(&mut self) -> Option<Vec<EntityEvent>> {
        (!self.events.is_empty()).then(|| std::mem::take(&mut self.events))
    }
}
