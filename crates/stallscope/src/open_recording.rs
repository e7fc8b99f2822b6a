//! A recording from wherever it lies: a folder, or a bundle that somebody sent. As it was recorded, or as
//! it is judged: with every byte of storage traffic counted once.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use model::{PROOF_SCHEMA, Proof};
use recorder::redact_again;
use recording::{FolderHandle, Reader, Recording, Segments, bundle};
use tempfile::TempDir;

use crate::outputs;
use crate::page::Place;
use crate::part::Part;
use crate::temporary_output::{Entry, TemporaryOutput};

/// A recording that was opened.
pub(crate) struct Opened {
    /// What the user named, or the newest here.
    pub(crate) path: PathBuf,
    pub(crate) recording: Recording,
    /// Where its page belongs: the folder that was read, whatever has its name by now.
    pub(crate) page: Place,
    /// What an experiment in it proved.
    pub(crate) proof: Option<Proof>,
}

/// A proof of more bytes is none of ours.
const MOST_PROOF: u64 = 4 << 20;

/// Opens the recording that was named, or the newest here, to be judged and shown; of one that is written as segments,
/// those that the part needs.
pub(crate) fn to_judge(named: Option<&Path>, part: &Part) -> Result<Opened> {
    let mut opened = open(named, part)?;
    analysis::prepare(&mut opened.recording.timeline);
    Ok(opened)
}

/// Opens the recording that was named, or the newest here, as far as the part needs it; what is damaged is said.
///
/// A bundle is unpacked into a private folder, which is gone when this returns.
pub(crate) fn open(named: Option<&Path>, part: &Part) -> Result<Opened> {
    let path = match named {
        Some(path) => path.to_owned(),
        None => recording::newest(Path::new("."))?,
    };
    let (mut recording, page, proof) = match bundle::is_bundle(&path) {
        true => {
            let (recording, page) = unpacked(&path)?;
            (recording, page, None)
        }
        false => {
            let folder = Arc::new(Reader::folder(&path)?);
            let recording = match Segments::of(&folder)? {
                Some(segments) => needed(&segments, &folder, part)?,
                None => Reader::open_in(&folder)?,
            };
            let proof = proved(&folder);
            (recording, Place::in_recording(&folder), proof)
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
        proof,
    })
}

/// What an experiment in a recording proved; nothing where there was none, or what is there is no proof.
fn proved(folder: &FolderHandle) -> Option<Proof> {
    let (file, _) = folder.read(crate::prove::FILE).ok()?;
    let mut text = Vec::new();
    file.take(MOST_PROOF).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text)
        .ok()
        .filter(|it: &Proof| it.schema == PROOF_SCHEMA)
}

/// Reads the segments that a part needs; says how many these are, where they are not all.
fn needed(segments: &Segments, folder: &FolderHandle, part: &Part) -> Result<Recording> {
    let places = match part.is_all() {
        true => 0..segments.len(),
        false => part.segments(segments, folder),
    };
    if places.len() < segments.len() {
        let (read, all) = (places.len(), segments.len());
        outputs::say(&format!("stallscope: read {read} of {all} segments"));
    }
    Ok(segments.read(places, folder)?)
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

/// `fast` for `runs/fast.stall`.
pub(crate) fn short_name(path: &Path) -> String {
    let name = path
        .file_name()
        .unwrap_or(path.as_os_str())
        .to_string_lossy();
    let ends = [".stall", ".stallbundle"];
    let short = ends.iter().find_map(|end| name.strip_suffix(end));
    short.unwrap_or(&name).to_owned()
}
