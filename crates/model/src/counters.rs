//! Several counters of one entity asked about together: each row is looked for once, not once a column.

use crate::{MISSING, TableData, Timestamp, Window};

/// Some counters of the rows of one entity, asked about one instant after the other. While those come
/// in the order of time no question costs a search; going back is allowed.
#[derive(Clone, Debug)]
pub struct Counters<'a> {
    data: &'a TableData,
    rows: &'a [u32],
    columns: Vec<usize>,
    known: Window,
    /// Rows at or before the instant asked about last.
    after: usize,
}

impl<'a> Counters<'a> {
    /// `rows` are those of one entity, of which there is at least one.
    pub(crate) fn new(
        data: &'a TableData,
        rows: &'a [u32],
        columns: Vec<usize>,
        known: Window,
    ) -> Self {
        Self {
            data,
            rows,
            columns,
            known,
            after: 0,
        }
    }

    /// From the first row to where it was last seen.
    pub fn known(&self) -> Window {
        self.known
    }

    /// Their values at an instant, on the straight lines between rows, flat after the last; false before
    /// the first, or where a value was not read.
    ///
    /// `values` has room for as many as there are columns.
    pub fn at(&mut self, at: Timestamp, values: &mut [f64]) -> bool {
        self.seek(at);
        let Some(before) = self.after.checked_sub(1) else {
            return false;
        };
        let from = self.rows[before] as usize;
        let start = self.data.key(from).0;
        let next = self.rows.get(self.after).map(|row| *row as usize);
        let line = next.map(|to| {
            let step = self.data.key(to).0.ns_since(start).max(1);
            (to, at.ns_since(start) as f64 / step as f64)
        });
        for (column, own) in self.columns.iter().zip(values) {
            let first = self.data.value(from, *column);
            let second = line.map_or(first, |(to, _)| self.data.value(to, *column));
            if first == MISSING || second == MISSING {
                return false;
            }
            let part = line.map_or(0.0, |(_, part)| part);
            *own = first as f64 + part * second.wrapping_sub(first) as f64;
        }
        true
    }

    fn seek(&mut self, at: Timestamp) {
        /// Rows that are stepped over before a search pays.
        const NEAR: usize = 8;
        let time = |row: &u32| self.data.key(*row as usize).0;
        if self.after > 0 && time(&self.rows[self.after - 1]) > at {
            self.after = 0;
        }
        let rest = &self.rows[self.after..];
        let passed = |row: &&u32| time(row) <= at;
        let mut steps = rest.iter().take(NEAR).take_while(passed).count();
        if steps == NEAR {
            steps = rest.partition_point(|row| passed(&row));
        }
        self.after += steps;
    }
}

#[cfg(test)]
mod tests {
    use crate::{Column, EntityId, EntityKind, MISSING, Table, Timeline, Timestamp, Unit, Window};

    static COLUMNS: &[Column] = &[
        Column::counter("a", Unit::Count, "", ""),
        Column::counter("b", Unit::Count, "", ""),
    ];
    const ENTITY: EntityId = EntityId(0);

    fn drawn(rows: &[(f64, i64, i64)]) -> Timeline {
        let seconds = Timestamp::from_seconds;
        let mut timeline = Timeline::new(Window::new(seconds(0.0), seconds(10.0)));
        let data = timeline.table_mut(&Table::new("t", EntityKind::Machine, "", COLUMNS));
        for (time, a, b) in rows {
            data.push(seconds(*time), ENTITY, &[*a, *b]);
        }
        timeline
    }

    proptest::proptest! {
        #[test]
        fn they_say_what_each_series_says(
            steps in proptest::collection::vec((1i64..40, 0i64..1000, 0i64..1000), 1..40),
            asked in proptest::collection::vec(0.0..12.0f64, 1..40),
        ) {
            let mut sums = (0.0, 0, 0);
            let rows: Vec<(f64, i64, i64)> = steps
                .iter()
                .map(|(step, a, b)| {
                    sums = (sums.0 + *step as f64 / 10.0, sums.1 + a, sums.2 + b);
                    sums
                })
                .collect();
            let timeline = drawn(&rows);
            let mut both = timeline.counters("t", ENTITY, &["b", "a"]).expect("recorded");
            for at in asked {
                let at = Timestamp::from_seconds(at);
                let mut values = [0.0; 2];
                let seen = both.at(at, &mut values);
                for (column, value) in ["b", "a"].into_iter().zip(values) {
                    let alone = timeline.series("t", ENTITY, column).expect("recorded");
                    let alone = alone.counter_at(at);
                    proptest::prop_assert_eq!(alone.is_some(), seen);
                    if let Some(alone) = alone {
                        proptest::prop_assert!((alone - value).abs() < 1e-6);
                    }
                }
            }
        }
    }

    #[test]
    fn what_was_not_read_is_not_made_up() {
        let timeline = drawn(&[(1.0, 5, 5), (2.0, 6, MISSING), (3.0, 7, 7)]);
        let mut both = timeline
            .counters("t", ENTITY, &["a", "b"])
            .expect("recorded");
        let mut values = [0.0; 2];
        assert!(!both.at(Timestamp::from_seconds(1.5), &mut values));
        assert!(both.at(Timestamp::from_seconds(9.0), &mut values));
        assert_eq!(values, [7.0, 7.0]);
        assert!(timeline.counters("t", ENTITY, &["a", "c"]).is_none());
    }
}
