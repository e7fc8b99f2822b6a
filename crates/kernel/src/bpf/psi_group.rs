//! One PSI group: stalled times of each CPU, folded over 2 s, whoever counts them. The kernel counts those of
//! its control groups, thread-time accounting those of other sets of threads.

use model::{Timestamp, Window};
use sensors::stall::FOLD;

use super::fold::{STALLS, STATES, Stalled};
use super::skeletons::thread_time::types::psi_group_reading;

const FOLD_NS: i64 = FOLD.as_nanos() as i64;
/// The kernel folds slightly late (PSI_FREQ); if it does not fold, pressure is folded here after this time.
const KERNELS_FOLD_NS: i64 = 2_200_000_000;

/// Stalled times of one CPU of a group, by our states, and the number of readings.
pub type Reading = psi_group_reading;

/// Programs that hold the last readings of PSI groups, each group at a place of its own.
pub trait StallSource {
    /// Possible CPUs, for each of which a group has times.
    fn cpus(&self) -> usize;

    /// Number of CPUs online.
    fn online(&self) -> usize;

    /// The last reading of one CPU of the group at a place; `None` beyond the last.
    fn reading(&self, place: usize, cpu: usize) -> Option<Reading>;

    /// How much a time has grown between two readings, ns.
    fn growth(from: u64, to: u64) -> i64;

    /// Replaces what is not counted here by `MISSING`, in a row whose columns are our states in their order.
    fn mark_missing(&self, row: &mut [i64]);
}

/// A PSI group and its stalled times so far.
#[derive(Debug)]
pub struct PsiGroup {
    place: usize,
    stalled: Stalled,
    cpus: Vec<Cpu>,
    folded: Timestamp,
}

impl PsiGroup {
    /// Begins to read the group at a place; times that an earlier group left there are not counted. Its
    /// pressure up to `folded` was `pressure_ns`.
    pub fn new(
        programs: &impl StallSource,
        place: usize,
        pressure_ns: [i64; STALLS],
        folded: Timestamp,
    ) -> Self {
        let cpus = 0..programs.cpus();
        let cpus = cpus.map(|cpu| Cpu::new(programs.reading(place, cpu).unwrap_or_default()));
        Self {
            place,
            stalled: Stalled::new(programs.cpus(), pressure_ns),
            cpus: cpus.collect(),
            folded,
        }
    }

    /// Where the programs have its readings.
    pub fn place(&self) -> usize {
        self.place
    }

    /// Takes in the programs' last reading.
    pub fn take<S: StallSource>(&mut self, programs: &S) {
        let online = programs.online();
        for (cpu, last) in self.cpus.iter_mut().enumerate() {
            if let Some(reading) = programs.reading(self.place, cpu)
                && let Some(grown) = last.grown(&reading, S::growth)
            {
                self.stalled.take(cpu, grown, online);
            }
        }
    }

    /// Does not count the growth up to the next reading, because it is unknown.
    pub fn skip(&mut self) {
        self.cpus.iter_mut().for_each(|cpu| cpu.last = None);
    }

    /// Ends a reading; `since` is the time since the one before. Folds if an interval of pressure ended in it,
    /// and returns when. Where the kernel counts too, `kernels` is the end of its last interval, so that both
    /// have the same intervals; if it is idle or its interval unknown, they end after as long.
    pub fn fold(&mut self, since: Window, kernels: Option<Timestamp>) -> Option<Timestamp> {
        let longest = if kernels.is_some() {
            KERNELS_FOLD_NS
        } else {
            FOLD_NS
        };
        // At the first reading, or after a late one, that time may be long past.
        let own = (self.folded + longest).max(since.start);
        let is_fresh = |at: &Timestamp| *at > self.folded && since.contains(*at);
        let ended = kernels.into_iter().chain([own]).find(is_fresh);
        let part = ended.map(|at| at.ns_since(since.start) as f64 / since.len_ns() as f64);
        self.stalled.reconcile(part);
        self.folded = ended.unwrap_or(self.folded);
        ended
    }

    /// Ends the present interval of pressure with the reading at `at`; returns whether that is later than the
    /// last fold.
    pub fn end(&mut self, at: Timestamp) -> bool {
        let is_later = at > self.folded;
        if is_later {
            self.stalled.reconcile(Some(1.0));
            self.folded = at;
        }
        is_later
    }

    /// Stalled time so far as pressure counts it, ns, by stall; up to the last fold.
    pub fn pressure(&self) -> [i64; STALLS] {
        self.stalled.pressure()
    }

    /// Stalled time so far, mean over the CPUs, ns, by state; up to the last reading.
    pub fn density(&self) -> [i64; STATES] {
        self.stalled.density()
    }
}

/// Stalled times of one CPU in a group as of the last reading.
#[derive(Debug)]
struct Cpu {
    /// Number of successful readings; unchanged if the CPU could not be read.
    readings: u64,
    /// `None` before the first reading.
    last: Option<[u64; STATES]>,
}

impl Cpu {
    /// A CPU whose times so far belong to an earlier group.
    fn new(earlier: Reading) -> Self {
        Self {
            readings: earlier.readings,
            last: None,
        }
    }

    /// Growth since the last reading; `None` without a new reading, and at the first.
    fn grown(&mut self, reading: &Reading, growth: fn(u64, u64) -> i64) -> Option<[i64; STATES]> {
        if std::mem::replace(&mut self.readings, reading.readings) == reading.readings {
            return None;
        }
        let last = self.last.replace(reading.ns)?;
        Some(std::array::from_fn(|state| {
            growth(last[state], reading.ns[state])
        }))
    }
}

#[cfg(test)]
mod tests;
