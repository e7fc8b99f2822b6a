//! One column of one entity over time, and the arithmetic on it that every reader must do alike.
//!
//! Rows exist only where something changed, and a stretch without change is bounded by a row at each
//! end. So a counter between two rows is a straight line and a gauge holds until its next row. After
//! an entity's last row nothing is known, unless the recording was cut off by a crash: then the end
//! of an unchanged stretch may be missing, and an entity that was not seen to vanish is taken as
//! unchanged up to the cut.

use crate::{MISSING, TableData, Timestamp, Window};

/// One column of one entity over time.
#[derive(Clone, Copy, Debug)]
pub struct Series<'a> {
    data: &'a TableData,
    /// From the first that has a value, so that nobody looks for it again.
    rows: &'a [u32],
    column: usize,
    known_until: Timestamp,
}

impl<'a> Series<'a> {
    /// A column of the rows of one entity.
    pub(crate) fn new(
        data: &'a TableData,
        rows: &'a [u32],
        column: usize,
        known_until: Timestamp,
    ) -> Self {
        let known = |row: &u32| data.value(*row as usize, column) != MISSING;
        let first = rows.iter().position(known).unwrap_or(rows.len());
        Self {
            data,
            rows: &rows[first..],
            column,
            known_until,
        }
    }

    /// The values that were read, with their times; missing ones are left out.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = (Timestamp, i64)> + use<'a> {
        let series = *self;
        self.rows
            .iter()
            .filter_map(move |row| series.read_row(*row))
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

    /// From its first value to where it was last seen; `None` without a value.
    pub fn known(&self) -> Option<Window> {
        let first = self.values().next()?.0;
        Some(Window::new(first, self.known_until))
    }

    /// The part of `window` in which this series is known; `None` when it is not known at all there.
    pub fn covered(&self, window: Window) -> Option<Window> {
        window.intersect(self.known()?)
    }

    /// The same questions asked in the order of time.
    pub fn cursor(&self) -> Cursor<'a> {
        Cursor {
            series: *self,
            after: 0,
            before: None,
            next: 0,
        }
    }

    /// A counter's value at an instant: on the straight line between its readings, flat after the
    /// last; `None` before the first.
    pub fn counter_at(&self, at: Timestamp) -> Option<f64> {
        self.cursor().counter_at(at)
    }

    /// How much a counter grew in the part of `window` in which it is known.
    pub fn growth(&self, window: Window) -> Option<f64> {
        self.cursor().growth(window)
    }

    /// How fast a counter grew, per second of the part of `window` in which it is known.
    pub fn rate(&self, window: Window) -> Option<f64> {
        Some(self.growth(window)? / self.covered(window)?.seconds())
    }

    /// A gauge's value at an instant: its newest reading; `None` before the first.
    pub fn gauge_at(&self, at: Timestamp) -> Option<i64> {
        self.cursor().gauge_at(at)
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
        self.rows.partition_point(|row| self.time(*row) <= at)
    }

    fn time(&self, row: u32) -> Timestamp {
        self.data.key(row as usize).0
    }

    /// What was read in the row at a position; `None` where nothing was.
    fn read(&self, position: usize) -> Option<(Timestamp, i64)> {
        self.read_row(*self.rows.get(position)?)
    }

    fn read_row(&self, row: u32) -> Option<(Timestamp, i64)> {
        let value = self.data.value(row as usize, self.column);
        (value != MISSING).then(|| (self.time(row), value))
    }
}

/// A series asked about one instant after the other. While they come in the order of time no question
/// costs a search, however long the series and whatever is missing in it; going back is allowed.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    series: Series<'a>,
    /// Rows at or before the instant asked about last.
    after: usize,
    /// The newest reading among them.
    before: Option<(Timestamp, i64)>,
    /// Where the first reading after them is, or the end; out of date below `after`.
    next: usize,
}

