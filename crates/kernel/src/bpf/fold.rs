//! Per-CPU stalled times as pressure and as stall density: pure arithmetic.
//!
//! Pressure is the kernel's number (kernel/sched/psi.c: collect_percpu_times): the mean of the CPUs' stalled
//! times, weighted by their non-idle times, over 2 s. Density is the unweighted mean. Both add up differences
//! of absolute times, so no error accumulates: if one reading is too low, the next difference is too high by
//! as much.

/// Number of our states (enum psi_group_state in `bpf/psi_group.h`); the last is `nonidle`.
pub const STATES: usize = 8;
/// The states other than `nonidle`.
pub const STALLS: usize = STATES - 1;
const NONIDLE: usize = STATES - 1;

/// A difference this close below 2^32 is a step back: the CPUs' clocks differ by some ns, a torn reading by
/// some us.
const MOST_BACK_NS: u32 = 10_000_000;
/// Times are modulo 2^32 ns: longer distances between two readings are ambiguous.
pub const MOST_APART_NS: i64 = u32::MAX as i64 - MOST_BACK_NS as i64;

/// Stalled times of one group's CPUs, added up over readings.
#[derive(Clone, Debug)]
pub struct Stalled {
    /// Growth since the last reading, by CPU.
    fresh: Vec<[f64; STATES]>,
    /// Growth from the last fold up to the last reading, by CPU.
    unfolded: Vec<[f64; STATES]>,
    density_ns: [f64; STATES],
    pressure_ns: [f64; STALLS],
}

impl Stalled {
    /// `pressure_ns` is the pressure so far, ns.
    pub fn new(cpus: usize, pressure_ns: [i64; STALLS]) -> Self {
        Self {
            fresh: vec![[0.0; STATES]; cpus],
            unfolded: vec![[0.0; STATES]; cpus],
            density_ns: [0.0; STATES],
            pressure_ns: pressure_ns.map(|ns| ns as f64),
        }
    }

    /// Adds the growth of one CPU's times; `online` is the number of CPUs online.
    pub fn take(&mut self, cpu: usize, grown: [i64; STATES], online: usize) {
        let Some(fresh) = self.fresh.get_mut(cpu) else {
            return;
        };
        for state in 0..STATES {
            let grown = grown[state] as f64;
            fresh[state] += grown;
            self.density_ns[state] += grown / online.max(1) as f64;
        }
    }

    /// Ends a reading. If an averaging period of the kernel's ended since the last reading, `ended` is the
    /// share of the time since then that had passed at that moment.
    pub fn reconcile(&mut self, ended: Option<f64>) {
        if let Some(part) = ended {
            self.move_fresh(part);
            self.fold();
            self.move_fresh(1.0 - part);
        } else {
            self.move_fresh(1.0);
        }
        self.fresh.fill([0.0; STATES]);
    }

    fn move_fresh(&mut self, part: f64) {
        for (unfolded, fresh) in self.unfolded.iter_mut().zip(&self.fresh) {
            for (sum, grown) in unfolded.iter_mut().zip(fresh) {
                *sum += grown * part;
            }
        }
    }

    fn fold(&mut self) {
        let weight: f64 = self.unfolded.iter().map(|cpu| cpu[NONIDLE].max(0.0)).sum();
        if weight > 0.0 {
            for cpu in &self.unfolded {
                let part = cpu[NONIDLE].max(0.0) / weight;
                for (sum, grown) in self.pressure_ns.iter_mut().zip(cpu) {
                    *sum += grown * part;
                }
            }
        }
        self.unfolded.fill([0.0; STATES]);
    }

    /// Stalled time so far, mean over the CPUs, ns, by state.
    pub fn density(&self) -> [i64; STATES] {
        self.density_ns.map(|ns| ns.round() as i64)
    }

