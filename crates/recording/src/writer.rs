//! A recording being written: a folder that is readable at every moment.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use model::{EntityEvent, Meta, Rows, Table, Text, Timestamp};

use crate::ended::Ended;
use crate::journal::{self, Journal, RecordRef, StringsPart};
use crate::list_file::{Item, ListFile, item_bytes};
use crate::meta_file::MetaFile;
use crate::table_file::{From, TableFile, row_bytes};
use crate::write_backlog::Unwritten;
use crate::{Error, FolderHandle, Result, entity_list, string_list};

/// Writes one recording.
///
/// Rows and events gather in memory. [`Writer::flush`] hands what is new to the kernel, and from then
/// on it survives the end of this process in any way. Dropping a writer without [`Writer::close`]
/// leaves what a crash leaves: everything that was flushed is readable.
///
/// When the disk refuses, everything goes on waiting in memory and is tried again at the next flush. What
/// finds no room there is dropped, and every `meta.json` that is written says so by a gap.
pub struct Writer {
    folder: Arc<FolderHandle>,
    meta: MetaFile,
    journal: Journal,
    entities: ListFile<EntityEvent>,
    strings: ListFile<Text>,
    tables: BTreeMap<String, TableFile>,
    unwritten: Unwritten,
    ended: Ended,
    /// The newest row's time, and that of the newest before the last flush that was not refused.
    newest: Timestamp,
    flushed: Timestamp,
    limits: Limits,
    /// The journal's size at which tables are written.
    tables_due: u64,
}

/// How much is gathered before it becomes batches. Tests have less patience.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    /// The journal's size at which the larger tables become batches, and it is begun anew.
    pub(crate) journal_bytes: u64,
    /// What a table's waiting rows take when they are worth a batch. Smaller ones go on waiting: a
    /// batch has some 100 bytes of its own per column.
    pub(crate) batch_bytes: usize,
    /// What waits in memory at most.
    pub(crate) memory_bytes: usize,
}

impl Limits {
    /// Enough for batches that compress well, and little to decode after a crash.
    const USUAL: Limits = Limits {
        journal_bytes: 1 << 20,
        batch_bytes: 64 << 10,
        memory_bytes: 4 << 20,
    };
}

impl Writer {
    /// Makes the folder with its `meta.json` and an empty entity list; never overwrites one, and leaves
    /// nothing behind when it cannot.
    pub fn create(folder: &Path, meta: &Meta) -> Result<Self> {
        Self::with_limits(folder, meta, Limits::USUAL)
    }

    pub(crate) fn with_limits(folder: &Path, meta: &Meta, limits: Limits) -> Result<Self> {
        let held = Arc::new(FolderHandle::create(folder)?);
        Self::begin(held, meta, limits)
    }

    /// Writes into a folder that was just made; removes it when it cannot begin.
    pub(crate) fn within(held: FolderHandle, meta: &Meta) -> Result<Self> {
        Self::begin(Arc::new(held), meta, Limits::USUAL)
    }

    fn begin(held: Arc<FolderHandle>, meta: &Meta, limits: Limits) -> Result<Self> {
        let begin = || {
            let mut meta_file = MetaFile::reserve(&held)?;
            let mut entities = ListFile::new(&held);
            entities.make()?;
            let journal = Journal::create(&held)?;
            meta_file.write(meta)?;
            Ok((meta_file, entities, journal))
        };
        let (meta_file, entities, journal) = begin().map_err(|error| {
            // It is ours; what cannot be removed is an empty folder.
            let _ = held.remove_all();
            match error {
                Error::Write { source, .. } => Error::create(held.path(), source),
                other => other,
            }
        })?;
        Ok(Self {
            meta: meta_file,
            journal,
            entities,
            strings: ListFile::new(&held),
            folder: held,
            tables: BTreeMap::new(),
            unwritten: Unwritten::default(),
            ended: Ended::default(),
            newest: meta.window.start,
            flushed: meta.window.start,
            limits,
            tables_due: limits.journal_bytes,
        })
    }

    /// The recording's folder, held open.
    pub fn folder(&self) -> &Arc<FolderHandle> {
        &self.folder
    }

    /// The time of the newest row, or the window's start where there is none.
    pub(crate) fn newest(&self) -> Timestamp {
        self.newest
    }

    /// The size of what is written, bytes, without `meta.json`.
    pub(crate) fn bytes(&self) -> u64 {
        let tables: u64 = self.tables.values().map(TableFile::bytes).sum();
        tables + self.entities.bytes() + self.strings.bytes() + self.journal.bytes()
    }

