//! Pressure and stall density from the kernel's per-CPU times, if a BPF program may read them.
//!
//! The machine and the groups of target and generator are read CPU by CPU at every tick: density is recorded
//! per tick, pressure is folded over 2 s here. For other groups the kernel's own totals are taken, as of its
//! last fold. No file is read, so no reader's fold is disturbed.

use std::collections::HashMap;

use model::{GapReason, MISSING, Table, Timestamp, Window};
use sensors::stall::{CGROUP_STALL, STALL, of_machine};

use crate::cgroups::Cgroups;
use crate::collector::{Collector, Scan};
use crate::gaps::Gaps;
use crate::opening::Opening;
use crate::output::{Output, TableId, Tables};
use crate::registry;
use crate::scene::Scene;
use crate::schedule::CALIBRATION_TICKS;
use crate::table_buffer::RowDeduplicator;
use crate::tick::Tick;
use kernel::bpf::Refusal;
use kernel::bpf::fold::{MOST_APART_NS, Modulo, STALLS, Stalled};
use kernel::bpf::pressure::{MACHINE, MOST_MONITORED, Pressure, ROOT_ID};

/// The kernel folds every 2 s (PSI_FREQ), slightly late; if it does not, pressure is folded here after this
/// time.
const FOLD_TIMEOUT_NS: i64 = 2_200_000_000;

/// A group that is read CPU by CPU.
struct Monitored {
    id: u64,
    path: String,
    last: Modulo,
    stalled: Stalled,
    density: RowDeduplicator,
    pressure: RowDeduplicator,
    /// Number of readings of each CPU; unchanged if the CPU could not be read.
    readings: Vec<u64>,
    /// When pressure was last folded.
    folded: Timestamp,
    /// Since when the group is gone or its pressure disabled.
    lost: Option<Timestamp>,
}

impl Monitored {
    /// A group whose last pressure row is `pressure`.
    fn new((id, path): (u64, &str), pressure: RowDeduplicator, readings: Vec<u64>) -> Self {
        let known = |index| match pressure.values().get(index) {
            Some(ns) if *ns != MISSING => *ns,
            _ => 0,
        };
        Self {
            id,
            path: path.to_owned(),
            last: Modulo::new(readings.len()),
            stalled: Stalled::new(readings.len(), std::array::from_fn(known)),
            density: RowDeduplicator::new(pressure.entity(), STALL.columns.len()),
            folded: pressure.time(),
            pressure,
            readings,
            lost: None,
        }
    }

    /// Takes in the CPUs' stalled times since the last reading.
    fn read(&mut self, programs: &Pressure, slot: usize, since: Window) {
        if since.len_ns() > MOST_APART_NS {
            self.last.skip();
        }
        let online = programs.online();
        for (cpu, readings) in self.readings.iter_mut().enumerate() {
            if let Some(stall) = programs.stall(slot, cpu)
                && stall.readings != *readings
            {
                *readings = stall.readings;
                if let Some(grown) = self.last.grown(cpu, stall.ns) {
                    self.stalled.take(cpu, grown, online);
                }
            }
        }
    }

    /// Folds if the kernel has ended one of its intervals since the last reading, so that both have the same
    /// intervals; if the group is idle or the kernel's interval unknown, after the same time. Returns whether
    /// it did.
    fn reconcile(&mut self, since: Window, kernels: Timestamp) -> bool {
        // At the first reading, or after a late one, that time may be long past.
        let own = (self.folded + FOLD_TIMEOUT_NS).max(since.start);
        let is_fresh = |at: &Timestamp| *at > self.folded && since.contains(*at);
        let ended = [kernels, own].into_iter().find(is_fresh);
        let part = ended.map(|at| at.ns_since(since.start) as f64 / since.len_ns() as f64);
        self.stalled.reconcile(part);
        self.folded = ended.unwrap_or(self.folded);
        ended.is_some()
    }

    /// Writes the ends of its series as of the last reading; the interval of pressure ends there too.
    fn write_ends(
        &mut self,
        at: Timestamp,
        slot: usize,
        programs: &Pressure,
        PsiTables { density, pressure }: PsiTables,
        tables: &mut Tables,
    ) {
        self.density.finish(&mut tables[density]);
        if self.was_seen() && at > self.folded {
            self.stalled.reconcile(Some(1.0));
            self.folded = at;
            let row = self.row(programs, slot, self.stalled.pressure());
            self.pressure.take(at, &row, &mut tables[pressure]);
        }
        self.pressure.finish(&mut tables[pressure]);
    }

    fn was_seen(&self) -> bool {
        self.density.time() != Timestamp::default()
    }

