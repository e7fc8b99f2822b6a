//! `meta.json`: written anew as a whole, with room kept for the next time, and a checksum to read by.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

use model::{Meta, Part, Sentence};
use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::{Error, FolderHandle, META_FILE, Result, checksum};

/// The next `meta.json`. Its room is taken ahead: a full disk must not keep the recording from saying
/// what it lacks.
const NEW_NAME: &str = "meta.json.new";

/// More than most `meta.json` take; kept as room for the next one.
const RESERVE_BYTES: usize = 64 << 10;

/// File systems give room in pieces of about this size.
const PIECE_BYTES: usize = 4 << 10;

/// What stands before the checksum of all that precedes the member's name.
const SUM_MEMBER: &str = "\"checksum\": \"crc32:";

/// Writes `meta.json` of one recording.
pub(crate) struct MetaFile {
    folder: Arc<FolderHandle>,
    /// Bytes of the last one.
    bytes: usize,
}

impl MetaFile {
    /// Without any room taken.
    pub(crate) fn of(folder: &Arc<FolderHandle>) -> Self {
        Self {
            folder: folder.clone(),
            bytes: 0,
        }
    }

    /// Takes the room for the first one.
    pub(crate) fn reserve(folder: &Arc<FolderHandle>) -> Result<Self> {
        let file = Self::of(folder);
        file.take_room(RESERVE_BYTES)
            .map_err(Error::write(&folder.path_of(NEW_NAME)))?;
        Ok(file)
    }

    /// Writes it, and takes the room for the next one as far as there is any.
    pub(crate) fn write(&mut self, meta: &Meta) -> Result<()> {
        self.write_last(meta)?;
        // The room that the old one had is free at this moment, but for what this one has grown by. Where
        // even that is gone, the next one is tried without.
        let _ = self.take_room(2 * self.bytes);
        Ok(())
    }

    /// Writes it for the last time and returns its bytes.
    ///
    /// It is written under another name first: a reader, or a crash, finds the old or the new one and
    /// never half of one.
    pub(crate) fn write_last(&mut self, meta: &Meta) -> Result<u64> {
        let folder = &self.folder;
        let path = folder.path_of(META_FILE);
        let text = text_of(meta).map_err(|error| Error::unfit(&path, error))?;
        let write = || {
            // Not emptied first: that would give the room away.
            let file = self.next_file()?;
            file.write_all_at(&text, 0)?;
            file.set_len(text.len() as u64)
        };
        write().map_err(Error::write(&folder.path_of(NEW_NAME)))?;
        folder
            .rename(NEW_NAME, META_FILE)
            .map_err(Error::write(&path))?;
        self.bytes = text.len();
        Ok(text.len() as u64)
    }

    /// The file in which room was taken, or a new one.
    fn next_file(&self) -> io::Result<File> {
        match self.folder.open_file(NEW_NAME) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.folder.create_file(NEW_NAME)
            }
            opened => opened,
        }
    }

    /// Takes what is worth taking, and on a full disk as much of it as there is: what is left free, the
    /// journal takes.
    fn take_room(&self, least: usize) -> io::Result<()> {
        let file = self.folder.create_file(NEW_NAME)?;
        let mut bytes = RESERVE_BYTES.max(2 * self.bytes);
        loop {
            match take(&file, bytes) {
                Err(_) if bytes >= least + PIECE_BYTES => bytes -= PIECE_BYTES,
                taken => return taken,
            }
        }
    }
}

/// Gives an empty file so many bytes, or none.
fn take(file: &File, bytes: usize) -> io::Result<()> {
    let taken = match fallocate(file, FallocateFlags::empty(), 0, bytes as u64) {
        // A file system that takes no room ahead takes it for zeros.
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => file.write_all_at(&vec![0; bytes], 0),
        other => other.map_err(io::Error::from),
    };
    if taken.is_err() {
        // A part may have been taken.
        let _ = file.set_len(0);
    }
    taken
}

/// What stands in `meta.json` beside the description itself.
#[derive(Serialize)]
struct WithSentences<'a> {
    #[serde(flatten)]
    meta: &'a Meta,
    sentences: BTreeSet<&'a [Part]>,
}

/// What each sentence of a `meta.json` is made of. Nothing where an older version wrote it.
#[derive(Deserialize, Default)]
struct Sentences {
    #[serde(default)]
    sentences: Vec<Vec<Part>>,
}

/// Says of each sentence in a description what it is made of, as far as the text of `meta.json` tells.
pub(crate) fn take_apart(meta: &mut Meta, text: &[u8]) {
    // What cannot be understood here leaves a sentence what it is without: foreign.
    let Sentences { sentences } = serde_json::from_slice(text).unwrap_or_default();
    let made = sentences.into_iter().map(Sentence::from_iter);
    meta.take_apart(&made.map(|it| (it.to_string(), it)).collect());
}

/// The text of `meta.json`: its last member is the checksum of all that stands before it.
fn text_of(meta: &Meta) -> std::result::Result<Vec<u8>, serde_json::Error> {
    let mut sentences = meta.clone();
    let sentences = sentences.sentences_mut().map(|it| it.parts());
    // A text that is not listed is foreign, so that those need no mention.
    let listed = sentences.filter(|parts| !matches!(parts, [] | [Part::Foreign { .. }]));
    let with_sentences = WithSentences {
        meta,
        sentences: listed.collect::<BTreeSet<_>>(),
    };
    let mut text = serde_json::to_string_pretty(&with_sentences)?;
    // The object's last line, its closing brace, moves behind the checksum.
    text.truncate(text.len() - "\n}".len());
    text.push_str(",\n  ");
    let sum = checksum::of(text.as_bytes());
    text.push_str(&format!("{SUM_MEMBER}{sum:08x}\"\n}}\n"));
    Ok(text.into_bytes())
}

/// Whether a text is as it was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Seal {
    /// It has no checksum: an older format, or another program.
    Absent,
    /// It fits.
    Whole,
    /// It does not.
    Broken,
}

/// Whether a `meta.json` is as it was written.
pub(crate) fn seal_of(text: &[u8]) -> Seal {
    let member = SUM_MEMBER.as_bytes();
    let Some(place) = text
        .windows(member.len())
        .rposition(|bytes| bytes == member)
    else {
        return Seal::Absent;
    };
    let (summed, rest) = text.split_at(place);
    let expected = format!("{SUM_MEMBER}{:08x}\"\n}}\n", checksum::of(summed));
    match rest == expected.as_bytes() {
        true => Seal::Whole,
        false => Seal::Broken,
    }
}
