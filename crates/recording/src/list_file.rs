//! The file of a list that only grows, beside the tables: its items stand in the order in which they came.
//!
//! Unlike tables such files hold words, and values as they are: items are rare.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Schema, SchemaRef};

use crate::arrow_file::{ArrowFile, BATCH_BYTES};
use crate::table_file::From;
use crate::{Error, FolderHandle, Result, schema, table_file};

/// Items per batch.
const BATCH_ITEMS: usize = 4096;

/// The longest words of an item together, so that a batch of items stays within its bytes.
const MAX_WORDS_BYTES: usize = BATCH_BYTES / BATCH_ITEMS;

/// What a list holds.
pub(crate) trait Item: Clone {
    /// The list's name, and that of its file; no table may have it.
    const NAME: &'static str;

    /// The columns of its file.
    fn schema() -> Schema;

    /// Refuses what can only be damage, or a mistake of the program. `number` counts the item itself and those
    /// before it.
    fn check(&self, number: usize) -> std::result::Result<(), String>;

    /// Bytes of its words.
    fn words_bytes(&self) -> usize;

    /// Items as columns of that schema.
    fn encode(items: &[Self]) -> Vec<ArrayRef>;
}

/// What an item takes while it waits.
pub(crate) fn item_bytes<T: Item>(item: &T) -> usize {
    size_of::<T>() + item.words_bytes()
}

/// A list being written.
pub(crate) struct ListFile<T> {
    path: PathBuf,
    folder: Arc<FolderHandle>,
    /// `None` until it is made.
    file: Option<ArrowFile>,
    schema: SchemaRef,
    /// Items in the file.
    written: usize,
    /// Items that wait for a batch.
    waiting: Vec<T>,
    waiting_bytes: usize,
    /// How many of those are in the journal.
    journaled: usize,
}

impl<T: Item> ListFile<T> {
    /// A list of a recording's folder; its file is made later.
    pub(crate) fn new(folder: &Arc<FolderHandle>) -> Self {
        Self {
            path: folder.path_of(table_file::file_name(T::NAME)),
            folder: folder.clone(),
            file: None,
            schema: Arc::new(T::schema()),
            written: 0,
            waiting: Vec::new(),
            waiting_bytes: 0,
            journaled: 0,
        }
    }

    /// Makes the file if there is none yet.
    pub(crate) fn make(&mut self) -> Result<&mut ArrowFile> {
        match &mut self.file {
            Some(file) => Ok(file),
            none => {
                let name = table_file::file_name(T::NAME);
                let made = ArrowFile::create(self.folder.clone(), name, &self.schema)?;
                Ok(none.insert(made))
            }
        }
    }

    /// Takes items to those that wait: all or, with an error, none.
    pub(crate) fn take(&mut self, items: &[T]) -> Result<()> {
        let first = self.written + self.waiting.len() + 1;
        for (number, item) in (first..).zip(items) {
            item.check(number)
                .and_then(|()| check_words(item))
                .map_err(|what| Error::unfit(&self.path, what))?;
        }
        self.waiting_bytes += items.iter().map(item_bytes).sum::<usize>();
        self.waiting.extend_from_slice(items);
        Ok(())
    }

    /// Bytes of the file so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.file.as_ref().map_or(0, ArrowFile::bytes)
    }

    /// Bytes of memory that the waiting items take.
    pub(crate) fn waiting_bytes(&self) -> usize {
        self.waiting_bytes
    }

    /// Items that are neither in the file nor in the journal.
    pub(crate) fn exposed(&self) -> usize {
        self.waiting.len() - self.journaled
    }

    /// Waiting items for a journal's record, and how many come before them.
    pub(crate) fn part(&self, from: From) -> (u64, &[T]) {
        let start = match from {
            From::Exposed => self.journaled,
            From::Waiting => 0,
        };
        ((self.written + start) as u64, &self.waiting[start..])
    }

    /// All waiting items are in the journal now.
    pub(crate) fn note_journaled(&mut self) {
        self.journaled = self.waiting.len();
    }

    /// Writes the waiting items, several batches when they are very many; with an error what was
    /// not written goes on waiting.
    pub(crate) fn write(&mut self) -> Result<()> {
        while !self.waiting.is_empty() {
            let count = self.waiting.len().min(BATCH_ITEMS);
            let batch =
                RecordBatch::try_new(self.schema.clone(), T::encode(&self.waiting[..count]))
                    .map_err(|error| Error::unfit(&self.path, error))?;
            self.make()?.write(&batch)?;
            self.written += count;
            self.journaled = self.journaled.saturating_sub(count);
            let written = self.waiting.drain(..count);
            self.waiting_bytes -= written.as_slice().iter().map(item_bytes).sum::<usize>();
        }
        Ok(())
    }

    /// Writes what waits and the end marker; returns the file's size.
    pub(crate) fn finish(&mut self) -> Result<u64> {
        self.write()?;
        self.file.as_mut().map_or(Ok(0), ArrowFile::finish)
    }
}

fn check_words<T: Item>(item: &T) -> std::result::Result<(), String> {
    match item.words_bytes() {
        bytes if bytes > MAX_WORDS_BYTES => Err(format!(
            "the words of one of the {} take {bytes} bytes of {MAX_WORDS_BYTES}",
            T::NAME
        )),
        _ => Ok(()),
    }
}

/// The format of a list's file. Refuses one that lacks a column of its format's list; more are no harm. `is_due`
/// says whether a file of that format has a column.
pub(crate) fn check_schema<T: Item>(
    found: &Schema,
    is_due: fn(u32, &str) -> bool,
) -> std::result::Result<u32, String> {
    let version = schema::check_format(found)?;
    let wanted = T::schema();
    let due = wanted.fields().iter();
    let lacking = due
        .filter(|field| is_due(version, field.name()))
        .find(|field| {
            let found = found.field_with_name(field.name());
            !found.is_ok_and(|found| schema::alike(found, field))
        });
    match lacking {
        Some(field) => Err(format!(
            "it lacks the column {} ({})",
            field.name(),
            field.data_type()
        )),
        None => Ok(version),
    }
}

/// Those items of a journal's record that a list of `read` items lacks; `first` items stand before the record's.
pub(crate) fn lacking<'a, I>(
    read: usize,
    first: u64,
    items: &'a [I],
    what: &str,
) -> std::result::Result<&'a [I], String> {
    let read = read as u64;
    if read >= first.saturating_add(items.len() as u64) {
        return Ok(&[]);
    }
    if read < first {
        let lacking = first - read;
        return Err(format!(
            "{lacking} {what} before those of the journal are lacking"
        ));
    }
    // Smaller than the number of items, which is a usize.
    Ok(&items[(read - first) as usize..])
}
