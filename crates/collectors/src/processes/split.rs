//! User and system time, from the exact time on CPU and the counts of ticks.

/// How a process's or thread's exact time on CPU is divided into user and system time: in proportion to the
/// ticks, and neither ever decreases. The same as the kernel does for /proc (cputime_adjust in
/// kernel/sched/cputime.c), so that the columns mean the same from either source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Split {
    pub(crate) user_ns: u64,
    pub(crate) system_ns: u64,
}

impl Split {
    /// As /proc last showed it.
    pub(crate) fn shown((user_ns, system_ns): (u64, u64)) -> Self {
        Self { user_ns, system_ns }
    }

    /// Advances to a later time on CPU; `ticks` are user and system time by ticks.
    pub(crate) fn advance(&mut self, ticks: (u64, u64), run_ns: u64) {
        if self.user_ns.saturating_add(self.system_ns) >= run_ns {
            return;
        }
        let system_ns = match ticks {
            (_, 0) => 0,
            (0, _) => run_ns,
            (user, system) => {
                let (user, system) = (u128::from(user), u128::from(system));
                (system * u128::from(run_ns) / (user + system)) as u64
            }
        };
        // Their sum was less than the time on CPU, so there is room for both.
        self.system_ns = system_ns.clamp(self.system_ns, run_ns - self.user_ns);
        self.user_ns = run_ns - self.system_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn splits(readings: &[(u64, u64, u64)]) -> Vec<(u64, u64)> {
        let mut split = Split::shown((0, 0));
        let mut seen = Vec::new();
        for (user, system, run) in readings {
            split.advance((*user, *system), *run);
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
    fn neither_part_decreases_when_ticks_disagree() {
        // All system time until the first tick in user code.
        assert_eq!(
            splits(&[(0, 4, 100), (4, 4, 110), (400, 4, 300)]),
            [(0, 100), (10, 100), (200, 100)]
        );
        // All user time until the first tick in the kernel.
        assert_eq!(splits(&[(4, 0, 100), (4, 400, 110)]), [(100, 0), (100, 10)]);
    }

    proptest! {
        #[test]
        fn the_parts_grow_and_are_the_whole(
            steps in proptest::collection::vec((0u64..1 << 40, 0u64..1 << 40, 0u64..1 << 40), 1..30)
        ) {
            let mut split = Split::shown((0, 0));
            let mut sums = (0, 0, 0);
            for (user, system, run) in steps {
                sums = (sums.0 + user, sums.1 + system, sums.2 + run);
                let before = split;
                split.advance((sums.0, sums.1), sums.2);
                prop_assert_eq!(split.user_ns + split.system_ns, sums.2);
                prop_assert!(split.user_ns >= before.user_ns && split.system_ns >= before.system_ns);
            }
        }
    }
}
