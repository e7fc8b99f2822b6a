//! What each process has used so far, by one walk over all threads (`bpf/tasks.bpf.c`).

use std::mem::MaybeUninit;
use std::os::fd::AsFd as _;

use libbpf_rs::skel::{OpenSkel as _, SkelBuilder as _};
use libbpf_rs::{MapCore as _, ProgramInput};

use super::mapped::Mapped;
use super::skeletons::tasks::types::tasks_process;
use super::skeletons::tasks::{TasksSkel, TasksSkelBuilder};
use super::{Refusal, quietly};

/// One process as it was read.
pub(crate) type Counts = tasks_process;

/// The loaded program.
pub(crate) struct Tasks {
    programs: TasksSkel<'static>,
    processes: Mapped<Counts>,
}

impl Tasks {
    /// Loads it.
    ///
    /// # Errors
    /// Why it cannot be had here.
    pub(crate) fn load() -> Result<Self, Refusal> {
        quietly(Self::loaded)
    }

    fn loaded() -> Result<Self, Refusal> {
        let place = Box::leak(Box::new(MaybeUninit::uninit()));
        let programs = TasksSkelBuilder::default().open(place)?.load()?;
        let map = &programs.maps.process_by_place;
        let processes = Mapped::new(map.as_fd(), map.max_entries() as usize, map.value_size())?;
        Ok(Self {
            programs,
            processes,
        })
    }

    /// Reads all processes anew; how many there was no room for.
    pub(crate) fn read(&self) -> Result<u32, Refusal> {
        self.programs.progs.read.test_run(ProgramInput::default())?;
        let found = self.programs.maps.bss_data.as_deref();
        Ok(found.map_or(0, |it| it.unplaced))
    }

    /// The processes as they were last read, the oldest first.
    pub(crate) fn processes(&self) -> impl Iterator<Item = Counts> {
        let found = self.programs.maps.bss_data.as_deref();
        let found = found.map_or(0, |it| it.processes) as usize;
        (0..found).filter_map(|place| self.processes.get(place))
    }
}
