//! The recording's folder while it is written: secrets taken out, and a disk that refuses.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use model::{EntityEvent, Meta, Rows, Table, Text, Timestamp};
use recording::{Error, FolderHandle, Keep, Result, SegmentedWriter, Writer};

use super::destination::Destination;
use super::privacy::Privacy;

/// The sampler hands on its tables one by one, once a second: they are one record on disk.
const GATHER: Duration = Duration::from_millis(20);

/// A recording's folder while it is written.
pub(super) struct Storage {
    writer: Option<Destination>,
    folder: Arc<FolderHandle>,
    privacy: Privacy,
    /// Whether the disk refused what was to be written last.
    is_refused: bool,
    /// When something came that is not flushed.
    unflushed: Option<Instant>,
}

/// What a flush changed.
pub(super) enum Change {
    /// The disk does not take the recording any more.
    Refused(Error),
    /// It takes it again.
    Accepted,
}

impl Storage {
    /// Makes the folder; with `keep` the recording is written as segments, of which so much is kept.
    ///
    /// # Errors
    /// When it is there already, or cannot be made.
    pub(super) fn create(
        folder: &Path,
        meta: &Meta,
        privacy: Privacy,
        keep: Option<Keep>,
    ) -> Result<Self> {
        let meta = privacy.meta(meta.clone());
        let writer = match keep {
            None => Destination::Whole(Box::new(Writer::create(folder, &meta)?)),
            Some(keep) => {
                Destination::Segments(Box::new(SegmentedWriter::create(folder, &meta, keep)?))
            }
        };
        Ok(Self {
            folder: writer.folder().clone(),
            writer: Some(writer),
            privacy,
            is_refused: false,
            unflushed: None,
        })
    }

    /// The folder, held open.
    pub(super) fn folder(&self) -> &Arc<FolderHandle> {
        &self.folder
    }

    /// Keeps rows in memory until the next flush.
    ///
    /// # Errors
    /// Rows that do not fit.
    pub(super) fn rows(&mut self, table: &Table, rows: &Rows) -> Result<()> {
        self.keep(|writer| writer.rows(table, rows))
    }

    /// Keeps changes of the entity list in memory until the next flush.
    ///
    /// # Errors
    /// Changes that do not fit.
    pub(super) fn entities(&mut self, mut events: Vec<EntityEvent>) -> Result<()> {
        self.privacy.entities(&mut events);
        self.keep(|writer| writer.entities(&events))
    }

    /// Keeps texts that rows refer to in memory until the next flush.
    ///
    /// # Errors
    /// Texts that do not fit.
    pub(super) fn strings(&mut self, mut texts: Vec<Text>) -> Result<()> {
        self.privacy.strings(&mut texts);
        self.keep(|writer| writer.strings(&texts))
    }

    fn keep(&mut self, keep: impl FnOnce(&mut Destination) -> Result<()>) -> Result<()> {
        let Some(writer) = &mut self.writer else {
            return Ok(());
        };
        self.unflushed.get_or_insert_with(Instant::now);
        keep(writer)
    }

    /// Writes the description, so that a crash does not lose it.
    pub(super) fn description(&mut self, meta: Meta) {
        if let Some(writer) = &mut self.writer {
            // Room is kept for it. Refused all the same, the old one stays, and the close tells.
            let _ = writer.meta(&self.privacy.meta(meta));
        }
    }

    /// The segments, where the recording is written as such.
    pub(super) fn segments(&mut self) -> Option<&mut SegmentedWriter> {
        self.writer.as_mut().and_then(Destination::segments)
    }

    /// Begins the next segment, as [`SegmentedWriter::roll`].
    ///
    /// # Errors
    /// What the disk refused.
    pub(super) fn roll(&mut self, meta: Meta, next: Meta) -> Result<Option<Timestamp>> {
        let (meta, next) = (self.privacy.meta(meta), self.privacy.meta(next));
        let writer = self.writer.as_mut();
        writer.map_or(Ok(None), |writer| writer.roll(&meta, &next))
    }

    /// Whether all that came is flushed, and the disk took it.
    pub(super) fn is_flushed(&self) -> bool {
        self.unflushed.is_none() && !self.is_refused
    }

    /// Hands on to the kernel what came since the last time, so that a crash does not lose it: to be
    /// called often. Once a second it has something to do.
    pub(super) fn flush(&mut self) -> Option<Change> {
        if self.unflushed.is_none_or(|since| since.elapsed() < GATHER) {
            return None;
        }
        self.unflushed = None;
        let flushed = self.writer.as_mut().map_or(Ok(()), Destination::flush);
        let was_refused = std::mem::replace(&mut self.is_refused, flushed.is_err());
        match flushed {
            Err(error) if !was_refused => Some(Change::Refused(error)),
            Ok(()) if was_refused => Some(Change::Accepted),
            _ => None,
        }
    }

    /// How long the next event may be waited for, of so long at most: what came is to be flushed soon.
    pub(super) fn patience(&self, most: Duration) -> Duration {
        self.unflushed.map_or(most, |_| GATHER.min(most))
    }

    /// Removes the folder of a recording that never began.
    pub(super) fn abandon(&mut self) {
        // What cannot be removed stays as an empty recording, which is no harm.
        let _ = self.writer.take().map(Destination::abandon);
    }

    /// Closes the recording; returns its size in bytes.
    ///
    /// # Errors
    /// What the disk does not take at the end; what it did not take before is a gap.
    pub(super) fn close(&mut self, meta: Meta) -> Result<u64> {
        let writer = self.writer.take();
        writer.map_or(Ok(0), |writer| writer.close(&self.privacy.meta(meta)))
    }
}
