//! One table's file: rows gather until they are a batch, and batches become rows again.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::builder::{ArrayBuilder as _, Int64Builder, UInt32Builder};
use arrow_array::cast::AsArray as _;
use arrow_array::types::{Int64Type, UInt32Type};
use arrow_array::{Array as _, ArrayRef, Int64Array, RecordBatch, UInt32Array};
use arrow_schema::{Schema, SchemaRef};
use model::{EntityId, Rows, Table, TableData};

use crate::arrow_file::ArrowFile;
use crate::delta::Bases;
use crate::journal::{Cells, Part, PartRef};
use crate::schema::KEY_COLUMNS;
use crate::{Error, FolderHandle, Result, TABLE_EXTENSION, plausible, schema};

/// A table being written.
pub(crate) struct TableFile {
    table: Table,
    folder: Arc<FolderHandle>,
    path: PathBuf,
    schema: SchemaRef,
    /// `None` until the first rows are to be written, and as long as making it is refused.
    file: Option<ArrowFile>,
    bases: Bases,
    /// Rows in the file.
    written: u64,
    /// Rows that wait for a batch, in stored form.
    times: Int64Builder,
    entities: UInt32Builder,
    columns: Vec<Int64Builder>,
    /// How many of those are in the journal.
    journaled: usize,
}

impl TableFile {
    /// A table of a recording's folder; its file is made later.
    pub(crate) fn new(folder: &Arc<FolderHandle>, table: &Table) -> Result<Self> {
        let path = folder.path_of(file_name(&table.name));
        let schema = schema::of_table(table).map_err(|error| Error::unfit(&path, error))?;
        Ok(Self {
            table: table.clone(),
            folder: folder.clone(),
            path,
            schema: Arc::new(schema),
            file: None,
            bases: Bases::new(&schema::differences(table)),
            written: 0,
            times: no_rows(),
            entities: UInt32Builder::with_capacity(0),
            columns: table.columns.iter().map(|_| no_rows()).collect(),
            journaled: 0,
        })
    }

    /// Refuses rows that are not of this table.
    pub(crate) fn check(&self, table: &Table, rows: &Rows) -> Result<()> {
        let unfit = |what: String| Err(Error::unfit(&self.path, what));
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

    /// Takes some of the rows to those that wait.
    pub(crate) fn take(&mut self, rows: &Rows, range: Range<usize>) {
        let entities = &rows.entities()[range.clone()];
        let places = self.bases.places(entities.iter().map(|entity| entity.0));
        let times = self.bases.encode_times(&rows.times()[range.clone()]);
        self.times.append_slice(&times);
        entities
            .iter()
            .for_each(|entity| self.entities.append_value(entity.0));
        for (index, column) in self.columns.iter_mut().enumerate() {
            let values = rows.column(index).skip(range.start).take(range.len());
            column.extend(self.bases.encode(index, &places, values));
        }
    }

    /// Bytes of the file so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.file.as_ref().map_or(0, ArrowFile::bytes)
    }

    /// How many entities it remembers.
    #[cfg(test)]
    pub(crate) fn remembered(&self) -> usize {
        self.bases.remembered()
    }

    /// Forgets an entity about which no row comes any more.
    pub(crate) fn forget(&mut self, entity: EntityId) {
        self.bases.forget(entity.0);
    }

    /// Bytes of memory that the waiting rows take.
    pub(crate) fn waiting_bytes(&self) -> usize {
        self.waiting() * row_bytes(self.columns.len())
    }

    /// Rows that are neither in the file nor in the journal.
    pub(crate) fn exposed(&self) -> usize {
        self.waiting() - self.journaled
    }

    /// Makes the file if there is none yet.
    pub(crate) fn make(&mut self) -> Result<()> {
        if self.file.is_none() {
            let name = file_name(&self.table.name);
            self.file = Some(ArrowFile::create(self.folder.clone(), name, &self.schema)?);
        }
        Ok(())
    }

