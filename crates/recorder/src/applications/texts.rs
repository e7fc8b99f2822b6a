//! Statements that an application reports of its sessions: an entity each, named after its text.

use std::collections::HashMap;

use model::{Entity, EntityEvent, EntityId, EntityKind, EntityRecord, Timestamp};
use sources::MOST_TEXTS;

/// The statements of one server.
pub(super) struct Texts {
    /// The first of `MOST_TEXTS` entity numbers that nobody else gives.
    first: EntityId,
    /// Those that have an entity, with the first process of the server.
    known: HashMap<(EntityId, i64), EntityId>,
}

impl Texts {
    pub(super) fn new(first: EntityId) -> Self {
        Self {
            first,
            known: HashMap::new(),
        }
    }

    /// The entities of statements that are new; `server` is the server's first process. Those beyond `MOST_TEXTS` have
    /// their id alone, which stands in the rows of sessions.
    pub(super) fn take(
        &mut self,
        time: Timestamp,
        server: EntityId,
        texts: &[(i64, String)],
    ) -> Vec<EntityEvent> {
        let mut events = Vec::new();
        for (id, text) in texts {
            let next = EntityId(self.first.0 + self.known.len() as u32);
            let is_full = self.known.len() >= MOST_TEXTS;
            if is_full || self.known.contains_key(&(server, *id)) {
                continue;
            }
            self.known.insert((server, *id), next);
            let path = format!("server:{}/{}", server.0, sensors::statement::path_of(*id));
            let entity = Entity::new(EntityKind::Statement, text, path);
            let record = EntityRecord {
                parent: Some(server),
                ..EntityRecord::new(next, entity, time)
            };
            events.push(EntityEvent { time, record });
        }
        events
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_an_entity_once_and_those_beyond_the_limit_are_none() {
        let mut texts = Texts::new(EntityId(10));
        let mut take = |server: u32, ids: std::ops::Range<i64>| {
            let told: Vec<_> = ids.map(|id| (id, format!("select {id}"))).collect();
            let events = texts.take(Timestamp::default(), EntityId(server), &told);
            let record =
                |it: EntityEvent| (it.record.id.0, it.record.parent, it.record.entity.path);
            events.into_iter().map(record).collect::<Vec<_>>()
        };
        let path = |it: &str| it.to_owned();
        let one = |number, path| (number, Some(EntityId(3)), path);
        assert_eq!(
            take(3, -1..1),
            [
                one(10, path("server:3/statement:-1")),
                one(11, path("server:3/statement:0")),
            ]
        );
        assert_eq!(take(3, 0..2), [one(12, path("server:3/statement:1"))]);
        assert_eq!(take(4, 0..1).len(), 1, "another server's");
        assert_eq!(take(3, 5..5 + 2 * MOST_TEXTS as i64).len(), MOST_TEXTS - 4);
    }
}
