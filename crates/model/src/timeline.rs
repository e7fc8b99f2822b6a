//! A recording opened for reading over a window: columns in memory, and the arithmetic on them that
//! every reader must do alike.
//!
//! Rows exist only where something changed, and a stretch without change is bounded by a row at each
//! end. So a counter between two rows is a straight line and a gauge holds until its next row. After
//! an entity's last row nothing is known, unless the recording was cut off by a crash: then the end
//! of an unchanged stretch may be missing, and an entity that was not seen to vanish is taken as
//! unchanged up to the cut.

use std::collections::BTreeMap;

use crate::{Entities, EntityId, Gap, MISSING, Table, Timestamp, Window};

/// All tables of a recording with its entities and gaps.
#[derive(Clone, Debug)]
pub struct Timeline {
    /// What the recording covers.
    pub window: Window,
    /// Who is in it.
    pub entities: Entities,
    /// What it did not see.
    pub gaps: Vec<Gap>,
    /// Whether the recording was closed: every series then ends where it was last seen.
    pub closed: bool,
    tables: BTreeMap<String, TableData>,
}

impl Timeline {
    /// A timeline over `window` without tables.
    pub fn new(window: Window) -> Self {
        Self {
            window,
            entities: Entities::default(),
            gaps: Vec::new(),
            closed: true,
            tables: BTreeMap::new(),
        }
    }

    /// Adds a table, replacing one of the same name.
    pub fn insert(&mut self, data: TableData) {
        self.tables.insert(data.table.name.to_string(), data);
    }

    /// The table of that name, if it was recorded.
    pub fn table(&self, name: &str) -> Option<&TableData> {
        self.tables.get(name)
    }

    /// The table of that name, made empty from its declaration when absent.
    pub fn table_mut(&mut self, table: &Table) -> &mut TableData {
        self.tables
            .entry(table.name.to_string())
            .or_insert_with(|| TableData::new(table.clone()))
    }

    /// All tables by name.
    pub fn tables(&self) -> impl Iterator<Item = &TableData> {
        self.tables.values()
    }

    /// One entity's column, or `None` when the table, the column or the entity was not recorded.
    pub fn series(&self, table: &str, entity: EntityId, column: &str) -> Option<Series<'_>> {
        let data = self.tables.get(table)?;
        let column = data.table.position(column)?;
        let rows = data.by_entity.get(&entity)?;
        let vanished = self.entities.get(entity).and_then(|record| record.vanished);
        let last = *data.times.get(*rows.last()? as usize)?;
        let known_until = if self.closed || vanished.is_some() {
            last
        } else {
            last.max(self.window.end)
        };
        Some(Series {
            data,
            rows,
            column,
            known_until,
        })
    }
}

/// The rows of one table, kept as columns, in the order of time.
#[derive(Clone, Debug)]
pub struct TableData {
    /// The table's own description.
    pub table: Table,
    times: Vec<Timestamp>,
    entities: Vec<EntityId>,
    columns: Vec<Vec<i64>>,
    by_entity: BTreeMap<EntityId, Vec<u32>>,
}

impl TableData {
    /// A table without rows.
    pub fn new(table: Table) -> Self {
        let columns = vec![Vec::new(); table.columns.len()];
        Self {
            table,
            times: Vec::new(),
            entities: Vec::new(),
            columns,
            by_entity: BTreeMap::new(),
        }
    }

    /// Adds a row; rows of one entity come in the order of time.
    ///
    /// # Panics
    /// When `values` has another length than the table has columns: a mistake of the program.
    pub fn push(&mut self, time: Timestamp, entity: EntityId, values: &[i64]) {
        assert_eq!(
            values.len(),
            self.columns.len(),
            "a row has one value per column"
        );
        let row = self.times.len() as u32;
        self.times.push(time);
        self.entities.push(entity);
        for (column, value) in self.columns.iter_mut().zip(values) {
            column.push(*value);
        }
        self.by_entity.entry(entity).or_default().push(row);
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Whether no row is held.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// The entities that have rows.
    pub fn entities(&self) -> impl Iterator<Item = EntityId> + '_ {
        self.by_entity.keys().copied()
    }

    /// Row `index` as (time, entity).
    pub fn key(&self, index: usize) -> (Timestamp, EntityId) {
        (self.times[index], self.entities[index])
    }

    /// The values of row `index`, in the order of the columns.
    pub fn row(&self, index: usize) -> impl Iterator<Item = i64> + '_ {
        self.columns.iter().map(move |column| column[index])
    }
}

/// One column of one entity over time.
#[derive(Clone, Copy, Debug)]
pub struct Series<'a> {
    data: &'a TableData,
    rows: &'a [u32],
    column: usize,
    known_until: Timestamp,
}

