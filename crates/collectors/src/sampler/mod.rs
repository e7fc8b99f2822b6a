//! The thread that wakes on absolute deadlines and has collectors read what is due.
//!
//! In steady state it allocates nothing: buffers are reused, and rows go out once a second in exchange for
//! emptied ones. It records how late it woke and what it cost, and reads less often if reading costs too
//! much.

mod all;
mod own;

use std::os::fd::BorrowedFd;
use std::sync::mpsc::{Receiver, Sender, channel};

use model::{Cost, Entity, EntityId, EntityKind, Timestamp, Window};
use sensors::Scope;

use self::all::Opened;
use self::own::{OVERRUN_TICKS, Own, overrun};
use crate::budget::Budget;
use crate::collector::{Collector, Scan};
use crate::handle::{Command, Ending, SamplerEvent, SamplerHandle, Settings, Spare};
use crate::output::Output;
use crate::registry;
use crate::scene::Scene;
use crate::schedule::{Due, TICK_NS, Timer, ticks_of};
use crate::tick::{Look, Tick};
use kernel::Error;
use kernel::clock::{boottime, process_cpu_ns};
use kernel::environment::Environment;
use kernel::limits;
use kernel::privileges::{Duty, give_up_all_but};

/// Period of the scan for new processes, in ticks.
const SCAN_TICKS: u64 = 2;
/// Period of handing rows over, in ticks: a crash loses at most a second.
const FLUSH_TICKS: u64 = 10;
/// Period of the scan for groups and of reading memberships, in ticks.
const SLOW_TICKS: u64 = ticks_of(sensors::CLOCK_PERIOD);
/// Period of measuring the recorder's memory, in ticks.
const MEMORY_TICKS: u64 = 100;

/// Has collectors read what is due at each tick.
pub struct Sampler {
    scene: Scene,
    collectors: Vec<Box<dyn Collector>>,
    out: Output,
    own: Own,
    commands: Receiver<Command>,
    spare: Receiver<Spare>,
    /// Numbers of this tick and of the one before.
    due: Due,
    budget: Budget,
}

impl Sampler {
    /// The machine's entity.
    pub const MACHINE: EntityId = registry::MACHINE;
    /// The workload's entity, if the settings name one.
    pub const WORKLOAD: EntityId = EntityId(1);
    /// The first entity number that the settings may reserve.
    pub const RESERVED: EntityId = EntityId(2);

