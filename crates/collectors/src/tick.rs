//! What is due at one wake-up, and the time that its rows get.

use std::cell::Cell;

use model::Timestamp;
use sensors::{Scope, Sensor};

use crate::budget::Budget;
use crate::schedule::{Due, ticks_of};
use kernel::clock::boottime;

/// A reading of the clock serves for all rows within this time of it.
const STAMP_NS: i64 = 500_000;

/// Why a reading takes place.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Look {
    /// A deadline has passed.
    Due,
    /// The recording ends: everything is read.
    Last,
    /// These sensors are wanted now, and nothing else.
    Only(fn(&Sensor) -> bool),
}

/// One wake-up.
pub(crate) struct Tick {
    look: Look,
    due: Due,
    budget: Budget,
    stamped: Cell<Timestamp>,
}

impl Tick {
    pub(crate) fn new(look: Look, due: Due, budget: Budget) -> Self {
        Self {
            look,
            due,
            budget,
            stamped: Cell::new(boottime()),
        }
    }

    pub(crate) fn look(&self) -> Look {
        self.look
    }

    /// Whether this is the recording's last reading.
    pub(crate) fn is_last(&self) -> bool {
        matches!(self.look, Look::Last)
    }

    /// The present time, at most half a millisecond old.
    pub(crate) fn stamp(&self) -> Timestamp {
        let now = boottime();
        if now.ns_since(self.stamped.get()) > STAMP_NS {
            self.stamped.set(now);
        }
        self.stamped.get()
    }

    /// Whether a deadline of this period, ticks, has passed.
    pub(crate) fn passes(&self, ticks: u64) -> bool {
        matches!(self.look, Look::Due) && self.due.every(ticks)
    }

    /// Whether it is time for something with this period, ticks: at a deadline, and at the end.
    pub(crate) fn is_due(&self, ticks: u64) -> bool {
        self.is_last() || self.passes(ticks)
    }

    /// Whether a sensor is read, of tracked entities or of the others.
    pub(crate) fn reads(&self, sensor: &Sensor, tracked: bool) -> bool {
        let (period, factor) = match (tracked, sensor.scope) {
            (true, Scope::Thread) => (sensor.period.tracked, self.budget.threads),
            (true, _) => (sensor.period.tracked, self.budget.tracked),
            (false, _) => (sensor.period.background, self.budget.background),
        };
        match self.look {
            Look::Due => self.due.every(ticks_of(period) * factor),
            Look::Last => true,
            Look::Only(wanted) => wanted(sensor),
        }
    }

    /// Factors by which periods are lengthened.
    pub(crate) fn budget(&self) -> Budget {
        self.budget
    }
}

#[cfg(test)]
impl Tick {
    /// One at which everything is read.
    pub(crate) fn of_everything() -> Self {
        let due = Due {
            before: None,
            tick: 0,
        };
        Self::new(Look::Last, due, Budget::new(0))
    }
}
