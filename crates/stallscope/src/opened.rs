//! A recording from wherever it lies: a folder, or a bundle that somebody sent. As it was recorded, or as
//! it is judged: with every byte of storage traffic counted once.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use recording::{Reader, Recording, bundle};

use crate::outputs;
use crate::unfinished::Unfinished;

/// Opens the recording that was named, or the newest here, to be judged and shown.
pub(crate) fn to_judge(named: Option<&Path>) -> Result<(PathBuf, Recording)> {
    let (path, mut recording) = open(named)?;
    analysis::without_inherited(&mut recording.timeline);
    Ok((path, recording))
}

/// Opens the recording that was named, or the newest here; what is damaged is said.
///
/// A bundle is unpacked into a private folder, which is gone when this returns.
pub(crate) fn open(named: Option<&Path>) -> Result<(PathBuf, Recording)> {
    let path = match named {
        Some(path) => path.to_owned(),
        None => recording::newest(Path::new("."))?,
    };
    let recording = if bundle::is_bundle(&path) {
        let mut unfinished = None;
        let unpacked = bundle::unpack_in(&path, || {
            let (known, folder) =
                Unfinished::make(bundle::private_folder, |room| room.path().to_owned())?;
            unfinished = Some(known);
            Ok(folder)
        })?;
        Reader::open(unpacked.folder())
            .with_context(|| format!("in the bundle {}", path.display()))?
    } else {
        Reader::open(&path)?
    };
    for damage in &recording.damage {
        outputs::say(&format!("stallscope: {damage}"));
    }
    Ok((path, recording))
}