    /// Creates a sampler that is ready for its first tick, with the ends of its command and spare channels.
    ///
    /// # Errors
    /// When /proc cannot be opened.
    pub fn new(
        settings: &Settings,
        environment: &Environment,
    ) -> Result<(Self, Sender<Command>, Sender<Spare>), Error> {
        let Opened {
            scene,
            mut collectors,
            mut out,
            cost,
        } = Opened::open(settings, environment)?;
        let now = boottime();
        collectors.iter_mut().for_each(|it| it.begin(now));
        let machine = Entity::new(EntityKind::Machine, environment.node.clone(), "/");
        let machine = out.registry.add(machine, None, now);
        debug_assert_eq!(machine, Self::MACHINE);
        if let Some(workload) = &settings.workload {
            let id = out.registry.add(workload.clone(), None, now);
            debug_assert_eq!(id, Self::WORKLOAD);
        }
        if settings.reserved > 0 {
            out.registry.reserve(Self::RESERVED, settings.reserved);
        }
        let (command_sender, commands) = channel();
        let (spare_sender, spare) = channel();
        let own = Own::new(now, cost, &mut out);
        let sampler = Self {
            scene,
            collectors,
            out,
            commands,
            spare,
            due: Due {
                before: None,
                tick: 0,
            },
            budget: Budget::new(own.start_cpu_ns()),
            own,
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
                sampler.own.cost.memory_locked = limits::lock_memory();
                sampler.own.cost.priority = limits::raise_priority().to_owned();
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
        if begun.ns_since(self.own.started) > OVERRUN_TICKS as i64 * TICK_NS {
            sink(overrun(Window::new(self.own.started, begun)));
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
            self.own
                .note_missed(passed, Window::new(deadline, now), sink);
            self.due = Due {
                before: Some(self.due.tick),
                tick: expirations,
            };
            goes_on = self.tick(lateness, sink);
        }
        self.end(timer.first + expirations as i64 * TICK_NS, sink);
    }

    /// Waits for the next deadline; collectors may have something to do before it.
    fn wait(&mut self, timer: &Timer) -> Result<u64, rustix::io::Errno> {
        while let Some(edge) = self.collectors.iter().filter_map(|it| it.edge()).min()
            && !timer.comes_before(edge)?
        {
            let now = boottime();
            for collector in &mut self.collectors {
                if collector.edge().is_some_and(|edge| edge <= now) {
                    collector.at_edge(&mut self.scene, &mut self.out);
                }
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
        self.out.report_contacts(sink);
        if self.due.every(MEMORY_TICKS) {
            self.own.measure_memory(&self.collectors, &self.scene);
        }
        self.own.note(now, lateness_ns, self.budget, &mut self.out);
        if self.budget.is_due(self.due.tick) {
            self.budget.judge(self.due.tick, process_cpu_ns());
        }
        if self.due.every(FLUSH_TICKS) {
            self.flush(sink);
        }
        self.own.cost.ticks += 1;
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
        for collector in &self.collectors {
            collector.each_file(&self.scene, &mut |file| each(file.descriptor()));
        }
    }

    /// Reads resource usage of all processes and pressure of all groups, and nothing else: by BPF programs,
    /// or from files if the settings have another root. For `make bench`.
    pub fn sample_tasks_and_pressure(&mut self) {
        self.sample(Look::Only(|sensor| {
            let pressure = [&sensors::pressure::MACHINE, &sensors::pressure::CGROUP];
            let mut of_pressure = pressure.into_iter();
            sensor.scope == Scope::Process
                || of_pressure.any(|it| std::ptr::eq(it.table, sensor.table))
        }));
    }

    fn handle_commands(&mut self, now: Timestamp, sink: &mut dyn FnMut(SamplerEvent)) -> bool {
        while let Ok(command) = self.commands.try_recv() {
            match command {
                Command::Assign { pids, role } => {
                    // The process may have been started since the last scan.
                    self.scan_processes(now);
                    let Scene { processes, .. } = &mut self.scene;
                    processes.assign(&pids, role, now, &mut self.out.registry);
                    self.scan_processes(now);
                    self.place(now);
                    let first = pids.first();
                    let first = first.and_then(|pid| self.scene.processes.entity(*pid));
                    sink(SamplerEvent::Assigned(role, first));
                }
                Command::Serving(pids) => {
                    self.scan_processes(now);
                    let Scene { processes, .. } = &mut self.scene;
                    processes.mark_serving(&pids, now, &mut self.out.registry);
                }
                Command::ForceFullRows => self.out.force_full_rows(),
                Command::ReportCost => sink(SamplerEvent::Cost(Box::new(self.cost()))),
                Command::Stop => return false,
            }
        }
        true
    }

    fn look_for_groups(&mut self, now: Timestamp) {
        let Scene { cgroups, .. } = &mut self.scene;
        // Walking thousands of groups takes tens of milliseconds: the more there are, the less often it is
        // done.
        let period_factor = 1 + cgroups.len() as u64 / 200;
        if self.due.every(SLOW_TICKS * period_factor) {
            cgroups.scan(now, &mut self.out);
        }
        cgroups.look_for_lost(now, &mut self.out.gaps);
        self.place(now);
    }

    fn scan_processes(&mut self, now: Timestamp) {
        self.scene.scan_processes(now, &mut self.out);
        self.discover(Scan::Processes, now);
    }

    /// Reads the groups of tracked processes, which may have moved.
    fn place(&mut self, now: Timestamp) {
        self.scene.place(now, &mut self.out);
        self.discover(Scan::Groups, now);
    }

    fn discover(&mut self, scan: Scan, now: Timestamp) {
        for collector in &mut self.collectors {
            collector.discover(scan, now, &mut self.scene, &mut self.out);
        }
    }

    fn sample(&mut self, look: Look) {
        let tick = Tick::new(look, self.due, self.budget);
        for collector in &mut self.collectors {
            collector.sample(&tick, &mut self.scene, &mut self.out);
        }
    }

    fn flush(&mut self, sink: &mut dyn FnMut(SamplerEvent)) {
        while let Ok(spare) = self.spare.try_recv() {
            self.out.take_back(spare);
        }
        for collector in &mut self.collectors {
            collector.write_out(&mut self.out);
        }
        self.out.hand_over(sink);
    }

    /// `deadline` is the first one that was missed.
    fn end(&mut self, deadline: Timestamp, sink: &mut dyn FnMut(SamplerEvent)) {
        // Processes that have started since the last scan and still run would not be reported at all.
        self.scan_processes(boottime());
        // A last reading, so that series reach the end. Reading pressure early triggers the kernel's fold for
        // all readers, as the kernel does itself every 2 s. The growth of the totals, which verdicts use,
        // loses only what is shorter than a jiffy.
        self.sample(Look::Last);
        // The tick with the stop command, or this reading, may have taken long.
        let late = Window::new(deadline, boottime());
        if let passed @ 1.. = late.len_ns() / TICK_NS {
            self.own.note_missed(passed as u64 + 1, late, sink);
        }
        self.own.measure_memory(&self.collectors, &self.scene);
        self.own.note(boottime(), 0, self.budget, &mut self.out);
        // Names are looked up after the end, and take a while.
        let at = boottime();
        for collector in &mut self.collectors {
            collector.finish(&mut self.scene, &mut self.out);
        }
        self.own.finish(&mut self.out);
        self.flush(sink);
        let cost = self.cost();
        sink(SamplerEvent::Ended(Ending { cost, at }));
    }

    /// What sampling has cost so far.
    fn cost(&self) -> Cost {
        Cost {
            cross_check: self.out.cross_check.clone(),
            corrections: self.out.corrections(),
            ..self.own.cost.clone()
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
