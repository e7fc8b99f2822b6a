//! Where the time of each thread goes, as the scheduler sees it (`bpf/ledger.bpf.c`).

use std::mem::{MaybeUninit, offset_of};
use std::os::fd::{AsFd as _, BorrowedFd};

use libbpf_rs::btf::Btf;
use libbpf_rs::skel::{OpenSkel as _, Skel as _, SkelBuilder as _};
use libbpf_rs::{MapCore as _, MapFlags, ProgramInput, num_possible_cpus};
use model::{LedgerClass, Role, Timestamp};
use sensors::syscall;

use super::clock::SchedulerClock;
use super::mapped::Mapped;
use super::per_cpu::PerCpu;
use super::skeletons::ledger::types::{ledger_other, ledger_record, run_queue};
use super::skeletons::ledger::{LedgerSkel, LedgerSkelBuilder, OpenLedgerSkel};
use super::{Refusal, quietly};

/// Machines with more CPUs are not followed (MOST_CPUS).
const MOST_CPUS: usize = 512;
/// System calls are numbered below this (LEDGER_CALLS).
const CALLS: usize = 512;

/// One thread of target or generator as it was read.
pub(crate) type Record = ledger_record;
/// One thread of the others.
pub(crate) type Other = ledger_other;

/// Classes of sleeps, as the program numbers them (enum ledger_class).
mod asleep {
    pub(super) const FUTEX: u8 = 14;
    pub(super) const OUTPUT: u8 = 15;
    pub(super) const INPUT: u8 = 16;
    pub(super) const SLEEP: u8 = 17;
    pub(super) const OTHER_CALL: u8 = 18;
}

/// What a call asks of a disk (enum ledger_call).
mod kind {
    pub(super) const OTHER: u8 = 0;
    pub(super) const SYNC: u8 = 1;
    pub(super) const READ_WRITE: u8 = 2;
}

/// The loaded programs.
pub(crate) struct Ledger {
    programs: LedgerSkel<'static>,
    clock: SchedulerClock,
    cpus: usize,
    /// The scheduler's clock less CLOCK_BOOTTIME, ns.
    ahead_ns: i64,
    records: Mapped<Record>,
    others: Mapped<Other>,
}

/// What a reading could not tell.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Missed {
    /// Threads for which there was no room.
    pub(crate) unplaced: u64,
    /// Threads whose account was being written.
    pub(crate) torn: u64,
}

/// What was lost since the programs were loaded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Lost {
    /// Events of target and generator that found no memory for a thread's account.
    pub(crate) drops: u64,
    /// Switches and wake-ups that were not told of.
    pub(crate) switches: u64,
}

impl Ledger {
    /// Loads them and begins to count; `architecture` as `uname -m` says.
    ///
    /// # Errors
    /// Why they cannot be had here.
    pub(crate) fn load(architecture: &str) -> Result<Self, Refusal> {
        quietly(|| Self::loaded(architecture))
    }

    fn loaded(architecture: &str) -> Result<Self, Refusal> {
        let cpus = num_possible_cpus()?;
        if cpus > MOST_CPUS {
            let why = format!("{cpus} CPUs are more than the {MOST_CPUS} that it was made for");
            return Err(Refusal::new(why));
        }
        let place = Box::leak(Box::new(MaybeUninit::uninit()));
        let mut open = LedgerSkelBuilder::default().open(place)?;
        name_calls(&mut open, architecture)?;
        let constants = open.maps.rodata_data.as_deref_mut();
        constants.ok_or_else(no_variables)?.count_behind_run_queue = count_behind_run_queue()?;
        let first = open.maps.bss_data.as_deref_mut();
        first.ok_or_else(no_variables)?.assignment = 1;
        let mut programs = open.load()?;
        let clock = SchedulerClock::load(cpus)?;
        programs.attach()?;
        let (records, others) = (
            &programs.maps.record_by_place,
            &programs.maps.other_by_place,
        );
        let mut ledger = Self {
            records: Mapped::new(
                records.as_fd(),
                records.max_entries() as usize,
                records.value_size(),
            )?,
            others: Mapped::new(
                others.as_fd(),
                others.max_entries() as usize,
                others.value_size(),
            )?,
            programs,
            clock,
            cpus,
            ahead_ns: 0,
        };
        ledger.calibrate()?;
        Ok(ledger)
    }

    /// Looks at the scheduler's clock anew; it drifts.
    pub(crate) fn calibrate(&mut self) -> Result<(), Refusal> {
        let clocks = self.clock.read()?.iter();
        let ahead = clocks.filter_map(|it| it.ahead_ns).min();
        self.ahead_ns = ahead.ok_or_else(|| Refusal::new("no CPU told its scheduler's clock"))?;
        let variables = self.programs.maps.bss_data.as_deref_mut();
        variables.ok_or_else(no_variables)?.clock_ahead_ns = self.ahead_ns;
        Ok(())
    }

    /// Gives a process a part, which those that it forks from now on inherit; `None` forgets what was
    /// given to one that has ended. It is heeded after `heed`.
    pub(crate) fn assign(&self, pid: u32, role: Option<Role>) -> Result<(), Refusal> {
        let (map, key) = (&self.programs.maps.part_by_tgid, pid.to_ne_bytes());
        match role {
            Some(role) => map.update(&key, &part(role).to_ne_bytes(), MapFlags::ANY)?,
            None => map.delete(&key)?,
        }
        Ok(())
    }

    /// Has every thread look for its part at its next event.
    pub(crate) fn heed(&mut self) {
        if let Some(variables) = self.programs.maps.bss_data.as_deref_mut() {
            variables.assignment += 1;
        }
    }

