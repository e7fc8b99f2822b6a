//! Loads and reads thread-time accounting, which runs at the scheduler's events (`bpf/thread_time.bpf.c`).

use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::path::Path;

use libbpf_rs::skel::{OpenSkel as _, Skel as _, SkelBuilder as _};
use libbpf_rs::{MapCore, MapFlags, ProgramInput, num_possible_cpus};
use model::{Role, Timestamp};
use sensors::thread_time::Holder;

use super::clock::SchedulerClock;
use super::conditions::{at_most_threads, may_report_processes};
use super::flow::{CallWindow, Flow};
use super::footprint;
use super::hooks::Hooks;
use super::mapped::{Filled, Mapped};
use super::messages::quietly;
use super::psi_group::Reading;
use super::refusal::Refusal;
use super::skeletons::thread_time::types::{
    run_queue, thread_time_account, thread_time_background, thread_time_exited, thread_time_record,
};
use super::skeletons::thread_time::{OpenThreadTimeSkel, ThreadTimeSkel, ThreadTimeSkelBuilder};
use crate::clock::boottime;
use crate::remote_memory::{EventPlace, StatementPlace};

mod constants;
mod kernel_symbols;
pub mod psi_groups;
use kernel_symbols::KernelSymbols;
use psi_groups::{MOST_PSI_GROUPS, Membership};

/// Thread-time accounting is off on machines with more CPUs (MOST_CPUS).
const MOST_CPUS: usize = 512;

/// One target or generator thread as of a reading.
pub type Record = thread_time_record;
/// One background thread as of a reading.
pub type BackgroundThread = thread_time_background;

/// One thread's times.
pub type Account = thread_time_account;
/// One target or generator thread that has exited.
pub type ExitedThread = thread_time_exited;

/// Threads that may exit on one CPU between two readings without loss: 10,000 a second. Fewer on machines
/// with many CPUs, because all CPUs share `MOST_EXITED` entries (5.5 MB in the kernel, and mapped here).
const EXITED_PER_CPU: usize = 1_024;
const MOST_EXITED: usize = 16_384;

/// Programs on frequent events, detached in off-windows. Forks, exits and renames are always reported,
/// because children inherit roles.
const OFTEN: &[&str] = &[
    "on_switch",
    "on_waking",
    "on_wakeup",
    "on_wakeup_new",
    "on_migrate",
    "on_return",
];

pub struct ThreadTime {
    hooks: Hooks,
    /// Whether calls of flows are counted, by programs that are attached in the same on-windows.
    calls: Option<CallWindow>,
    /// How many on-windows have begun.
    windows: u32,
    programs: ThreadTimeSkel<'static>,
    clock: SchedulerClock,
    cpus: usize,
    /// The scheduler's clock less CLOCK_BOOTTIME, ns.
    ahead_ns: i64,
    records: Filled<Record>,
    background: Filled<BackgroundThread>,
    exited: Mapped<ExitedThread>,
    /// For each CPU, the number of the last entry read from its ring of exited threads.
    exits_read: Vec<u64>,
    stalls: Mapped<Reading>,
    queues: Mapped<run_queue>,
    cpu_bins: CpuBins,
    symbols: KernelSymbols,
    online: usize,
    /// Whether call stacks of waits are taken.
    takes_stacks: bool,
    /// Whether the kernel counts pressure: it may be built without PSI, or have it disabled at boot.
    counts_pressure: bool,
    statements: StatementSamples,
}

/// What user space sets for a process.
#[derive(Clone, Copy, Debug)]
pub struct Assigned {
    pub role: Role,
    /// Where its wait event is in its memory, and the present value.
    pub place: Option<EventPlace>,
    pub wait_event: u32,
    /// Where its entry with its statement is.
    pub statement: Option<StatementPlace>,
    pub membership: Membership,
}

/// What a reading left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Missed {
    /// Threads for which there was no room.
    pub unplaced: u64,
    /// Threads whose account changed during each attempt to read it.
    pub torn: u64,
    /// Kernel addresses that have no name or no room.
    pub unnamed: u64,
}

/// Losses since the programs were loaded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Lost {
    /// Events of target and generator threads for which the kernel had no memory for an account.
    pub drops: u64,
    /// Switches and wake-ups without an event.
    pub switches: u64,
}

