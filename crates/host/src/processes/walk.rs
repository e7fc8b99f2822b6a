//! All processes by one walk in the kernel, instead of by a list of /proc and two files of each.
//!
//! Who is new is looked up in /proc once, for its name and its groups; so is one that has changed its name.

use model::{GapReason, Timestamp};

use super::meter::{Identity, Meter};
use super::{Process, Processes, end, is_due, rename};
use crate::bpf::tasks::{Counts, Tasks};
use crate::bpf::{Refusal, with_first_pids};
use crate::gaps::Gaps;
use crate::intake::Intake;
use crate::probe::Scratch;
use crate::registry::Registry;
use crate::schedule::TICK_NS;

/// A walk that was made to find newcomers serves for their rows too, in the same tick.
const FRESH_NS: i64 = TICK_NS / 10;

/// The walk over all processes.
pub(crate) struct Walk {
    programs: Tasks,
    /// When it was last made.
    at: Option<Timestamp>,
    /// Whether it had room for everybody.
    is_whole: bool,
}

impl Walk {
    /// # Errors
    /// Why it cannot be had here.
    pub(crate) fn load() -> Result<Self, Refusal> {
        with_first_pids()?;
        let programs = Tasks::load()?;
        match programs.read()? {
            0 => Ok(Self {
                programs,
                at: None,
                is_whole: true,
            }),
            unplaced => Err(Refusal::new(format!(
                "{unplaced} processes more than there is room for"
            ))),
        }
    }

    fn is_fresh(&self, now: Timestamp) -> bool {
        self.at.is_some_and(|at| now.ns_since(at) < FRESH_NS)
    }

    /// Reads all processes. Whether it could.
    fn read(&mut self, now: Timestamp, table: &str, gaps: &mut Gaps) -> bool {
        match self.programs.read() {
            Ok(unplaced) => {
                self.at = Some(now);
                self.is_whole = unplaced == 0;
                if !self.is_whole {
                    let what = "processes beyond those that a walk has room for";
                    gaps.say(table, what, GapReason::Dropped(1));
                }
                true
            }
            Err(refusal) => {
                let why = format!("a program in the kernel was not run: {refusal}");
                gaps.say(table, "", GapReason::Unsupported(why));
                false
            }
        }
    }

    /// The processes as last read, each with when that was. The kernel's clock may be another than ours (time
    /// namespaces); it goes as fast.
    fn processes(&self) -> impl Iterator<Item = (Timestamp, Counts)> {
        let at = self.at.unwrap_or_default();
        let mut first = None;
        self.programs.processes().map(move |counts| {
            let first = *first.get_or_insert(counts.at_ns);
            (at + (counts.at_ns - first).cast_signed(), counts)
        })
    }
}

impl Processes {
    /// Notes newcomers and new names, and lets those go that have ended.
    pub(super) fn list_by_walk(
        &mut self,
        now: Timestamp,
        scratch: &mut Scratch,
        intakes: &mut [Intake],
        registry: &mut Registry,
    ) {
        let sensors = (self.process_sensor.0, self.thread_sensor.0);
        let table = &self.process_sensor.1.table.name;
        let Self {
            walk,
            by_pid,
            newcomers,
            generation,
            ..
        } = self;
        let Some(walk) = walk else {
            return;
        };
        if !walk.read(now, table, &mut scratch.gaps) {
            return;
        }
        for (_, counts) in walk.processes() {
            let known = by_pid.get_mut(&counts.pid);
            if let Some(known) = known.filter(|it| it.is(&counts)) {
                known.generation = *generation;
                known.heed_name(&counts, now, scratch, registry);
                continue;
            }
            // The number may have come round again.
            if let Some(mut former) = by_pid.remove(&counts.pid) {
                end(&mut former, now, intakes, sensors, registry);
            }
            newcomers.push((counts.pid, Some(Identity::of(&counts))));
        }
        if !walk.is_whole {
            return;
        }
        by_pid.retain(|_, process| {
            let alive = process.generation == *generation;
            if !alive {
                end(process, now, intakes, sensors, registry);
            }
            alive
        });
    }

    /// Takes what the walk tells of those that are due.
    pub(super) fn sample_by_walk(
        &mut self,
        now: Timestamp,
        due: (bool, bool),
        scratch: &mut Scratch,
        intakes: &mut [Intake],
        registry: &mut Registry,
    ) {
        let (index, sensor) = self.process_sensor;
        let Some(walk) = &mut self.walk else {
            return;
        };
        if !walk.is_fresh(now) && !walk.read(now, &sensor.table.name, &mut scratch.gaps) {
            return;
        }
        for (at, counts) in walk.processes() {
            // One that is not known yet is met at the next look.
            let Some(process) = self.by_pid.get_mut(&counts.pid) else {
                continue;
            };
            if !process.is(&counts) || !is_due(process.role, due) {
                continue;
            }
            process.heed_name(&counts, now, scratch, registry);
            if counts.torn == 0
                && let Meter::Walk(counted) = &mut process.meter
            {
                let row = counted.row(&counts, scratch.facts);
                counted.last.take(at, &row, &mut intakes[index]);
            }
        }
    }
}

impl Process {
    /// Whether it is this one that the walk tells of.
    fn is(&self, counts: &Counts) -> bool {
        matches!(&self.meter, Meter::Walk(it) if it.identity.start_ns == counts.start_ns)
    }

    /// Looks what it is called where that has changed: /proc shows more of some names than the walk.
    fn heed_name(
        &mut self,
        counts: &Counts,
        now: Timestamp,
        scratch: &mut Scratch,
        registry: &mut Registry,
    ) {
        let Meter::Walk(counted) = &mut self.meter else {
            return;
        };
        if counted.identity.name != counts.name {
            counted.identity.name = counts.name;
            let stat = scratch.read_once(&self.folder, "stat");
            rename(self.entity, stat, now, registry);
        }
    }
}

#[cfg(test)]
mod tests;
