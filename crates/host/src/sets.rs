//! Pressure and stall density of the services themselves: of each process that serves the target or
//! generates the load, with all that it forks, whatever groups those are in.
//!
//! The ledger's programs count what a set of threads waits for as the kernel does for its own groups;
//! here it is folded over 2 s, as the kernel does it, and kept at 100 ms as it is.

use std::collections::HashMap;

use model::{EntityId, GapReason, MISSING, Timestamp, Window};
use sensors::stall::{FOLD, PROCESS_PRESSURE, PROCESS_STALL};

use crate::bpf::fold::{MOST_APART_NS, STALLS, STATES, Stalled};
use crate::bpf::ledger::Ledger;
use crate::bpf::ledger::sets::{MOST_SETS, Member};
use crate::gaps::Gaps;
use crate::intake::{Intake, LastSeen};
use crate::processes::Processes;

const FOLD_NS: i64 = FOLD.as_nanos() as i64;
/// Interrupts are told by no event of the scheduler's (`irq_full`, between the stalls and `nonidle`).
const TOLD: usize = STALLS - 1;
/// Memory's among the states.
const MEMORY: std::ops::Range<usize> = 2..4;

/// A set of threads and what it lost so far.
pub(crate) struct Set {
    stalled: Stalled,
    /// Readings of each CPU so far; where it stands still the CPU could not be read.
    readings: Vec<u64>,
    before: Option<Timestamp>,
    folded: Timestamp,
}

impl Set {
    /// A set that begins to be read; what stands in its place is of one that had it before.
    pub(crate) fn new(programs: &Ledger, place: usize) -> Self {
        let cpus = programs.cpus();
        let readings = |cpu| programs.stall(place, cpu).map_or(0, |it| it.readings);
        Self {
            stalled: Stalled::new(cpus, [0; STALLS]),
            readings: (0..cpus).map(readings).collect(),
            before: None,
            folded: Timestamp::default(),
        }
    }

    /// Takes what the programs have read now. When pressure was folded, if it was.
    pub(crate) fn take(
        &mut self,
        programs: &Ledger,
        place: usize,
        now: Timestamp,
    ) -> Option<Timestamp> {
        let since = Window::new(self.before.unwrap_or(now), now);
        if since.len_ns() > MOST_APART_NS {
            self.stalled.skip();
        }
        for (cpu, readings) in self.readings.iter_mut().enumerate() {
            if let Some(stall) = programs.stall(place, cpu)
                && stall.readings != *readings
            {
                *readings = stall.readings;
                self.stalled.take(cpu, stall.ns, programs.online());
            }
        }
        if self.before.replace(now).is_none() {
            self.folded = now;
            return None;
        }
        let ended = (self.folded + FOLD_NS).max(since.start);
        let ended = Some(ended).filter(|at| since.contains(*at));
        let part = ended.map(|at| at.ns_since(since.start) as f64 / since.len_ns() as f64);
        self.stalled.settle(part);
        self.folded = ended.unwrap_or(self.folded);
        ended
    }

    /// Ends the interval of pressure with the last reading; when that was, where it is news.
    pub(crate) fn end(&mut self) -> Option<Timestamp> {
        let at = self.before.filter(|at| *at > self.folded)?;
        self.stalled.settle(Some(1.0));
        self.folded = at;
        Some(at)
    }

    /// Stalled time so far as pressure counts it, by stall.
    pub(crate) fn pressure(&self, programs: &Ledger) -> [i64; TOLD] {
        let all = self.stalled.pressure();
        told(programs, std::array::from_fn(|stall| all[stall]))
    }

    /// Stalled time so far, mean over the CPUs, by stall, and `nonidle`.
    pub(crate) fn density(&self, programs: &Ledger) -> [i64; TOLD + 1] {
        let all = self.stalled.density();
        let place = |state| if state < TOLD { state } else { STATES - 1 };
        told(programs, std::array::from_fn(|state| all[place(state)]))
    }
}

/// Without what the kernel does not note.
fn told<const N: usize>(programs: &Ledger, mut row: [i64; N]) -> [i64; N] {
    if !programs.knows_memory() {
        row[MEMORY].fill(MISSING);
    }
    row
}

/// A process with what it forks.
struct Service {
    pid: u32,
    set: Set,
    density: LastSeen,
    pressure: LastSeen,
}

impl Service {
    fn new(pid: u32, entity: EntityId, set: Set) -> Self {
        Self {
            pid,
            set,
            density: LastSeen::new(entity, PROCESS_STALL.columns.len()),
            pressure: LastSeen::new(entity, PROCESS_PRESSURE.columns.len()),
        }
    }

