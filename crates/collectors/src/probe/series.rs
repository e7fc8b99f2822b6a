//! The rows of a probe: its entity's own, and those of parts of it, such as the disks of the machine.

use model::{EntityId, EntityKind, Timestamp, name_of};

use crate::registry::Registry;
use crate::table_buffer::{RowDeduplicator, TableBuffer};

/// A disk or interface that has gone may come back, so it stays known. Beyond this many only those present
/// stay: each container that starts creates an interface with a new name.
pub(super) const MOST_PARTS: usize = 1_000;

pub(super) struct Series {
    pub(super) own: RowDeduplicator,
    pub(super) parts: Vec<Part>,
}

pub(super) struct Part {
    /// As the kernel writes it.
    name: Box<[u8]>,
    rows: RowDeduplicator,
}

impl Series {
    pub(super) fn new(entity: EntityId, width: usize) -> Self {
        Self {
            own: RowDeduplicator::new(entity, width),
            parts: Vec::new(),
        }
    }

    /// The rows of a part, which gets an entity if it is new.
    pub(super) fn part(
        &mut self,
        kind: EntityKind,
        name: &[u8],
        width: usize,
        now: Timestamp,
        registry: &mut Registry,
    ) -> &mut RowDeduplicator {
        let Self { own, parts } = self;
        let known = parts.iter().position(|part| *part.name == *name);
        let index = known.unwrap_or_else(|| {
            let id = registry.part(kind, &name_of(name), own.entity(), now);
            parts.push(Part {
                name: name.into(),
                rows: RowDeduplicator::new(id, width),
            });
            parts.len() - 1
        });
        &mut parts[index].rows
    }

    /// Notes that nothing changed, for the entity and for the parts in the last reading.
    pub(super) fn unchanged(&mut self, last: Timestamp, now: Timestamp) {
        self.own.unchanged(now);
        for part in &mut self.parts {
            if part.rows.time() == last {
                part.rows.unchanged(now);
            }
        }
    }

    /// Forgets parts that the last reading did not have, where there are too many.
    pub(super) fn make_room(
        &mut self,
        last: Timestamp,
        buffer: &mut TableBuffer,
        registry: &mut Registry,
    ) {
        if self.parts.len() <= MOST_PARTS {
            return;
        }
        self.parts.retain_mut(|Part { rows, .. }| {
            let is_present = rows.time() == last;
            if !is_present {
                rows.finish(buffer);
                registry.vanish(rows.entity(), rows.time());
            }
            is_present
        });
    }

    /// Notes the end of parts that the last reading did not have.
    pub(super) fn end_missing(&self, last: Timestamp, registry: &mut Registry) {
        for Part { rows, .. } in &self.parts {
            if rows.time() != last {
                registry.vanish(rows.entity(), rows.time());
            }
        }
    }

    /// Writes the last rows of unchanged values.
    pub(super) fn finish(&mut self, buffer: &mut TableBuffer) {
        self.own.finish(buffer);
        for part in &mut self.parts {
            part.rows.finish(buffer);
        }
    }
}
