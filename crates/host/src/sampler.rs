//! The thread that wakes on absolute deadlines and reads what is due.
//!
//! In steady state it allocates nothing: buffers are reused, and rows go out once a second in exchange for
//! emptied ones. It records how late it woke and what it cost, and reads less often if reading costs too
//! much.

mod discovery;
mod events;
mod hand_over;
mod own;
mod partial_sample;
mod programs;

use std::os::fd::BorrowedFd;
use std::sync::mpsc::{Receiver, Sender, channel};

use model::{Cost, Entity, EntityId, EntityKind, MISSING, Table, Timestamp, Window};
use sensors::{Facts, Scope, Sensor};

use self::programs::Programs;

use crate::Error;
use crate::budget::Budget;
use crate::cgroups::Cgroups;
use crate::clock::{boottime, process_cpu_ns};
use crate::connections::Connections;
use crate::duty_cycle::DutyCycle;
use crate::environment::Environment;
use crate::filesystems::Filesystems;
use crate::handle::{Command, SamplerEvent, SamplerHandle, Settings, Spare};
use crate::limits;
use crate::privileges::{Duty, give_up_all_but};
use crate::probe::{Presence, Probe, Scratch};
use crate::processes::Processes;
use crate::registry::Registry;
use crate::requests::RequestCollector;
use crate::root;
use crate::schedule::{Due, Look, TICK_NS, Timer, ticks_of};
use crate::stalls::{self, Stalls};
use crate::table_buffer::{RowDeduplicator, TableBuffer};
use crate::thread_time::ThreadTimeCollector;

/// Period of the scan for new processes, in ticks.
const SCAN_TICKS: u64 = 2;
/// Period of handing rows over, in ticks: a crash loses at most a second.
const FLUSH_TICKS: u64 = 10;
/// Missed deadlines in a row from which on the interval is a gap.
const OVERRUN_TICKS: u64 = 3;
/// Period of the scan for groups, of clock comparison and of reading memberships, in ticks.
const SLOW_TICKS: u64 = ticks_of(sensors::CLOCK_PERIOD);
/// Period of reading filesystem usage, in ticks.
const FILESYSTEM_TICKS: u64 = ticks_of(sensors::FILESYSTEM_PERIOD);
/// Period of reading connections, in ticks.
const CONNECTION_TICKS: u64 = ticks_of(sensors::CONNECTION_PERIOD);
/// Period of reading the delay caused by each background process, in ticks.
const BACKGROUND_TICKS: u64 = ticks_of(sensors::thread_time::BACKGROUND_PERIOD);
/// Period of measuring the scheduler's clocks, in ticks: they drift by 20 ns a second.
const CALIBRATION_TICKS: u64 = 100;
/// Period of measuring the recorder's memory, in ticks.
const MEMORY_TICKS: u64 = 100;
/// A reading of the clock serves for all rows within this time of it.
const STAMP_NS: i64 = 500_000;

/// Reads what is due at each tick.
pub struct Sampler {
    scratch: Scratch,
    buffers: Vec<TableBuffer>,
    machine: Vec<(usize, Probe)>,
    processes: Processes,
    cgroups: Cgroups,
    stalls: Option<Stalls>,
    density: [TableBuffer; 2],
    thread_times: Option<ThreadTimeCollector>,
    request_collector: Option<RequestCollector>,
    duty_cycle: DutyCycle,
    /// Whether the next reading includes background processes.
    wants_background: bool,
    filesystems: Filesystems,
    connections: Connections,
    registry: Registry,
    recorder: (TableBuffer, RowDeduplicator),
    coverage: (TableBuffer, RowDeduplicator),
    clock: (TableBuffer, RowDeduplicator),
    commands: Receiver<Command>,
    spare: Receiver<Spare>,
    /// Numbers of this tick and of the one before.
    due: Due,
    budget: Budget,
    started: Timestamp,
    start_cpu_ns: i64,
    missed: i64,
    /// Resident memory of this process, and kernel memory of the BPF programs, bytes.
    memory: (i64, i64),
    cost: Cost,
}

impl Sampler {
    /// The machine's entity.
    pub const MACHINE: EntityId = EntityId(0);
    /// The workload's entity, if the settings name one.
    pub const WORKLOAD: EntityId = EntityId(1);