    /// Removes a recording that never began, with its folder.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn abandon(self) -> io::Result<()> {
        let folder = self.folder.clone();
        // To list a folder takes a descriptor, and there may be none before its files are closed.
        drop(self);
        folder.remove_all()
    }

    /// Takes rows of a table; they are on their way to disk after the next [`Writer::flush`].
    ///
    /// # Errors
    /// Only rows that do not fit: mistakes of the program. Trouble with the disk is told by the flush.
    pub fn append(&mut self, table: &Table, rows: &Rows) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        if !self.tables.contains_key(&*table.name) {
            if !is_file_name(&table.name) {
                let what = format!("{:?} cannot be a table's name", table.name);
                return Err(Error::unfit(self.folder.path(), what));
            }
            let file = TableFile::new(&self.folder, table)?;
            self.tables.insert(table.name.to_string(), file);
        }
        let Some(file) = self.tables.get(&*table.name) else {
            return Ok(());
        };
        file.check(table, rows)?;
        if let Some(id) = rows.entities().iter().find(|id| self.ended.has(**id)) {
            let what = format!("a row came about entity {}, which ended long before", id.0);
            return Err(Error::unfit(self.folder.path(), what));
        }
        self.newest = rows
            .times()
            .iter()
            .copied()
            .fold(self.newest, Timestamp::max);
        // A quarter of the memory at once: a buffer of any length is taken piece by piece.
        let step = (self.limits.memory_bytes / 4 / row_bytes(rows.width())).max(1);
        for start in (0..rows.len()).step_by(step) {
            let range = start..rows.len().min(start + step);
            let bytes = range.len() * row_bytes(rows.width());
            if self.has_room(bytes)
                && let Some(file) = self.tables.get_mut(&*table.name)
            {
                file.take(rows, range);
            } else {
                self.unwritten.drop_rows(&rows.times()[range]);
            }
        }
        Ok(())
    }

    /// Takes changes of the entity list; they are on their way to disk after the next flush.
    ///
    /// # Errors
    /// Only events that do not fit: mistakes of the program.
    pub fn entities(&mut self, events: &[EntityEvent]) -> Result<()> {
        // Names have as much memory again as rows: rows about what has no name are of little use.
        let bytes: usize = events.iter().map(item_bytes).sum();
        if self.entities.waiting_bytes() + bytes > self.limits.memory_bytes && !self.make_room() {
            let times: Vec<Timestamp> = events.iter().map(|event| event.time).collect();
            self.unwritten.drop_rows(&times);
            return Ok(());
        }
        self.entities.take(events)?;
        self.ended.note(events);
        Ok(())
    }

    /// Takes texts that rows refer to, before the rows; they are on their way to disk after the next flush.
    ///
    /// # Errors
    /// Only texts that do not fit: mistakes of the program.
    pub fn strings(&mut self, texts: &[Text]) -> Result<()> {
        let bytes: usize = texts.iter().map(item_bytes).sum();
        if self.strings.waiting_bytes() + bytes > self.limits.memory_bytes && !self.make_room() {
            // Rows that refer to them stay, and say that a text is missing.
            self.unwritten.drop_rows(&vec![self.newest; texts.len()]);
            return Ok(());
        }
        self.strings.take(texts)
    }

    /// Hands everything that is new to the kernel, by one write.
    ///
    /// # Errors
    /// What the disk refused; it is tried again at the next flush.
    pub fn flush(&mut self) -> Result<()> {
        let flushed = self.write_journal().and_then(|()| {
            if self.journal.bytes() < self.tables_due {
                return Ok(());
            }
            // Refused, it is not tried again each second: making batches costs.
            self.tables_due = self.journal.bytes() + self.limits.journal_bytes / 4;
            self.write_tables(self.limits.batch_bytes)
        });
        self.note(&flushed);
        self.ended.flushed();
        while let Some(id) = self.ended.next() {
            let tables = self.tables.values_mut();
            tables.for_each(|table| table.forget(id));
        }
        flushed
    }

    /// Writes `meta.json` anew, with a gap for what could not be written.
    pub fn meta(&mut self, meta: &Meta) -> Result<()> {
        let meta = self.with_gaps(meta);
        self.meta.write(&meta)
    }

    /// Writes everything into the tables and ends them, writes `meta.json` for the last time, and
    /// returns the bytes on disk.
    ///
    /// # Errors
    /// What the disk refused. What is readable then stays so, and `complete` is false.
    pub fn close(mut self, meta: &Meta) -> Result<u64> {
        let finished = self.finish_tables();
        if finished.is_err() {
            // A record is smaller than the batches it stands for are together with their files.
            let _ = self.write_journal();
        }
        self.note(&finished);
        let meta = Meta {
            complete: meta.complete && finished.is_ok(),
            ..self.with_gaps(meta)
        };
        // After the tables, so that a `meta.json` that says "complete" stands beside complete tables.
        let bytes = self.meta.write_last(&meta)?;
        let tables = finished?;
        self.journal.remove()?;
        Ok(tables + bytes)
    }

    fn with_gaps(&self, meta: &Meta) -> Meta {
        let rows: usize = self.tables.values().map(TableFile::exposed).sum();
        let lacking = rows + self.entities.exposed() + self.strings.exposed();
        let mut meta = meta.clone();
        meta.gaps
            .extend(self.unwritten.gaps(lacking as u64, self.newest));
        meta
    }

    /// Whether so many bytes of rows more may wait in memory; makes room where the disk allows it.
    fn has_room(&mut self, bytes: usize) -> bool {
        let waiting = self.tables.values().map(TableFile::waiting_bytes);
        waiting.sum::<usize>() + bytes <= self.limits.memory_bytes || self.make_room()
    }

    /// Writes all tables ahead of their time, so that nothing waits in memory.
    fn make_room(&mut self) -> bool {
        // During trouble it is the flush that tries, once a second: making batches costs.
        if self.unwritten.is_open() {
            return false;
        }
        let written = self.write_tables(0);
        self.note(&written);
        written.is_ok()
    }

    fn note<T>(&mut self, result: &Result<T>) {
        match result {
            Ok(_) => {
                self.unwritten.resume();
                self.flushed = self.newest;
            }
            Err(error) => self.unwritten.refuse(error, self.flushed),
        }
    }

    fn write_journal(&mut self) -> Result<()> {
        if self.strings.exposed() > 0 {
            self.strings.make()?;
        }
        for table in self.tables.values_mut() {
            table.make()?;
        }
        let record = self.record(From::Exposed)?;
        self.journal.append(&record)?;
        self.note_journaled();
        Ok(())
    }

    /// Writes the tables in which at least so many bytes wait, and begins the journal anew with the
    /// rest. Killed anywhere in between, the old journal reports everything that is not in the tables.
    fn write_tables(&mut self, least_bytes: usize) -> Result<()> {
        // Names first: what is written now may be in no journal.
        write_list(&mut self.entities, least_bytes)?;
        write_list(&mut self.strings, least_bytes)?;
        for table in self.tables.values_mut() {
            if table.waiting_bytes() >= least_bytes {
                table.write()?;
            }
        }
        let record = self.record(From::Waiting)?;
        self.journal.begin_anew(&record)?;
        self.note_journaled();
        self.tables_due = self.limits.journal_bytes.max(2 * self.journal.bytes());
        Ok(())
    }

    fn finish_tables(&mut self) -> Result<u64> {
        let mut bytes = self.entities.finish()? + self.strings.finish()?;
        for table in self.tables.values_mut() {
            bytes += table.finish()?;
        }
        Ok(bytes)
    }

    fn record(&self, from: From) -> Result<Vec<u8>> {
        let (first_event, events) = self.entities.part(from);
        let parts = self.tables.values().filter_map(|table| table.part(from));
        let (first, texts) = self.strings.part(from);
        let record = RecordRef {
            first_event,
            events: events.iter().map(entity_list::words_of).collect(),
            parts: parts.collect(),
            strings: StringsPart {
                first,
                texts: texts.iter().map(string_list::words_of).collect(),
            },
        };
        journal::encoded(&self.folder, &record)
    }

    fn note_journaled(&mut self) {
        self.entities.note_journaled();
        self.strings.note_journaled();
        self.tables.values_mut().for_each(TableFile::note_journaled);
    }
}

/// Writes a list where as many bytes wait, or something that is in no journal.
fn write_list<T: Item>(list: &mut ListFile<T>, least_bytes: usize) -> Result<()> {
    match list.waiting_bytes() >= least_bytes || list.exposed() > 0 {
        true => list.write(),
        false => Ok(()),
    }
}

/// Table names are file names, here and on other systems, and must not meet those of the lists.
fn is_file_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let is_list = name == EntityEvent::NAME || name == Text::NAME;
    !name.is_empty() && name.len() <= 60 && name.bytes().all(allowed) && !is_list
}

#[cfg(test)]
mod tests;