impl ThreadTime {
    /// Loads the programs and begins to count; `architecture` as in `uname -m`.
    ///
    /// # Errors
    /// Why the programs are not available here.
    pub fn load(architecture: &str) -> Result<Self, Refusal> {
        Self::load_for(architecture, &Question::ALL)
    }

    /// The same with only some of the questions beside where each thread's time goes.
    ///
    /// # Errors
    /// Why the programs are not available here.
    pub fn load_for(architecture: &str, asked: &[Question]) -> Result<Self, Refusal> {
        Self::load_beside(architecture, asked, None)
    }

    /// The same; the calls of flows are counted in the same on-windows.
    ///
    /// # Errors
    /// Why the programs are not available here.
    pub fn load_beside(
        architecture: &str,
        asked: &[Question],
        flow: Option<&Flow>,
    ) -> Result<Self, Refusal> {
        may_report_processes()?;
        quietly(|| Self::loaded(architecture, asked, flow))
    }

    fn loaded(
        architecture: &str,
        asked: &[Question],
        flow: Option<&Flow>,
    ) -> Result<Self, Refusal> {
        let cpus = num_possible_cpus()?;
        if cpus > MOST_CPUS {
            return Err(Refusal::of_cpus(cpus, MOST_CPUS));
        }
        let place = Box::leak(Box::new(MaybeUninit::uninit()));
        let mut open = ThreadTimeSkelBuilder::default().open(place)?;
        psi_groups::leave_out_absent(&mut open);
        let takes_stacks = wait_stacks::prepare(&mut open, asked)?;
        let per_cpu = EXITED_PER_CPU.min(MOST_EXITED / cpus);
        let exited_by_index = &mut open.maps.exited_by_index;
        exited_by_index.set_max_entries((per_cpu * cpus) as u32)?;
        let edges = (cpus * cpu_bins::EDGES) as u32;
        open.maps.edge_by_index.set_max_entries(edges)?;
        let constants = open.maps.rodata_data.as_deref_mut();
        let constants = constants.ok_or_else(no_variables)?;
        constants.exited_per_cpu = per_cpu as u32;
        constants::set(constants, architecture, asked)?;
        constants.asks_wait_stacks = u32::from(takes_stacks);
        let first = open.maps.bss_data.as_deref_mut();
        let first = first.ok_or_else(no_variables)?;
        first.assignment = 1;
        first.cpus = cpus as u32;
        let entries = (cpus * MOST_PSI_GROUPS) as u32;
        open.maps.psi_group_by_index.set_max_entries(entries)?;
        open.maps.stall_by_index.set_max_entries(entries)?;
        let maps = &mut open.maps;
        let tracked = at_most_threads(maps.record_by_index.max_entries());
        maps.record_by_index.set_max_entries(tracked)?;
        let background = at_most_threads(maps.background_by_index.max_entries());
        maps.background_by_index.set_max_entries(background)?;
        let mut programs = open.load()?;
        let clock = SchedulerClock::load(cpus)?;
        let calls = flow.map(Flow::call_window).transpose()?;
        let beside = flow.map_or(Ok(Vec::new()), Flow::call_programs)?;
        let hooks = Hooks::attach(programs.object_mut(), OFTEN, beside)?;
        let maps = &programs.maps;
        let mut thread_time = Self {
            records: Filled::new(&maps.record_by_index)?,
            background: Filled::new(&maps.background_by_index)?,
            exited: Mapped::new(&maps.exited_by_index)?,
            exits_read: vec![0; cpus],
            stalls: Mapped::new(&maps.stall_by_index)?,
            queues: Mapped::new(&maps.run_queue_by_cpu)?,
            cpu_bins: CpuBins::new(&maps.edge_by_index)?,
            symbols: KernelSymbols::default(),
            online: cpus,
            takes_stacks,
            statements: StatementSamples::open(&programs.progs.on_sample, cpus),
            counts_pressure: Path::new("/proc/pressure/cpu").exists(),
            hooks,
            calls,
            windows: 0,
            programs,
            clock,
            cpus,
            ahead_ns: 0,
        };
        thread_time.calibrate()?;
        thread_time.count_calls()?;
        Ok(thread_time)
    }