impl<'a> Cursor<'a> {
    /// The series.
    pub fn series(&self) -> &Series<'a> {
        &self.series
    }

    /// As `Series::counter_at`.
    pub fn counter_at(&mut self, at: Timestamp) -> Option<f64> {
        self.seek(at);
        let before = self.before?;
        if before.0 == at {
            return Some(before.1 as f64);
        }
        if self.next < self.after {
            let mut rest = self.after..self.series.rows.len();
            let next = rest.find(|position| self.series.read(*position).is_some());
            self.next = next.unwrap_or(self.series.rows.len());
        }
        match self.series.read(self.next) {
            Some(next) if next.0 > before.0 => {
                let part = at.ns_since(before.0) as f64 / next.0.ns_since(before.0) as f64;
                Some(before.1 as f64 + part * next.1.wrapping_sub(before.1) as f64)
            }
            _ => Some(before.1 as f64),
        }
    }

    /// As `Series::gauge_at`.
    pub fn gauge_at(&mut self, at: Timestamp) -> Option<i64> {
        self.seek(at);
        Some(self.before?.1)
    }

    /// As `Series::growth`.
    pub fn growth(&mut self, window: Window) -> Option<f64> {
        let covered = self.series.covered(window)?;
        let start = self.counter_at(covered.start)?;
        Some(self.counter_at(covered.end)? - start)
    }

    /// As `Series::values_in`.
    pub fn values_in(
        &mut self,
        window: Window,
    ) -> impl Iterator<Item = (Timestamp, i64)> + use<'a> {
        self.seek(window.start - 1);
        let series = self.series;
        let inside = series.rows[self.after..].iter();
        let inside = inside.take_while(move |row| series.time(**row) < window.end);
        inside.filter_map(move |row| series.read_row(*row))
    }

    fn seek(&mut self, at: Timestamp) {
        /// Rows that are stepped over before a search pays.
        const NEAR: usize = 8;
        let series = self.series;
        if self.after > 0 && series.time(series.rows[self.after - 1]) > at {
            *self = series.cursor();
        }
        let rest = &series.rows[self.after..];
        let passed = |row: &&u32| series.time(**row) <= at;
        let mut steps = rest.iter().take(NEAR).take_while(passed).count();
        if steps == NEAR {
            steps = rest.partition_point(|row| passed(&row));
        }
        let from = self.after;
        self.after += steps;
        let newest = (from..self.after).rev().find_map(|it| series.read(it));
        self.before = newest.or(self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Column, EntityId, EntityKind, Table, Timeline, Unit};

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

    /// What a reader works out from scratch: the newest value at or before, and the first after.
    fn slowly(rows: &[(i64, i64)], at: i64) -> (Option<i64>, Option<f64>) {
        let read = || rows.iter().filter(|(_, value)| *value != MISSING);
        let before = read().rev().find(|(time, _)| *time <= at);
        let next = read().find(|(time, _)| *time > at);
        let counter = before.map(|(time, value)| match next {
            Some((later, more)) => {
                let part = (at - time) as f64 / (later - time) as f64;
                *value as f64 + part * (more - value) as f64
            }
            None => *value as f64,
        });
        (before.map(|(_, value)| *value), counter)
    }

    proptest::proptest! {
        #[test]
        fn a_cursor_answers_as_a_search_would_in_any_order(
            steps in proptest::collection::vec((0i64..4, proptest::option::of(0i64..100)), 1..60),
            asked in proptest::collection::vec(-3i64..130, 1..40),
        ) {
            let mut time = 0;
            let rows: Vec<(i64, i64)> = steps
                .into_iter()
                .map(|(step, value)| {
                    time += step;
                    (time, value.unwrap_or(MISSING))
                })
                .collect();
            let mut data = TableData::new(Table::new("t", EntityKind::Machine, "", COLUMNS));
            for (time, value) in &rows {
                data.push(Timestamp::from_ns(*time), ENTITY, &[*value, *value]);
            }
            let own = data.rows_of(ENTITY).expect("has rows");
            let series = Series::new(&data, own, 0, Timestamp::from_ns(time));
            let mut cursor = series.cursor();
            for at in asked {
                let instant = Timestamp::from_ns(at);
                let (gauge, counter) = slowly(&rows, at);
                proptest::prop_assert_eq!(cursor.gauge_at(instant), gauge);
                proptest::prop_assert_eq!(cursor.counter_at(instant), counter);
                proptest::prop_assert_eq!(series.counter_at(instant), counter);
                let window = Window::new(instant, instant + 20);
                let inside: Vec<_> = series.values_in(window).collect();
                proptest::prop_assert_eq!(cursor.values_in(window).collect::<Vec<_>>(), inside);
            }
        }
    }
}