    /// Stalled time so far as pressure counts it, ns, by stall; up to the last fold.
    pub fn pressure(&self) -> [i64; STALLS] {
        self.pressure_ns.map(|ns| ns.round() as i64)
    }
}

/// Signed distance of two times modulo 2^32, of which only the lower 32 bits count.
pub(super) fn growth_modulo(from: u64, to: u64) -> i64 {
    let grown = (to as u32).wrapping_sub(from as u32);
    if grown > u32::MAX - MOST_BACK_NS {
        i64::from(grown) - (1 << 32)
    } else {
        i64::from(grown)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn grown(state: usize, ns: i64, nonidle: i64) -> [i64; STATES] {
        let mut grown = [0; STATES];
        grown[state] = ns;
        grown[NONIDLE] = nonidle;
        grown
    }

    #[test]
    fn pressure_weighs_cpus_by_their_work_and_density_does_not() {
        let mut stalled = Stalled::new(2, [0; STALLS]);
        stalled.take(0, grown(0, 900, 1_000), 2);
        stalled.take(1, grown(0, 0, 500), 2);
        stalled.reconcile(None);
        assert_eq!(stalled.pressure()[0], 0, "before the fold");
        stalled.reconcile(Some(1.0));
        assert_eq!(stalled.pressure()[0], 600);
        assert_eq!(stalled.density()[0], 450);
        assert_eq!(stalled.density()[NONIDLE], 750);
        stalled.reconcile(Some(0.5));
        assert_eq!(stalled.pressure()[0], 600, "nothing is folded twice");
    }

    #[test]
    fn an_interval_that_ends_between_two_readings_takes_its_part() {
        let mut stalled = Stalled::new(1, [0; STALLS]);
        stalled.take(0, grown(0, 400, 1_000), 1);
        stalled.reconcile(Some(0.25));
        assert_eq!(stalled.pressure()[0], 100);
        stalled.reconcile(Some(1.0));
        assert_eq!((stalled.pressure()[0], stalled.density()[0]), (400, 400));
    }

    #[test]
    fn a_cpu_that_nobody_has_is_left_out() {
        let mut stalled = Stalled::new(1, [0; STALLS]);
        stalled.take(9, grown(0, 1, 1), 1);
        assert_eq!(stalled.density(), [0; STATES]);
    }

    proptest! {
        /// Whatever the readings, torn by some us and over any number of wraps: no time is lost or added.
        #[test]
        fn errors_of_single_readings_never_accumulate(
            steps in prop::collection::vec((0_u64..4_000_000_000, -5_000_i64..5_000), 1..40),
            start in any::<u32>(),
        ) {
            let mut stalled = Stalled::new(1, [0; STALLS]);
            let (mut truth, mut last) = (u64::from(start), u64::from(start));
            let mut error = 0;
            for (step, torn) in steps {
                truth += step;
                error = torn;
                let seen = u64::from(truth.wrapping_add_signed(error) as u32);
                let ns = growth_modulo(last, seen);
                last = seen;
                stalled.take(0, grown(2, ns, ns), 1);
            }
            let expected = (truth - u64::from(start)).cast_signed() + error;
            prop_assert_eq!(stalled.density()[2], expected);
        }

        /// A fold lies between the smallest and the largest stalled time of a CPU.
        #[test]
        fn a_fold_is_a_mean(cpus in prop::collection::vec((0_i64..2_000_000_000, 1_i64..2_000_000_000), 1..9)) {
            let mut stalled = Stalled::new(cpus.len(), [0; STALLS]);
            for (cpu, (lost, nonidle)) in cpus.iter().enumerate() {
                stalled.take(cpu, grown(0, *lost, *nonidle), cpus.len());
            }
            stalled.reconcile(Some(1.0));
            let lost = || cpus.iter().map(|(lost, _)| *lost);
            let folded = stalled.pressure()[0];
            prop_assert!(lost().min().unwrap_or(0) <= folded && folded <= lost().max().unwrap_or(0));
        }
    }
}
