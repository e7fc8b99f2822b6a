//! The journal: what came since the last batches, one checksummed record per flush.
//!
//! A batch pays only when it is large, and a crash may come any time: so each second's rows go here
//! first, in one write, and a table's rows become a batch when they are many. Records say at which row
//! of its table each part begins. So a reader knows which rows a table has already, wherever between
//! two writes the program was killed, and a journal may be begun anew whenever it suits.
//!
//! A record is its length and the CRC-32 of what follows (both u32, little endian), then [`Record`] in
//! postcard's encoding. Records of format 6 and earlier end before the strings.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read as _};
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

use crate::{Error, FolderHandle, Refused, Result, checksum};

/// The journal's file in a recording's folder.
pub(crate) const NAME: &str = "journal";

/// What is to become the journal.
const NEW_NAME: &str = "journal.new";

/// Length and sum.
const HEAD_BYTES: usize = 8;

/// Many times what it usually grows to. Decoded it may take some 50 times as much memory: a value that
/// is missing is one byte here and 16 there, in lists that grow by doubling.
const MAX_BYTES: u64 = 16 << 20;

/// The most tables that a journal may have rows of: a recording has about 25, and each that lacks its
/// file is said.
const MAX_TABLES: usize = 200;

/// The journal being written.
pub(crate) struct Journal {
    folder: Arc<FolderHandle>,
    file: File,
    bytes: u64,
}

impl Journal {
    /// Makes an empty one.
    pub(crate) fn create(folder: &Arc<FolderHandle>) -> Result<Self> {
        let path = folder.path_of(NAME);
        let file = folder.create_file(NAME).map_err(Error::write(&path))?;
        Ok(Self {
            folder: folder.clone(),
            file,
            bytes: 0,
        })
    }

    /// Its size.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Appends an encoded record: wholly or, with an error, not at all.
    pub(crate) fn append(&mut self, record: &[u8]) -> Result<()> {
        let written = match self.bytes + record.len() as u64 {
            // Only where tables are refused again and again and the journal is not.
            MAX_BYTES.. => Err(io::ErrorKind::FileTooLarge.into()),
            _ => self.file.write_all_at(record, self.bytes),
        };
        if let Err(source) = written {
            // When half of it stays, the next one overwrites it.
            let _ = self.file.set_len(self.bytes);
            return Err(Error::write(&self.path())(source));
        }
        self.bytes += record.len() as u64;
        Ok(())
    }

    /// Begins anew with one record, in the place of all that were there; with an error they stay.
    pub(crate) fn begin_anew(&mut self, record: &[u8]) -> Result<()> {
        let new = self.folder.path_of(NEW_NAME);
        let begin = || {
            let file = self.folder.create_file(NEW_NAME);
            let file = file.map_err(Error::write(&new))?;
            file.write_all_at(record, 0).map_err(Error::write(&new))?;
            let renamed = self.folder.rename(NEW_NAME, NAME);
            renamed.map_err(Error::write(&self.path()))?;
            Ok(file)
        };
        let begun = begin();
        if begun.is_err() {
            // It only takes room, and the next attempt makes it anew.
            let _ = self.folder.remove(NEW_NAME);
        }
        self.file = begun?;
        self.bytes = record.len() as u64;
        Ok(())
    }

    /// Removes it: everything is in the tables.
    pub(crate) fn remove(self) -> Result<()> {
        let removed = self.folder.remove(NAME);
        removed.map_err(Error::write(&self.path()))
    }

    fn path(&self) -> PathBuf {
        self.folder.path_of(NAME)
    }
}

/// A record as it stands in the journal of a recording's folder; nothing when nothing happened.
pub(crate) fn encoded(folder: &FolderHandle, record: &RecordRef<'_>) -> Result<Vec<u8>> {
    if record.events.is_empty() && record.parts.is_empty() && record.strings.texts.is_empty() {
        return Ok(Vec::new());
    }
    let path = &folder.path_of(NAME);
    let mut bytes = postcard::to_extend(record, vec![0; HEAD_BYTES])
        .map_err(|error| Error::unfit(path, error))?;
    let length = u32::try_from(bytes.len() - HEAD_BYTES).map_err(|e| Error::unfit(path, e))?;
    let sum = checksum::of(&bytes[HEAD_BYTES..]);
    bytes[..4].copy_from_slice(&length.to_le_bytes());
    bytes[4..HEAD_BYTES].copy_from_slice(&sum.to_le_bytes());
    Ok(bytes)
}

