//! Sensors of a tracked group that have stopped working, because the group was removed or its pressure
//! disabled (`cgroup.pressure`). The gap is reported when its end is known; a sensor that works again is read
//! on.

use model::{EntityId, EntityKind, GapReason, Part, Timestamp, Window};

use crate::gaps::Gaps;
use crate::output::Recorded;
use crate::probe::Probe;
use kernel::hierarchies::Hierarchies;

/// A sensor that a group has lost.
pub(super) struct Lost {
    recorded: Recorded,
    since: Timestamp,
}

impl Lost {
    pub(super) fn new(probe: &Probe, now: Timestamp) -> Self {
        let never_read = probe.sampled() == Timestamp::default();
        Self {
            recorded: probe.recorded(),
            since: if never_read { now } else { probe.sampled() },
        }
    }

    /// Opens the files again, and reports the gap if they exist.
    pub(super) fn find(
        &self,
        hierarchies: &Hierarchies,
        path: &str,
        group: EntityId,
        now: Timestamp,
        gaps: &mut Gaps,
    ) -> Option<Probe> {
        let sources = self.recorded.sensor.sources;
        let place = |source: usize| hierarchies.place(&sources[source], path);
        // The gaps are dropped: it is known already that the files do not exist.
        let mut probe = Probe::open(self.recorded, group, place, &mut Gaps::default())?;
        // As for all sensors of a tracked group.
        probe.first_decides = false;
        self.report(path, now, gaps);
        Some(probe)
    }

    /// Reports the gap, which ends now.
    pub(super) fn report(&self, path: &str, now: Timestamp, gaps: &mut Gaps) {
        let window = Window::new(self.since, now);
        let table = &self.recorded.sensor.table.name;
        let group = Part::name(EntityKind::Cgroup, path);
        gaps.report_interval(table, group, window, GapReason::Vanished);
    }
}
