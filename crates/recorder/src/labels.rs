//! What the workload says of the operations of each label: an entity for each, below that of the workload.

use std::collections::BTreeMap;

use collectors::Sampler;
use model::{Entity, EntityEvent, EntityId, EntityKind, EntityRecord, Rows, Timestamp};
use workloads::{Bin, MOST_LABELS, SIGNAL_BY_LABEL};

/// The labels so far.
pub(super) struct Labelled {
    /// The first of `MOST_LABELS` + 1 entity numbers that nobody else gives.
    first: EntityId,
    known: BTreeMap<String, EntityId>,
    news: News,
}

/// What is to be written.
pub(super) struct News {
    pub(super) entities: Vec<EntityEvent>,
    /// Rows of `SIGNAL_BY_LABEL`.
    pub(super) rows: Rows,
}

impl News {
    fn none() -> Self {
        Self {
            entities: Vec::new(),
            rows: Rows::with_capacity(SIGNAL_BY_LABEL.columns.len(), 0),
        }
    }
}

impl Labelled {
    /// With numbers from this one on.
    pub(super) fn new(first: EntityId) -> Self {
        Self {
            first,
            known: BTreeMap::new(),
            news: News::none(),
        }
    }

    /// Takes an interval of a label.
    pub(super) fn take(&mut self, bin: &Bin) {
        if let Some(label) = &bin.label {
            let entity = self.entity(label, bin.end);
            self.news.rows.push(bin.end, entity, &bin.values());
        }
    }

    /// The entity of a label, first seen by then. Adapters give `MOST_LABELS` + 1 at most: a further one has the last
    /// number, which is never another entity's.
    pub(super) fn entity(&mut self, label: &str, seen: Timestamp) -> EntityId {
        if let Some(entity) = self.known.get(label) {
            return *entity;
        }
        let number = self.known.len().min(MOST_LABELS) as u32;
        let id = EntityId(self.first.0 + number);
        if self.known.len() <= MOST_LABELS {
            let path = format!("workload/label:{number}");
            let entity = Entity::new(EntityKind::Workload, label, path);
            let record = EntityRecord {
                parent: Some(Sampler::WORKLOAD),
                ..EntityRecord::new(id, entity, seen)
            };
            self.news.entities.push(EntityEvent { time: seen, record });
            self.known.insert(label.to_owned(), id);
        }
        id
    }

    /// What came since the last call.
    pub(super) fn news(&mut self) -> News {
        std::mem::replace(&mut self.news, News::none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_label_has_an_entity_of_its_own_within_the_reserved_numbers() {
        let mut labelled = Labelled::new(EntityId(7));
        let now = Timestamp::from_ns(5);
        let ids: Vec<u32> = (0..99)
            .map(|n| labelled.entity(&format!("{n}"), now).0)
            .collect();
        let last = 7 + MOST_LABELS as u32;
        let expected: Vec<u32> = (7..7 + 99).map(|id| id.min(last)).collect();
        assert_eq!(ids, expected);
        assert_eq!(labelled.entity("3", now), EntityId(10));
        let news = labelled.news();
        assert_eq!(news.entities.len(), MOST_LABELS + 1);
        let record = &news.entities[2].record;
        assert_eq!(
            (record.parent, &*record.entity.path),
            (Some(Sampler::WORKLOAD), "workload/label:2")
        );
        assert!(labelled.news().entities.is_empty());
    }
}