/// What happened between two flushes, to be written.
#[derive(Serialize)]
pub(crate) struct RecordRef<'a> {
    /// How many events were in the entity list before these.
    pub(crate) first_event: u64,
    /// New events.
    pub(crate) events: Vec<Event<'a>>,
    /// New rows, by table.
    pub(crate) parts: Vec<PartRef<'a>>,
    /// New strings.
    pub(crate) strings: StringsPart<'a>,
}

/// Strings of a record.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct StringsPart<'a> {
    /// How many were in the list before these.
    pub(crate) first: u64,
    /// The new ones.
    pub(crate) texts: Vec<JournalText<'a>>,
}

/// A text, in the words of the string list's columns.
#[derive(Serialize, Deserialize)]
pub(crate) struct JournalText<'a> {
    pub(crate) id: u32,
    pub(crate) kind: Cow<'a, str>,
    pub(crate) parent: Option<u32>,
    pub(crate) text: Cow<'a, str>,
}

/// Rows of one table, in the form in which its file stores them.
#[derive(Serialize)]
pub(crate) struct PartRef<'a> {
    /// The table's name.
    pub(crate) table: &'a str,
    /// How many rows of the table come before.
    pub(crate) first: u64,
    /// Differences from the row before.
    pub(crate) times: &'a [i64],
    /// Whom the rows are about.
    pub(crate) entities: &'a [u32],
    /// The values, column by column.
    pub(crate) columns: Vec<Cells<'a>>,
}

/// Some values of an Arrow column.
pub(crate) struct Cells<'a> {
    /// All values of the column.
    pub(crate) values: &'a [i64],
    /// Which of them were read, a bit each; `None` when all were.
    pub(crate) validity: Option<&'a [u8]>,
    /// Those that are meant.
    pub(crate) range: Range<usize>,
}

impl Serialize for Cells<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let is_valid = |row: usize| {
            self.validity
                .is_none_or(|bits| bits[row / 8] & (1 << (row % 8)) != 0)
        };
        let cell = |row| is_valid(row).then(|| self.values[row]);
        serializer.collect_seq(self.range.clone().map(cell))
    }
}

/// A record that was read. Of what is encoded the strings come last, and may be missing.
#[derive(Deserialize)]
pub(crate) struct Record {
    /// How many events were in the entity list before these.
    pub(crate) first_event: u64,
    /// New events.
    pub(crate) events: Vec<Event<'static>>,
    /// New rows, by table.
    pub(crate) parts: Vec<Part>,
    /// New strings.
    #[serde(skip)]
    pub(crate) strings: StringsPart<'static>,
}

/// Rows of one table, in the form in which its file stores them.
#[derive(Deserialize)]
pub(crate) struct Part {
    /// The table's name.
    pub(crate) table: String,
    /// How many rows of the table come before.
    pub(crate) first: u64,
    /// Differences from the row before.
    pub(crate) times: Vec<i64>,
    /// Whom the rows are about.
    pub(crate) entities: Vec<u32>,
    /// The values, column by column.
    pub(crate) columns: Vec<Vec<Option<i64>>>,
}

/// An entity's state from a time on, in the words of the entity list's columns.
#[derive(Serialize, Deserialize)]
pub(crate) struct Event<'a> {
    pub(crate) time: i64,
    pub(crate) id: u32,
    pub(crate) kind: Cow<'a, str>,
    pub(crate) name: Cow<'a, str>,
    pub(crate) path: Cow<'a, str>,
    pub(crate) parent: Option<u32>,
    /// Group, pressure group, memory group, I/O group.
    pub(crate) groups: [Option<u32>; 4],
    pub(crate) role: Cow<'a, str>,
    pub(crate) serving: bool,
    pub(crate) first_seen: i64,
    pub(crate) vanished: Option<i64>,
}

