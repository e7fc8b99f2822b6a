//! Counters of an application, held monotone: they may be reset, and a crash of the server loses them.

use model::{ColumnKind, MISSING, Monotone, Rollback, Table};

/// The counters of one server.
pub(super) struct Held {
    table: &'static Table,
    counters: Vec<Option<Monotone>>,
    /// Readings that ran back, per column.
    corrections: Vec<u64>,
}

impl Held {
    pub(super) fn new(table: &'static Table) -> Self {
        let width = table.columns.len();
        Self {
            table,
            counters: vec![None; width],
            corrections: vec![0; width],
        }
    }

    /// Begins anew for another server; what was corrected stays counted.
    pub(super) fn restart(&mut self) {
        self.counters.fill(None);
    }

    /// A row whose counters never run back.
    pub(super) fn row(&mut self, mut row: Vec<i64>) -> Vec<i64> {
        for (index, value) in row.iter_mut().enumerate() {
            if self.table.columns[index].kind == ColumnKind::Counter && *value != MISSING {
                *value = self.hold(index, *value);
            }
        }
        row
    }

    /// How often each counter ran back, by table and column, where it did.
    pub(super) fn corrections(&self) -> Vec<(String, u64)> {
        let columns = self.table.columns.iter().zip(&self.corrections);
        columns
            .filter(|(_, count)| **count > 0)
            .map(|(column, count)| (format!("{}.{}", self.table.name, column.name), *count))
            .collect()
    }

    fn hold(&mut self, index: usize, raw: i64) -> i64 {
        let counter = self.counters[index].get_or_insert(Monotone::new(raw));
        let (held, rollback) = counter.advance(raw);
        self.corrections[index] += u64::from(rollback != Rollback::None);
        held
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sensors::postgres::DATABASE;

    #[test]
    fn counters_that_were_reset_go_on() {
        let position = |column| DATABASE.position(column).expect("there is such a column");
        let (commits, sessions) = (position("commits"), position("sessions"));
        let mut held = Held::new(&DATABASE);
        let seen = [1000, 1001, 2, 5].map(|number| {
            let mut row = vec![MISSING; DATABASE.columns.len()];
            row[commits] = number;
            row[sessions] = number;
            let row = held.row(row);
            (row[commits], row[sessions])
        });
        assert_eq!(seen, [(1000, 1000), (1001, 1001), (1003, 2), (1006, 5)]);
        assert_eq!(held.corrections(), [("database.commits".to_owned(), 1)]);
        held.restart();
        let mut row = vec![MISSING; DATABASE.columns.len()];
        row[commits] = 3;
        assert_eq!(held.row(row)[commits], 3);
        assert_eq!(held.corrections().len(), 1, "counted over all servers");
    }
}
