//! A counter that never runs backwards, whatever its source does.
//!
//! iowait and steal of /proc/stat do run back (iowait is accounted to the CPU a task last ran on,
//! and steal is subtracted from other fields by some hypervisors). The counter is held at its
//! highest value until the source has caught up, and each correction is counted.

/// What a reading did to a counter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rollback {
    /// It went forward or stood still.
    None,
    /// It ran back a little: held.
    Held,
    /// It fell below half of what it was: the source began anew, and counting goes on from the held
    /// value.
    Restarted,
}

/// One counter held monotone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Monotone {
    raw: i64,
    base: i64,
    held: i64,
}

impl Monotone {
    /// A counter that starts at `raw`.
    pub const fn new(raw: i64) -> Self {
        Self {
            raw,
            base: 0,
            held: raw,
        }
    }

    /// Takes a new reading and returns the held value with what happened.
    pub fn advance(&mut self, raw: i64) -> (i64, Rollback) {
        let mut rollback = Rollback::None;
        if raw < self.raw {
            rollback = Rollback::Held;
            if raw < self.raw / 2 {
                self.base = self.held;
                rollback = Rollback::Restarted;
            }
        }
        if rollback != Rollback::Held {
            self.raw = raw;
        }
        self.held = self.held.max(self.base.saturating_add(raw));
        (self.held, rollback)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn holds_through_a_small_step_back_and_catches_up() {
        let mut counter = Monotone::new(1000);
        assert_eq!(counter.advance(992), (1000, Rollback::Held));
        assert_eq!(counter.advance(999), (1000, Rollback::Held));
        assert_eq!(counter.advance(1005), (1005, Rollback::None));
    }

    #[test]
    fn goes_on_from_the_held_value_after_a_restart() {
        let mut counter = Monotone::new(1000);
        assert_eq!(counter.advance(3), (1003, Rollback::Restarted));
        assert_eq!(counter.advance(10), (1010, Rollback::None));
    }

    proptest! {
        #[test]
        fn never_runs_backwards(readings in proptest::collection::vec(0i64..1_000_000, 1..200)) {
            let mut counter = Monotone::new(readings[0]);
            let mut last = readings[0];
            for raw in readings {
                let (held, _) = counter.advance(raw);
                prop_assert!(held >= last);
                last = held;
            }
        }
    }
}
