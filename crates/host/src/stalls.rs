//! Pressure and stall density from the kernel's per-CPU times, where a program may read them.
//!
//! The machine and the groups of target and generator are read CPU by CPU at every tick: their density is
//! kept as it is, their pressure folded over 2 s here. Of the other groups the kernel's own folds are
//! taken as they stand. No file is read, so that nobody's folds are disturbed.

use std::collections::HashMap;

use model::{EntityId, GapReason, MISSING, Timestamp};
use sensors::Sensor;
use sensors::stall::{CGROUP_STALL, STALL, of_machine};

use crate::bpf::Refusal;
use crate::bpf::fold::{MOST_APART_NS, STALLS, Stalled};
use crate::bpf::pressure::{MACHINE, MOST_WATCHED, Pressure};
use crate::cgroups::Cgroups;
use crate::gaps::Gaps;
use crate::intake::{Intake, LastSeen};

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
    is_gone: bool,
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
            is_gone: false,
        }
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
    pub(crate) fn sample(&mut self, now: Timestamp, intakes: &mut [Intake; 2]) {
        if self.programs.read_watched().is_err() {
            return;
        }
        let lost = now.ns_since(self.before) > MOST_APART_NS;
        self.before = now;
        let online = self.programs.online();
        for (slot, watched) in self.watched.iter_mut().enumerate() {
            let Some(watched) = watched else { continue };
            watched.is_gone = !self.programs.is_alive(slot);
            if watched.is_gone {
                continue;
            }
            if lost {
                watched.stalled.skip();
            }
            for (cpu, readings) in watched.readings.iter_mut().enumerate() {
                if let Some(stall) = self.programs.stall(slot, cpu)
                    && stall.readings != *readings
                {
                    *readings = stall.readings;
                    watched.stalled.take(cpu, stall.ns, online);
                }
            }
            let row = row(&self.programs, slot, watched.stalled.density());
            watched.density.take(now, &row, &mut intakes[whose(slot)]);
        }
    }

    /// Ends an interval of pressure: of the watched by what was read of them, of the others by what the
    /// kernel folded.
    pub(crate) fn fold(
        &mut self,
        now: Timestamp,
        cgroups: &Cgroups,
        (density, intakes): (&mut [Intake; 2], &mut [Intake]),
    ) {
        for (slot, place) in self.watched.iter_mut().enumerate() {
            let Some(watched) = place else { continue };
            if watched.is_gone {
                watched.finish(slot, self.pressure, (density, intakes));
                *place = None;
                continue;
            }
            watched.stalled.fold();
            let row = row(&self.programs, slot, watched.stalled.pressure());
            watched.pressure.take(now, &row, &mut intakes[self.pressure[whose(slot)]]);
        }
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

    /// Ends all series.
    pub(crate) fn finish(&mut self, density: &mut [Intake; 2], intakes: &mut [Intake]) {
        for (slot, watched) in self.watched.iter_mut().enumerate() {
            if let Some(watched) = watched {
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
    if slot == MACHINE { of_machine(row) } else { row }
}
