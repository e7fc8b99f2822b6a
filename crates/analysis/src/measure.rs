//! The few questions that facts ask of the recording's rows.

use model::{EntityId, Timeline, Window};

use crate::stats::ratio;

/// One table's numbers about one entity over a window; what was not recorded is `None`.
#[derive(Clone, Copy)]
pub(crate) struct Of<'a> {
    timeline: &'a Timeline,
    table: &'a str,
    entity: EntityId,
    window: Window,
}

impl<'a> Of<'a> {
    pub(crate) fn new(
        timeline: &'a Timeline,
        table: &'a str,
        entity: EntityId,
        window: Window,
    ) -> Self {
        Self {
            timeline,
            table,
            entity,
            window,
        }
    }

    /// A counter's growth per second of what is known of the window.
    pub(crate) fn rate(&self, column: &str) -> Option<f64> {
        let series = self.timeline.series(self.table, self.entity, column)?;
        series.rate(self.window)
    }

    /// How much a counter grew.
    pub(crate) fn growth(&self, column: &str) -> Option<f64> {
        let series = self.timeline.series(self.table, self.entity, column)?;
        series.growth(self.window)
    }

    /// A gauge's mean over time.
    pub(crate) fn mean(&self, column: &str) -> Option<f64> {
        let series = self.timeline.series(self.table, self.entity, column)?;
        series.mean(self.window)
    }

    /// The part of the time in which a gauge is known that it was at a value.
    pub(crate) fn part_at(&self, column: &str, value: i64) -> Option<f64> {
        let series = self.timeline.series(self.table, self.entity, column)?;
        let covered = series.covered(self.window)?;
        let (mut from, mut current) = (covered.start, series.gauge_at(covered.start));
        let mut at_ns = 0;
        let end = std::iter::once((covered.end, None));
        let changes = series.values_in(covered).map(|(time, it)| (time, Some(it)));
        for (time, next) in changes.chain(end) {
            if current == Some(value) {
                at_ns += time.ns_since(from);
            }
            (from, current) = (time, next);
        }
        ratio(at_ns as f64, covered.len_ns() as f64)
    }

    /// A gauge's last value.
    pub(crate) fn last(&self, column: &str) -> Option<f64> {
        let series = self.timeline.series(self.table, self.entity, column)?;
        series.gauge_at(self.window.end).map(|value| value as f64)
    }

    /// A gauge's lowest value, what it came with included.
    pub(crate) fn lowest(&self, column: &str) -> Option<f64> {
        let series = self.timeline.series(self.table, self.entity, column)?;
        let before = series.gauge_at(self.window.start).into_iter();
        let inside = series.values_in(self.window).map(|(_, value)| value);
        before.chain(inside).min().map(|lowest| lowest as f64)
    }
}