    /// Waiting rows as a part of a journal's record: all, or those that are in no record yet.
    pub(crate) fn part(&self, from: From) -> Option<PartRef<'_>> {
        let start = match from {
            From::Exposed => self.journaled,
            From::Waiting => 0,
        };
        let range = start..self.waiting();
        (!range.is_empty()).then(|| PartRef {
            table: &self.table.name,
            first: self.written + start as u64,
            times: &self.times.values_slice()[range.clone()],
            entities: &self.entities.values_slice()[range.clone()],
            columns: self
                .columns
                .iter()
                .map(|column| Cells {
                    values: column.values_slice(),
                    validity: column.validity_slice(),
                    range: range.clone(),
                })
                .collect(),
        })
    }

    /// All waiting rows are in the journal now.
    pub(crate) fn note_journaled(&mut self) {
        self.journaled = self.waiting();
    }

    /// Writes the waiting rows as one batch; with an error they go on waiting.
    pub(crate) fn write(&mut self) -> Result<()> {
        self.make()?;
        let Some(file) = self.file.as_mut().filter(|_| !self.entities.is_empty()) else {
            return Ok(());
        };
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(KEY_COLUMNS + self.columns.len());
        columns.push(Arc::new(self.times.finish_cloned()));
        columns.push(Arc::new(self.entities.finish_cloned()));
        for column in &self.columns {
            columns.push(Arc::new(column.finish_cloned()));
        }
        let batch = RecordBatch::try_new(self.schema.clone(), columns)
            .map_err(|error| Error::unfit(&self.path, error))?;
        file.write(&batch)?;
        self.written += batch.num_rows() as u64;
        self.times = no_rows();
        self.entities = UInt32Builder::with_capacity(0);
        self.columns.fill_with(no_rows);
        self.journaled = 0;
        Ok(())
    }

    /// Writes what waits and the end marker; returns the file's size.
    pub(crate) fn finish(&mut self) -> Result<u64> {
        self.write()?;
        self.file.as_mut().map_or(Ok(0), ArrowFile::finish)
    }

    fn waiting(&self) -> usize {
        self.entities.len()
    }
}

/// Which of the waiting rows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum From {
    /// Those that are in no record of the journal.
    Exposed,
    /// All.
    Waiting,
}

/// A column before its first row. Arrow would take room for 1,024 at once, and most tables have few.
fn no_rows() -> Int64Builder {
    Int64Builder::with_capacity(0)
}

/// What a waiting row of so many columns takes.
pub(crate) fn row_bytes(columns: usize) -> usize {
    size_of::<i64>() * (KEY_COLUMNS + columns)
}

/// A table being read.
pub(crate) struct TableRows {
    /// What was read so far.
    pub(crate) data: TableData,
    schema: SchemaRef,
    bases: Bases,
}

impl TableRows {
    /// No rows yet of the table that a file's schema describes.
    pub(crate) fn new(table: Table, schema: &Schema) -> Self {
        let bases = Bases::new(&schema::stored_differences(schema, &table));
        Self {
            data: TableData::new(table),
            schema: Arc::new(schema.clone()),
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

    /// Takes those rows of a journal's record that the file lacks.
    pub(crate) fn take_part(&mut self, part: &Part) -> std::result::Result<(), String> {
        let (rows, read) = (part.times.len(), self.data.len() as u64);
        if read >= part.first.saturating_add(rows as u64) {
            return Ok(());
        }
        if read < part.first {
            let lacking = part.first - read;
            return Err(format!(
                "{lacking} rows before those of the journal are lacking"
            ));
        }
        // Smaller than the number of rows, which is a usize.
        let from = (read - part.first) as usize;
        if part.entities.len() != rows
            || part.columns.len() != self.data.table.columns.len()
            || part.columns.iter().any(|column| column.len() != rows)
        {
            return Err("the journal's rows are not of this table".to_owned());
        }
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(Int64Array::from(part.times[from..].to_vec())),
            Arc::new(UInt32Array::from(part.entities[from..].to_vec())),
        ];
        for column in &part.columns {
            columns.push(Arc::new(Int64Array::from(column[from..].to_vec())));
        }
        let batch = RecordBatch::try_new(self.schema.clone(), columns)
            .map_err(|error| format!("the journal's rows are not of this table: {error}"))?;
        self.take(&batch)
    }
}

/// The name of a table's file.
pub(crate) fn file_name(table: &str) -> String {
    format!("{table}.{TABLE_EXTENSION}")
}
