//! A recording from wherever it lies: a folder, or a bundle that somebody sent. As it was recorded, or as
//! it is judged: with every byte of storage traffic counted once.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use recorder::redact_again;
use recording::{Reader, Recording, bundle};
use tempfile::TempDir;

use crate::outputs;
use crate::page::Place;
use crate::temporary_output::{Entry, TemporaryOutput};

/// A recording that was opened.
pub(crate) struct Opened {
    /// What the user named, or the newest here.
    pub(crate) path: PathBuf,
    pub(crate) recording: Recording,
    /// Where its page belongs: the folder that was read, whatever has its name by now.
    pub(crate) page: Place,
}

/// Opens the recording that was named, or the newest here, to be judged and shown.
pub(crate) fn to_judge(named: Option<&Path>) -> Result<Opened> {
    let mut opened = open(named)?;
    analysis::prepare(&mut opened.recording.timeline);
    Ok(opened)
}

/// Opens the recording that was named, or the newest here; what is damaged is said.
///
/// A bundle is unpacked into a private folder, which is gone when this returns.
pub(crate) fn open(named: Option<&Path>) -> Result<Opened> {
    let path = match named {
        Some(path) => path.to_owned(),
        None => recording::newest(Path::new("."))?,
    };
    let (mut recording, page) = match bundle::is_bundle(&path) {
        true => unpacked(&path)?,
        false => {
            let folder = Arc::new(Reader::folder(&path)?);
            (Reader::open_in(&folder)?, Place::in_recording(&folder))
        }
    };
    redact_again(&mut recording.meta);
    for damage in &recording.damage {
        outputs::say(&format!("stallscope: {damage}"));
    }
    Ok(Opened {
        path,
        recording,
        page,
    })
}

fn unpacked(path: &Path) -> Result<(Recording, Place)> {
    let page = Place::beside(path).with_context(|| format!("cannot open {}", path.display()))?;
    let mut temporary_output = None;
    let unpacked = bundle::unpack_in(path, || {
        let entry = |room: &TempDir| Entry::Temporary(room.path().to_owned());
        let (known, folder) = TemporaryOutput::make(bundle::private_folder, entry)?;
        temporary_output = Some(known);
        Ok(folder)
    })?;
    let recording = Reader::open(unpacked.folder());
    let recording = recording.with_context(|| format!("in the bundle {}", path.display()))?;
    Ok((recording, page))
}
