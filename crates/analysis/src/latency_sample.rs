//! Latencies of single operations that were taken at random from all, as pgbench logs them.

use model::{EntityId, MISSING, Timeline, Window};

/// Single operations that were taken at random, in the order of time.
pub(crate) struct Samples {
    all: Vec<(i64, i64)>,
}

impl Samples {
    /// All of a recording; empty without any.
    pub(crate) fn of(timeline: &Timeline) -> Self {
        Self::chosen(timeline, |_| true)
    }

    /// Those of one label.
    pub(crate) fn of_label(timeline: &Timeline, label: EntityId) -> Self {
        Self::chosen(timeline, |entity| entity == label)
    }

    fn chosen(timeline: &Timeline, is_wanted: impl Fn(EntityId) -> bool) -> Self {
        let is_wanted = &is_wanted;
        let table = timeline.table("latency_sample");
        let mut all: Vec<(i64, i64)> = table
            .and_then(|table| Some((table, table.table.position("latency_ns")?)))
            .into_iter()
            .flat_map(|(table, column)| {
                (0..table.len()).filter_map(move |row| {
                    let value = table.row(row).nth(column)?;
                    let (time, entity) = table.key(row);
                    let known = value != MISSING && value >= 0 && is_wanted(entity);
                    known.then(|| (time.as_ns(), value))
                })
            })
            .collect();
        all.sort_unstable();
        Self { all }
    }

    /// When each was completed, ns of the recording's clock, and what it took, ns.
    pub(crate) fn each(&self) -> &[(i64, i64)] {
        &self.all
    }

    /// What those took that were completed in a window, in rising order.
    pub(crate) fn inside(&self, window: Window) -> Vec<i64> {
        let from = self
            .all
            .partition_point(|(at, _)| *at < window.start.as_ns());
        let to = self.all.partition_point(|(at, _)| *at < window.end.as_ns());
        let mut times: Vec<i64> = self.all[from..to.max(from)].iter().map(|it| it.1).collect();
        times.sort_unstable();
        times
    }
}
