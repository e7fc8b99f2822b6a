//! What others want to know of the processes that are followed.

use std::io::Write as _;

use model::{EntityId, Role};
use rustix::fs::{Mode, OFlags, openat};

use super::{Processes, Walk, is_tracked};
use crate::kept_file::KeptFile;
use crate::remote_memory::MemoryCell;
use crate::thread::Threads;

/// So much of a title is looked at: a cluster's name stands in it before what the process does.
pub(crate) const TITLE_BYTES: usize = 256;

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
    pub(crate) fn tracked(&self) -> impl Iterator<Item = (u32, EntityId)> {
        let tracked = self
            .by_pid
            .iter()
            .filter(|(_, process)| is_tracked(process.role));
        tracked.map(|(pid, process)| (*pid, process.entity))
    }

    /// The entity of a process of target, generator or what they call.
    pub(crate) fn tracked_entity(&self, pid: u32) -> Option<EntityId> {
        let process = self.by_pid.get(&pid)?;
        is_tracked(process.role).then_some(process.entity)
    }

    /// Which part each process of target, generator and what they call has, and its wait event in memory.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (u32, EntityId, Role, Option<&MemoryCell>)> {
        let tracked = self.by_pid.iter();
        let tracked = tracked.filter(|(_, process)| is_tracked(process.role));
        tracked.map(|(pid, process)| {
            let word = process.threads.as_ref().and_then(Threads::word);
            (*pid, process.entity, process.role, word)
        })
    }

    /// The beginning of what a process shows as its command line: a server's may have made a title of it.
    pub(crate) fn title<'a>(&self, pid: u32, room: &'a mut [u8; TITLE_BYTES]) -> Option<&'a str> {
        let mut path = [0; 32];
        let mut rest = &mut path[..];
        write!(rest, "{pid}/cmdline").ok()?;
        let length = path.iter().position(|byte| *byte == 0)?;
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let file = openat(&self.folder, &path[..length], flags, Mode::empty()).ok()?;
        let length = rustix::io::read(&file, &mut room[..]).ok()?;
        let title = room[..length].split(|byte| *byte == 0).next()?;
        // It may end within a letter.
        title.utf8_chunks().next().map(|it| it.valid())
    }

    /// The topmost process above one, itself included, that has the same part: the service's.
    pub(crate) fn service_of(&self, pid: u32) -> Option<EntityId> {
        self.entity(self.root_of(pid)?)
    }

    /// The number of that process.
    pub(crate) fn root_of(&self, pid: u32) -> Option<u32> {
        let (mut root, mut top) = (pid, self.by_pid.get(&pid)?);
        while let Some(parent) = self.by_pid.get(&top.parent)
            && top.parent_entity == Some(parent.entity)
            && parent.role == top.role
        {
            (root, top) = (top.parent, parent);
        }
        Some(root)
    }

    /// The walk in the kernel, where there is one.
    pub(crate) fn walk(&self) -> Option<&Walk> {
        self.walk.as_ref()
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
            process.meter.files().chain(threads)
        })
    }
}
