//! Prepares rows for recording: counters are made monotonic, unchanged rows are left out.
//!
//! A row bounds an interval without change at each end: if a value changes after rows were left out, the last
//! unchanged one is written first, at the time of its last reading. So a straight line between two rows is
//! always what happened, and rows on a line along which one counter grows with time can be left out as well.

use model::{ColumnKind, EntityId, MISSING, Monotone, Rollback, Rows, Table, Timestamp};

/// Capacity for a second of rows of some hundred threads; grows on demand.
const USUAL_ROWS: usize = 1_024;

/// The rows of one table, until they are handed over.
pub(crate) struct TableBuffer {
    pub(crate) table: &'static Table,
    /// Rows since the last flush.
    pub(crate) rows: Rows,
    /// The other buffer, once it has come back: the two alternate.
    pub(crate) spare: Option<Rows>,
    /// Decreases of counters that were corrected, per column.
    pub(crate) corrections: Vec<u64>,
    /// Buffer for a row under construction.
    held: Vec<i64>,
    /// Number of `force_full_rows` calls.
    pub(crate) full_rows_requested: u32,
}

impl TableBuffer {
    pub(crate) fn new(table: &'static Table) -> Self {
        let width = table.columns.len();
        Self {
            table,
            rows: Rows::with_capacity(width, USUAL_ROWS),
            spare: Some(Rows::with_capacity(width, USUAL_ROWS)),
            corrections: vec![0; width],
            held: vec![MISSING; width],
            full_rows_requested: 0,
        }
    }

    /// Writes the next reading of everything, changed or not.
    pub(crate) fn force_full_rows(&mut self) {
        self.full_rows_requested += 1;
    }

    /// Takes the rows out and continues with the other buffer.
    pub(crate) fn take_rows(&mut self) -> Option<Rows> {
        if self.rows.is_empty() {
            return None;
        }
        let next = self
            .spare
            .take()
            .unwrap_or_else(|| Rows::with_capacity(self.rows.width(), self.rows.len()));
        Some(std::mem::replace(&mut self.rows, next))
    }
}

/// Leaves out unchanged rows of one entity in one table.
pub(crate) struct RowDeduplicator {
    entity: EntityId,
    time: Timestamp,
    values: Vec<i64>,
    counters: Vec<Option<Monotone>>,
    /// Whether `values` at `time` were left out so far.
    unwritten: bool,
    /// The only counter that changed since the row before, if it grew exactly with time.
    along: Option<usize>,
    /// Number of the last `force_full_rows` that was carried out.
    full_rows_done: u32,
}

impl RowDeduplicator {
    pub(crate) fn new(entity: EntityId, width: usize) -> Self {
        Self {
            entity,
            time: Timestamp::default(),
            values: vec![MISSING; width],
            counters: vec![None; width],
            unwritten: false,
            along: None,
            full_rows_done: 0,
        }
    }

    pub(crate) fn entity(&self) -> EntityId {
        self.entity
    }

    /// The values of the last reading.
    pub(crate) fn values(&self) -> &[i64] {
        &self.values
    }

    /// The time of the last reading.
    pub(crate) fn time(&self) -> Timestamp {
        self.time
    }

    /// Starts the counters at 0 at a time before the first reading, so that this reading's counts belong to
    /// the time since then.
    pub(crate) fn begin<const WIDTH: usize>(
        &mut self,
        time: Timestamp,
        first: &[i64; WIDTH],
        buffer: &mut TableBuffer,
    ) {
        if self.values.iter().any(|value| *value != MISSING) {
            return;
        }
        let mut row = *first;
        for (value, column) in row.iter_mut().zip(buffer.table.columns.iter()) {
            if column.kind == ColumnKind::Counter && *value != MISSING {
                *value = 0;
            }
        }
        self.take(time, &row, buffer);
    }

