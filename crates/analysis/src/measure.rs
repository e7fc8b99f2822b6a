//! The few questions that facts ask of the recording's rows.

use model::{EntityId, Timeline, Window};

/// One table's numbers about one entity over a window; what was not recorded is `None`.
#[derive(Clone, Copy)]
pub(crate) struct Of<'a> {
    timeline: &'a Timeline,
    table: &'static str,
    entity: EntityId,
    window: Window,
}

impl<'a> Of<'a> {
    pub(crate) fn new(
        timeline: &'a Timeline,
        table: &'static str,
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

    /// A gauge's last value.
    pub(crate) fn last(&self, column: &str) -> Option<f64> {
        let series = self.timeline.series(self.table, self.entity, column)?;
        series.gauge_at(self.window.end).map(|value| value as f64)
    }
}
