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

/// Mean of some values; `None` of nothing.
pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Coefficient of variation (standard deviation / mean); `None` of fewer than three values or a mean of 0.
pub(crate) fn variation(values: &[f64]) -> Option<f64> {
    const LEAST: usize = 3;
    let centre = mean(values).filter(|mean| values.len() >= LEAST && *mean > 0.0)?;
    let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt() / centre)
}

/// `a / b`, `None` where that means nothing.
pub(crate) fn ratio(a: f64, b: f64) -> Option<f64> {
    (b > 0.0).then(|| a / b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variation_is_relative_and_needs_values() {
        assert_eq!(variation(&[5.0, 5.0, 5.0, 5.0]), Some(0.0));
        let varied = variation(&[4.0, 5.0, 6.0]).expect("three values");
        assert!((varied - 0.2).abs() < 1e-9);
        assert_eq!(variation(&[1.0, 2.0]), None);
        assert_eq!(variation(&[0.0; 5]), None);
    }
}
