//! What a group of the target showed and shows no more: the group was removed, or its pressure was
//! turned off (`cgroup.pressure`). The gap is told when its end is known; what comes back is read on.

use model::{EntityId, GapReason, Timestamp, Window};
use sensors::Sensor;

use super::Hierarchies;
use crate::gaps::Gaps;
use crate::probe::Probe;

/// A sensor that a group has lost.
pub(super) struct Lost {
    index: usize,
    sensor: &'static Sensor,
    since: Timestamp,
}

impl Lost {
    pub(super) fn new(index: usize, probe: &Probe, now: Timestamp) -> Self {
        let never_read = probe.sampled() == Timestamp::default();
        Self {
            index,
            sensor: sensors::all()[index],
            since: if never_read { now } else { probe.sampled() },
        }
    }

    /// Opens the files anew, and tells the gap where they are there.
    pub(super) fn find(
        &self,
        hierarchies: &Hierarchies,
        (path, group): (&str, EntityId),
        now: Timestamp,
        gaps: &mut Gaps,
    ) -> Option<(usize, Probe)> {
        let place = |source: usize| hierarchies.place(&self.sensor.sources[source], path);
        // That they are not there is no news.
        let mut probe = Probe::open(self.sensor, group, place, &mut Gaps::default())?;
        // As with everything that is read of a near group.
        probe.first_decides = false;
        self.tell(path, now, gaps);
        Some((self.index, probe))
    }

    /// Tells the gap, which ends now.
    pub(super) fn tell(&self, path: &str, now: Timestamp, gaps: &mut Gaps) {
        let window = Window::new(self.since, now);
        let table = &self.sensor.table.name;
        gaps.say_of(table, path, window, GapReason::Vanished);
    }
}
