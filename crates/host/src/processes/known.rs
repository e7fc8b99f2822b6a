//! What others want to know of the processes that are followed.

use model::{EntityId, Role};

use super::{Processes, is_near};
use crate::kept_file::KeptFile;
use crate::thread::Threads;

impl Processes {
    /// The processes that are looked at for the target's sake, by number.
    pub(crate) fn targets(&self) -> impl Iterator<Item = u32> {
        let serves = |role| matches!(role, Role::Target | Role::Dependency);
        self.by_pid
            .iter()
            .filter(move |(_, process)| serves(process.role))
            .map(|(pid, _)| *pid)
    }

    /// The processes of target, generator and what they call: pid and entity.
    pub(crate) fn near(&self) -> impl Iterator<Item = (u32, EntityId)> {
        let near = self
            .by_pid
            .iter()
            .filter(|(_, process)| is_near(process.role));
        near.map(|(pid, process)| (*pid, process.entity))
    }

    /// Which part each process of target, generator and what they call has.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (u32, EntityId, Role)> {
        let near = self.by_pid.iter();
        let near = near.filter(|(_, process)| is_near(process.role));
        near.map(|(pid, process)| (*pid, process.entity, process.role))
    }

    /// The topmost process above one, itself included, that has the same part: the service's.
    pub(crate) fn service_of(&self, pid: u32) -> Option<EntityId> {
        let mut top = self.by_pid.get(&pid)?;
        while let Some(parent) = self.by_pid.get(&top.parent)
            && top.parent_entity == Some(parent.entity)
            && parent.role == top.role
        {
            top = parent;
        }
        Some(top.entity)
    }

    /// Every process: pid and entity.
    pub(crate) fn all(&self) -> impl Iterator<Item = (u32, EntityId)> {
        let all = self.by_pid.iter();
        all.map(|(pid, process)| (*pid, process.entity))
    }

    /// Hands over each thread of target and generator.
    pub(crate) fn each_thread(&self, mut each: impl FnMut(u32, EntityId)) {
        let threads = self.by_pid.values().filter_map(|it| it.threads.as_ref());
        threads.for_each(|threads| threads.each(&mut each));
    }

    /// The files that are kept open.
    pub(crate) fn files(&self) -> impl Iterator<Item = &KeptFile> {
        self.by_pid.values().flat_map(|process| {
            let threads = process.threads.iter().flat_map(Threads::files);
            process.probe.files().chain(threads)
        })
    }
}