    /// Creates a sampler that is ready for its first tick, with the ends of its command and spare channels.
    ///
    /// # Errors
    /// When /proc cannot be opened.
    pub fn new(
        settings: &Settings,
        environment: &Environment,
    ) -> Result<(Self, Sender<Command>, Sender<Spare>), Error> {
        let mut cost = Cost {
            priority: "normal".to_owned(),
            ..Cost::default()
        };
        let Programs {
            stalls,
            thread_times,
            mut request_collector,
            walk,
        } = Programs::load(settings, &mut cost);
        let now = boottime();
        if let Some(request_collector) = &mut request_collector {
            request_collector.begin_timing(now);
        }
        let facts = Facts {
            tick_ns: 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1) as i64,
            page_bytes: rustix::param::page_size() as i64,
        };
        let mut scratch = Scratch::new(facts);
        let mut registry = Registry::default();
        let machine = registry.add(
            Entity::new(EntityKind::Machine, environment.node.clone(), "/"),
            None,
            now,
        );
        debug_assert_eq!(machine, Self::MACHINE);
        if let Some(workload) = &settings.workload {
            let id = registry.add(workload.clone(), None, now);
            debug_assert_eq!(id, Self::WORKLOAD);
        }
        let place = |sensor: &'static Sensor| {
            move |source: usize| Some(root::place(&settings.root, sensor.sources[source].path))
        };
        let read = |sensor: &Sensor| stalls.is_none() || !stalls::replaces(sensor);
        let machine_probes = sensors::all()
            .iter()
            .enumerate()
            .filter(|(_, sensor)| sensor.scope == Scope::Machine && read(sensor));
        let probes = machine_probes
            .filter_map(|(index, sensor)| {
                Some((
                    index,
                    Probe::open(sensor, machine, place(sensor), &mut scratch.gaps)?,
                ))
            })
            .collect();
        let (command_sender, commands) = channel();
        let (spare_sender, spare) = channel();
        let own = |table: &'static Table| {
            (
                TableBuffer::new(table),
                RowDeduplicator::new(machine, table.columns.len()),
            )
        };
        let start_cpu_ns = process_cpu_ns();
        let sampler = Self {
            scratch,
            buffers: sensors::all()
                .iter()
                .map(|sensor| TableBuffer::new(sensor.table))
                .collect(),
            machine: probes,
            processes: Processes::new(&settings.root, walk)?,
            cgroups: Cgroups::new(environment.hierarchies.clone(), read),
            stalls,
            density: stalls::buffers(),
            thread_times,
            request_collector,
            duty_cycle: DutyCycle::new(now, settings.traces_all),
            wants_background: false,
            filesystems: Filesystems::new(&settings.root),
            connections: Connections::new(&settings.root),
            registry,
            recorder: own(&sensors::RECORDER),
            coverage: own(&sensors::COVERAGE),
            clock: own(&sensors::CLOCK),
            commands,
            spare,
            due: Due {
                before: None,
                tick: 0,
            },
            budget: Budget::new(start_cpu_ns),
            started: now,
            start_cpu_ns,
            missed: 0,
            memory: (MISSING, MISSING),
            cost,
        };
        Ok((sampler, command_sender, spare_sender))
    }

    /// Runs a sampler on a thread of its own; everything that it finds goes to `sink`.
    ///
    /// # Errors
    /// When /proc cannot be opened, or the timer or the thread cannot be created.
    pub fn start(
        settings: &Settings,
        environment: &Environment,
        mut sink: impl FnMut(SamplerEvent) + Send + 'static,
    ) -> Result<SamplerHandle, Error> {
        let (mut sampler, commands, spare) = Self::new(settings, environment)?;
        let timer = Timer::new()?;
        let harden = settings.harden;
        let run = move || {
            if harden {
                sampler.cost.memory_locked = limits::lock_memory();
                sampler.cost.priority = limits::raise_priority().to_owned();
            }
            give_up_all_but(Duty::Sampling);
            sampler.run(&timer, &mut sink);
        };
        let thread = std::thread::Builder::new()
            .name("sampler".to_owned())
            .spawn(run);
        let thread = thread.map_err(|cause| Error::Setup {
            what: "start the sampling thread",
            cause,
        })?;
        Ok(SamplerHandle {
            commands,
            spare,
            thread: Some(thread),
        })
    }

    fn run(&mut self, timer: &Timer, sink: &mut dyn FnMut(SamplerEvent)) {
        // On a starved machine it takes a while to open everything.
        let begun = boottime();
        if begun.ns_since(self.started) > OVERRUN_TICKS as i64 * TICK_NS {
            sink(own::overrun(Window::new(self.started, begun)));
        }
        // A workload may end before the first tick: the stop command must not be lost.
        let mut goes_on = self.tick(0, sink);
        let mut expirations = 0;
        while goes_on && let Ok(passed) = self.wait(timer) {
            // Lateness counts from the first missed deadline, however many followed it.
            let deadline = timer.first + expirations as i64 * TICK_NS;
            let now = boottime();
            let lateness = now.ns_since(deadline);
            expirations += passed;
            self.note_missed(passed, Window::new(deadline, now), sink);
            self.due = Due {
                before: Some(self.due.tick),
                tick: expirations,
            };
            goes_on = self.tick(lateness, sink);
        }
        self.end(timer.first + expirations as i64 * TICK_NS, sink);
    }

    /// Waits for the next deadline, and handles duty-cycle edges before it.
    fn wait(&mut self, timer: &Timer) -> Result<u64, rustix::io::Errno> {
        while let Some(edge) = self.duty_cycle.edge()
            && !timer.comes_before(edge)?
        {
            if edge <= boottime() {
                self.at_edge();
            }
        }
        timer.wait()
    }

    /// One wake-up: reads what is due, and hands rows over once a second. Returns false after a stop command.
    pub fn tick(&mut self, lateness_ns: i64, sink: &mut dyn FnMut(SamplerEvent)) -> bool {
        let now = boottime();
        if self.due.every(SLOW_TICKS) {
            self.look_for_groups(now);
        }
        if self.due.every(SCAN_TICKS * self.budget.tracked) {
            self.scan_processes(now);
        }
        let goes_on = self.handle_commands(now, sink);
        self.sample(Look::Due);
        if self.due.every(FILESYSTEM_TICKS) {
            self.filesystems.sample(now);
        }
        if self.due.every(MEMORY_TICKS) {
            self.measure_memory();
        }
        self.note_self(now, lateness_ns);
        if self.budget.is_due(self.due.tick) {
            self.budget.judge(self.due.tick, process_cpu_ns());
        }
        if self.due.every(FLUSH_TICKS) {
            self.flush(sink);
        }
        self.cost.ticks += 1;
        goes_on
    }

    /// Runs the next tick without waiting; for tests that count what a tick does.
    pub fn step(&mut self, sink: &mut dyn FnMut(SamplerEvent)) -> bool {
        self.advance(1, sink)
    }

    /// Advances by `ticks` at once, as a sampler that woke late does: everything due in between is done once.
    pub fn advance(&mut self, ticks: u64, sink: &mut dyn FnMut(SamplerEvent)) -> bool {
        self.due = Due {
            before: Some(self.due.tick),
            tick: self.due.tick + ticks,
        };
        self.tick(0, sink)
    }

    /// Calls `each` for every file that is kept open: reading these and nothing else is the lower bound of
    /// what sampling can cost.
    pub fn each_file(&self, mut each: impl FnMut(BorrowedFd<'_>)) {
        let machine = self.machine.iter().flat_map(|(_, probe)| probe.files());
        let files = machine
            .chain(self.cgroups.files())
            .chain(self.processes.files());
        files.for_each(|file| each(file.descriptor()));
    }

    fn handle_commands(&mut self, now: Timestamp, sink: &mut dyn FnMut(SamplerEvent)) -> bool {
        while let Ok(command) = self.commands.try_recv() {
            match command {
                Command::Assign { pids, role } => {
                    // The process may have been started since the last scan.
                    self.scan_processes(now);
                    self.processes.assign(&pids, role, now, &mut self.registry);
                    self.scan_processes(now);
                    self.place(now);
                    let first = pids.first().and_then(|pid| self.processes.entity(*pid));
                    sink(SamplerEvent::Assigned(role, first));
                }
                Command::Serving(pids) => {
                    self.scan_processes(now);
                    self.processes.mark_serving(&pids, now, &mut self.registry);
                }
                Command::ForceFullRows => self.force_full_rows(),
                Command::Stop => return false,
            }
        }
        true
    }

    fn sample(&mut self, look: Look) {
        let (now_due, budget) = (self.due, self.budget);
        self.scratch.look = look;
        let due = |sensor: &Sensor, tracked: bool| {
            let (period, factor) = match (tracked, sensor.scope) {
                (true, Scope::Thread) => (sensor.period.tracked, budget.threads),
                (true, _) => (sensor.period.tracked, budget.tracked),
                (false, _) => (sensor.period.background, budget.background),
            };
            match look {
                Look::Due => now_due.every(ticks_of(period) * factor),
                Look::Last => true,
            }
        };
        let mut last = boottime();
        let mut stamp = move || {
            let now = boottime();
            if now.ns_since(last) > STAMP_NS {
                last = now;
            }
            last
        };
        // Threads first: their times are compared with each other, and then with those of the CPUs.
        if due(sensors::all()[self.processes.thread_sensor_index()], true) {
            self.processes.sample_threads(
                &mut stamp,
                &mut self.scratch,
                &mut self.buffers,
                &mut self.registry,
            );
        }
        if look == Look::Last || now_due.every(budget.threads) {
            let background =
                look == Look::Last || now_due.every(BACKGROUND_TICKS * budget.background);
            self.sample_events(look, background, &mut stamp);
        }
        let Self {
            scratch,
            buffers,
            machine,
            processes,
            cgroups,
            stalls,
            density,
            connections,
            registry,
            ..
        } = self;
        if let Some(stalls) = stalls {
            if look == Look::Last || now_due.every(budget.tracked) {
                stalls.sample(stamp(), cgroups, &mut scratch.gaps, (density, buffers));
            }
            if due(&sensors::pressure::MACHINE, true) {
                stalls.take_folds(stamp(), cgroups, &mut scratch.gaps, buffers);
            }
        }
        machine.retain_mut(|(index, probe)| {
            !due(sensors::all()[*index], true)
                || probe.sample(stamp(), scratch, &mut buffers[*index], registry) == Presence::Alive
        });
        cgroups.sample(&mut stamp, &due, scratch, buffers, registry);
        processes.sample(&mut stamp, &due, scratch, buffers, registry);
        if look == Look::Last || now_due.every(CONNECTION_TICKS * budget.tracked) {
            connections.look(processes, &mut scratch.gaps, registry);
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
