//! Accounts of services: each has the requests of all its connections that have no account of their own.

use model::{Entity, EntityId, EntityKind, Role, Timestamp};

use super::counted::{self, Counted};
use super::{RequestCollector, add};
use crate::output::Output;
use crate::registry::Registry;
use kernel::bpf::requests::Side;

/// Who answers or asks, in an account of its own.
pub(super) struct Service {
    pub(super) process: EntityId,
    pub(super) side: Side,
    pub(super) counted: Counted,
}

impl RequestCollector {
    /// What was counted of a process in another role is no longer of the target: a workload may be taken for that until
    /// its server is found.
    pub(super) fn change_role(
        &self,
        now: Timestamp,
        process: EntityId,
        role: Role,
        registry: &mut Registry,
    ) {
        let services = self.services.iter().flatten();
        for old in services.filter(|it| it.process == process && it.side != Side::of(role)) {
            registry.change(old.counted.last.entity(), now, |record| record.role = role);
        }
        let peers = self.peers.iter().flatten();
        for asked in peers.filter(|it| it.caller == process) {
            registry.change(asked.counted.last.entity(), now, |record| {
                record.role = role
            });
        }
    }

    /// The account of a process's service, a new one if need be.
    pub(super) fn service(
        &mut self,
        now: Timestamp,
        process: EntityId,
        role: Role,
        out: &mut Output,
    ) -> Option<usize> {
        let Output {
            tables, registry, ..
        } = out;
        let side = Side::of(role);
        let is_it = |it: &Service| it.process == process && it.side == side;
        let place = |it: &Option<Service>| it.as_ref().is_some_and(is_it);
        if let Some(known) = self.services.iter().position(place) {
            return Some(known);
        }
        // One whose process has ended serves again when no other is left.
        let is_over = |it: &Option<Service>| {
            it.as_ref()
                .is_some_and(|it| registry.get(it.process).is_none())
        };
        let free = self.services.iter().position(Option::is_none);
        let place = free.or_else(|| self.services.iter().position(is_over))?;
        if let Some(old) = self.services[place].take() {
            let buffer = &mut tables[self.tables[old.side as usize]];
            old.counted.end(now, buffer, registry);
        }
        let of = &registry.get(process)?.entity;
        let path = format!("{}/requests", of.path);
        let entity = Entity::new(EntityKind::Connection, of.name.clone(), path);
        let entity = add(registry, entity, process, role, now);
        let before = counted::row(&self.programs.service(place)?, side);
        let buffer = &mut tables[self.tables[side as usize]];
        let counted = Counted::new(entity, before, now, buffer, []);
        self.services[place] = Some(Service {
            process,
            side,
            counted,
        });
        Some(place)
    }
}
