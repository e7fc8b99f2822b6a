//! What could not be read of a recording.

use std::fmt;

use crate::{META_FILE, TABLE_EXTENSION};

/// For a gap: every table.
pub(crate) const ALL_TABLES: &str = "*";

/// The part of one file that could not be read: everything from an offset on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Damage {
    /// The file's name in the folder.
    pub file: String,
    /// The table, or `entities`; `*` where all are concerned.
    pub table: String,
    /// Bytes of the file that were read and are in the timeline.
    pub offset: u64,
    /// What was found there.
    pub what: String,
}

impl Damage {
    pub(crate) fn of_table(table: &str, offset: u64, what: String) -> Self {
        Self {
            file: format!("{table}.{TABLE_EXTENSION}"),
            table: table.to_owned(),
            offset,
            what,
        }
    }

    pub(crate) fn of_all(file: &str, offset: u64, what: String) -> Self {
        Self {
            file: file.to_owned(),
            table: ALL_TABLES.to_owned(),
            offset,
            what,
        }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file, offset, what, ..
        } = self;
        match &**file {
            // It is read as a whole or not at all.
            META_FILE => write!(f, "{file}: {what}"),
            _ => write!(f, "{file} was read up to byte {offset}: {what}"),
        }
    }
}
