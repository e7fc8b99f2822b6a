//! Pressure and stall density from the kernel's per-CPU times, where a program may read them.
//!
//! The machine and the groups of target and generator are read CPU by CPU at every tick: their density is
//! kept as it is, their pressure folded over 2 s here. Of the other groups the kernel's own folds are
//! taken as they stand. No file is read, so that nobody's folds are disturbed.

use std::collections::HashMap;

use model::{EntityId, GapReason, MISSING, Timestamp, Window};
use sensors::Sensor;
use sensors::stall::{CGROUP_STALL, STALL, of_machine};

use crate::bpf::Refusal;
use crate::bpf::fold::{MOST_APART_NS, STALLS, Stalled};
use crate::bpf::pressure::{MACHINE, MOST_WATCHED, Pressure};
use crate::cgroups::Cgroups;
use crate::gaps::Gaps;
use crate::intake::{Intake, LastSeen};

/// The kernel folds every 2 s (PSI_FREQ), a little late; without it we do.
const PATIENCE_NS: i64 = 2_200_000_000;

/// Whether a sensor is one that this takes the place of.
pub(crate) fn stands_for(sensor: &Sensor) -> bool {
    [&sensors::pressure::MACHINE, &sensors::pressure::CGROUP]
        .iter()
        .any(|it| std::ptr::eq(it.table, sensor.table))
}

/// A group that is read CPU by CPU.
struct Watched {
    id: u64,
    stalled: Stalled,
    density: LastSeen,
    pressure: LastSeen,
    /// Readings of each CPU so far; where it stands still the CPU could not be read.
    readings: Vec<u64>,
    /// When pressure was last folded.
    folded: Timestamp,
}

impl Watched {
    /// A group whose pressure was `pressure` so far.
    fn new(id: u64, pressure: LastSeen, cpus: usize) -> Self {
        let known = |index| match pressure.values().get(index) {
            Some(ns) if *ns != MISSING => *ns,
            _ => 0,
        };
        Self {
            id,
            stalled: Stalled::new(cpus, std::array::from_fn(known)),
            density: LastSeen::new(pressure.entity(), STALL.columns.len()),
            pressure,
            readings: vec![0; cpus],
            folded: Timestamp::default(),
        }
    }

    /// Takes what the CPUs lost since the last reading.
    fn read(&mut self, programs: &Pressure, slot: usize, since: Window) {
        if since.len_ns() > MOST_APART_NS {
            self.stalled.skip();
        }
        let online = programs.online();
        for (cpu, readings) in self.readings.iter_mut().enumerate() {
            if let Some(stall) = programs.stall(slot, cpu)
                && stall.readings != *readings
            {
                *readings = stall.readings;
                self.stalled.take(cpu, stall.ns, online);
            }
        }
    }

    /// Folds where the kernel has ended one of its intervals since the last reading, so that both
    /// have the same; of a group that rests, or where that is not known, after as long. Whether it did.
    fn settle(&mut self, since: Window, kernels: Timestamp) -> bool {
        let own = self.folded + PATIENCE_NS;
        let ended = [kernels, own].into_iter().find(|it| since.contains(*it));
        let part = ended.map(|at| at.ns_since(since.start) as f64 / since.len_ns() as f64);
        self.stalled.settle(part);
        self.folded = ended.unwrap_or(self.folded);
        ended.is_some()
    }

    /// Ends its series.
    fn finish(
        &mut self,
        slot: usize,
        pressure: [usize; 2],
        (density, intakes): (&mut [Intake; 2], &mut [Intake]),
    ) {
        self.density.finish(&mut density[whose(slot)]);
        self.pressure.finish(&mut intakes[pressure[whose(slot)]]);
    }
}

/// Pressure of everything.
pub(crate) struct Stalls {
    programs: Pressure,
    /// By slot; the machine is the first. `None` for a slot to be used again.
    watched: Vec<Option<Watched>>,
    /// Pressure of the groups that are not watched, by their ids.
    others: HashMap<u64, LastSeen>,
    /// Which of all sensors are pressure: the machine's and the groups'.
    pressure: [usize; 2],
    before: Timestamp,
    /// Whether it was said that not all could be watched.
    is_full_said: bool,
}

/// Where rows of stall density go: the machine's and the groups'.
pub(crate) fn intakes() -> [Intake; 2] {
    [Intake::new(&STALL), Intake::new(&CGROUP_STALL)]
}

impl Stalls {
    /// # Errors
    /// Why it cannot be had here.
    pub(crate) fn load(machine: EntityId) -> Result<Self, Refusal> {
        // Switched off, its times stand still and its files say so.
        std::fs::read("/proc/pressure/cpu")
            .map_err(|cause| Refusal::new(format!("the kernel counts no pressure: {cause}")))?;
        let programs = Pressure::load()?;
        let first = Watched::new(0, LastSeen::new(machine, STALLS), programs.cpus());
        let mut watched = Vec::with_capacity(MOST_WATCHED);
        watched.push(Some(first));
        Ok(Self {
            programs,
            watched,
            others: HashMap::new(),
            pressure: [&sensors::pressure::MACHINE, &sensors::pressure::CGROUP].map(|sensor| {
                let mut all = sensors::all().iter();
                let place = all.position(|it| std::ptr::eq(it.table, sensor.table));
                place.expect("pressure is one of the sensors")
            }),
            before: Timestamp::default(),
            is_full_said: false,
        })
    }

