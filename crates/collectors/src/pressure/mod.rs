//! Pressure and stall density from the kernel's per-CPU times, if a BPF program may read them.
//!
//! The machine and the groups of target and generator are read CPU by CPU at every tick: density is recorded
//! per tick, pressure is folded over 2 s here. For other groups the kernel's own totals are taken, as of its
//! last fold. No file is read, so no reader's fold is disturbed.

use std::collections::HashMap;

use model::{EntityKind, GapReason, MISSING, Part, Table, Timestamp, Window, sentence};
use sensors::stall::{CGROUP_STALL, STALL, of_machine};

use crate::cgroups::Cgroups;
use crate::collector::{Collector, Scan};
use crate::gaps::Gaps;
use crate::opening::Opening;
use crate::output::{Output, Tables};
use crate::psi_series::{Columns, PsiSeries, PsiTables};
use crate::registry;
use crate::scene::Scene;
use crate::schedule::CALIBRATION_TICKS;
use crate::table_buffer::RowDeduplicator;
use crate::tick::Tick;
use kernel::bpf::Refusal;
use kernel::bpf::fold::{MOST_APART_NS, STALLS};
use kernel::bpf::pressure::{MACHINE, MOST_MONITORED, Pressure, ROOT_ID};
use kernel::bpf::psi_group::{PsiGroup, StallSource as _};

/// A group that is read CPU by CPU.
struct Monitored {
    id: u64,
    path: String,
    series: PsiSeries,
    /// Since when the group is gone or its pressure disabled.
    lost: Option<Timestamp>,
}

impl Monitored {
    /// Writes the ends of its series as of the last reading, at `at`.
    fn write_ends(&mut self, at: Timestamp, programs: &Pressure, tables: &mut Tables) {
        let is_machine = self.is_machine();
        let columns: &Columns<'_> = &|row| counted(row, programs, is_machine);
        self.series.finish(at, columns, tables);
    }

    /// Takes in the last reading, at the end of `since`; the kernel has ended an interval at `kernels`.
    fn read(
        &mut self,
        programs: &Pressure,
        since: Window,
        kernels: Timestamp,
        tables: &mut Tables,
    ) {
        if since.len_ns() > MOST_APART_NS {
            self.series.group.skip();
        }
        let is_machine = self.is_machine();
        let columns: &Columns<'_> = &|row| counted(row, programs, is_machine);
        self.series.group.take(programs);
        self.series.write_density(since.end, columns, tables);
        if let Some(at) = self.series.group.fold(since, Some(kernels)) {
            self.series.write_pressure(at, columns, tables);
        }
    }

    /// The root group's values are the machine's.
    fn is_machine(&self) -> bool {
        self.series.group.place() == MACHINE || self.id == ROOT_ID
    }

    /// Reports the gap since the group was lost; none if it never had values.
    fn report_lost(&self, until: Timestamp, gaps: &mut Gaps) {
        if let Some(since) = self.lost.filter(|_| self.series.was_seen()) {
            let window = Window::new(since, until);
            for table in [&CGROUP_STALL, sensors::pressure::CGROUP.table] {
                let group = Part::name(EntityKind::Cgroup, &*self.path);
                gaps.report_interval(&table.name, group, window, GapReason::Vanished);
            }
        }
    }
}

/// A row without times that mean nothing.
fn counted<'a>(row: &'a mut [i64], programs: &Pressure, is_machine: bool) -> &'a [i64] {
    programs.mark_missing(row);
    if is_machine {
        of_machine(row);
    }
    row
}

/// Series of the group in a slot, whose pressure goes on from its last row.
fn series(
    programs: &Pressure,
    slot: usize,
    pressure: RowDeduplicator,
    tables: PsiTables,
) -> PsiSeries {
    let known = |stall| match pressure.values().get(stall) {
        Some(ns) if *ns != MISSING => *ns,
        _ => 0,
    };
    let pressure_ns = std::array::from_fn(known);
    let group = PsiGroup::new(programs, slot, pressure_ns, pressure.time());
    PsiSeries::new(group, pressure, STALL.columns.len(), tables)
}

/// Reports a failed reading.
fn report_failed(table: &Table, refusal: &Refusal, gaps: &mut Gaps) {
    let why = sentence!("a program in the kernel was not run: {}", refusal);
    gaps.report(&table.name, "", GapReason::Unsupported(why));
}

/// Pressure of the machine and all groups.
pub(crate) struct Stalls {
    programs: Pressure,
    /// By slot; the machine is the first. `None` for a free slot.
    monitored: Vec<Option<Monitored>>,
    /// Pressure of the other groups, by their ids.
    unmonitored: HashMap<u64, RowDeduplicator>,
    /// Where rows of groups go.
    groups: PsiTables,
    before: Timestamp,
    /// Whether it was reported that not all groups could be monitored.
    is_full_reported: bool,
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
        let tables = PsiTables {
            density: out.open(&STALL),
            pressure: out.open(sensors::pressure::MACHINE.table),
        };
        let mut monitored = Vec::with_capacity(MOST_MONITORED);
        monitored.push(Some(Monitored {
            id: 0,
            path: String::new(),
            series: series(&programs, MACHINE, machine, tables),
            lost: None,
        }));
        Ok(Self {
            programs,
            monitored,
            unmonitored: HashMap::new(),
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
            let monitored = Some(Monitored {
                id,
                path: path.to_owned(),
                series: series(&self.programs, slot, before, self.groups),
                lost: None,
            });
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
            let Some(folded) = programs.state(slot) else {
                if monitored.lost.is_none() {
                    monitored.write_ends(since.start, programs, tables);
                    monitored.series.group.skip();
                    monitored.lost = Some(since.start);
                    cgroups.report_pressure_off(&monitored.path, gaps);
                }
                continue;
            };
            monitored.report_lost(now, gaps);
            monitored.lost = None;
            monitored.read(programs, since, folded, tables);
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
                let mut row = total.ns.map(|ns| i64::try_from(ns).unwrap_or(MISSING));
                self.programs.mark_missing(&mut row);
                seen.take(now, &row, buffer);
            }
        }
    }

    /// Ends all series, and reports gaps of groups that are still lost.
    fn end(&mut self, out: &mut Output) {
        let Output { tables, gaps, .. } = out;
        let programs = &self.programs;
        for monitored in self.monitored.iter_mut().flatten() {
            monitored.report_lost(self.before, gaps);
            if monitored.lost.is_none() {
                monitored.write_ends(self.before, programs, tables);
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
