//! A recording opened for reading over a window: all of its tables, who is in them, what it did not see.

use std::collections::BTreeMap;

use crate::{Entities, EntityId, Gap, Series, Table, TableData, Window};

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
        let rows = data.rows_of(entity)?;
        let vanished = self.entities.get(entity).and_then(|record| record.vanished);
        let last = data.key(*rows.last()? as usize).0;
        let known_until = if self.closed || vanished.is_some() {
            last
        } else {
            last.max(self.window.end)
        };
        Some(Series::new(data, rows, column, known_until))
    }
}