/// What a recording's journal holds: its records, and where and why it cannot be read on.
pub(crate) fn read(folder: &FolderHandle) -> (Vec<Record>, Option<(u64, String)>) {
    let mut records = Vec::new();
    let bytes = match bytes_of(folder) {
        Ok(bytes) => bytes,
        Err(what) => return (records, Some((0, what))),
    };
    let (mut offset, mut tables) = (0, BTreeSet::new());
    while offset < bytes.len() {
        let read = next(&bytes[offset..]);
        match read.and_then(|read| few_tables(&mut tables, &read.0).map(|()| read)) {
            Ok((record, length)) => {
                records.push(record);
                offset += length;
            }
            Err(what) => return (records, Some((offset as u64, what))),
        }
    }
    (records, None)
}

/// Adds a record's tables to those of the records before.
fn few_tables(tables: &mut BTreeSet<String>, record: &Record) -> std::result::Result<(), String> {
    for part in &record.parts {
        if tables.contains(&part.table) {
            continue;
        }
        if tables.len() == MAX_TABLES {
            return Err(format!("it has rows of more than {MAX_TABLES} tables"));
        }
        tables.insert(part.table.clone());
    }
    Ok(())
}

/// No file is no journal: a closed recording has none.
fn bytes_of(folder: &FolderHandle) -> std::result::Result<Vec<u8>, String> {
    let (file, length) = match folder.read(NAME) {
        Ok(opened) => opened,
        Err(Refused::Read(error)) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(Vec::new());
        }
        Err(refused) => return Err(refused.to_string()),
    };
    if length > MAX_BYTES {
        return Err(format!("it is longer than {MAX_BYTES} bytes"));
    }
    let mut bytes = Vec::new();
    file.take(MAX_BYTES)
        .read_to_end(&mut bytes)
        .map_err(|error| format!("it cannot be read: {error}"))?;
    Ok(bytes)
}

/// The first record of some bytes, and its length with its head.
fn next(bytes: &[u8]) -> std::result::Result<(Record, usize), String> {
    let cut = || format!("a record is cut short: {} bytes are left", bytes.len());
    let (length, rest) = bytes.split_first_chunk::<4>().ok_or_else(cut)?;
    let (sum, rest) = rest.split_first_chunk::<4>().ok_or_else(cut)?;
    let length = u32::from_le_bytes(*length) as usize;
    let record = rest.get(..length).ok_or_else(cut)?;
    if checksum::of(record) != u32::from_le_bytes(*sum) {
        return Err("a record's checksum does not fit what is there".to_owned());
    }
    let undecoded = |error| format!("a record cannot be decoded: {error}");
    let (mut record, rest) = postcard::take_from_bytes::<Record>(record).map_err(undecoded)?;
    if !rest.is_empty() {
        record.strings = postcard::from_bytes(rest).map_err(undecoded)?;
    }
    Ok((record, HEAD_BYTES + length))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(table: &str) -> PartRef<'_> {
        PartRef {
            table,
            first: 0,
            times: &[],
            entities: &[],
            columns: Vec::new(),
        }
    }

    /// Each table without a file is said: a journal of 15 MB that named 1.5 million took 1.3 GB and 16 s.
    #[test]
    fn rows_of_very_many_tables_are_damage() {
        let home = tempfile::tempdir().unwrap();
        let folder = FolderHandle::open(home.path()).unwrap();
        let names: Vec<String> = (0..=MAX_TABLES).map(|name| format!("t{name}")).collect();
        let record = |names: &[String]| {
            let record = RecordRef {
                first_event: 0,
                events: Vec::new(),
                parts: names.iter().map(|name| part(name)).collect(),
                strings: StringsPart::default(),
            };
            encoded(&folder, &record).unwrap()
        };
        let fits = record(&names[..MAX_TABLES]);
        let journal = [&fits[..], &fits, &record(&names[MAX_TABLES..])].concat();
        std::fs::write(home.path().join(NAME), journal).unwrap();
        let (records, damage) = read(&folder);
        assert_eq!(records.len(), 2);
        let what = "it has rows of more than 200 tables".to_owned();
        assert_eq!(damage, Some((2 * fits.len() as u64, what)));
    }
}