    /// Takes in a reading; writes a row if something changed.
    pub(crate) fn take(&mut self, time: Timestamp, values: &[i64], buffer: &mut TableBuffer) {
        let before = std::mem::replace(&mut self.full_rows_done, buffer.full_rows_requested);
        let mut changed = before != buffer.full_rows_requested;
        let mut held = std::mem::take(&mut buffer.held);
        for (index, column) in buffer.table.columns.iter().enumerate() {
            held[index] = match column.kind {
                ColumnKind::Counter => {
                    self.hold(index, values[index], &mut buffer.corrections[index])
                }
                ColumnKind::Gauge => values[index],
            };
            changed |= held[index] != self.values[index];
        }
        if changed {
            self.finish(buffer);
            self.values.copy_from_slice(&held);
            self.time = time;
            self.along = None;
            buffer.rows.push(time, self.entity, &held);
        } else {
            if self.along.take().is_some() {
                self.finish(buffer);
            }
            self.unchanged(time);
        }
        buffer.held = held;
    }

    /// As `take`, for counters of time in ns: if one counter took all of the time since the last reading, the
    /// row is on a straight line, and is written only when the line ends.
    pub(crate) fn take_times(&mut self, time: Timestamp, values: &[i64], buffer: &mut TableBuffer) {
        let grown = self
            .grown_as_time(time, values)
            .filter(|_| self.full_rows_done == buffer.full_rows_requested);
        let Some(index) = grown else {
            self.take(time, values, buffer);
            return;
        };
        if self.along != Some(index) {
            self.finish(buffer);
            self.along = Some(index);
        }
        self.values[index] = self.hold(index, values[index], &mut buffer.corrections[index]);
        self.unchanged(time);
    }

    /// The only value that changed, if it grew by the time that passed.
    fn grown_as_time(&self, time: Timestamp, values: &[i64]) -> Option<usize> {
        let mut pairs = self.values.iter().zip(values);
        let index = pairs.position(|(before, now)| before != now)?;
        let grown = values[index].checked_sub(self.values[index])?;
        let alone = pairs.all(|(before, now)| before == now);
        (alone && grown == time.ns_since(self.time)).then_some(index)
    }

    /// Notes that nothing changed up to `time`.
    pub(crate) fn unchanged(&mut self, time: Timestamp) {
        self.time = time;
        self.unwritten = true;
    }

    /// Writes the last unchanged row, if one was left out.
    pub(crate) fn finish(&mut self, buffer: &mut TableBuffer) {
        if std::mem::take(&mut self.unwritten) && self.values.iter().any(|value| *value != MISSING)
        {
            buffer.rows.push(self.time, self.entity, &self.values);
        }
    }

