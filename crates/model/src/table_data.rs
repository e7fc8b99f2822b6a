//! The rows of one table in memory.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::OnceLock;

use crate::narrow::Narrow;
use crate::{EntityId, Table, Timestamp};

/// The rows of one table, kept as columns, in the order in which they were added.
#[derive(Clone, Debug)]
pub struct TableData {
    /// The table's own description.
    pub table: Table,
    times: Vec<Timestamp>,
    entities: Vec<EntityId>,
    columns: Vec<Narrow>,
    /// Made at the first question after rows were added.
    index: OnceLock<Index>,
}

/// Where the rows of each entity are.
#[derive(Clone, Debug)]
struct Index {
    /// All rows, those of an entity next to each other in the order of time.
    order: Vec<u32>,
    places: BTreeMap<EntityId, Range<usize>>,
}

impl TableData {
    /// A table without rows.
    pub fn new(table: Table) -> Self {
        let columns = vec![Narrow::default(); table.columns.len()];
        Self {
            table,
            times: Vec::new(),
            entities: Vec::new(),
            columns,
            index: OnceLock::new(),
        }
    }

    /// Adds a row; rows of one entity come in the order of time.
    ///
    /// # Panics
    /// When `values` has another length than the table has columns: a mistake of the program.
    pub fn push(&mut self, time: Timestamp, entity: EntityId, values: &[i64]) {
        self.append(&[time], &[entity], values.chunks(1));
    }

    /// Adds rows, given as columns; rows of one entity come in the order of time.
    ///
    /// # Panics
    /// When the columns are not those of the table, or not of one length: a mistake of the program.
    pub fn append<'a>(
        &mut self,
        times: &[Timestamp],
        entities: &[EntityId],
        columns: impl ExactSizeIterator<Item = &'a [i64]>,
    ) {
        assert_eq!(
            columns.len(),
            self.columns.len(),
            "a row has one value per column"
        );
        assert_eq!(entities.len(), times.len(), "a row has one entity");
        self.times.extend_from_slice(times);
        self.entities.extend_from_slice(entities);
        for (own, values) in self.columns.iter_mut().zip(columns) {
            assert_eq!(values.len(), times.len(), "a column has one value per row");
            own.extend(values);
        }
        self.index = OnceLock::new();
    }

    /// Adds some rows of a table of the same columns, in the order given; those of one entity come in the order of
    /// time.
    ///
    /// # Panics
    /// When the other has another number of columns, or less rows: a mistake of the program.
    pub fn append_from(&mut self, other: &TableData, rows: &[usize]) {
        let (times, entities): (Vec<Timestamp>, Vec<EntityId>) =
            rows.iter().map(|row| other.key(*row)).unzip();
        let column = |column: &Narrow| rows.iter().map(|row| column.get(*row)).collect();
        let columns: Vec<Vec<i64>> = other.columns.iter().map(column).collect();
        self.append(&times, &entities, columns.iter().map(Vec::as_slice));
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
        self.index().places.keys().copied()
    }

    /// Row `index` as (time, entity).
    pub fn key(&self, index: usize) -> (Timestamp, EntityId) {
        (self.times[index], self.entities[index])
    }

    /// The values of row `index`, in the order of the columns.
    pub fn row(&self, index: usize) -> impl Iterator<Item = i64> + '_ {
        self.columns.iter().map(move |column| column.get(index))
    }

    /// One value of row `index`, by the place of its column.
    pub fn value(&self, index: usize, column: usize) -> i64 {
        self.columns[column].get(index)
    }

    /// The rows of an entity in the order of time; `None` where it has none.
    pub fn rows_of(&self, entity: EntityId) -> Option<&[u32]> {
        let index = self.index();
        Some(&index.order[index.places.get(&entity)?.clone()])
    }

    fn index(&self) -> &Index {
        self.index.get_or_init(|| Index::of(&self.entities))
    }
}

impl Index {
    fn of(entities: &[EntityId]) -> Self {
        let entity = |row: &u32| entities[*row as usize];
        let mut order: Vec<u32> = (0..entities.len() as u32).collect();
        // Stable: the rows of an entity came in the order of time.
        order.sort_by_key(entity);
        let mut places = BTreeMap::new();
        let mut start = 0;
        for rows in order.chunk_by(|a, b| entity(a) == entity(b)) {
            places.insert(entity(&rows[0]), start..start + rows.len());
            start += rows.len();
        }
        Self { order, places }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Column, EntityKind, MISSING, Unit};

    static COLUMNS: &[Column] = &[Column::counter("n", Unit::Count, "", "")];

    fn at(ns: i64) -> Timestamp {
        Timestamp::from_ns(ns)
    }

    #[test]
    fn rows_of_an_entity_are_found_wherever_they_lie_and_after_more_were_added() {
        let mut data = TableData::new(Table::new("t", EntityKind::Thread, "", COLUMNS));
        let (a, b) = (EntityId(9), EntityId(4));
        // Sorted by entity within each batch, so not by time over all.
        let first = [at(1), at(2), at(1), at(2)];
        data.append(
            &first,
            &[b, b, a, a],
            [&[10, 20, 1, MISSING][..]].into_iter(),
        );
        assert_eq!(data.rows_of(a), Some(&[2, 3][..]));
        data.append(&[at(3), at(3)], &[b, a], [&[30, 3][..]].into_iter());
        data.push(at(4), a, &[4]);
        assert_eq!(data.entities().collect::<Vec<_>>(), [b, a]);
        let of = |entity| -> Vec<(i64, i64)> {
            let rows = data.rows_of(entity).expect("has rows");
            let row = |row: &u32| {
                (
                    data.key(*row as usize).0.as_ns(),
                    data.value(*row as usize, 0),
                )
            };
            rows.iter().map(row).collect()
        };
        assert_eq!(of(a), [(1, 1), (2, MISSING), (3, 3), (4, 4)]);
        assert_eq!(of(b), [(1, 10), (2, 20), (3, 30)]);
        assert_eq!(data.rows_of(EntityId(5)), None);
    }
}