    /// Reports the gap since the group was lost; none if it never had values.
    fn report_lost(&self, until: Timestamp, gaps: &mut Gaps) {
        if let Some(since) = self.lost.filter(|_| self.was_seen()) {
            let window = Window::new(since, until);
            for table in [&CGROUP_STALL, sensors::pressure::CGROUP.table] {
                gaps.report_interval(&table.name, &self.path, window, GapReason::Vanished);
            }
        }
    }

    /// A row of times without those that mean nothing; the root group's values are the machine's.
    fn row<const N: usize>(&self, programs: &Pressure, slot: usize, ns: [i64; N]) -> [i64; N] {
        let row = programs.counted(ns);
        if slot == MACHINE || self.id == ROOT_ID {
            of_machine(row)
        } else {
            row
        }
    }
}

/// Readings of each CPU in a slot so far: its values belong to the group that had the slot before.
fn readings(programs: &Pressure, slot: usize) -> Vec<u64> {
    let stalls = (0..programs.cpus()).map(|cpu| programs.stall(slot, cpu));
    stalls.map(|it| it.map_or(0, |it| it.readings)).collect()
}

/// Reports a failed reading.
fn report_failed(table: &Table, refusal: &Refusal, gaps: &mut Gaps) {
    let why = format!("a program in the kernel was not run: {refusal}");
    gaps.report(&table.name, "", GapReason::Unsupported(why));
}

/// Pressure of the machine and all groups.
pub(crate) struct Stalls {
    programs: Pressure,
    /// By slot; the machine is the first. `None` for a free slot.
    monitored: Vec<Option<Monitored>>,
    /// Pressure of the other groups, by their ids.
    unmonitored: HashMap<u64, RowDeduplicator>,
    /// Where rows of the machine go, and those of groups.
    machine: PsiTables,
    groups: PsiTables,
    before: Timestamp,
    /// Whether it was reported that not all groups could be monitored.
    is_full_reported: bool,
}

/// Tables of stall density and of pressure.
#[derive(Clone, Copy)]
struct PsiTables {
    density: TableId,
    pressure: TableId,
}

/// Opens it if its program is available; then no pressure file is read.
pub(crate) fn open(opening: &mut Opening<'_>) -> Option<Box<dyn Collector>> {
    let stalls = opening.program("pressure", Stalls::load)?;
    for sensor in [&sensors::pressure::MACHINE, &sensors::pressure::CGROUP] {
        opening.replace(sensor.table);
    }
    Some(Box::new(stalls))
}

impl Stalls {
    /// # Errors
    /// Why the programs are not available here.
    fn load(out: &mut Output) -> Result<Self, Refusal> {
        let programs = Pressure::load()?;
        let machine = RowDeduplicator::new(registry::MACHINE, STALLS);
        let first = Monitored::new((0, ""), machine, readings(&programs, MACHINE));
        let mut monitored = Vec::with_capacity(MOST_MONITORED);
        monitored.push(Some(first));
        Ok(Self {
            programs,
            monitored,
            unmonitored: HashMap::new(),
            machine: PsiTables {
                density: out.open(&STALL),
                pressure: out.open(sensors::pressure::MACHINE.table),
            },
            groups: PsiTables {
                density: out.open(&CGROUP_STALL),
                pressure: out.open(sensors::pressure::CGROUP.table),
            },
            before: Timestamp::default(),
            is_full_reported: false,
        })
    }

    /// Monitors the groups of target and generator, and forgets removed ones.
    fn follow(&mut self, now: Timestamp, cgroups: &Cgroups, gaps: &mut Gaps) {
        for place in &mut self.monitored {
            let is_gone = |it: &mut Monitored| it.lost.is_some() && cgroups.entity(it.id).is_none();
            if let Some(gone) = place.take_if(is_gone) {
                gone.report_lost(now, gaps);
            }
        }
        for (id, path, entity) in cgroups.tracked() {
            let is_monitored = |it: &Option<Monitored>| it.as_ref().is_some_and(|it| it.id == id);
            if self.monitored.iter().any(is_monitored) {
                continue;
            }
            let free = self.monitored.iter().position(Option::is_none);
            let slot = free.unwrap_or(self.monitored.len());
            if slot >= MOST_MONITORED || self.programs.watch(slot, id).is_err() {
                if !std::mem::replace(&mut self.is_full_reported, true) {
                    let what = "groups beyond those that are watched";
                    gaps.report(&CGROUP_STALL.name, what, GapReason::Dropped(1));
                }
                continue;
            }
            let before = self.unmonitored.remove(&id);
            let before = before.unwrap_or_else(|| RowDeduplicator::new(entity, STALLS));
            let readings = readings(&self.programs, slot);
            let monitored = Some(Monitored::new((id, path), before, readings));
            match self.monitored.get_mut(slot) {
                Some(place) => *place = monitored,
                None => self.monitored.push(monitored),
            }
        }
    }

