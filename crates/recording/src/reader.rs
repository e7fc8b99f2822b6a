//! Opens recordings: those in one folder, and those that are written as segments.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use crate::{Error, FolderHandle, Recording, Result, Segments, whole};

/// Opens recordings.
pub struct Reader;

impl Reader {
    /// Reads the recording in `folder`.
    ///
    /// Only a folder that holds no recording is an error, or a newer one. A damaged table loses what
    /// follows the damage, which becomes a [`Damage`] and a gap; of a recording whose `meta.json` is
    /// lost, the tables tell what they can.
    pub fn open(folder: &Path) -> Result<Recording> {
        Self::open_in(&Self::folder(folder)?)
    }

    /// Opens the folder of a recording, which may be named by a link to it.
    ///
    /// # Errors
    /// When there is none, or it may not be opened.
    pub fn folder(path: &Path) -> Result<FolderHandle> {
        check_folder(path)?;
        FolderHandle::open(path).map_err(Error::read(path))
    }

    /// Reads the recording in a folder that is held open, as [`Reader::open`].
    ///
    /// # Errors
    /// As of [`Reader::open`].
    pub fn open_in(folder: &FolderHandle) -> Result<Recording> {
        match Segments::of(folder)? {
            Some(segments) => segments.read(.., folder),
            None => whole::open(folder),
        }
    }

    /// Reads the end of a recording: of one that is written as segments the last two.
    ///
    /// # Errors
    /// As of [`Reader::open`].
    pub fn open_end(folder: &FolderHandle) -> Result<Recording> {
        match Segments::of(folder)? {
            Some(segments) => segments.read(segments.len().saturating_sub(2).., folder),
            None => whole::open(folder),
        }
    }
}

fn check_folder(folder: &Path) -> Result<()> {
    let about = fs::metadata(folder).map_err(|source| match source.kind() {
        ErrorKind::NotFound => Error::Absent {
            folder: folder.to_owned(),
        },
        _ => Error::read(folder)(source),
    })?;
    match about.is_dir() {
        true => Ok(()),
        false => Err(Error::NotAFolder {
            path: folder.to_owned(),
        }),
    }
}
