//! CPU time, memory and I/O of each process, by one walk over all threads (`bpf/tasks.bpf.c`).

use std::mem::MaybeUninit;

use libbpf_rs::skel::{OpenSkel as _, Skel as _, SkelBuilder as _};
use libbpf_rs::{MapCore as _, MapFlags, ProgramInput};
use model::{MISSING, sentence};

use super::conditions::{at_most_threads, may_report_processes};
use super::footprint;
use super::mapped::Filled;
use super::messages::quietly;
use super::refusal::Refusal;
use super::skeletons::tasks::types::{tasks_process, tasks_thread};
use super::skeletons::tasks::{TasksSkel, TasksSkelBuilder};

/// One process as of a reading.
pub type Counts = tasks_process;

/// One thread as of a reading.
pub type ThreadCounts = tasks_thread;

/// Machines with more processes are read by file.
const MOST_PROCESSES: u32 = 32_768;
/// Processes that are read thread by thread, and the bound of their threads.
pub const MOST_TRACKED: u32 = 8_192;
const MOST_THREADS: u32 = 32_768;

pub struct Tasks {
    programs: TasksSkel<'static>,
    processes: Filled<Counts>,
    threads: Filled<ThreadCounts>,
}

impl Tasks {
    /// Loads the program, and reads once.
    ///
    /// # Errors
    /// Why the program is not available here.
    pub fn load() -> Result<Self, Refusal> {
        may_report_processes()?;
        let mut tasks = quietly(Self::loaded)?;
        match tasks.read()? {
            0 => Ok(tasks),
            unplaced => Err(Refusal::new(sentence!(
                "{} processes more than there is room for",
                unplaced
            ))),
        }
    }

    fn loaded() -> Result<Self, Refusal> {
        let place = Box::leak(Box::new(MaybeUninit::uninit()));
        let mut open = TasksSkelBuilder::default().open(place)?;
        let maps = &mut open.maps;
        let processes = at_most_threads(MOST_PROCESSES);
        maps.process_by_index.set_max_entries(processes)?;
        maps.tracked_by_slot.set_max_entries(MOST_TRACKED)?;
        let threads = at_most_threads(MOST_THREADS);
        maps.thread_by_index.set_max_entries(threads)?;
        let programs = open.load()?;
        Ok(Self {
            processes: Filled::new(&programs.maps.process_by_index)?,
            threads: Filled::new(&programs.maps.thread_by_index)?,
            programs,
        })
    }

    /// Kernel memory in use, bytes.
    pub fn kernel_bytes(&self) -> Option<u64> {
        footprint::of(self.programs.object())
    }

    /// Reads a process thread by thread from now on, in a slot below `MOST_TRACKED`; `None` frees the slot.
    pub fn follow(&mut self, slot: u32, pid: Option<u32>) -> Result<(), Refusal> {
        let map = &self.programs.maps.tracked_by_slot;
        let pid = pid.unwrap_or(0).to_ne_bytes();
        map.update(&slot.to_ne_bytes(), &pid, MapFlags::ANY)?;
        if let Some(variables) = self.programs.maps.bss_data.as_deref_mut() {
            variables.slots = variables.slots.max(slot + 1);
        }
        Ok(())
    }

    /// Reads the threads of followed processes; returns how many there was no room for.
    pub fn read_threads(&mut self) -> Result<u32, Refusal> {
        let threads = &self.programs.progs.threads;
        threads.test_run(ProgramInput::default())?;
        let found = self.programs.maps.bss_data.as_deref();
        let (found, unplaced) = found.map_or((0, 0), |it| (it.threads_found, it.threads_unplaced));
        self.threads.reach(found as usize)?;
        Ok(unplaced)
    }

    /// The threads of the last reading, grouped by process, oldest first.
    pub fn threads(&self) -> impl Iterator<Item = ThreadCounts> {
        let found = self.programs.maps.bss_data.as_deref();
        let found = found.map_or(0, |it| it.threads_found) as usize;
        (0..found).filter_map(|place| self.threads.get(place))
    }

    /// Reads all processes; returns how many there was no room for.
    pub fn read(&mut self) -> Result<u32, Refusal> {
        self.programs.progs.read.test_run(ProgramInput::default())?;
        let found = self.programs.maps.bss_data.as_deref();
        let (found, unplaced) = found.map_or((0, 0), |it| (it.processes, it.unplaced));
        self.processes.reach(found as usize)?;
        Ok(unplaced)
    }

    /// The processes of the last reading, oldest first.
    pub fn processes(&self) -> impl Iterator<Item = Counts> {
        let found = self.programs.maps.bss_data.as_deref();
        let found = found.map_or(0, |it| it.processes) as usize;
        (0..found).filter_map(|place| self.processes.get(place))
    }
}

/// TASKS_NOT_COUNTED becomes `MISSING`.
pub fn or_missing(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(MISSING)
}

/// The letter with which /proc shows a thread's state (task_state_index in include/linux/sched.h).
pub fn state_letter(counts: &ThreadCounts) -> u8 {
    const UNINTERRUPTIBLE: u32 = 0x2;
    /// States up to TASK_PARKED; /proc shows TASK_IDLE as the one after that.
    const SHOWN: u32 = 0x7f;
    const IDLE: u32 = 0x402;
    const RTLOCK_WAIT: u32 = 0x1000;
    const FROZEN: u32 = 0x8000;
    let state = if counts.state & (RTLOCK_WAIT | FROZEN) != 0 {
        UNINTERRUPTIBLE
    } else if counts.state & IDLE == IDLE {
        SHOWN + 1
    } else {
        (counts.state | counts.exit_state) & SHOWN
    };
    b"RSDTtXZPI"[(u32::BITS - state.leading_zeros()) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_have_the_letters_of_proc() {
        let letter = |state, exit_state| {
            let counts = ThreadCounts {
                state,
                exit_state,
                ..ThreadCounts::default()
            };
            char::from(state_letter(&counts))
        };
        let alone = [0, 1, 2, 4, 8, 0x40].map(|state| letter(state, 0));
        assert_eq!(alone, ['R', 'S', 'D', 'T', 't', 'P']);
        assert_eq!(
            (letter(0x80, 0x20), letter(0x80, 0x10)),
            ('Z', 'X'),
            "TASK_DEAD"
        );
        assert_eq!(letter(0x402, 0), 'I');
        assert_eq!(
            (letter(0x2001, 0), letter(0x102, 0)),
            ('S', 'D'),
            "freezable, killable"
        );
        assert_eq!(letter(0x8000, 0), 'D');
    }
}
