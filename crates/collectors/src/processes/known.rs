//! Queries about known processes.

use std::io::Write as _;

use model::{EntityId, Role};
use rustix::fs::{Mode, OFlags, openat};

use super::roles::is_tracked;
use super::walk::Walk;
use super::{Processes, TITLE_BYTES};
use crate::processes::thread::{Thread, Threads};
use kernel::open_file::OpenFile;
use kernel::remote_memory::MemoryCell;

/// A process of target, generator or dependencies.
pub(crate) struct TrackedProcess<'a> {
    pub(crate) pid: u32,
    pub(crate) entity: EntityId,
    pub(crate) role: Role,
    /// Where it shows the event that it waits for, if it is known to do so.
    pub(crate) wait_event: Option<&'a MemoryCell>,
}

impl Processes {
    /// Pids of target and dependency processes.
    pub(crate) fn targets(&self) -> impl Iterator<Item = u32> {
        let serves = |role| matches!(role, Role::Target | Role::Dependency);
        self.by_pid
            .iter()
            .filter(move |(_, process)| serves(process.role))
            .map(|(pid, _)| *pid)
    }

    /// The tracked processes, pid and entity: target, generator, dependencies.
    pub(crate) fn tracked(&self) -> impl Iterator<Item = (u32, EntityId)> {
        let tracked = self
            .by_pid
            .iter()
            .filter(|(_, process)| is_tracked(process.role));
        tracked.map(|(pid, process)| (*pid, process.entity))
    }

    /// The entity of a tracked process.
    pub(crate) fn tracked_entity(&self, pid: u32) -> Option<EntityId> {
        let process = self.by_pid.get(&pid)?;
        is_tracked(process.role).then_some(process.entity)
    }

    /// Every tracked process.
    pub(crate) fn tracked_roles(&self) -> impl Iterator<Item = TrackedProcess<'_>> {
        let tracked = self.by_pid.iter();
        let tracked = tracked.filter(|(_, process)| is_tracked(process.role));
        tracked.map(|(pid, process)| TrackedProcess {
            pid: *pid,
            entity: process.entity,
            role: process.role,
            wait_event: process.threads.as_ref().and_then(Threads::memory_cell),
        })
    }

    /// The recorder's own processes, those of servers that answer it included: pid and entity.
    pub(crate) fn recorders(&self) -> impl Iterator<Item = (u32, EntityId)> {
        let all = self.by_pid.iter();
        let own = all.filter(|(_, process)| process.role == Role::Recorder);
        own.map(|(pid, process)| (*pid, process.entity))
    }

    /// The beginning of a process's command line, which a server may have replaced by a title.
    pub(crate) fn title<'a>(&self, pid: u32, buffer: &'a mut [u8; TITLE_BYTES]) -> Option<&'a str> {
        let mut path = [0; 32];
        let mut rest = &mut path[..];
        write!(rest, "{pid}/cmdline").ok()?;
        let length = path.iter().position(|byte| *byte == 0)?;
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let file = openat(&self.folder, &path[..length], flags, Mode::empty()).ok()?;
        let length = rustix::io::read(&file, &mut buffer[..]).ok()?;
        let title = buffer[..length].split(|byte| *byte == 0).next()?;
        // The text may be cut within a character.
        title.utf8_chunks().next().map(|it| it.valid())
    }

    /// The topmost ancestor with the same role, or the process itself: the service's entity.
    pub(crate) fn service_of(&self, pid: u32) -> Option<EntityId> {
        self.entity(self.root_of(pid)?)
    }

    /// The pid of that process.
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

    /// The walk by BPF programs, if available.
    pub(crate) fn walk(&self) -> Option<&Walk> {
        self.walk.as_ref()
    }

    /// Every process: pid and entity.
    pub(crate) fn all(&self) -> impl Iterator<Item = (u32, EntityId)> {
        let all = self.by_pid.iter();
        all.map(|(pid, process)| (*pid, process.entity))
    }

    /// Calls `each` for every thread of tracked processes: process, thread and entity.
    pub(crate) fn each_thread(&self, mut each: impl FnMut(u32, u32, EntityId)) {
        for (pid, process) in &self.by_pid {
            if let Some(threads) = &process.threads {
                threads.each(&mut |tid, entity| each(*pid, tid, entity));
            }
        }
    }

    /// The entity of a thread of a tracked process.
    pub(crate) fn thread_entity(&self, pid: u32, tid: u32) -> Option<EntityId> {
        let process = self.by_pid.get(&pid)?;
        process.threads.as_ref()?.entity(tid)
    }

    /// The threads of tracked processes that a disk may keep from running, each with its process's pid.
    pub(crate) fn waiting_for_files(&self) -> impl Iterator<Item = (u32, &Thread)> {
        self.by_pid.iter().flat_map(|(pid, process)| {
            let threads = process.threads.iter().flat_map(Threads::waiting_for_files);
            threads.map(|thread| (*pid, thread))
        })
    }

    /// The files that are kept open.
    pub(crate) fn files(&self) -> impl Iterator<Item = &OpenFile> {
        self.by_pid.values().flat_map(|process| {
            let threads = process.threads.iter().flat_map(Threads::files);
            process.meter.files().chain(threads)
        })
    }
}
