//! Wall-clock time of a recording's instants, for joining with logs and other machines.

use model::{Identity, Timeline, Timestamp};

/// Clocks are slewed by up to 500 ppm; an offset that moves faster than this jumped.
const SLEW: f64 = 1e-3;

/// What the wall clock showed, by the recording's `clock` table and its anchor.
pub(crate) struct WallClock {
    /// Boot time and the wall clock's distance from it, ns, in the order of time.
    offsets: Vec<(i64, i64)>,
}

impl WallClock {
    /// The wall clock of a recording.
    pub(crate) fn of(identity: &Identity, timeline: &Timeline) -> Self {
        let anchor = (identity.anchor_boottime, identity.anchor_realtime_ns);
        let mut readings = vec![anchor];
        if let Some(machine) = timeline.entities.machine()
            && let Some(realtime) = timeline.series("clock", machine.id, "realtime_ns")
        {
            readings.extend(realtime.values());
        }
        let offset =
            |(boot, real): (Timestamp, i64)| Some((boot.as_ns(), real.checked_sub(boot.as_ns())?));
        let mut offsets: Vec<(i64, i64)> = readings.into_iter().filter_map(offset).collect();
        offsets.sort_unstable();
        Self { offsets }
    }

    /// Nanoseconds since 1970, UTC. Between two readings on the straight line where the clock was
    /// slewed, and by the earlier one where it jumped. `None` where damage put it out of all range.
    pub(crate) fn at(&self, time: Timestamp) -> Option<i64> {
        let boot = time.as_ns();
        let after = self.offsets.partition_point(|(at, _)| *at <= boot);
        let before = after.checked_sub(1).and_then(|at| self.offsets.get(at));
        let offset = match (before, self.offsets.get(after)) {
            (Some(before), Some(after)) => between(*before, *after, boot),
            (Some((_, offset)), None) | (None, Some((_, offset))) => *offset,
            (None, None) => return None,
        };
        boot.checked_add(offset)
    }

    /// When it showed so many ns since 1970, UTC: the last time, where it was set back. `None` where damage put it out
    /// of all range.
    pub(crate) fn boot_at(&self, realtime_ns: i64) -> Option<Timestamp> {
        let boot = |(at, offset): &(i64, i64)| Some((*at, realtime_ns.checked_sub(*offset)?));
        let mut readings = self.offsets.iter().filter_map(boot);
        let first = readings.clone().next();
        let known = readings.rfind(|(at, boot)| boot >= at);
        let (_, boot) = known.or(first)?;
        Some(Timestamp::from_ns(boot))
    }
}

fn between(before: (i64, i64), after: (i64, i64), boot: i64) -> i64 {
    let length = after.0.saturating_sub(before.0) as f64;
    let moved = after.1.saturating_sub(before.1) as f64;
    if length <= 0.0 || moved.abs() > length * SLEW {
        return before.1;
    }
    let part = boot.saturating_sub(before.0) as f64 / length;
    before.1.saturating_add((moved * part).round() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(offsets: &[(i64, i64)]) -> WallClock {
        WallClock {
            offsets: offsets.to_vec(),
        }
    }

    fn at(clock: &WallClock, boot: i64) -> Option<i64> {
        clock.at(Timestamp::from_ns(boot))
    }

    #[test]
    fn a_slewed_clock_is_a_straight_line_and_flat_outside() {
        let clock = clock(&[(1_000_000, 500), (2_000_000, 900)]);
        assert_eq!(at(&clock, 1_500_000), Some(1_500_700));
        assert_eq!(at(&clock, 0), Some(500));
        assert_eq!(at(&clock, 3_000_000), Some(3_000_900));
    }

    #[test]
    fn a_clock_that_was_set_keeps_its_old_time_until_it_was_read() {
        let clock = clock(&[(1_000_000, 500), (2_000_000, -900_000)]);
        assert_eq!(at(&clock, 1_999_999), Some(2_000_499));
        assert_eq!(at(&clock, 2_000_000), Some(1_100_000));
    }

    #[test]
    fn a_time_on_the_wall_is_found_again() {
        let clock = clock(&[(1_000_000, 500), (2_000_000, 900), (3_000_000, -400_000)]);
        let found = |realtime| clock.boot_at(realtime).map(Timestamp::as_ns);
        assert_eq!(found(2_000_900), Some(2_000_000));
        assert_eq!(found(1_000_500), Some(1_000_000));
        assert_eq!(found(500), Some(0), "before all readings");
        assert_eq!(
            found(2_700_000),
            Some(3_100_000),
            "shown twice: the last time"
        );
    }

    #[test]
    fn times_out_of_range_are_not_known() {
        assert_eq!(at(&clock(&[(0, i64::MAX)]), 1), None);
        assert_eq!(at(&clock(&[]), 1), None);
        let wide = clock(&[(i64::MIN, i64::MIN), (i64::MAX, i64::MAX)]);
        assert_eq!(at(&wide, 0), Some(i64::MIN));
    }
}
