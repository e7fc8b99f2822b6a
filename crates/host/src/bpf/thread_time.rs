//! Loads and reads thread-time accounting, which runs at the scheduler's events (`bpf/thread_time.bpf.c`).

use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::path::Path;

use libbpf_rs::btf::Btf;
use libbpf_rs::skel::{OpenSkel as _, Skel as _, SkelBuilder as _};
use libbpf_rs::{MapCore, MapFlags, ProgramInput, num_possible_cpus};
use model::{LedgerClass, Role, Timestamp};
use sensors::syscall;
use sensors::wait_event::{self, WaitClass};

use super::clock::SchedulerClock;
use super::mapped::{Filled, Mapped};
use super::per_cpu::PerCpu;
use super::skeletons::thread_time::types::{
    run_queue, thread_time_account, thread_time_ended, thread_time_other, thread_time_record,
};
use super::skeletons::thread_time::{OpenThreadTimeSkel, ThreadTimeSkel, ThreadTimeSkelBuilder};
use super::{Hooks, Refusal, at_most_threads, footprint, quietly};
use crate::clock::boottime;
use crate::remote_memory::EventPlace;

mod kernel_symbols;
pub(crate) mod psi_groups;
use kernel_symbols::Places;
use psi_groups::{MOST_SETS, Membership, Stall};

/// Thread-time accounting is off on machines with more CPUs (MOST_CPUS).
const MOST_CPUS: usize = 512;
/// Bound of system call numbers (THREAD_TIME_CALLS).
const CALLS: usize = 512;

/// One target or generator thread as of a reading.
pub(crate) type Record = thread_time_record;
/// One background thread as of a reading.
pub(crate) type Other = thread_time_other;

/// One thread's times.
pub(crate) type Account = thread_time_account;
/// One target or generator thread that has exited.
pub(crate) type Ended = thread_time_ended;

/// Threads that may exit on one CPU between two readings without loss: 10,000 a second. Fewer on machines
/// with many CPUs, because all CPUs share `MOST_ENDED` entries (5.5 MB in the kernel, and mapped here).
const ENDED_PER_CPU: usize = 1_024;
const MOST_ENDED: usize = 16_384;

/// Classes of sleeps (enum thread_time_class).
mod asleep {
    pub(super) const FUTEX: u8 = 14;
    pub(super) const OUTPUT: u8 = 15;
    pub(super) const INPUT: u8 = 16;
    pub(super) const SLEEP: u8 = 17;
    pub(super) const OTHER_CALL: u8 = 18;
}

/// Classes by PostgreSQL's wait event.
mod told {
    /// Leaves the class to the system call.
    pub(super) const NOTHING: u8 = 0;
    pub(super) const LWLOCK: u8 = 20;
    pub(super) const LOCK: u8 = 22;
    pub(super) const BUFFER: u8 = 23;
    pub(super) const ACTIVITY: u8 = 24;
    pub(super) const CLIENT: u8 = 25;
    pub(super) const EXTENSION: u8 = 26;
    pub(super) const IPC: u8 = 27;
    pub(super) const TIMEOUT: u8 = 28;
    pub(super) const IO: u8 = 29;
}

/// I/O intents (enum thread_time_call).
mod kind {
    pub(super) const OTHER: u8 = 0;
    pub(super) const SYNC: u8 = 1;
    pub(super) const READ_WRITE: u8 = 2;
    pub(super) const FAULT: u8 = 3;
}

/// Programs on frequent events, detached in off-windows. Forks, exits and renames are always reported,
/// because children inherit roles.
const OFTEN: &[&str] = &[
    "on_switch",
    "on_waking",
    "on_wakeup",
    "on_wakeup_new",
    "on_migrate",
];

pub(crate) struct ThreadTime {
    hooks: Hooks,
    programs: ThreadTimeSkel<'static>,
    clock: SchedulerClock,
    cpus: usize,
    /// The scheduler's clock less CLOCK_BOOTTIME, ns.
    ahead_ns: i64,
    records: Filled<Record>,
    others: Filled<Other>,
    ended: Mapped<Ended>,
    /// For each CPU, the last `turn` read from its ring of exited threads.
    turns: Vec<u64>,
    stalls: Mapped<Stall>,
    queues: Mapped<run_queue>,
    places: Places,
    online: usize,
    /// Whether the kernel counts pressure: it may be built without PSI, or have it disabled at boot.
    counts_pressure: bool,
}

