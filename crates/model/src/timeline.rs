//! A recording opened for reading over a window: all of its tables, who is in them, what it did not see.

use std::collections::BTreeMap;

use crate::{
    Counters, Entities, EntityId, Gap, Mark, Series, Strings, Table, TableData, Timestamp, Window,
};

/// All tables of a recording with its entities and gaps.
#[derive(Clone, Debug)]
pub struct Timeline {
    /// What the recording covers.
    pub window: Window,
    /// Who is in it.
    pub entities: Entities,
    /// The texts that rows refer to.
    pub strings: Strings,
    /// What it did not see.
    pub gaps: Vec<Gap>,
    /// What people said happened, in the order of time.
    pub marks: Vec<Mark>,
    /// Whether the recording was closed: every series then ends where it was last seen.
    pub closed: bool,
    /// What times are counted from, where this is a part of a longer recording; `None` where the recording says that
    /// itself.
    pub origin: Option<Timestamp>,
    tables: BTreeMap<String, TableData>,
}

impl Timeline {
    /// A timeline over `window` without tables.
    pub fn new(window: Window) -> Self {
        Self {
            window,
            entities: Entities::default(),
            strings: Strings::default(),
            gaps: Vec::new(),
            marks: Vec::new(),
            closed: true,
            origin: None,
            tables: BTreeMap::new(),
        }
    }

    /// Adds a table, replacing one of the same name.
    pub fn insert(&mut self, data: TableData) {
        self.tables.insert(data.table.name.to_string(), data);
    }

    /// Takes a table out, as if it had not been recorded; whether it was there.
    pub fn remove(&mut self, name: &str) -> bool {
        self.tables.remove(name).is_some()
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
        let rows = data.rows_of(entity)?;
        let known_until = self.known_until(data, rows, entity)?;
        Some(Series::new(data, rows, column, known_until))
    }

    /// Several counters of one entity, or `None` when one of them was not recorded.
    pub fn counters(
        &self,
        table: &str,
        entity: EntityId,
        columns: &[&str],
    ) -> Option<Counters<'_>> {
        let data = self.tables.get(table)?;
        let positions = columns.iter().map(|column| data.table.position(column));
        let positions = positions.collect::<Option<Vec<usize>>>()?;
        let rows = data.rows_of(entity)?;
        let first = data.key(*rows.first()? as usize).0;
        let known = Window::new(first, self.known_until(data, rows, entity)?);
        Some(Counters::new(data, rows, positions, known))
    }

    /// Where an entity of these rows was last seen.
    fn known_until(&self, data: &TableData, rows: &[u32], entity: EntityId) -> Option<Timestamp> {
        let vanished = self.entities.get(entity).and_then(|record| record.vanished);
        let last = data.key(*rows.last()? as usize).0;
        Some(if self.closed || vanished.is_some() {
            last
        } else {
            last.max(self.window.end)
        })
    }
}