impl<'a> Series<'a> {
    /// The values that were read, with their times; missing ones are left out.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = (Timestamp, i64)> + use<'a> {
        let (data, column) = (self.data, self.column);
        self.rows.iter().filter_map(move |row| {
            let value = data.columns[column][*row as usize];
            (value != MISSING).then_some((data.times[*row as usize], value))
        })
    }

    /// The values read inside `window`.
    pub fn values_in(
        &self,
        window: Window,
    ) -> impl DoubleEndedIterator<Item = (Timestamp, i64)> + use<'a> {
        let first = self.position_after(window.start - 1);
        let end = self.position_after(window.end - 1).max(first);
        Series {
            rows: &self.rows[first..end],
            ..*self
        }
        .values()
    }

    /// The part of `window` in which this series is known; `None` when it is not known at all there.
    pub fn covered(&self, window: Window) -> Option<Window> {
        let first = self.values().next()?.0;
        window.intersect(Window::new(first, self.known_until))
    }

    /// A counter's value at an instant: on the straight line between its readings, flat after the
    /// last; `None` before the first.
    pub fn counter_at(&self, at: Timestamp) -> Option<f64> {
        let after = self.position_after(at);
        let before = self.read_backward(after)?;
        match self.read_forward(after) {
            Some(next) if next.0 > before.0 => {
                let part = at.ns_since(before.0) as f64 / next.0.ns_since(before.0) as f64;
                Some(before.1 as f64 + part * next.1.wrapping_sub(before.1) as f64)
            }
            _ => Some(before.1 as f64),
        }
    }

    /// How much a counter grew in the part of `window` in which it is known.
    pub fn growth(&self, window: Window) -> Option<f64> {
        let covered = self.covered(window)?;
        Some(self.counter_at(covered.end)? - self.counter_at(covered.start)?)
    }

    /// How fast a counter grew, per second of the part of `window` in which it is known.
    pub fn rate(&self, window: Window) -> Option<f64> {
        Some(self.growth(window)? / self.covered(window)?.seconds())
    }

    /// A gauge's value at an instant: its newest reading; `None` before the first.
    pub fn gauge_at(&self, at: Timestamp) -> Option<i64> {
        let after = self.position_after(at);
        Some(self.read_backward(after)?.1)
    }

    /// A gauge's mean over the known part of `window`, each value held until the next.
    pub fn mean(&self, window: Window) -> Option<f64> {
        let covered = self.covered(window)?;
        let mut at = covered.start;
        let mut value = self.gauge_at(at)? as f64;
        let mut sum = 0.0;
        for (time, next) in self.values_in(covered) {
            sum += value * time.ns_since(at) as f64;
            (at, value) = (time, next as f64);
        }
        sum += value * covered.end.ns_since(at) as f64;
        Some(sum / covered.len_ns() as f64)
    }

    /// How many rows were read at or before an instant.
    fn position_after(&self, at: Timestamp) -> usize {
        self.rows
            .partition_point(|row| self.data.times[*row as usize] <= at)
    }

    fn read(&self, position: usize) -> Option<(Timestamp, i64)> {
        let row = *self.rows.get(position)? as usize;
        Some((self.data.times[row], self.data.columns[self.column][row]))
    }

    fn read_backward(&self, end: usize) -> Option<(Timestamp, i64)> {
        (0..end)
            .rev()
            .filter_map(|i| self.read(i))
            .find(|(_, value)| *value != MISSING)
    }

    fn read_forward(&self, start: usize) -> Option<(Timestamp, i64)> {
        (start..self.rows.len())
            .filter_map(|i| self.read(i))
            .find(|(_, value)| *value != MISSING)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Column, EntityKind, Unit};

    static COLUMNS: &[Column] = &[
        Column::counter("n", Unit::Count, "", ""),
        Column::gauge("g", Unit::Count, "", ""),
    ];
    const ENTITY: EntityId = EntityId(0);

    fn seconds(s: f64) -> Timestamp {
        Timestamp::from_seconds(s)
    }

    fn drawn(rows: &[(f64, i64, i64)]) -> Timeline {
        let mut timeline = Timeline::new(Window::new(seconds(0.0), seconds(10.0)));
        let data = timeline.table_mut(&Table::new("t", EntityKind::Machine, "", COLUMNS));
        for (time, n, g) in rows {
            data.push(seconds(*time), ENTITY, &[*n, *g]);
        }
        timeline
    }

    #[test]
    fn a_counter_is_a_straight_line_between_readings() {
        let timeline = drawn(&[(1.0, 100, 0), (3.0, 300, 0)]);
        let n = timeline.series("t", ENTITY, "n").expect("recorded");
        assert_eq!(
            n.growth(Window::new(seconds(1.5), seconds(2.5))),
            Some(100.0)
        );
        assert_eq!(
            n.counter_at(seconds(0.5)),
            None,
            "before the first reading nothing is known"
        );
        assert_eq!(
            n.growth(Window::new(seconds(0.0), seconds(10.0))),
            Some(200.0)
        );
    }

    #[test]
    fn missing_is_not_zero() {
        let timeline = drawn(&[(1.0, 100, 4), (2.0, MISSING, MISSING), (3.0, 300, 8)]);
        let n = timeline.series("t", ENTITY, "n").expect("recorded");
        assert_eq!(
            n.growth(Window::new(seconds(1.0), seconds(2.0))),
            Some(100.0)
        );
        let g = timeline.series("t", ENTITY, "g").expect("recorded");
        assert_eq!(g.mean(Window::new(seconds(1.0), seconds(3.0))), Some(4.0));
        assert!(timeline.series("t", ENTITY, "absent").is_none());
    }

    #[test]
    fn a_gauge_holds_until_its_next_reading() {
        let mut timeline = drawn(&[(0.0, 0, 10), (1.0, 0, 20)]);
        let window = Window::new(seconds(0.0), seconds(2.0));
        let g = timeline.series("t", ENTITY, "g").expect("recorded");
        assert_eq!(g.gauge_at(seconds(0.9)), Some(10));
        assert_eq!(
            g.mean(window),
            Some(10.0),
            "nothing is known after the last row"
        );
        timeline.closed = false;
        let g = timeline.series("t", ENTITY, "g").expect("recorded");
        assert_eq!(
            g.mean(window),
            Some(15.0),
            "cut off: taken as unchanged up to the cut"
        );
    }
}
