//! What tells how much a process has used: its own files, or a walk over all of them in the kernel.

use model::{EntityId, MISSING};
use sensors::{Facts, ProcessUsage};

use crate::bpf::tasks::Counts;
use crate::intake::{Intake, LastSeen};
use crate::kept_file::KeptFile;
use crate::probe::Probe;

/// Where a process's rows come from.
pub(super) enum Meter {
    Files(Probe),
    Walk(Counted),
}

impl Meter {
    /// The files that it keeps open.
    pub(super) fn files(&self) -> impl Iterator<Item = &KeptFile> {
        let probe = match self {
            Self::Files(probe) => Some(probe),
            Self::Walk(_) => None,
        };
        probe.into_iter().flat_map(Probe::files)
    }

    /// Writes the ends of unchanged stretches.
    pub(super) fn finish(&mut self, intake: &mut Intake) {
        match self {
            Self::Files(probe) => probe.finish(intake),
            Self::Walk(counted) => counted.last.finish(intake),
        }
    }
}

/// By what the walk tells a process from another of the same number, and its name from the one before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Identity {
    pub(super) start_ns: u64,
    pub(super) name: [u64; 2],
}

impl Identity {
    pub(super) fn of(counts: &Counts) -> Self {
        Self {
            start_ns: counts.start_ns,
            name: counts.name,
        }
    }
}

/// A process that the walk tells of.
pub(super) struct Counted {
    pub(super) identity: Identity,
    pub(super) last: LastSeen,
    split: Option<Split>,
}

impl Counted {
    pub(super) fn new(identity: Identity, entity: EntityId) -> Self {
        Self {
            identity,
            last: LastSeen::new(entity, ProcessUsage::WIDTH),
            split: None,
        }
    }

    /// A row of the table of processes.
    pub(super) fn row(&mut self, counts: &Counts, facts: Facts) -> [i64; ProcessUsage::WIDTH] {
        let split = self.split.get_or_insert_with(|| Split::shown(counts));
        split.advance(counts);
        let or_missing = |value: u64| i64::try_from(value).unwrap_or(MISSING);
        let usage = ProcessUsage {
            user_ns: or_missing(split.user_ns),
            system_ns: or_missing(split.system_ns),
            children_ns: or_missing(counts.children_ns),
            threads: i64::from(counts.threads),
            resident_bytes: or_missing(counts.resident_pages).saturating_mul(facts.page_bytes),
            read_bytes: or_missing(counts.read_bytes),
            write_bytes: or_missing(counts.write_bytes),
        };
        usage.row()
    }
}

/// How a process's exact time on a CPU is split into user and system time: in the proportion of what ticks
/// found, and neither ever runs back. As the kernel does it for /proc (cputime_adjust in
/// kernel/sched/cputime.c), so that the columns mean the same from either source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Split {
    user_ns: u64,
    system_ns: u64,
}

impl Split {
    /// What was last shown in /proc.
    fn shown(counts: &Counts) -> Self {
        Self {
            user_ns: counts.shown_user_ns,
            system_ns: counts.shown_system_ns,
        }
    }

    fn advance(&mut self, counts: &Counts) {
        let run_ns = counts.run_ns;
        if self.user_ns.saturating_add(self.system_ns) >= run_ns {
            return;
        }
        let system_ns = match (counts.user_ns, counts.system_ns) {
            (_, 0) => 0,
            (0, _) => run_ns,
            (user, system) => {
                let (user, system) = (u128::from(user), u128::from(system));
                (system * u128::from(run_ns) / (user + system)) as u64
            }
        };
        // Their sum was less than the time on a CPU, so there is room for both.
        self.system_ns = system_ns.clamp(self.system_ns, run_ns - self.user_ns);
        self.user_ns = run_ns - self.system_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn counts(user_ns: u64, system_ns: u64, run_ns: u64) -> Counts {
        Counts {
            user_ns,
            system_ns,
            run_ns,
            ..Counts::default()
        }
    }

    fn splits(readings: &[(u64, u64, u64)]) -> Vec<(u64, u64)> {
        let mut split = Split::shown(&Counts::default());
        let mut seen = Vec::new();
        for (user, system, run) in readings {
            split.advance(&counts(*user, *system, *run));
            seen.push((split.user_ns, split.system_ns));
        }
        seen
    }

    #[test]
    fn the_exact_time_is_split_as_ticks_found_it() {
        assert_eq!(splits(&[(30, 10, 80)]), [(60, 20)]);
        assert_eq!(splits(&[(0, 0, 7)]), [(7, 0)], "no tick has found it yet");
        assert_eq!(splits(&[(0, 4, 9)]), [(0, 9)]);
    }

    #[test]
    fn neither_part_runs_back_when_ticks_find_something_else() {
        // All system time until the first tick finds it in user code.
        assert_eq!(
            splits(&[(0, 4, 100), (4, 4, 110), (400, 4, 300)]),
            [(0, 100), (10, 100), (200, 100)]
        );
        // All user time until the first finds it in the kernel.
        assert_eq!(splits(&[(4, 0, 100), (4, 400, 110)]), [(100, 0), (100, 10)]);
    }

    proptest! {
        #[test]
        fn the_parts_grow_and_are_the_whole(
            steps in proptest::collection::vec((0u64..1 << 40, 0u64..1 << 40, 0u64..1 << 40), 1..30)
        ) {
            let mut split = Split::shown(&Counts::default());
            let mut sums = (0, 0, 0);
            for (user, system, run) in steps {
                sums = (sums.0 + user, sums.1 + system, sums.2 + run);
                let before = split;
                split.advance(&counts(sums.0, sums.1, sums.2));
                prop_assert_eq!(split.user_ns + split.system_ns, sums.2);
                prop_assert!(split.user_ns >= before.user_ns && split.system_ns >= before.system_ns);
            }
        }
    }
}
