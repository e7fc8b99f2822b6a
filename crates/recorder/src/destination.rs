//! What a recording is written into: one folder, or a folder of segments.

use std::io;
use std::sync::Arc;

use model::{EntityEvent, Meta, Rows, Table, Text, Timestamp};
use recording::{FolderHandle, Result, SegmentedWriter, Writer};

/// What a recording is written into.
pub(super) enum Destination {
    Whole(Box<Writer>),
    Segments(Box<SegmentedWriter>),
}

impl Destination {
    /// The recording's folder, held open.
    pub(super) fn folder(&self) -> &Arc<FolderHandle> {
        match self {
            Self::Whole(writer) => writer.folder(),
            Self::Segments(writer) => writer.folder(),
        }
    }

    /// The segments, where it is written as such.
    pub(super) fn segments(&mut self) -> Option<&mut SegmentedWriter> {
        match self {
            Self::Whole(_) => None,
            Self::Segments(writer) => Some(writer),
        }
    }

    pub(super) fn rows(&mut self, table: &Table, rows: &Rows) -> Result<()> {
        match self {
            Self::Whole(writer) => writer.append(table, rows),
            Self::Segments(writer) => writer.append(table, rows),
        }
    }

    pub(super) fn entities(&mut self, events: &[EntityEvent]) -> Result<()> {
        match self {
            Self::Whole(writer) => writer.entities(events),
            Self::Segments(writer) => writer.entities(events),
        }
    }

    pub(super) fn strings(&mut self, texts: &[Text]) -> Result<()> {
        match self {
            Self::Whole(writer) => writer.strings(texts),
            Self::Segments(writer) => writer.strings(texts),
        }
    }

    pub(super) fn flush(&mut self) -> Result<()> {
        match self {
            Self::Whole(writer) => writer.flush(),
            Self::Segments(writer) => writer.flush(),
        }
    }

    pub(super) fn meta(&mut self, meta: &Meta) -> Result<()> {
        match self {
            Self::Whole(writer) => writer.meta(meta),
            Self::Segments(writer) => writer.meta(meta),
        }
    }

    /// Begins the next segment; returns when it begins, and `None` where nothing is written as segments.
    pub(super) fn roll(&mut self, meta: &Meta, next: &Meta) -> Result<Option<Timestamp>> {
        let segments = self.segments();
        segments.map(|it| it.roll(meta, next)).transpose()
    }

    pub(super) fn close(self, meta: &Meta) -> Result<u64> {
        match self {
            Self::Whole(writer) => writer.close(meta),
            Self::Segments(writer) => writer.close(meta),
        }
    }

    pub(super) fn abandon(self) -> io::Result<()> {
        match self {
            Self::Whole(writer) => writer.abandon(),
            Self::Segments(writer) => writer.abandon(),
        }
    }
}