    fn hold(&mut self, index: usize, raw: i64, corrections: &mut u64) -> i64 {
        if raw == MISSING {
            return MISSING;
        }
        match &mut self.counters[index] {
            None => {
                self.counters[index] = Some(Monotone::new(raw));
                raw
            }
            Some(counter) => {
                let (held, rollback) = counter.advance(raw);
                if rollback != Rollback::None {
                    *corrections += 1;
                }
                held
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Column, EntityKind, Unit};

    static COLUMNS: &[Column] = &[
        Column::counter("n", Unit::Count, "N.", "s"),
        Column::gauge("g", Unit::Count, "G.", "s"),
    ];
    static TABLE: Table = Table::new("t", EntityKind::Machine, "", COLUMNS);

    fn at(s: i64) -> Timestamp {
        Timestamp::from_ns(s)
    }

    fn written(buffer: &TableBuffer) -> Vec<(i64, Vec<i64>)> {
        buffer
            .rows
            .iter()
            .map(|(time, _, values)| (time.as_ns(), values.to_vec()))
            .collect()
    }

    #[test]
    fn a_stretch_without_change_is_bounded_by_a_row_at_each_end() {
        let mut buffer = TableBuffer::new(&TABLE);
        let mut last = RowDeduplicator::new(EntityId(0), 2);
        for (time, n) in [(1, 5), (2, 5), (3, 5), (4, 9)] {
            last.take(at(time), &[n, 7], &mut buffer);
        }
        assert_eq!(
            written(&buffer),
            [(1, vec![5, 7]), (3, vec![5, 7]), (4, vec![9, 7])]
        );
        last.unchanged(at(6));
        last.finish(&mut buffer);
        last.finish(&mut buffer);
        assert_eq!(written(&buffer).last(), Some(&(6, vec![9, 7])));
        assert_eq!(buffer.rows.len(), 4);
    }

    #[test]
    fn of_a_counter_that_grows_as_time_does_the_ends_of_the_line_are_written() {
        let mut buffer = TableBuffer::new(&TABLE);
        let mut last = RowDeduplicator::new(EntityId(0), 2);
        for (time, n, g) in [
            (1, 5, 7),
            (3, 7, 7),
            (4, 8, 7),
            (8, 12, 7),
            (9, 12, 7),
            (10, 13, 8),
        ] {
            last.take_times(at(time), &[n, g], &mut buffer);
        }
        let lines = [
            (1, vec![5, 7]),
            (8, vec![12, 7]),
            (9, vec![12, 7]),
            (10, vec![13, 8]),
        ];
        assert_eq!(written(&buffer), lines);
        last.take_times(at(12), &[15, 8], &mut buffer);
        buffer.force_full_rows();
        last.take_times(at(13), &[16, 8], &mut buffer);
        last.finish(&mut buffer);
        let since = [(12, vec![15, 8]), (13, vec![16, 8])];
        assert_eq!(written(&buffer)[lines.len()..], since, "a loss ends it too");
    }

    #[test]
    fn when_another_counter_takes_over_the_line_has_a_corner() {
        static BOTH: &[Column] = &[
            Column::counter("a", Unit::Nanoseconds, "A.", "s"),
            Column::counter("b", Unit::Nanoseconds, "B.", "s"),
        ];
        static TIMES: Table = Table::new("t", EntityKind::Machine, "", BOTH);
        let mut buffer = TableBuffer::new(&TIMES);
        let mut last = RowDeduplicator::new(EntityId(0), 2);
        for (time, a, b) in [
            (1, 0, 0),
            (3, 2, 0),
            (5, 4, 0),
            (6, 4, 1),
            (8, 4, 3),
            (9, 4, 3),
        ] {
            last.take_times(at(time), &[a, b], &mut buffer);
        }
        last.finish(&mut buffer);
        let corners = [
            (1, vec![0, 0]),
            (5, vec![4, 0]),
            (8, vec![4, 3]),
            (9, vec![4, 3]),
        ];
        assert_eq!(written(&buffer), corners);
    }

    #[test]
    fn after_a_loss_what_has_not_changed_since_is_written_once() {
        let mut buffer = TableBuffer::new(&TABLE);
        let mut last = RowDeduplicator::new(EntityId(0), 2);
        for time in 1..=6 {
            if time == 4 {
                buffer.force_full_rows();
            }
            last.take(at(time), &[5, 7], &mut buffer);
        }
        assert_eq!(
            written(&buffer),
            [(1, vec![5, 7]), (3, vec![5, 7]), (4, vec![5, 7])]
        );
    }

    #[test]
    fn a_counter_that_runs_back_is_held_and_counted() {
        let mut buffer = TableBuffer::new(&TABLE);
        let mut last = RowDeduplicator::new(EntityId(0), 2);
        for (time, n) in [(1, 100), (2, 92), (3, 101)] {
            last.take(at(time), &[n, time], &mut buffer);
        }
        assert_eq!(
            written(&buffer),
            [(1, vec![100, 1]), (2, vec![100, 2]), (3, vec![101, 3])]
        );
        assert_eq!(buffer.corrections, [1, 0]);
    }

    #[test]
    fn a_missing_value_neither_is_zero_nor_moves_the_counter() {
        let mut buffer = TableBuffer::new(&TABLE);
        let mut last = RowDeduplicator::new(EntityId(0), 2);
        for (time, n) in [(1, 100), (2, MISSING), (3, 101)] {
            last.take(at(time), &[n, 0], &mut buffer);
        }
        assert_eq!(
            written(&buffer),
            [(1, vec![100, 0]), (2, vec![MISSING, 0]), (3, vec![101, 0])]
        );
    }
}