/// What user space sets for a process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Assigned {
    pub(crate) role: Role,
    /// Where its wait event is in its memory, and the present value.
    pub(crate) place: Option<EventPlace>,
    pub(crate) said: u32,
    pub(crate) membership: Membership,
}

/// What a reading left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Missed {
    /// Threads for which there was no room.
    pub(crate) unplaced: u64,
    /// Threads whose account changed during each attempt to read it.
    pub(crate) torn: u64,
    /// Kernel addresses that have no name or no room.
    pub(crate) unnamed: u64,
}

/// Losses since the programs were loaded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Lost {
    /// Events of target and generator threads for which the kernel had no memory for an account.
    pub(crate) drops: u64,
    /// Switches and wake-ups without an event.
    pub(crate) switches: u64,
}

impl ThreadTime {
    /// Loads the programs and begins to count; `architecture` as in `uname -m`.
    ///
    /// # Errors
    /// Why the programs are not available here.
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
        let mut open = ThreadTimeSkelBuilder::default().open(place)?;
        name_calls(&mut open, architecture)?;
        psi_groups::leave_out_absent(&mut open);
        name_events(&mut open)?;
        let per_cpu = ENDED_PER_CPU.min(MOST_ENDED / cpus);
        let ended_by_place = &mut open.maps.ended_by_place;
        ended_by_place.set_max_entries((per_cpu * cpus) as u32)?;
        let constants = open.maps.rodata_data.as_deref_mut();
        let constants = constants.ok_or_else(no_variables)?;
        constants.ended_per_cpu = per_cpu as u32;
        constants.count_behind_run_queue = count_behind_run_queue()?;
        let first = open.maps.bss_data.as_deref_mut();
        let first = first.ok_or_else(no_variables)?;
        first.assignment = 1;
        first.cpus = cpus as u32;
        let places = (cpus * MOST_SETS) as u32;
        open.maps.set_by_place.set_max_entries(places)?;
        open.maps.stall_by_place.set_max_entries(places)?;
        let maps = &mut open.maps;
        let tracked = at_most_threads(maps.record_by_place.max_entries());
        maps.record_by_place.set_max_entries(tracked)?;
        let others = at_most_threads(maps.other_by_place.max_entries());
        maps.other_by_place.set_max_entries(others)?;
        let mut programs = open.load()?;
        let clock = SchedulerClock::load(cpus)?;
        let hooks = Hooks::attach(programs.object_mut(), OFTEN)?;
        let maps = &programs.maps;
        let mut thread_time = Self {
            records: Filled::new(&maps.record_by_place)?,
            others: Filled::new(&maps.other_by_place)?,
            ended: Mapped::new(&maps.ended_by_place)?,
            turns: vec![0; cpus],
            stalls: Mapped::new(&maps.stall_by_place)?,
            queues: Mapped::new(&maps.run_queue_by_cpu)?,
            places: Places::default(),
            online: cpus,
            counts_pressure: Path::new("/proc/pressure/cpu").exists(),
            hooks,
            programs,
            clock,
            cpus,
            ahead_ns: 0,
        };
        thread_time.calibrate()?;
        Ok(thread_time)
    }

    /// Measures the scheduler's clock again, since it drifts.
    pub(crate) fn calibrate(&mut self) -> Result<(), Refusal> {
        let clocks = self.clock.read()?;
        self.online = clocks.iter().filter(|it| it.is_online).count();
        let ahead = clocks.iter().filter_map(|it| it.ahead_ns).min();
        self.ahead_ns = ahead.ok_or_else(|| Refusal::new("no CPU told its scheduler's clock"))?;
        let variables = self.programs.maps.bss_data.as_deref_mut();
        variables.ok_or_else(no_variables)?.clock_ahead_ns = self.ahead_ns;
        Ok(())
    }

    /// Sets a process's role, PSI groups and wait event address, which processes that it forks from now on
    /// inherit. Takes effect at `publish`.
    pub(crate) fn assign(&mut self, pid: u32, assigned: Assigned) -> Result<(), Refusal> {
        let place = assigned.place.unwrap_or(EventPlace {
            pointer: 0,
            offset: 0,
        });
        let [part, said] = [part(assigned.role), assigned.said].map(u32::to_ne_bytes);
        let groups = assigned.membership.word();
        let remote_memory = [place.pointer, place.offset, groups].map(u64::to_ne_bytes);
        let process = [part.as_slice(), &said, remote_memory.as_flattened()].concat();
        let map = &self.programs.maps.process_by_tgid;
        map.update(&pid.to_ne_bytes(), &process, MapFlags::ANY)?;
        self.reach_within(assigned.membership)
    }

    /// Removes the entry of a process that has exited.
    pub(crate) fn forget(&self, pid: u32) -> Result<(), Refusal> {
        let map = &self.programs.maps.process_by_tgid;
        map.delete(&pid.to_ne_bytes())?;
        Ok(())
    }

    /// Makes every thread look its role up at its next event.
    pub(crate) fn publish(&mut self) {
        if let Some(variables) = self.programs.maps.bss_data.as_deref_mut() {
            variables.assignment += 1;
        }
    }

    /// Ends the on-window; returns when. From then on switches and wake-ups are not counted.
    pub(crate) fn pause(&mut self) -> Timestamp {
        let now = boottime();
        if let Some(variables) = self.programs.maps.bss_data.as_deref_mut() {
            variables.paused_at = (now.as_ns() + self.ahead_ns).cast_unsigned();
        }
        now
    }

    /// Detaches the programs on frequent events, in an off-window: detached programs cost nothing.
    pub(crate) fn detach(&mut self) {
        self.hooks.detach();
    }

    /// Attaches them again.
    pub(crate) fn attach(&mut self) -> Result<(), Refusal> {
        self.hooks.attach_again(self.programs.object_mut())
    }

    /// Begins the next on-window: each account continues from the thread's present state.
    pub(crate) fn resume(&mut self) -> Result<(), Refusal> {
        let input = ProgramInput::default();
        self.programs.progs.resume.test_run(input)?;
        Ok(())
    }

    /// Switches and wake-ups so far, including those that change no account.
    pub(crate) fn events(&self) -> u64 {
        // Each event advances the sequence count by two.
        self.queues().map(|queue| queue.sequence / 2).sum()
    }

    /// Reads target and generator threads, and with `others` background threads.
    pub(crate) fn read(&mut self, others: bool) -> Result<Missed, Refusal> {
        let variables = self.programs.maps.bss_data.as_deref_mut();
        variables.ok_or_else(no_variables)?.wants_others = u32::from(others);
        let input = ProgramInput::default();
        self.programs.progs.read.test_run(input)?;
        let unnamed = self.name_places()?;
        let variables = self.programs.maps.bss_data.as_deref();
        let found = variables.ok_or_else(no_variables)?;
        self.records.reach(found.records as usize)?;
        self.others.reach(found.others as usize)?;
        Ok(Missed {
            unplaced: found.unplaced.into(),
            torn: found.torn.into(),
            unnamed,
        })
    }

    /// The target and generator threads of the last reading.
    pub(crate) fn records(&self) -> impl Iterator<Item = Record> {
        (0..).map_while(|place| self.record(place))
    }

    /// One of them; `None` beyond the last.
    pub(crate) fn record(&self, place: usize) -> Option<Record> {
        let found = self.programs.maps.bss_data.as_deref()?.records;
        (place < found as usize).then(|| self.records.get(place))?
    }

    /// The background threads of the last reading.
    pub(crate) fn others(&self) -> impl Iterator<Item = Other> {
        let found = self.programs.maps.bss_data.as_deref();
        let found = found.map_or(0, |it| it.others);
        (0..found as usize).filter_map(|place| self.others.get(place))
    }

    /// Calls `each` for every target or generator thread that has exited since the last call; returns how
    /// many entries later exits have overwritten.
    pub(crate) fn ended(&mut self, mut each: impl FnMut(&Ended)) -> u64 {
        let per_cpu = self.ended.len() / self.cpus;
        let mut lost = 0;
        for (cpu, turn) in self.turns.iter_mut().enumerate() {
            loop {
                let place = cpu * per_cpu + *turn as usize % per_cpu;
                let Some(ended) = self.ended.get(place) else {
                    break;
                };
                // A writer sets `turn` first and last.
                let again = self.ended.get(place).map(|again| again.turn);
                if again != Some(ended.turn) || ended.turn <= *turn {
                    break;
                }
                if ended.turn == *turn + 1 {
                    each(&ended);
                } else {
                    lost += 1;
                }
                *turn += 1;
            }
        }
        lost
    }

    /// Converts a time on the programs' clock to CLOCK_BOOTTIME.
    pub(crate) fn time(&self, scheduler_ns: u64) -> Timestamp {
        Timestamp::from_ns(scheduler_ns.cast_signed() - self.ahead_ns)
    }

    /// The programs' clock less CLOCK_BOOTTIME, ns.
    pub(crate) fn ahead_ns(&self) -> i64 {
        self.ahead_ns
    }

    /// Programs that run at events, by hook.
    pub(crate) fn probes(&self) -> [(&'static str, BorrowedFd<'_>); 9] {
        let programs = &self.programs.progs;
        [
            ("sched_switch", programs.on_switch.as_fd()),
            ("sched_waking", programs.on_waking.as_fd()),
            ("sched_wakeup", programs.on_wakeup.as_fd()),
            ("sched_wakeup_new", programs.on_wakeup_new.as_fd()),
            ("sched_migrate_task", programs.on_migrate.as_fd()),
            ("sched_process_fork", programs.on_fork.as_fd()),
            ("sched_process_exec", programs.on_exec.as_fd()),
            ("sched_process_exit", programs.on_exit.as_fd()),
            ("task_rename", programs.on_rename.as_fd()),
        ]
    }

    /// Kernel memory in use, bytes; per-thread accounts are estimated for all threads of the machine.
    pub(crate) fn kernel_bytes(&self) -> Option<u64> {
        let of_thread = self.programs.maps.thread_by_task.value_size();
        let own = footprint::of(self.programs.object())? + self.clock.kernel_bytes()?;
        Some(own + footprint::of_threads(of_thread)?)
    }

    pub(crate) fn lost(&self) -> Lost {
        let mut lost = Lost::default();
        for queue in self.queues() {
            lost.drops += queue.drops;
            lost.switches += queue.missed;
        }
        lost
    }

    fn queues(&self) -> impl Iterator<Item = run_queue> {
        (0..self.cpus).filter_map(|cpu| self.queues.get(cpu))
    }
}

