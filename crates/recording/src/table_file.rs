//! One table's file: rows to record batches and back.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Int64Type, UInt32Type};
use arrow_array::{Array as _, ArrayRef, Int64Array, RecordBatch, UInt32Array};
use arrow_schema::SchemaRef;
use model::{EntityId, Rows, Table, TableData};

use crate::arrow_file::{ArrowFile, BATCH_BYTES};
use crate::delta::Bases;
use crate::schema::KEY_COLUMNS;
use crate::{Error, Result, TABLE_EXTENSION, plausible, schema};

/// A table being written.
pub(crate) struct TableFile {
    table: Table,
    schema: SchemaRef,
    file: ArrowFile,
    bases: Bases,
}

impl TableFile {
    /// Makes the table's file in a recording's folder.
    pub(crate) fn create(folder: &Path, table: &Table) -> Result<Self> {
        let path = path_of(folder, &table.name);
        let schema = schema::of_table(table).map_err(|error| Error::unfit(&path, error))?;
        let file = ArrowFile::create(path, &schema)?;
        let bases = Bases::new(table);
        Ok(Self {
            table: table.clone(),
            schema: Arc::new(schema),
            file,
            bases,
        })
    }

    /// Appends rows as one batch, or several when they are very many.
    pub(crate) fn append(&mut self, table: &Table, rows: &Rows) -> Result<()> {
        self.check(table, rows)?;
        let row_bytes = size_of::<i64>() * (KEY_COLUMNS + rows.width());
        let batch_rows = (BATCH_BYTES / row_bytes).max(1);
        for start in (0..rows.len()).step_by(batch_rows) {
            let end = rows.len().min(start + batch_rows);
            let batch = self.encode(rows, start..end)?;
            self.file.write(&batch)?;
        }
        Ok(())
    }

    /// Ends the file and returns its size.
    pub(crate) fn finish(self) -> Result<u64> {
        self.file.finish()
    }

    fn check(&self, table: &Table, rows: &Rows) -> Result<()> {
        let unfit = |what: String| Err(Error::unfit(self.file.path(), what));
        if *table != self.table {
            return unfit(format!("table {} was begun with other columns", table.name));
        }
        if rows.width() != table.columns.len() {
            let (width, columns) = (rows.width(), table.columns.len());
            return unfit(format!("rows of {width} values for {columns} columns"));
        }
        if let Some(time) = rows.times().iter().find(|time| !plausible(**time)) {
            return unfit(format!("{} ns is no time since boot", time.as_ns()));
        }
        Ok(())
    }

    fn encode(&mut self, rows: &Rows, range: std::ops::Range<usize>) -> Result<RecordBatch> {
        let entities = rows.entities()[range.clone()].iter().map(|entity| entity.0);
        let places = self.bases.places(entities.clone());
        let times = self.bases.encode_times(&rows.times()[range.clone()]);
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(KEY_COLUMNS + rows.width());
        columns.push(Arc::new(Int64Array::from(times)));
        columns.push(Arc::new(entities.collect::<UInt32Array>()));
        for column in 0..rows.width() {
            let values = rows.column(column).skip(range.start).take(range.len());
            columns.push(Arc::new(Int64Array::from(
                self.bases.encode(column, &places, values),
            )));
        }
        RecordBatch::try_new(self.schema.clone(), columns)
            .map_err(|error| Error::unfit(self.file.path(), error))
    }
}

/// A table being read.
pub(crate) struct TableRows {
    /// What was read so far.
    pub(crate) data: TableData,
    bases: Bases,
}

impl TableRows {
    /// No rows yet of the table that a file's schema describes.
    pub(crate) fn new(table: Table) -> Self {
        let bases = Bases::new(&table);
        Self {
            data: TableData::new(table),
            bases,
        }
    }

    /// Takes a batch of the table's schema: all of its rows or, with a reason, none.
    pub(crate) fn take(&mut self, batch: &RecordBatch) -> std::result::Result<(), String> {
        let stored = batch.column(0).as_primitive::<Int64Type>().values();
        let times = self
            .bases
            .decode_times(stored)
            .ok_or("a row's time is none since boot")?;
        let entities = batch.column(1).as_primitive::<UInt32Type>().values();
        let places = self.bases.places(entities.iter().copied());
        let entities: Vec<EntityId> = entities.iter().copied().map(EntityId).collect();
        let mut columns = Vec::with_capacity(batch.num_columns());
        for (index, column) in batch.columns()[KEY_COLUMNS..].iter().enumerate() {
            let column = column.as_primitive::<Int64Type>();
            columns.push(match column.nulls() {
                None => {
                    let stored = column.values().iter().copied().map(Some);
                    self.bases.decode(index, &places, stored)
                }
                Some(_) => self.bases.decode(index, &places, column.iter()),
            });
        }
        let columns = columns.iter().map(Vec::as_slice);
        self.data.append(&times, &entities, columns);
        Ok(())
    }
}

/// Where a table lies in a recording's folder.
pub(crate) fn path_of(folder: &Path, table: &str) -> PathBuf {
    folder.join(format!("{table}.{TABLE_EXTENSION}"))
}
