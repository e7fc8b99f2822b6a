//! Double-entry book-keeping of a thread's time: what came in as wall time goes out as classes.
//!
//! Pure: numbers in, numbers out. The clocks are read one after the other and by different hands, so
//! that for a stretch of microseconds the CPU time can exceed the wall time. The excess is owed and
//! booked in the next stretch. To book it at once would break the sum; to drop it, as `max(0, ..)`
//! does, would turn noise into time, and the more the oftener one looks.

use crate::counters::Counters;

/// What the clocks say of a stretch of time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// Its length, ns.
    pub wall_ns: u64,
    /// CPU time in it, ns.
    pub cpu_ns: u64,
    /// Waiting for a CPU in it, ns; `None` where the kernel does not say.
    pub run_delay_ns: Option<u64>,
    /// How much of it lay in waits of the loop, ns: all, nothing, or a part where a boundary in the
    /// middle could not be read.
    pub waits_ns: u64,
    /// How often the thread gave up the CPU in it.
    pub voluntary: u64,
    /// How often the CPU was taken from it.
    pub involuntary: u64,
}

/// The counters, and what could not be booked yet.
#[derive(Default, Debug)]
pub struct ThreadTimes {
    pub counters: Counters,
    owed_cpu_ns: u64,
    owed_run_queue_ns: u64,
}

impl ThreadTimes {
    /// ThreadTimes a stretch: exactly its wall time is added, all of it to some class.
    pub fn book(&mut self, stretch: &Span) {
        self.owed_cpu_ns += stretch.cpu_ns;
        self.owed_run_queue_ns += stretch.run_delay_ns.unwrap_or(0);
        // CPU first: that clock is never wrong, and the run delay of some kernels is (docs/steal.md).
        let cpu_ns = self.owed_cpu_ns.min(stretch.wall_ns);
        let run_queue_ns = self.owed_run_queue_ns.min(stretch.wall_ns - cpu_ns);
        self.owed_cpu_ns -= cpu_ns;
        self.owed_run_queue_ns -= run_queue_ns;
        self.counters.cpu_ns += cpu_ns;
        self.counters.run_queue_ns += run_queue_ns;
        self.book_rest(stretch, stretch.wall_ns - cpu_ns - run_queue_ns);
    }

    fn book_rest(&mut self, stretch: &Span, rest_ns: u64) {
        let counters = &mut self.counters;
        if stretch.voluntary > 0 {
            let sleep_ns = rest_ns.min(stretch.waits_ns);
            counters.sleep_ns += sleep_ns;
            counters.blocked_ns += rest_ns - sleep_ns;
        } else if stretch.run_delay_ns.is_none() && stretch.involuntary > 0 {
            // It was only ever pushed off the CPU: there is nowhere else to have been.
            counters.run_queue_ns += rest_ns;
        } else {
            counters.hidden_ns += rest_ns;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WORK: Span = Span {
        wall_ns: 1_000,
        cpu_ns: 600,
        run_delay_ns: Some(100),
        waits_ns: 0,
        voluntary: 0,
        involuntary: 1,
    };

    #[track_caller]
    fn booked(stretches: &[Span], expected: [u64; 5]) {
        let mut thread_times = ThreadTimes::default();
        for stretch in stretches {
            thread_times.book(stretch);
        }
        assert_eq!(thread_times.counters.array(), expected, "{stretches:?}");
    }

    #[test]
    fn the_rest_goes_where_the_thread_was() {
        booked(&[WORK], [600, 100, 0, 0, 300]);
        let gave_up = Span {
            voluntary: 1,
            ..WORK
        };
        booked(&[gave_up], [600, 100, 0, 300, 0]);
        let wait = Span {
            waits_ns: 1_000,
            ..gave_up
        };
        booked(&[wait], [600, 100, 300, 0, 0]);
        let wait_without_sleep = Span {
            waits_ns: 1_000,
            ..WORK
        };
        booked(&[wait_without_sleep], [600, 100, 0, 0, 300]);
    }

    #[test]
    fn over_a_boundary_that_could_not_be_read_sleep_is_at_most_the_wait() {
        let both = Span {
            waits_ns: 200,
            voluntary: 2,
            ..WORK
        };
        booked(&[both], [600, 100, 200, 100, 0]);
    }

    #[test]
    fn excess_is_owed_and_paid_by_whatever_comes_next() {
        let excess = Span {
            cpu_ns: 1_300,
            ..WORK
        };
        booked(&[excess], [1_000, 0, 0, 0, 0]);
        let sleep = Span {
            cpu_ns: 0,
            run_delay_ns: Some(0),
            waits_ns: 1_000,
            voluntary: 1,
            ..WORK
        };
        booked(&[excess, sleep], [1_300, 100, 600, 0, 0]);
    }

    #[test]
    fn noise_does_not_add_up() {
        let slow = Span {
            cpu_ns: 950,
            run_delay_ns: Some(0),
            ..WORK
        };
        let fast = Span {
            cpu_ns: 1_050,
            ..slow
        };
        let thousand: Vec<Span> = [slow, fast].into_iter().cycle().take(1_000).collect();
        // One swing, where clipping at each reading would have made it 25,000.
        booked(&thousand, [999_950, 0, 0, 0, 50]);
    }

    #[test]
    fn without_run_delay_only_what_can_be_told_is_called_waiting_for_a_cpu() {
        let blind = Span {
            run_delay_ns: None,
            ..WORK
        };
        booked(&[blind], [600, 400, 0, 0, 0]);
        let blind_and_blocked = Span {
            voluntary: 1,
            ..blind
        };
        booked(&[blind_and_blocked], [600, 0, 0, 400, 0]);
        let blind_and_undisturbed = Span {
            involuntary: 0,
            ..blind
        };
        booked(&[blind_and_undisturbed], [600, 0, 0, 0, 400]);
    }

    fn stretches() -> impl Strategy<Value = Vec<Span>> {
        let ns = 0..10_000_u64;
        let stretch = (
            ns.clone(),
            ns.clone(),
            proptest::option::of(ns.clone()),
            ns,
            0..3_u64,
            0..3_u64,
        );
        let stretch = stretch.prop_map(|(wall_ns, cpu_ns, run_delay_ns, waits_ns, v, i)| Span {
            wall_ns,
            cpu_ns,
            run_delay_ns,
            waits_ns: waits_ns.min(wall_ns),
            voluntary: v,
            involuntary: i,
        });
        proptest::collection::vec(stretch, 0..100)
    }

    proptest! {
        #[test]
        fn whatever_the_clocks_say_the_books_close_and_nothing_decreases(all in stretches()) {
            let mut thread_times = ThreadTimes::default();
            let (mut wall_ns, mut claimed_ns, mut waits_ns) = (0, 0, 0);
            for stretch in &all {
                let before = thread_times.counters;
                thread_times.book(stretch);
                let now = thread_times.counters;
                wall_ns += stretch.wall_ns;
                waits_ns += stretch.waits_ns;
                claimed_ns += stretch.cpu_ns + stretch.run_delay_ns.unwrap_or(0);
                prop_assert_eq!(now.wall_ns(), wall_ns);
                for (was, is) in before.array().into_iter().zip(now.array()) {
                    prop_assert!(was <= is);
                }
                let booked_ns: u64 = now.cpu_ns + now.run_queue_ns;
                let owed_ns = thread_times.owed_cpu_ns + thread_times.owed_run_queue_ns;
                prop_assert!(now.sleep_ns <= waits_ns);
                prop_assert!(booked_ns + owed_ns >= claimed_ns, "a claim was dropped");
            }
        }
    }
}