    /// Measures the scheduler's clock again, since it drifts.
    pub fn calibrate(&mut self) -> Result<(), Refusal> {
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
    pub fn assign(&mut self, pid: u32, assigned: Assigned) -> Result<(), Refusal> {
        let place = assigned.place.unwrap_or(EventPlace {
            pointer: 0,
            offset: 0,
        });
        let [role, wait_event] =
            [role_number(assigned.role), assigned.wait_event].map(u32::to_ne_bytes);
        let groups = assigned.membership.packed();
        let (statement, layout) = assigned
            .statement
            .map_or((0, 0), |it| (it.pointer, it.layout as u64));
        let numbers = [place.pointer, place.offset, groups, statement, layout];
        let numbers = numbers.map(u64::to_ne_bytes);
        let process = [role.as_slice(), &wait_event, numbers.as_flattened()].concat();
        let map = &self.programs.maps.process_by_tgid;
        map.update(&pid.to_ne_bytes(), &process, MapFlags::ANY)?;
        if assigned.statement.is_some() {
            self.statements.switch_on();
        }
        self.reach(assigned.membership)
    }

    /// Removes the entry of a process that has exited.
    pub fn forget(&self, pid: u32) -> Result<(), Refusal> {
        let map = &self.programs.maps.process_by_tgid;
        map.delete(&pid.to_ne_bytes())?;
        Ok(())
    }

    /// Which threads are inside a request, for the programs that see requests.
    pub(super) fn serving(&self) -> BorrowedFd<'_> {
        self.programs.maps.serving_by_task.as_fd()
    }

    /// Says whether those see reads from now on: how many times that has begun, 0 for not (`reads_seen`).
    pub fn see_reads(&mut self, times: u32) {
        if let Some(variables) = self.programs.maps.bss_data.as_deref_mut() {
            variables.reads_seen = times;
        }
    }

    /// Makes every thread look its role up at its next event.
    pub fn publish(&mut self) {
        if let Some(variables) = self.programs.maps.bss_data.as_deref_mut() {
            variables.assignment += 1;
        }
    }

    /// Ends the on-window; returns when. From then on switches and wake-ups are not counted.
    pub fn end_on_window(&mut self) -> Timestamp {
        let now = boottime();
        if let Some(variables) = self.programs.maps.bss_data.as_deref_mut() {
            variables.off_window_since = (now.as_ns() + self.ahead_ns).cast_unsigned();
        }
        if let Some(calls) = &self.calls {
            // An array has room for its one element.
            let _ = calls.set(0);
        }
        now
    }

    /// Detaches the programs on frequent events, in an off-window: detached programs cost nothing.
    pub fn detach(&mut self) {
        self.hooks.detach();
    }

    /// Attaches them again; whether they are at their hooks, or will be soon: then the next call tells.
    pub fn attach(&mut self) -> Result<bool, Refusal> {
        self.hooks.attach_again()
    }

    /// Begins the next on-window: each account continues from the thread's present state.
    pub fn resume(&mut self) -> Result<(), Refusal> {
        let input = ProgramInput::default();
        self.programs.progs.resume.test_run(input)?;
        self.count_calls()
    }

    /// Has the calls of flows counted in the on-window that begins.
    fn count_calls(&mut self) -> Result<(), Refusal> {
        self.windows = self.windows.wrapping_add(1).max(1);
        self.calls
            .as_ref()
            .map_or(Ok(()), |it| it.set(self.windows))
    }

    /// Whether those are counted in the same on-windows.
    pub fn counts_calls(&self) -> bool {
        self.calls.is_some()
    }

    /// Switches and wake-ups so far, including those that change no account.
    pub fn events(&self) -> u64 {
        // Each event advances the sequence count by two.
        self.queues().map(|queue| queue.sequence / 2).sum()
    }

    /// Reads target and generator threads, and with `background` background threads.
    pub fn read(&mut self, background: bool) -> Result<Missed, Refusal> {
        let variables = self.programs.maps.bss_data.as_deref_mut();
        variables.ok_or_else(no_variables)?.wants_background = u32::from(background);
        let input = ProgramInput::default();
        self.programs.progs.read.test_run(input)?;
        let unnamed = self.name_symbols()?;
        let variables = self.programs.maps.bss_data.as_deref();
        let found = variables.ok_or_else(no_variables)?;
        self.records.reach(found.records as usize)?;
        self.background.reach(found.background_threads as usize)?;
        Ok(Missed {
            unplaced: found.unplaced.into(),
            torn: found.torn.into(),
            unnamed,
        })
    }

    /// The target and generator threads of the last reading.
    pub fn records(&self) -> impl Iterator<Item = Record> {
        (0..).map_while(|place| self.record(place))
    }

