//! Which entity the number of a process or thread stood for: learned from the entity list as it is recorded.

use std::collections::HashMap;

use model::{EntityEvent, EntityId, EntityKind, EntityRecord, Timestamp};

/// The newest process of each number, and the newest thread of each number in it.
pub(super) struct Processes {
    by_pid: HashMap<u32, Process>,
    by_tid: HashMap<(EntityId, u32), Thread>,
    /// Length of the tick in which the kernel gives a process's start.
    tick_ns: i64,
}

/// What is known of one process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Process {
    pub(super) entity: EntityId,
    pub(super) started: Timestamp,
    vanished: Option<Timestamp>,
}

/// What is known of one thread.
#[derive(Clone, Copy)]
struct Thread {
    entity: EntityId,
    first_seen: Timestamp,
    vanished: Option<Timestamp>,
}

impl Processes {
    pub(super) fn new() -> Self {
        let ticks = rustix::param::clock_ticks_per_second().max(1);
        Self {
            by_pid: HashMap::new(),
            by_tid: HashMap::new(),
            tick_ns: 1_000_000_000 / ticks as i64,
        }
    }

    /// Takes changes of the entity list.
    pub(super) fn note(&mut self, events: &[EntityEvent]) {
        for EntityEvent { record, .. } in events {
            if record.entity.kind == EntityKind::Thread {
                self.note_thread(record);
            }
            if record.entity.kind != EntityKind::Process {
                continue;
            }
            let Some((pid, ticks)) = numbers(&record.entity.path) else {
                continue;
            };
            let process = Process {
                entity: record.id,
                started: Timestamp::from_ns(ticks.saturating_mul(self.tick_ns)),
                vanished: record.vanished,
            };
            let known = self.by_pid.entry(pid).or_insert(process);
            // The end of one may be told after the beginning of the next with its number.
            if process.started >= known.started {
                *known = process;
            }
        }
    }

    fn note_thread(&mut self, record: &EntityRecord) {
        let number = record.entity.path.rsplit_once("/tid:");
        let number = number.and_then(|(_, number)| number.parse().ok());
        let (Some(process), Some(number)) = (record.parent, number) else {
            return;
        };
        let thread = Thread {
            entity: record.id,
            first_seen: record.first_seen,
            vanished: record.vanished,
        };
        let known = self.by_tid.entry((process, number)).or_insert(thread);
        if thread.first_seen >= known.first_seen {
            *known = thread;
        }
    }

    /// The thread of a process that had this number at an instant. It may have been there before it was
    /// first seen: the kernel gives no start of threads here.
    pub(super) fn thread(&self, process: EntityId, tid: u32, time: Timestamp) -> Option<EntityId> {
        let thread = self.by_tid.get(&(process, tid))?;
        let ended = thread.vanished.is_some_and(|vanished| vanished < time);
        (!ended).then_some(thread.entity)
    }

    /// Whether any thread of a process is known.
    pub(super) fn has_threads(&self, process: EntityId) -> bool {
        self.by_tid.keys().any(|(owner, _)| *owner == process)
    }

    /// The process that had this number at an instant.
    pub(super) fn at(&self, pid: u32, time: Timestamp) -> Option<&Process> {
        let process = self.by_pid.get(&pid)?;
        let ended = process.vanished.is_some_and(|vanished| vanished < time);
        (process.started <= time && !ended).then_some(process)
    }
}

/// The numbers of `pid:N@TICKS`.
fn numbers(path: &str) -> Option<(u32, i64)> {
    let (pid, ticks) = path.strip_prefix("pid:")?.split_once('@')?;
    Some((pid.parse().ok()?, ticks.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Entity;

    fn event(id: u32, path: &str, vanished: Option<i64>) -> EntityEvent {
        EntityEvent {
            time: Timestamp::from_ns(0),
            record: EntityRecord {
                vanished: vanished.map(Timestamp::from_ns),
                ..EntityRecord::new(
                    EntityId(id),
                    Entity::new(EntityKind::Process, "p", path),
                    Timestamp::from_ns(0),
                )
            },
        }
    }

    #[test]
    fn a_number_stands_for_the_process_that_had_it_then() {
        let mut processes = Processes::new();
        processes.tick_ns = 1;
        processes.note(&[event(5, "pid:7@100", None), event(6, "pid:7@300", None)]);
        processes.note(&[event(5, "pid:7@100", Some(290)), event(9, "odd", None)]);
        let at = |time| {
            let found = processes.at(7, Timestamp::from_ns(time));
            found.map(|process| process.entity.0)
        };
        assert_eq!(at(299), None, "not yet born");
        assert_eq!(at(301), Some(6));
        processes.note(&[event(6, "pid:7@300", Some(400))]);
        assert!(processes.at(7, Timestamp::from_ns(400)).is_some());
        assert!(processes.at(7, Timestamp::from_ns(401)).is_none());
        assert!(processes.at(8, Timestamp::from_ns(301)).is_none());
    }

    #[test]
    fn a_thread_is_one_of_its_process() {
        let mut processes = Processes::new();
        let thread = |id, path: &str, parent, vanished| {
            let mut event = event(id, path, vanished);
            event.record.entity.kind = EntityKind::Thread;
            event.record.parent = Some(EntityId(parent));
            event
        };
        processes.note(&[
            thread(8, "pid:7@100/tid:9", 5, Some(400)),
            thread(3, "pid:2@100/tid:9", 4, None),
        ]);
        let at = |process, time| {
            let found = processes.thread(EntityId(process), 9, Timestamp::from_ns(time));
            found.map(|thread| thread.0)
        };
        assert_eq!(at(5, 400), Some(8));
        assert_eq!(at(5, 401), None);
        assert_eq!(at(4, 401), Some(3));
        assert_eq!(at(6, 1), None);
        assert!(processes.has_threads(EntityId(5)) && !processes.has_threads(EntityId(6)));
    }
}