    fn finish(&mut self, programs: &Ledger, [density, pressure]: &mut [Intake; 2]) {
        self.density.finish(density);
        if let Some(at) = self.set.end() {
            let row = self.set.pressure(programs);
            self.pressure.take(at, &row, pressure);
        }
        self.pressure.finish(pressure);
    }
}

/// The services of target and generator.
pub(crate) struct Services {
    /// By place; a place that was left is used again as late as can be.
    places: Vec<Option<Service>>,
    next: usize,
    /// In which place each process is, and which process that was.
    by_pid: HashMap<u32, (EntityId, usize)>,
    newcomers: Vec<(u32, EntityId)>,
    /// Rows of stall density and of pressure.
    pub(crate) intakes: [Intake; 2],
    is_full_said: bool,
}

impl Services {
    pub(crate) fn new() -> Self {
        Self {
            places: (0..MOST_SETS).map(|_| None).collect(),
            next: 0,
            by_pid: HashMap::new(),
            newcomers: Vec::new(),
            intakes: [Intake::new(&PROCESS_STALL), Intake::new(&PROCESS_PRESSURE)],
            is_full_said: false,
        }
    }

    /// Puts processes of target and generator into the sets of those that they descend from. Whether
    /// the programs are to heed it.
    pub(crate) fn follow(
        &mut self,
        programs: &mut Ledger,
        processes: &Processes,
        gaps: &mut Gaps,
    ) -> bool {
        self.forget(programs, processes);
        let is_new = |it: &(u32, EntityId)| !self.by_pid.contains_key(&it.0);
        self.newcomers.extend(processes.near().filter(is_new));
        let mut changed = false;
        while let Some((pid, entity)) = self.newcomers.pop() {
            let place = processes.root_of(pid).and_then(|root| {
                let place = self.by_pid.get(&root).map(|(_, place)| *place);
                place.or_else(|| self.make_room(programs, root, processes.entity(root)?))
            });
            let Some(place) = place else {
                self.say_full(gaps);
                continue;
            };
            if programs.put(Member::Process(pid), Some(place)).is_err() {
                self.say_full(gaps);
                continue;
            }
            self.by_pid.insert(pid, (entity, place));
            changed = true;
        }
        changed
    }

    /// Lets those go that have ended. What a service leaves behind when its first process ends is of
    /// another one from then on.
    fn forget(&mut self, programs: &mut Ledger, processes: &Processes) {
        let Self {
            places,
            by_pid,
            intakes,
            ..
        } = self;
        for place in places {
            let has_ended =
                |it: &mut Service| processes.entity(it.pid) != Some(it.density.entity());
            if let Some(mut ended) = place.take_if(has_ended) {
                ended.finish(programs, intakes);
            }
        }
        by_pid.retain(|pid, (entity, place)| {
            if processes.entity(*pid) != Some(*entity) {
                // Its number may come round again, and to somebody else.
                let _ = programs.put(Member::Process(*pid), None);
                return false;
            }
            self.places[*place].is_some()
        });
    }

    fn make_room(&mut self, programs: &Ledger, pid: u32, entity: EntityId) -> Option<usize> {
        let mut places = (0..MOST_SETS).map(|it| (self.next + it) % MOST_SETS);
        let place = places.find(|place| self.places[*place].is_none())?;
        self.next = place + 1;
        let set = Set::new(programs, place);
        self.places[place] = Some(Service::new(pid, entity, set));
        self.by_pid.insert(pid, (entity, place));
        Some(place)
    }

    fn say_full(&mut self, gaps: &mut Gaps) {
        if !std::mem::replace(&mut self.is_full_said, true) {
            let what = "services beyond those that there is room for";
            gaps.say(&PROCESS_STALL.name, what, GapReason::Dropped(1));
        }
    }

    /// Takes what the programs have read now.
    pub(crate) fn sample(&mut self, programs: &Ledger, now: Timestamp) {
        let [density, pressure] = &mut self.intakes;
        for (place, service) in self.places.iter_mut().enumerate() {
            let Some(service) = service else { continue };
            let folded = service.set.take(programs, place, now);
            let row = service.set.density(programs);
            service.density.take(now, &row, density);
            if let Some(at) = folded {
                let row = service.set.pressure(programs);
                service.pressure.take(at, &row, pressure);
            }
        }
    }

    /// Ends all series.
    pub(crate) fn finish(&mut self, programs: &Ledger) {
        for service in self.places.iter_mut().flatten() {
            service.finish(programs, &mut self.intakes);
        }
    }
}

#[cfg(test)]
mod tests;
