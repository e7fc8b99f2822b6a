//! Rows as a sampler writes them: on its period, holes left out, unchanged segments by their ends.

use model::{ColumnKind, EntityId, MISSING, Table, Timeline, Timestamp};

use super::at;

/// One column's value in a second: per second for counters, as it is for gauges.
pub struct Value(pub &'static str, pub f64, pub Known);

/// Whether a value can be read; a counter goes on behind one that cannot.
pub type Known = bool;

/// What is written into one table about one entity.
pub struct Writer {
    pub table: &'static Table,
    pub entity: EntityId,
    pub every_ms: usize,
    pub seconds: usize,
    /// Whether unchanged rows are written as well.
    pub all: bool,
}

impl Writer {
    /// Writes the rows of every second that is seen.
    pub fn write(
        &self,
        timeline: &mut Timeline,
        seen: impl Fn(usize) -> bool,
        values: impl Fn(usize) -> Vec<Value>,
    ) {
        let mut pending = Pending::default();
        let values: Vec<Vec<Value>> = (0..self.seconds.max(1)).map(values).collect();
        // Counters are absolute, and no counter of a machine that runs begins at 0.
        let mut sums = vec![7e9; self.table.columns.len()];
        for now in (0..=self.seconds * 1000).step_by(self.every_ms) {
            // The newest second, and those since the row before.
            let second = now.saturating_sub(1) / 1000;
            let since = now.saturating_sub(self.every_ms) / 1000..=second;
            let mut row = vec![MISSING; sums.len()];
            for Value(name, value, known) in &values[second] {
                let (value, known) = (*value, *known);
                let index = self.table.position(name).expect("a column of the table");
                let counter = self.table.columns[index].kind == ColumnKind::Counter;
                if counter && now > 0 {
                    let rates = since.clone().map(|second| rate(&values[second], name));
                    let mean = rates.sum::<f64>() / since.clone().count() as f64;
                    sums[index] += mean * self.every_ms as f64 / 1e3;
                }
                if known {
                    row[index] = if counter { sums[index].round() } else { value } as i64;
                }
            }
            // A row on the border of a hole belongs to the side that is seen.
            let opens = now % 1000 == 0 && seen(now / 1000);
            let time = at(now as f64 / 1e3);
            if seen(second) || opens {
                pending.take(self, timeline, time, row);
            } else {
                pending.finish(self, timeline);
            }
        }
        pending.finish(self, timeline);
    }
}

fn rate(values: &[Value], name: &str) -> f64 {
    let found = values.iter().find(|Value(other, _, _)| *other == name);
    found.map_or(0.0, |Value(_, rate, _)| *rate)
}

/// The newest row, and when it was last seen unchanged, if that stands unwritten.
#[derive(Default)]
struct Pending {
    row: Vec<i64>,
    unwritten: Option<Timestamp>,
}

impl Pending {
    fn take(&mut self, to: &Writer, timeline: &mut Timeline, time: Timestamp, row: Vec<i64>) {
        if row == self.row && !to.all {
            self.unwritten = Some(time);
            return;
        }
        self.finish(to, timeline);
        timeline.table_mut(to.table).push(time, to.entity, &row);
        self.row = row;
    }

    fn finish(&mut self, to: &Writer, timeline: &mut Timeline) {
        if let Some(time) = self.unwritten.take() {
            let data = timeline.table_mut(to.table);
            data.push(time, to.entity, &self.row);
        }
    }
}
