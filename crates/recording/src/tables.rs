//! The tables of a recording while it is read: what their files hold, then what the journal adds.

use std::collections::BTreeMap;

use arrow_array::RecordBatch;
use arrow_schema::Schema;
use model::{EntityEvent, Text};

use crate::FolderHandle;
use crate::damage::Damage;
use crate::entity_list::{self, EntityRows};
use crate::frames::Frames;
use crate::journal::Record;
use crate::list_file::Item as _;
use crate::schema;
use crate::schema::SINCE_CHECKSUMS;
use crate::string_list::{self, StringRows};
use crate::table_file::{self, TableRows};

/// What was read so far.
#[derive(Default)]
pub(crate) struct Tables {
    /// The entity list.
    pub(crate) entities: EntityRows,
    /// The texts that rows refer to.
    pub(crate) strings: StringRows,
    /// The tables by name.
    pub(crate) rows: BTreeMap<String, TableRows>,
    /// What could not be read, by table.
    pub(crate) damage: BTreeMap<String, Damage>,
    /// The format of the oldest file.
    pub(crate) format: Option<u32>,
    /// How far each file was read, in bytes.
    ends: BTreeMap<String, u64>,
    /// Whether the recording was closed: then each file has its end marker.
    complete: bool,
}

impl Tables {
    /// No tables yet, of a recording that was closed or not.
    pub(crate) fn new(complete: bool) -> Self {
        Self {
            complete,
            ..Self::default()
        }
    }

    /// Reads the file of a table or of a list, as far as it can be read.
    pub(crate) fn read(&mut self, folder: &FolderHandle, name: &str) {
        let read = match name {
            EntityEvent::NAME => self.read_entities(folder),
            Text::NAME => self.read_strings(folder),
            _ => self.read_table(folder, name),
        };
        if let Err((offset, what)) = read {
            self.lose(name, offset, what);
        }
    }

    /// Adds what a journal's record has and the files have not.
    pub(crate) fn add(&mut self, record: &Record) {
        if !record.events.is_empty() {
            let taken = self.entities.take_record(record);
            self.note(EntityEvent::NAME, taken);
        }
        if !record.strings.texts.is_empty() {
            let taken = self.strings.take_record(record);
            self.note(Text::NAME, taken);
        }
        for part in &record.parts {
            match self.rows.get_mut(&part.table) {
                Some(rows) => {
                    let taken = rows.take_part(part);
                    self.note(&part.table, taken);
                }
                None => self.lose(&part.table, 0, "it is missing".to_owned()),
            }
        }
    }

    /// What the journal went on from is no damage: the program was killed while it wrote the same rows
    /// into the table.
    fn note(&mut self, name: &str, taken: Result<(), String>) {
        match taken {
            Ok(()) if !self.complete => drop(self.damage.remove(name)),
            Ok(()) => {}
            Err(what) => {
                let end = self.ends.get(name).copied().unwrap_or_default();
                self.lose(name, end, what);
            }
        }
    }

    /// The first damage of a table is the one that is told.
    fn lose(&mut self, name: &str, offset: u64, what: String) {
        let damage = || Damage::of_table(name, offset, what);
        self.damage.entry(name.to_owned()).or_insert_with(damage);
    }

    fn read_entities(&mut self, folder: &FolderHandle) -> Result<(), (u64, String)> {
        let mut frames = self.open_list(folder, EntityEvent::NAME, entity_list::check_schema)?;
        let (entities, complete) = (&mut self.entities, self.complete);
        let read = read_batches(&mut frames, complete, |batch| entities.take(batch));
        self.note_end(EntityEvent::NAME, &frames);
        read
    }

    fn read_strings(&mut self, folder: &FolderHandle) -> Result<(), (u64, String)> {
        let mut frames = self.open_list(folder, Text::NAME, string_list::check_schema)?;
        let (strings, complete) = (&mut self.strings, self.complete);
        let read = read_batches(&mut frames, complete, |batch| strings.take(batch));
        self.note_end(Text::NAME, &frames);
        read
    }

    fn open_list(
        &mut self,
        folder: &FolderHandle,
        name: &str,
        check_schema: fn(&Schema) -> Result<u32, String>,
    ) -> Result<Frames, (u64, String)> {
        let mut open = || {
            let mut frames = Frames::open(folder, &table_file::file_name(name))?;
            let version = check_schema(frames.schema())?;
            self.note_format(version);
            expect_checksums(&mut frames, version);
            Ok(frames)
        };
        open().map_err(|what| (0, what))
    }

    fn note_format(&mut self, version: u32) {
        self.format = Some(self.format.map_or(version, |it| it.min(version)));
    }

    fn note_end(&mut self, name: &str, frames: &Frames) {
        self.ends.insert(name.to_owned(), frames.sound_to());
    }

    fn read_table(&mut self, folder: &FolderHandle, name: &str) -> Result<(), (u64, String)> {
        let mut open = || {
            let mut frames = Frames::open(folder, &table_file::file_name(name))?;
            let (table, version) = schema::to_table(frames.schema())?;
            self.note_format(version);
            if table.name != name {
                return Err(format!("it holds the table {:?}", table.name));
            }
            expect_checksums(&mut frames, version);
            Ok((frames, table))
        };
        let (mut frames, table) = open().map_err(|what| (0, what))?;
        let mut rows = TableRows::new(table, frames.schema());
        let read = read_batches(&mut frames, self.complete, |batch| rows.take(batch));
        self.note_end(name, &frames);
        self.rows.insert(name.to_owned(), rows);
        read
    }
}

fn expect_checksums(frames: &mut Frames, version: u32) {
    if version < SINCE_CHECKSUMS {
        frames.expect_no_checksums();
    }
}

/// Reads to the end, or up to what cannot be read: (its offset, what is wrong).
fn read_batches(
    frames: &mut Frames,
    complete: bool,
    mut take: impl FnMut(&RecordBatch) -> Result<(), String>,
) -> Result<(), (u64, String)> {
    loop {
        let offset = frames.sound_to();
        match frames
            .next_batch()
            .and_then(|batch| batch.map(|batch| take(&batch)).transpose())
        {
            Ok(Some(())) => {}
            Ok(None) if complete && !frames.ended() => {
                return Err((
                    offset,
                    "its end is missing, and maybe rows with it".to_owned(),
                ));
            }
            Ok(None) => return Ok(()),
            Err(what) => return Err((offset, what)),
        }
    }
}
