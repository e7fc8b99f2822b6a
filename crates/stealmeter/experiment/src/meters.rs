//! Three meters of steal in one loop at the same time, and what they showed.
//!
//! Each sees the same run: the old and the fixed formula get their time stamps where Seastar takes
//! them, ours its marks where its documentation wants them.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use stealmeter::{Counters, Meter, Reader};

use crate::formulas::{Rises, difference_ns};

/// The published experiment printed ten times a second.
pub(crate) const READ_EVERY_NS: u64 = 100_000_000;
/// The same metric, for someone who looks a hundred times as often.
const READ_OFTEN_NS: u64 = 1_000_000;

/// What the meters show at one moment, ns each, since the loop began.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub(crate) struct Reading {
    /// On CLOCK_MONOTONIC, when `classes` are of.
    pub(crate) at_ns: u64,
    pub(crate) old_ns: i64,
    /// Read at these readings and at no other time.
    pub(crate) fixed_ns: i64,
    /// Read about a thousand times a second.
    pub(crate) fixed_often_ns: i64,
    /// Ours, in the order of [`Counters::classes`].
    pub(crate) classes: [u64; 5],
    /// Boundaries that ours could not read.
    pub(crate) torn: u64,
}

/// Of a class of ours by its place in `classes`.
pub(crate) mod class {
    pub(crate) const CPU: usize = 0;
    pub(crate) const RUN_QUEUE: usize = 1;
    pub(crate) const SLEEP: usize = 2;
    pub(crate) const BLOCKED: usize = 3;
    pub(crate) const HIDDEN: usize = 4;
}

/// The meters of the calling thread.
pub(crate) struct StealMeters {
    meter: Meter,
    reader: Reader,
    began_ns: u64,
    attempts_ns: u64,
    waits_ns: u64,
    attempt_at_ns: u64,
    wait_at_ns: u64,
    fixed: Rises,
    fixed_often: Rises,
    next_ns: u64,
    next_often_ns: u64,
    readings: Vec<Reading>,
}

impl StealMeters {
    /// Of the calling thread, which will be read for so long, and now.
    pub(crate) fn begin(how_long: Duration) -> Self {
        let meter = Meter::new();
        let began_ns = now_ns();
        let readings = how_long.as_nanos() as u64 / READ_EVERY_NS + 3;
        let mut meters = Self {
            reader: meter.reader(),
            meter,
            began_ns,
            attempts_ns: 0,
            waits_ns: 0,
            attempt_at_ns: 0,
            wait_at_ns: 0,
            fixed: Rises::default(),
            fixed_often: Rises::default(),
            next_ns: began_ns + READ_EVERY_NS,
            next_often_ns: began_ns + READ_OFTEN_NS,
            // The loop allocates nothing while it is watched.
            readings: Vec::with_capacity(usize::try_from(readings).unwrap_or_default()),
        };
        meters.read();
        meters
    }

    /// The loop begins what may end in sleep: here the old formula looks at the clock.
    pub(crate) fn before_attempt(&mut self) {
        self.attempt_at_ns = now_ns();
    }

    /// It is over, whether the loop slept or not.
    pub(crate) fn after_attempt(&mut self) {
        self.attempts_ns += now_ns() - self.attempt_at_ns;
    }

    /// The call that waits comes next: here ours has its mark, and the fixed formula looks at the clock.
    pub(crate) fn before_wait(&mut self) {
        self.mark(Meter::before_wait);
        self.wait_at_ns = now_ns();
    }

    /// That call has returned.
    pub(crate) fn after_wait(&mut self) {
        self.waits_ns += now_ns() - self.wait_at_ns;
        self.mark(Meter::after_wait);
    }

    /// What our marks take is no part of what the old formula takes for sleep: it would not be there
    /// without us.
    fn mark(&mut self, mark: impl FnOnce(&mut Meter)) {
        let began_ns = now_ns();
        mark(&mut self.meter);
        self.attempt_at_ns += now_ns() - began_ns;
    }

    /// Once a round; takes the readings that are due.
    pub(crate) fn look(&mut self, now_ns: u64) {
        self.meter.tick();
        if now_ns >= self.next_often_ns {
            self.next_often_ns = now_ns + READ_OFTEN_NS;
            let fixed_ns = difference_ns(now_ns - self.began_ns, self.waits_ns, cpu_ns());
            self.fixed_often.read(fixed_ns);
        }
        if now_ns >= self.next_ns {
            // What could not be read in time is left out.
            self.next_ns = now_ns + READ_EVERY_NS - (now_ns - self.next_ns) % READ_EVERY_NS;
            self.read();
        }
    }

    fn read(&mut self) {
        self.meter.update();
        let wall_ns = now_ns() - self.began_ns;
        let cpu_ns = cpu_ns();
        let fixed_ns = difference_ns(wall_ns, self.waits_ns, cpu_ns);
        let seen = self.reader.read();
        self.readings.push(Reading {
            at_ns: seen.at_ns,
            old_ns: difference_ns(wall_ns, self.attempts_ns, cpu_ns),
            fixed_ns: self.fixed.read(fixed_ns),
            fixed_often_ns: self.fixed_often.read(fixed_ns),
            classes: classes(&seen.counters),
            torn: seen.torn,
        });
    }

    /// All readings, with one of now.
    pub(crate) fn end(mut self) -> Vec<Reading> {
        self.read();
        self.readings
    }
}

fn classes(counters: &Counters) -> [u64; 5] {
    counters.classes().map(|(_, ns)| ns)
}

/// CLOCK_MONOTONIC, ns.
pub(crate) fn now_ns() -> u64 {
    clock_ns(ClockId::Monotonic)
}

/// CLOCK_THREAD_CPUTIME_ID of the calling thread, ns.
pub(crate) fn cpu_ns() -> u64 {
    clock_ns(ClockId::ThreadCPUTime)
}

/// A clock, ns.
pub(crate) fn clock_ns(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_classes_stand_where_their_names_say() {
        let names = Counters::default().classes().map(|(name, _)| name);
        assert_eq!(names[class::CPU], "cpu");
        assert_eq!(names[class::RUN_QUEUE], "run_queue");
        assert_eq!(names[class::SLEEP], "sleep");
        assert_eq!(names[class::BLOCKED], "blocked");
        assert_eq!(names[class::HIDDEN], "hidden");
    }
}