    /// Follows the groups of target and generator, and forgets those that are gone.
    pub(crate) fn follow(&mut self, cgroups: &Cgroups, gaps: &mut Gaps) {
        for (id, entity) in cgroups.near() {
            let is_watched = |it: &Option<Watched>| it.as_ref().is_some_and(|it| it.id == id);
            if self.watched.iter().any(is_watched) {
                continue;
            }
            let free = self.watched.iter().position(Option::is_none);
            let slot = free.unwrap_or(self.watched.len());
            if slot >= MOST_WATCHED || self.programs.watch(slot, id).is_err() {
                if !std::mem::replace(&mut self.is_full_said, true) {
                    let what = "groups beyond those that are watched";
                    gaps.say(&CGROUP_STALL.name, what, GapReason::Dropped(1));
                }
                continue;
            }
            let before = self.others.remove(&id);
            let before = before.unwrap_or_else(|| LastSeen::new(entity, STALLS));
            let watched = Some(Watched::new(id, before, self.programs.cpus()));
            match self.watched.get_mut(slot) {
                Some(place) => *place = watched,
                None => self.watched.push(watched),
            }
        }
        self.others.retain(|id, _| cgroups.entity(*id).is_some());
    }

    /// Reads the machine and the watched groups.
    pub(crate) fn sample(
        &mut self,
        now: Timestamp,
        (density, intakes): (&mut [Intake; 2], &mut [Intake]),
    ) {
        if self.programs.read_watched().is_err() {
            return;
        }
        let since = Window::new(self.before, now);
        self.before = now;
        for (slot, place) in self.watched.iter_mut().enumerate() {
            let Some(watched) = place else { continue };
            let Some(folded) = self.programs.state(slot) else {
                watched.finish(slot, self.pressure, (density, intakes));
                *place = None;
                continue;
            };
            watched.read(&self.programs, slot, since);
            let row = row(&self.programs, slot, watched.stalled.density());
            watched.density.take(now, &row, &mut density[whose(slot)]);
            if watched.settle(since, folded) {
                let row = self::row(&self.programs, slot, watched.stalled.pressure());
                let intake = &mut intakes[self.pressure[whose(slot)]];
                watched.pressure.take(watched.folded, &row, intake);
            }
        }
    }

    /// Takes the kernel's own folds of the groups that are not watched.
    pub(crate) fn take_folds(&mut self, now: Timestamp, cgroups: &Cgroups, intakes: &mut [Intake]) {
        let Ok(totals) = self.programs.read_totals() else {
            return;
        };
        for total in totals {
            let is_watched = |it: &Option<Watched>| it.as_ref().is_some_and(|it| it.id == total.id);
            if let Some(entity) = cgroups.entity(total.id)
                && !self.watched.iter().any(is_watched)
            {
                let seen = self.others.entry(total.id);
                let seen = seen.or_insert_with(|| LastSeen::new(entity, STALLS));
                let row = total.ns.map(|ns| i64::try_from(ns).unwrap_or(MISSING));
                let row = self.programs.counted(row);
                seen.take(now, &row, &mut intakes[self.pressure[1]]);
            }
        }
    }

    /// Looks at the scheduler's clocks anew.
    pub(crate) fn calibrate(&mut self) {
        // Without it the clocks drift by 0.2 us in 10 s: the old ones serve until the next time.
        let _ = self.programs.calibrate();
    }

    /// Ends all series, and the interval of pressure with them.
    pub(crate) fn finish(&mut self, density: &mut [Intake; 2], intakes: &mut [Intake]) {
        for (slot, watched) in self.watched.iter_mut().enumerate() {
            if let Some(watched) = watched {
                watched.stalled.settle(Some(1.0));
                let row = row(&self.programs, slot, watched.stalled.pressure());
                let intake = &mut intakes[self.pressure[whose(slot)]];
                watched.pressure.take(self.before, &row, intake);
                watched.finish(slot, self.pressure, (density, intakes));
            }
        }
        let groups = &mut intakes[self.pressure[1]];
        self.others.values_mut().for_each(|it| it.finish(groups));
    }
}

/// The machine's intake is the first, that of groups the second.
fn whose(slot: usize) -> usize {
    usize::from(slot != MACHINE)
}

/// A row of times, without those that mean nothing.
fn row<const N: usize>(programs: &Pressure, slot: usize, ns: [i64; N]) -> [i64; N] {
    let row = programs.counted(ns);
    if slot == MACHINE {
        of_machine(row)
    } else {
        row
    }
}

#[cfg(test)]
mod tests;
