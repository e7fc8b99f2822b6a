//! One PSI group: stalled times of each CPU, folded over 2 s as the kernel folds a control group's.

use model::{MISSING, Timestamp, Window};
use sensors::stall::FOLD;

use super::fold::{STALLS, STATES, Stalled};
use super::thread_time::ThreadTime;
use super::thread_time::psi_groups::Stall;

const FOLD_NS: i64 = FOLD.as_nanos() as i64;
/// States that are counted here: all stalls but `irq_full` (between the other stalls and `nonidle`), because
/// the scheduler raises no event for interrupts.
const COUNTED_STATES: usize = STALLS - 1;
/// The states of memory.
const MEMORY: std::ops::Range<usize> = 2..4;

/// A PSI group and its stalled times so far.
pub struct PsiGroup {
    stalled: Stalled,
    cpus: Vec<Cpu>,
    before: Option<Timestamp>,
    folded: Timestamp,
}

impl PsiGroup {
    /// Begins to read a group; sums in its place that an earlier group left are not counted.
    pub fn new(programs: &ThreadTime, place: usize) -> Self {
        let cpus = programs.cpus();
        let stall = |cpu| programs.stall(place, cpu).unwrap_or_default();
        Self {
            stalled: Stalled::new(cpus, [0; STALLS]),
            cpus: (0..cpus).map(|cpu| Cpu::new(&stall(cpu))).collect(),
            before: None,
            folded: Timestamp::default(),
        }
    }

    /// Takes in the programs' last reading. Returns the time at which pressure was folded, if it was.
    pub fn take(
        &mut self,
        programs: &ThreadTime,
        place: usize,
        now: Timestamp,
    ) -> Option<Timestamp> {
        let since = Window::new(self.before.unwrap_or(now), now);
        for (cpu, last) in self.cpus.iter_mut().enumerate() {
            if let Some(stall) = programs.stall(place, cpu)
                && let Some(grown) = last.grown(&stall)
            {
                self.stalled.take(cpu, grown, programs.online());
            }
        }
        if self.before.replace(now).is_none() {
            self.folded = now;
            return None;
        }
        let ended = (self.folded + FOLD_NS).max(since.start);
        let ended = Some(ended).filter(|at| since.contains(*at));
        let part = ended.map(|at| at.ns_since(since.start) as f64 / since.len_ns() as f64);
        self.stalled.reconcile(part);
        self.folded = ended.unwrap_or(self.folded);
        ended
    }

    /// Notes that nothing was counted up to `at`.
    pub fn unchanged(&mut self, at: Timestamp) {
        if let Some(before) = &mut self.before {
            *before = at;
        }
    }

    /// Ends the present interval of pressure with the last reading; returns when that was, if it is later
    /// than the last fold.
    pub fn end(&mut self) -> Option<Timestamp> {
        let at = self.before.filter(|at| *at > self.folded)?;
        self.stalled.reconcile(Some(1.0));
        self.folded = at;
        Some(at)
    }

    /// Pressure so far, ns, by stall; up to the last fold.
    pub fn pressure(&self, programs: &ThreadTime) -> [i64; COUNTED_STATES] {
        let all = self.stalled.pressure();
        counted(programs, std::array::from_fn(|stall| all[stall]))
    }

    /// Stalled time so far, mean over the CPUs, ns, by stall, and `nonidle`.
    pub fn density(&self, programs: &ThreadTime) -> [i64; COUNTED_STATES + 1] {
        let all = self.stalled.density();
        let place = |state| {
            if state < COUNTED_STATES {
                state
            } else {
                STATES - 1
            }
        };
        counted(programs, std::array::from_fn(|state| all[place(state)]))
    }
}

/// Stalled times of one CPU in a group as of the last reading.
struct Cpu {
    /// Number of successful readings; unchanged if the CPU could not be read.
    readings: u64,
    /// `None` before the first reading.
    last: Option<[i64; STATES]>,
}

impl Cpu {
    /// A CPU whose sums so far belong to an earlier group.
    fn new(stall: &Stall) -> Self {
        Self {
            readings: stall.readings,
            last: None,
        }
    }

    /// Growth since the last reading; `None` without a new reading.
    fn grown(&mut self, stall: &Stall) -> Option<[i64; STATES]> {
        if std::mem::replace(&mut self.readings, stall.readings) == stall.readings {
            return None;
        }
        let ns = stall.ns.map(u64::cast_signed);
        let last = self.last.replace(ns)?;
        Some(std::array::from_fn(|it| ns[it] - last[it]))
    }
}

/// The row with `MISSING` for what the kernel does not mark.
fn counted<const N: usize>(programs: &ThreadTime, mut row: [i64; N]) -> [i64; N] {
    if !programs.knows_memory() {
        row[MEMORY].fill(MISSING);
    }
    row
}

#[cfg(test)]
mod tests;