/// Sets the meaning of system call numbers.
fn name_calls(open: &mut OpenThreadTimeSkel<'_>, architecture: &str) -> Result<(), Refusal> {
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
            // A wait for a disk is uninterruptible, so in an interruptible sleep this is a pipe or a socket.
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

/// Sets the meaning of PostgreSQL's wait events.
fn name_events(open: &mut OpenThreadTimeSkel<'_>) -> Result<(), Refusal> {
    let constants = open.maps.rodata_data.as_deref_mut();
    let constants = constants.ok_or_else(no_variables)?;
    constants.log_event = wait_event::WAL_WRITE;
    constants.output_event = wait_event::CLIENT_WRITE;
    for (class, to) in (0..).zip(&mut constants.class_by_event) {
        *to = wait_event::class(class << 24).map_or(told::NOTHING, |class| match class {
            WaitClass::LwLock => told::LWLOCK,
            WaitClass::Lock => told::LOCK,
            WaitClass::BufferPin => told::BUFFER,
            WaitClass::Activity => told::ACTIVITY,
            WaitClass::Client => told::CLIENT,
            WaitClass::Extension => told::EXTENSION,
            WaitClass::Ipc => told::IPC,
            WaitClass::Timeout => told::TIMEOUT,
            WaitClass::Io => told::IO,
            WaitClass::InjectionPoint => told::NOTHING,
        });
    }
    Ok(())
}

/// Offset of a CPU's preempt count from its run queue, bytes; 0 if the kernel keeps the count elsewhere or
/// its BTF does not say.
fn count_behind_run_queue() -> Result<i64, Refusal> {
    let kernel = Btf::from_vmlinux()?;
    let Ok(variables) = PerCpu::of(&kernel) else {
        return Ok(0);
    };
    let places = ["__preempt_count", "pcpu_hot"].map(|it| variables.distance("runqueues", it));
    Ok(places.into_iter().find_map(Result::ok).unwrap_or(0))
}

/// A role as the program numbers it (enum thread_time_holder).
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

mod batch;
mod wait_event_counts;
mod wakeups;

pub(crate) use wait_event_counts::{Said, WaitEventSlot};
pub(crate) use wakeups::{Pair, Room, Sum};

#[cfg(test)]
pub(crate) mod tests;
#[cfg(test)]
pub(crate) mod waits;
#[cfg(test)]
mod woken;