    /// Reads the machine and the monitored groups.
    fn read(&mut self, now: Timestamp, cgroups: &Cgroups, out: &mut Output) {
        let Output { tables, gaps, .. } = out;
        let is_first = self.before == Timestamp::default();
        let since = Window::new(if is_first { now } else { self.before }, now);
        if since.len_ns() > MOST_APART_NS {
            // The machine may have been suspended, which stops the scheduler's clocks but not ours.
            self.calibrate();
        }
        if let Err(refusal) = self.programs.read_monitored() {
            report_failed(&STALL, &refusal, gaps);
            return;
        }
        self.before = now;
        let programs = &self.programs;
        for (slot, place) in self.monitored.iter_mut().enumerate() {
            let Some(monitored) = place else { continue };
            let psi = if slot == MACHINE {
                self.machine
            } else {
                self.groups
            };
            let Some(folded) = programs.state(slot) else {
                if monitored.lost.is_none() {
                    monitored.write_ends(since.start, slot, programs, psi, tables);
                    monitored.last.skip();
                    monitored.lost = Some(since.start);
                    cgroups.report_pressure_off(&monitored.path, gaps);
                }
                continue;
            };
            monitored.report_lost(now, gaps);
            monitored.lost = None;
            monitored.read(programs, slot, since);
            let row = monitored.row(programs, slot, monitored.stalled.density());
            monitored.density.take(now, &row, &mut tables[psi.density]);
            if monitored.reconcile(since, folded) {
                let row = monitored.row(programs, slot, monitored.stalled.pressure());
                let pressure = &mut tables[psi.pressure];
                monitored.pressure.take(monitored.folded, &row, pressure);
            }
        }
    }

    /// Takes the kernel's own totals of the other groups.
    fn take_folds(&mut self, now: Timestamp, cgroups: &Cgroups, out: &mut Output) {
        let buffer = &mut out.tables[self.groups.pressure];
        self.unmonitored.retain(|id, seen| {
            let is_there = cgroups.entity(*id).is_some();
            if !is_there {
                seen.finish(buffer);
            }
            is_there
        });
        if let Err(refusal) = self.programs.read_totals() {
            report_failed(sensors::pressure::CGROUP.table, &refusal, &mut out.gaps);
            return;
        }
        for total in self.programs.totals() {
            let is_monitored =
                |it: &Option<Monitored>| it.as_ref().is_some_and(|it| it.id == total.id);
            if let Some(entity) = cgroups.entity(total.id)
                && !self.monitored.iter().any(is_monitored)
            {
                let seen = self.unmonitored.entry(total.id);
                let seen = seen.or_insert_with(|| RowDeduplicator::new(entity, STALLS));
                let row = total.ns.map(|ns| i64::try_from(ns).unwrap_or(MISSING));
                let row = self.programs.counted(row);
                seen.take(now, &row, buffer);
            }
        }
    }

    /// Ends all series, and reports gaps of groups that are still lost.
    fn end(&mut self, out: &mut Output) {
        let Output { tables, gaps, .. } = out;
        let programs = &self.programs;
        for (slot, monitored) in self.monitored.iter_mut().enumerate() {
            let Some(monitored) = monitored else { continue };
            let psi = if slot == MACHINE {
                self.machine
            } else {
                self.groups
            };
            monitored.report_lost(self.before, gaps);
            if monitored.lost.is_none() {
                monitored.write_ends(self.before, slot, programs, psi, tables);
            }
        }
        let groups = &mut tables[self.groups.pressure];
        self.unmonitored
            .values_mut()
            .for_each(|it| it.finish(groups));
    }

    /// Measures the scheduler's clocks again.
    fn calibrate(&mut self) {
        // If this fails, the old offsets serve until the next time: the clocks drift by 0.2 us in 10 s.
        let _ = self.programs.calibrate();
    }
}

impl Collector for Stalls {
    fn discover(&mut self, scan: Scan, now: Timestamp, scene: &mut Scene, out: &mut Output) {
        if scan == Scan::Groups {
            self.follow(now, &scene.cgroups, &mut out.gaps);
        }
    }

    fn sample(&mut self, tick: &Tick, scene: &mut Scene, out: &mut Output) {
        if tick.passes(CALIBRATION_TICKS) {
            self.calibrate();
        }
        let folds = tick.reads(&sensors::pressure::MACHINE, true);
        if folds || tick.is_due(tick.budget().tracked) {
            self.read(tick.stamp(), &scene.cgroups, out);
        }
        if folds {
            self.take_folds(tick.stamp(), &scene.cgroups, out);
        }
    }

    fn finish(&mut self, _scene: &mut Scene, out: &mut Output) {
        self.end(out);
    }

    fn each_program(&self, _scene: &Scene, each: &mut dyn FnMut(&'static str, Option<u64>)) {
        each("pressure", self.programs.kernel_bytes());
    }
}

#[cfg(test)]
mod tests;
