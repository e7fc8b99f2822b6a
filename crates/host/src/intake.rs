//! Where rows are made fit for keeping: counters held monotone, unchanged rows left out.
//!
//! A stretch without change is bounded by a row at each end: when a value moves after rows were left
//! out, the last unchanged one is written first, at the time at which it was last seen. So a straight
//! line between two rows is always what happened.

use model::{ColumnKind, EntityId, MISSING, Monotone, Rollback, Rows, Table, Timestamp};

/// Room for a second of rows of some hundred threads; more is made when more come.
const USUAL_ROWS: usize = 1_024;

/// The rows of one table on their way out.
pub(crate) struct Intake {
    /// The table's description.
    pub(crate) table: &'static Table,
    /// Rows since the last flush.
    pub(crate) rows: Rows,
    /// The other buffer, when it has come back: the two take turns.
    pub(crate) spare: Option<Rows>,
    /// Readings that ran back and were held, per column.
    pub(crate) corrections: Vec<u64>,
    /// Room for a row in the making.
    held: Vec<i64>,
    /// How often everything was to be written anew.
    pub(crate) restated: u32,
}

impl Intake {
    pub(crate) fn new(table: &'static Table) -> Self {
        let width = table.columns.len();
        Self {
            table,
            rows: Rows::with_capacity(width, USUAL_ROWS),
            spare: Some(Rows::with_capacity(width, USUAL_ROWS)),
            corrections: vec![0; width],
            held: vec![MISSING; width],
            restated: 0,
        }
    }

    /// The next reading of everything is written, changed or not.
    pub(crate) fn restate(&mut self) {
        self.restated += 1;
    }

    /// Takes the rows out and goes on with the other buffer.
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

/// What was last seen of one entity in one table.
pub(crate) struct LastSeen {
    entity: EntityId,
    time: Timestamp,
    values: Vec<i64>,
    counters: Vec<Option<Monotone>>,
    /// Whether `values` at `time` still stands unwritten.
    unwritten: bool,
    /// Up to which restatement it was written.
    restated: u32,
}

impl LastSeen {
    pub(crate) fn new(entity: EntityId, width: usize) -> Self {
        Self {
            entity,
            time: Timestamp::default(),
            values: vec![MISSING; width],
            counters: vec![None; width],
            unwritten: false,
            restated: 0,
        }
    }

    pub(crate) fn entity(&self) -> EntityId {
        self.entity
    }

    /// What was last seen.
    pub(crate) fn values(&self) -> &[i64] {
        &self.values
    }

    /// When it was last seen.
    pub(crate) fn time(&self) -> Timestamp {
        self.time
    }

    /// Takes a reading; writes a row when something changed.
    pub(crate) fn take(&mut self, time: Timestamp, values: &[i64], intake: &mut Intake) {
        let before = std::mem::replace(&mut self.restated, intake.restated);
        let mut changed = before != intake.restated;
        let mut held = std::mem::take(&mut intake.held);
        for (index, column) in intake.table.columns.iter().enumerate() {
            held[index] = match column.kind {
                ColumnKind::Counter => {
                    self.hold(index, values[index], &mut intake.corrections[index])
                }
                ColumnKind::Gauge => values[index],
            };
            changed |= held[index] != self.values[index];
        }
        if changed {
            self.finish(intake);
            self.values.copy_from_slice(&held);
            self.time = time;
            intake.rows.push(time, self.entity, &held);
        } else {
            self.unchanged(time);
        }
        intake.held = held;
    }

    /// Notes that nothing changed up to `time`.
    pub(crate) fn unchanged(&mut self, time: Timestamp) {
        self.time = time;
        self.unwritten = true;
    }

    /// Writes the end of an unchanged stretch, if there is one.
    pub(crate) fn finish(&mut self, intake: &mut Intake) {
        if std::mem::take(&mut self.unwritten) && self.values.iter().any(|value| *value != MISSING)
        {
            intake.rows.push(self.time, self.entity, &self.values);
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

    fn written(intake: &Intake) -> Vec<(i64, Vec<i64>)> {
        intake
            .rows
            .iter()
            .map(|(time, _, values)| (time.as_ns(), values.to_vec()))
            .collect()
    }

    #[test]
    fn a_stretch_without_change_is_bounded_by_a_row_at_each_end() {
        let mut intake = Intake::new(&TABLE);
        let mut last = LastSeen::new(EntityId(0), 2);
        for (time, n) in [(1, 5), (2, 5), (3, 5), (4, 9)] {
            last.take(at(time), &[n, 7], &mut intake);
        }
        assert_eq!(
            written(&intake),
            [(1, vec![5, 7]), (3, vec![5, 7]), (4, vec![9, 7])]
        );
        last.unchanged(at(6));
        last.finish(&mut intake);
        last.finish(&mut intake);
        assert_eq!(written(&intake).last(), Some(&(6, vec![9, 7])));
        assert_eq!(intake.rows.len(), 4);
    }

    #[test]
    fn after_a_loss_what_has_not_changed_since_is_written_once() {
        let mut intake = Intake::new(&TABLE);
        let mut last = LastSeen::new(EntityId(0), 2);
        for time in 1..=6 {
            if time == 4 {
                intake.restate();
            }
            last.take(at(time), &[5, 7], &mut intake);
        }
        assert_eq!(
            written(&intake),
            [(1, vec![5, 7]), (3, vec![5, 7]), (4, vec![5, 7])]
        );
    }

    #[test]
    fn a_counter_that_runs_back_is_held_and_counted() {
        let mut intake = Intake::new(&TABLE);
        let mut last = LastSeen::new(EntityId(0), 2);
        for (time, n) in [(1, 100), (2, 92), (3, 101)] {
            last.take(at(time), &[n, time], &mut intake);
        }
        assert_eq!(
            written(&intake),
            [(1, vec![100, 1]), (2, vec![100, 2]), (3, vec![101, 3])]
        );
        assert_eq!(intake.corrections, [1, 0]);
    }

    #[test]
    fn a_missing_value_neither_is_zero_nor_moves_the_counter() {
        let mut intake = Intake::new(&TABLE);
        let mut last = LastSeen::new(EntityId(0), 2);
        for (time, n) in [(1, 100), (2, MISSING), (3, 101)] {
            last.take(at(time), &[n, 0], &mut intake);
        }
        assert_eq!(
            written(&intake),
            [(1, vec![100, 0]), (2, vec![MISSING, 0]), (3, vec![101, 0])]
        );
    }
}
