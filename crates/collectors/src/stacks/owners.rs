//! Whose stacks they are, also of threads that ended before their stacks were read.

use std::collections::HashMap;

use model::EntityId;

use crate::scene::Scene;

/// Threads that are remembered; beyond it all are forgotten, and those that are there noted again.
const MOST_KNOWN: usize = 50_000;

/// Threads of target, generator and dependencies that are there, or were.
#[derive(Default)]
pub(super) struct Owners {
    /// By thread: its process and its entity.
    known: HashMap<u32, (u32, EntityId)>,
}

impl Owners {
    /// Notes who is there.
    pub(super) fn note(&mut self, scene: &Scene) {
        if self.known.len() > MOST_KNOWN {
            self.known.clear();
        }
        let known = &mut self.known;
        scene.processes.each_thread(|pid, tid, entity| {
            known.insert(tid, (pid, entity));
        });
    }

    /// The entity of a thread, or else of its process, and whether it is the thread's; `None` of processes that nobody
    /// knows any more.
    pub(super) fn of(&self, pid: u32, tid: u32, scene: &Scene) -> (bool, Option<EntityId>) {
        let processes = &scene.processes;
        let thread = processes.thread_entity(pid, tid).or_else(|| {
            let (process, entity) = self.known.get(&tid)?;
            (*process == pid).then_some(*entity)
        });
        match thread {
            Some(thread) => (true, Some(thread)),
            None => (false, processes.entity(pid)),
        }
    }
}