    /// Reads the threads of target and generator, and the others where that is wanted.
    pub(crate) fn read(&mut self, others: bool) -> Result<Missed, Refusal> {
        let variables = self.programs.maps.bss_data.as_deref_mut();
        variables.ok_or_else(no_variables)?.wants_others = u32::from(others);
        let input = ProgramInput::default();
        self.programs.progs.read.test_run(input)?;
        let variables = self.programs.maps.bss_data.as_deref();
        let found = variables.ok_or_else(no_variables)?;
        Ok(Missed {
            unplaced: found.unplaced.into(),
            torn: found.torn.into(),
        })
    }

    /// What was read of target and generator.
    pub(crate) fn records(&self) -> impl Iterator<Item = Record> {
        (0..).map_while(|place| self.record(place))
    }

    /// One of those; `None` beyond the last.
    pub(crate) fn record(&self, place: usize) -> Option<Record> {
        let found = self.programs.maps.bss_data.as_deref()?.records;
        (place < found as usize).then(|| self.records.get(place))?
    }

    /// What was read of the others.
    pub(crate) fn others(&self) -> impl Iterator<Item = Other> {
        let found = self.programs.maps.bss_data.as_deref();
        let found = found.map_or(0, |it| it.others);
        (0..found as usize).filter_map(|place| self.others.get(place))
    }

    /// A time of the programs' on CLOCK_BOOTTIME.
    pub(crate) fn time(&self, scheduler_ns: u64) -> Timestamp {
        Timestamp::from_ns(scheduler_ns.cast_signed() - self.ahead_ns)
    }

    /// The programs that run at events, by their hooks.
    pub(crate) fn probes(&self) -> [(&'static str, BorrowedFd<'_>); 8] {
        let programs = &self.programs.progs;
        [
            ("sched_switch", programs.on_switch.as_fd()),
            ("sched_waking", programs.on_waking.as_fd()),
            ("sched_wakeup", programs.on_wakeup.as_fd()),
            ("sched_wakeup_new", programs.on_wakeup_new.as_fd()),
            ("sched_migrate_task", programs.on_migrate.as_fd()),
            ("sched_process_fork", programs.on_fork.as_fd()),
            ("sched_process_exit", programs.on_exit.as_fd()),
            ("task_rename", programs.on_rename.as_fd()),
        ]
    }

    /// What was lost so far.
    pub(crate) fn lost(&self) -> Result<Lost, Refusal> {
        let map = &self.programs.maps.run_queue_by_cpu;
        let mut lost = Lost::default();
        for cpu in 0..self.cpus as u32 {
            let value = map.lookup(&cpu.to_ne_bytes(), MapFlags::ANY)?;
            let word = |at: usize| {
                let word = value.as_deref().and_then(|it| it.get(at..)?.first_chunk());
                word.map_or(0, |it| u64::from_ne_bytes(*it))
            };
            lost.drops += word(offset_of!(run_queue, drops));
            lost.switches += word(offset_of!(run_queue, missed));
        }
        Ok(lost)
    }
}

/// Tells the program what the numbers of system calls mean.
fn name_calls(open: &mut OpenLedgerSkel<'_>, architecture: &str) -> Result<(), Refusal> {
    let constants = open.maps.rodata_data.as_deref_mut();
    let constants = constants.ok_or_else(no_variables)?;
    for number in 0..CALLS {
        let call = number as i64;
        let class = syscall::class(architecture, call).ok_or_else(|| {
            Refusal::new(format!(
                "the system calls of {architecture} are not known here"
            ))
        })?;
        let (asleep, kind) = match class {
            LedgerClass::Futex => (asleep::FUTEX, kind::OTHER),
            LedgerClass::Sync => (asleep::OTHER_CALL, kind::SYNC),
            // A disk is waited for uninterruptibly: asleep it is a pipe or a socket.
            LedgerClass::ReadWrite if syscall::gives(architecture, call) => {
                (asleep::OUTPUT, kind::READ_WRITE)
            }
            LedgerClass::ReadWrite => (asleep::INPUT, kind::READ_WRITE),
            LedgerClass::Output => (asleep::OUTPUT, kind::OTHER),
            LedgerClass::Input => (asleep::INPUT, kind::OTHER),
            LedgerClass::Sleep => (asleep::SLEEP, kind::OTHER),
            _ => (asleep::OTHER_CALL, kind::OTHER),
        };
        constants.asleep_by_call[number] = asleep;
        constants.kind_by_call[number] = kind;
    }
    Ok(())
}

/// Where a CPU counts how deep in interrupts it is: bytes from its run queue; 0 where the kernel has it
/// elsewhere, or does not say.
fn count_behind_run_queue() -> Result<i64, Refusal> {
    let kernel = Btf::from_vmlinux()?;
    let Ok(variables) = PerCpu::of(&kernel) else {
        return Ok(0);
    };
    let places = ["__preempt_count", "pcpu_hot"].map(|it| variables.distance("runqueues", it));
    Ok(places.into_iter().find_map(Result::ok).unwrap_or(0))
}

/// A process's part as the program numbers it (enum ledger_holder).
fn part(role: Role) -> u32 {
    match role {
        Role::Target | Role::Dependency => 1,
        Role::Generator => 2,
        _ => 0,
    }
}

fn no_variables() -> Refusal {
    Refusal::new("the program's variables cannot be reached")
}

mod wakeups;

pub(crate) use wakeups::{Pair, Room, Sum};

#[cfg(test)]
mod tests;
#[cfg(test)]
mod waits;
#[cfg(test)]
mod woken;