    /// One of them; `None` beyond the last.
    pub fn record(&self, place: usize) -> Option<Record> {
        let found = self.programs.maps.bss_data.as_deref()?.records;
        (place < found as usize).then(|| self.records.get(place))?
    }

    /// The background threads of the last reading.
    pub fn background(&self) -> impl Iterator<Item = BackgroundThread> {
        let found = self.programs.maps.bss_data.as_deref();
        let found = found.map_or(0, |it| it.background_threads);
        (0..found as usize).filter_map(|place| self.background.get(place))
    }

    /// Calls `each` for every target or generator thread that has exited since the last call; returns how
    /// many entries later exits have overwritten.
    pub fn exited(&mut self, mut each: impl FnMut(&ExitedThread)) -> u64 {
        let per_cpu = self.exited.len() / self.cpus;
        let mut lost = 0;
        for (cpu, read) in self.exits_read.iter_mut().enumerate() {
            loop {
                let place = cpu * per_cpu + *read as usize % per_cpu;
                let Some(exited) = self.exited.get(place) else {
                    break;
                };
                // A writer sets `number` first and last.
                let again = self.exited.get(place).map(|again| again.number);
                if again != Some(exited.number) || exited.number <= *read {
                    break;
                }
                if exited.number == *read + 1 {
                    each(&exited);
                } else {
                    lost += 1;
                }
                *read += 1;
            }
        }
        lost
    }

    /// Converts a time on the programs' clock to CLOCK_BOOTTIME.
    pub fn time(&self, scheduler_ns: u64) -> Timestamp {
        Timestamp::from_ns(scheduler_ns.cast_signed() - self.ahead_ns)
    }

    /// The programs' clock less CLOCK_BOOTTIME, ns.
    pub fn ahead_ns(&self) -> i64 {
        self.ahead_ns
    }

    /// Programs that run at events, by hook.
    pub fn probes(&self) -> impl Iterator<Item = (&'static str, BorrowedFd<'_>)> {
        let programs = &self.programs.progs;
        let always = [
            ("sched_switch", programs.on_switch.as_fd()),
            ("sched_waking", programs.on_waking.as_fd()),
            ("sched_wakeup", programs.on_wakeup.as_fd()),
            ("sched_wakeup_new", programs.on_wakeup_new.as_fd()),
            ("sched_migrate_task", programs.on_migrate.as_fd()),
            ("sched_process_fork", programs.on_fork.as_fd()),
            ("sched_process_exec", programs.on_exec.as_fd()),
            ("sched_process_exit", programs.on_exit.as_fd()),
            ("task_rename", programs.on_rename.as_fd()),
        ];
        // A program that is not loaded has no descriptor.
        let stacks = self.takes_stacks.then(|| programs.on_return.as_fd());
        let stacks = stacks.map(|it| ("sched_exit_tp", it));
        always.into_iter().chain(stacks)
    }

    /// Kernel memory in use, bytes; per-thread accounts are estimated for all threads of the machine.
    pub fn kernel_bytes(&self) -> Option<u64> {
        let of_thread = self.programs.maps.thread_by_task.value_size();
        let own = footprint::of(self.programs.object())? + self.clock.kernel_bytes()?;
        Some(own + footprint::of_threads(of_thread)?)
    }

    pub fn lost(&self) -> Lost {
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

/// A role as the program numbers it (enum thread_time_role).
fn role_number(role: Role) -> u32 {
    let role = match role {
        Role::Target | Role::Dependency => Holder::Target,
        Role::Generator => Holder::Generator,
        _ => Holder::Background,
    };
    role as u32
}

fn no_variables() -> Refusal {
    Refusal::new("the program's variables cannot be reached")
}

mod batch;
mod cpu_bins;
mod statement_counts;
mod wait_event_counts;
pub mod wait_stacks;
mod wakeups;

pub use constants::Question;
pub use cpu_bins::CpuBin;
use cpu_bins::CpuBins;
use statement_counts::StatementSamples;
pub use statement_counts::{Losses, StatementBuffer, StatementSum};
pub use wait_event_counts::{WaitEventBuffer, WaitEventSum};
pub use wakeups::{Pair, Sum, WakeupBuffer};

#[cfg(test)]
pub mod tests;
#[cfg(test)]
pub mod waits;
#[cfg(test)]
mod woken;
