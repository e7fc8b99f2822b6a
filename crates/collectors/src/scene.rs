//! The processes and control groups of the machine: who they are, and their sensors' open files.
//!
//! Collectors ask here who is tracked and where. An exit is noticed when a file is read, so the list of
//! processes and their readers are one thing; so it is with groups.

use model::Timestamp;
use sensors::{Facts, Scope};

use crate::cgroups::Cgroups;
use crate::opening::Opening;
use crate::output::Output;
use crate::probe::Scratch;
use crate::processes::{Processes, Walk};
use kernel::error::Error;

/// Everything that is there to be measured.
pub(crate) struct Scene {
    pub(crate) processes: Processes,
    pub(crate) cgroups: Cgroups,
    /// Buffers for reading files.
    pub(crate) scratch: Scratch,
}

impl Scene {
    /// # Errors
    /// When /proc cannot be opened.
    pub(crate) fn open(opening: &mut Opening<'_>) -> Result<Self, Error> {
        let walk = opening.program("tasks", |_| Walk::load());
        let hierarchies = opening.environment.hierarchies.clone();
        Ok(Self {
            processes: Processes::new(&opening.settings.root, walk, opening.out)?,
            cgroups: Cgroups::new(hierarchies, opening.sensors(Scope::Cgroup)),
            scratch: Scratch::new(Facts {
                tick_ns: 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1) as i64,
                page_bytes: rustix::param::page_size() as i64,
            }),
        })
    }

    /// Looks for new and exited processes.
    pub(crate) fn scan_processes(&mut self, now: Timestamp, out: &mut Output) {
        let Self {
            processes,
            cgroups,
            scratch,
        } = self;
        processes.scan(now, cgroups, scratch, out);
    }

    /// Reads the groups of tracked processes, which may have moved.
    pub(crate) fn place(&mut self, now: Timestamp, out: &mut Output) {
        let Self {
            processes,
            cgroups,
            scratch,
        } = self;
        processes.place_in_groups(now, cgroups, scratch, out);
    }
}
