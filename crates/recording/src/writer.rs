//! A recording being written: a folder that is readable at every moment.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use model::{EntityEvent, Meta, Rows, Table};

use crate::entity_file::{self, EntityFile};
use crate::table_file::TableFile;
use crate::{Error, META_FILE, Result};

/// Writes one recording.
///
/// Dropping it without [`Writer::close`] leaves what a crash leaves: everything that was appended is
/// readable.
pub struct Writer {
    folder: PathBuf,
    entities: EntityFile,
    tables: BTreeMap<String, TableFile>,
}

impl Writer {
    /// Makes the folder with its `meta.json` and an empty entity list; never overwrites one.
    pub fn create(folder: &Path, meta: &Meta) -> Result<Self> {
        make_folder(folder)?;
        write_meta(folder, meta)?;
        let entities = EntityFile::create(folder)?;
        Ok(Self {
            folder: folder.to_owned(),
            entities,
            tables: BTreeMap::new(),
        })
    }

    /// The recording's folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Appends rows to a table: one record batch, on its way to disk when this returns.
    ///
    /// The table's file is made by its first rows.
    pub fn append(&mut self, table: &Table, rows: &Rows) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        if let Some(file) = self.tables.get_mut(&*table.name) {
            return file.append(table, rows);
        }
        if !is_file_name(&table.name) {
            let what = format!("{:?} cannot be a table's name", table.name);
            return Err(Error::unfit(&self.folder, what));
        }
        let file = TableFile::create(&self.folder, table)?;
        self.tables
            .entry(table.name.to_string())
            .or_insert(file)
            .append(table, rows)
    }

    /// Appends changes of the entity list.
    pub fn entities(&mut self, events: &[EntityEvent]) -> Result<()> {
        self.entities.append(events)
    }

    /// Writes `meta.json` anew.
    pub fn meta(&mut self, meta: &Meta) -> Result<()> {
        write_meta(&self.folder, meta).map(|_| ())
    }

    /// Ends every file, writes `meta.json` for the last time, and returns the bytes on disk.
    pub fn close(self, meta: &Meta) -> Result<u64> {
        let mut bytes = self.entities.finish()?;
        for table in self.tables.into_values() {
            bytes += table.finish()?;
        }
        // Last, so that a `meta.json` that says "complete" stands beside complete tables.
        Ok(bytes + write_meta(&self.folder, meta)?)
    }
}

fn make_folder(folder: &Path) -> Result<()> {
    fs::create_dir(folder).map_err(|source| {
        let folder = folder.to_owned();
        let parent = match folder.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
            _ => PathBuf::from("."),
        };
        match source.kind() {
            ErrorKind::AlreadyExists => Error::Exists { folder },
            ErrorKind::NotFound if !parent.is_dir() => Error::NoParent { folder, parent },
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
                Error::Denied { folder, parent }
            }
            _ => Error::Create { folder, source },
        }
    })
}

/// Writes `meta.json` under another name first: a reader, or a crash, finds the old or the new one
/// and never half of one.
fn write_meta(folder: &Path, meta: &Meta) -> Result<u64> {
    let path = folder.join(META_FILE);
    let new = folder.join("meta.json.new");
    let mut text = serde_json::to_vec_pretty(meta).map_err(|error| Error::unfit(&path, error))?;
    text.push(b'\n');
    fs::write(&new, &text).map_err(Error::write(&new))?;
    fs::rename(&new, &path).map_err(Error::write(&path))?;
    Ok(text.len() as u64)
}

/// Table names are file names, here and on other systems, and must not meet the entity list's.
fn is_file_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    !name.is_empty() && name.len() <= 60 && name.bytes().all(allowed) && name != entity_file::NAME
}
