//! A recording being written as segments, of which the oldest are removed.

use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use model::{EntityEvent, Meta, Rows, Segment, Table, Text, Timestamp, Window};

use super::carry_over::{CarryOver, Lacking};
use super::{name_of, number_of};
use crate::{Error, FolderHandle, Result, Writer};

/// What a segment is called while it is removed: readers know no such name.
const REMOVED: &str = ".removed";

/// A segment is at most such a part of what may be kept, so that removing one removes little.
const PARTS: u64 = 4;

/// Later than any time.
const FAR: Timestamp = Timestamp::from_ns(i64::MAX);

/// How much of a recording is kept. Without a limit nothing is removed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Keep {
    /// Segments that ended so long ago are removed.
    pub age: Option<Duration>,
    /// The oldest segments are removed as long as all together are larger, bytes.
    pub bytes: Option<u64>,
}

/// A segment that was closed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stored {
    /// Its number.
    pub number: u32,
    /// When it began.
    pub start: Timestamp,
    /// When it ended.
    pub end: Timestamp,
    /// Its size, bytes.
    pub bytes: u64,
}

/// Writes one recording as segments. What was flushed is readable at every moment, as with [`Writer`]; the segment that
/// is being written is never removed.
pub struct SegmentedWriter {
    folder: Arc<FolderHandle>,
    writer: Writer,
    number: u32,
    start: Timestamp,
    closed: VecDeque<Stored>,
    carry_over: CarryOver,
    keep: Keep,
}

impl SegmentedWriter {
    /// Makes the folder with its first segment; never overwrites one, and leaves nothing behind when it cannot.
    ///
    /// # Errors
    /// As [`Writer::create`].
    pub fn create(folder: &Path, meta: &Meta, keep: Keep) -> Result<Self> {
        let held = Arc::new(FolderHandle::create(folder)?);
        let number = 1;
        let writer = begin(&held, &part(meta, number, true)).inspect_err(|_| {
            // Just made, and empty.
            let _ = held.remove_all();
        })?;
        Ok(Self {
            folder: held,
            writer,
            number,
            start: meta.window.start,
            closed: VecDeque::new(),
            carry_over: CarryOver::default(),
            keep,
        })
    }

    /// The recording's folder, held open.
    pub fn folder(&self) -> &Arc<FolderHandle> {
        &self.folder
    }

    /// The folder of the segment that is being written.
    pub fn newest_folder(&self) -> &Arc<FolderHandle> {
        self.writer.folder()
    }

    /// Segments that are closed and not removed, the oldest first.
    pub fn closed(&self) -> impl DoubleEndedIterator<Item = &Stored> {
        self.closed.iter()
    }

    /// The time of the newest row.
    pub fn newest(&self) -> Timestamp {
        self.writer.newest()
    }

    /// When the segment that is being written began.
    pub fn start(&self) -> Timestamp {
        self.start
    }

    /// Whether the segment that is being written is as large as one may be.
    pub fn is_large(&self) -> bool {
        let most = self.keep.bytes.map(|most| most / PARTS);
        most.is_some_and(|most| self.writer.bytes() >= most)
    }

    /// As [`Writer::append`].
    ///
    /// # Errors
    /// Only rows that do not fit: mistakes of the program.
    pub fn append(&mut self, table: &Table, rows: &Rows) -> Result<()> {
        let Lacking { texts, stacks } = self.carry_over.lacking(table, rows);
        if !texts.is_empty() {
            self.writer.strings(&texts)?;
        }
        if let Some((table, rows)) = stacks {
            self.writer.append(&table, &rows)?;
        }
        self.writer.append(table, rows)?;
        self.carry_over.rows(table, rows);
        Ok(())
    }

    /// As [`Writer::entities`].
    ///
    /// # Errors
    /// Only events that do not fit: mistakes of the program.
    pub fn entities(&mut self, events: &[EntityEvent]) -> Result<()> {
        self.writer.entities(events)?;
        self.carry_over.entities(events);
        Ok(())
    }

    /// As [`Writer::strings`].
    ///
    /// # Errors
    /// Only texts that do not fit: mistakes of the program.
    pub fn strings(&mut self, texts: &[Text]) -> Result<()> {
        let parents = self.carry_over.strings(texts);
        if !parents.is_empty() {
            self.writer.strings(&parents)?;
        }
        self.writer.strings(texts)
    }

    /// As [`Writer::flush`]; then removes what is more than may be kept.
    ///
    /// # Errors
    /// What the disk refused; it is tried again at the next flush.
    pub fn flush(&mut self) -> Result<()> {
        let flushed = self.writer.flush();
        self.remove_oldest();
        flushed
    }

    /// As [`Writer::meta`], of the segment that is being written.
    ///
    /// # Errors
    /// What the disk refused.
    pub fn meta(&mut self, meta: &Meta) -> Result<()> {
        self.writer.meta(&self.described(meta, true))
    }

    /// Ends the segment that is being written and begins the next one; `meta` is the recording's description at this
    /// moment, and `next` that with which the next segment begins, whose window is set here. Returns when the new
    /// segment begins.
    ///
    /// # Errors
    /// What the disk refused: of the new segment, then the old one is written on; or of the end of the old one.
    pub fn roll(&mut self, meta: &Meta, next: &Meta) -> Result<Timestamp> {
        // Nothing is written between two rows, so that the new segment begins right behind the newest one.
        let at = self.writer.newest().max(self.start) + 1;
        let number = self.number.saturating_add(1);
        let begun = Window::new(at, at);
        // Gaps may be about times that are still to come.
        let next = leave_out(part(next, number, true), Window::new(at, FAR));
        let next = Meta {
            window: begun,
            ..next
        };
        let writer = begin(&self.folder, &next)?;
        let old = std::mem::replace(&mut self.writer, writer);
        if let Err(error) = self.write_needed(at) {
            let refused = std::mem::replace(&mut self.writer, old);
            // What cannot be removed is a segment that begins with what the old one has.
            let _ = refused.abandon();
            return Err(error);
        }
        let mut last = leave_out(part(meta, self.number, true), Window::new(self.start, at));
        last.complete = true;
        let bytes = old.close(&last);
        self.closed.push_back(Stored {
            number: self.number,
            start: self.start,
            end: at,
            bytes: bytes.as_ref().copied().unwrap_or_default(),
        });
        (self.number, self.start) = (number, at);
        self.remove_oldest();
        bytes.map(|_| at)
    }

    /// Changes how much is kept; what is too much is removed at the next flush.
    pub fn keep(&mut self, keep: Keep) {
        self.keep = keep;
    }

    /// Moves closed segments into another folder, where they are a recording; those that are not there are left out.
    /// Returns what was moved.
    ///
    /// # Errors
    /// What the kernel says. Segments that were moved before stay there.
    pub fn move_to(&mut self, numbers: &[u32], other: &FolderHandle) -> io::Result<Vec<Stored>> {
        let mut moved = Vec::new();
        for number in numbers {
            let Some(place) = self.closed.iter().position(|it| it.number == *number) else {
                continue;
            };
            self.folder.move_to(name_of(*number), other)?;
            moved.extend(self.closed.remove(place));
        }
        Ok(moved)
    }

    /// Closes the recording; returns its size in bytes.
    ///
    /// # Errors
    /// What the disk does not take at the end.
    pub fn close(self, meta: &Meta) -> Result<u64> {
        let last = self.described(meta, false);
        let closed: u64 = self.closed.iter().map(|it| it.bytes).sum();
        Ok(closed + self.writer.close(&last)?)
    }

    /// Removes a recording that never began, with its folder.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn abandon(self) -> io::Result<()> {
        let folder = self.folder.clone();
        drop(self);
        folder.remove_all()
    }

    /// The description of the segment that is being written.
    fn described(&self, meta: &Meta, continues: bool) -> Meta {
        let end = meta.window.end.max(self.start);
        let meta = leave_out(
            part(meta, self.number, continues),
            Window::new(self.start, FAR),
        );
        Meta {
            window: Window::new(self.start, end),
            ..meta
        }
    }

    /// Writes into a new segment what it needs of those before.
    fn write_needed(&mut self, at: Timestamp) -> Result<()> {
        let (events, tables) = self.carry_over.begin(at);
        self.writer.entities(&events)?;
        for (table, rows) in tables {
            self.append(&table, &rows)?;
        }
        self.writer.flush()
    }

    /// Removes the oldest segments that are more than may be kept.
    fn remove_oldest(&mut self) {
        while let Some(oldest) = self.closed.front().copied() {
            let sum: u64 = self.closed.iter().map(|it| it.bytes).sum();
            let too_many = self
                .keep
                .bytes
                .is_some_and(|most| sum + self.writer.bytes() > most);
            let age = self.writer.newest().ns_since(oldest.end);
            let too_old = self
                .keep
                .age
                .is_some_and(|most| i64::try_from(most.as_nanos()).is_ok_and(|most| age > most));
            if !(too_many || too_old) {
                return;
            }
            self.closed.pop_front();
            // What cannot be removed stays, and takes room; the recording goes on.
            let _ = remove(&self.folder, oldest.number);
        }
    }
}

/// Removes a segment: at no moment is half of it there to be read.
fn remove(folder: &FolderHandle, number: u32) -> io::Result<()> {
    let removed = format!("{REMOVED}-{number}");
    folder.rename(name_of(number), &removed)?;
    folder.open_folder(&removed)?.remove_all()
}

/// Makes the folder of a segment and begins it.
fn begin(folder: &FolderHandle, meta: &Meta) -> Result<Writer> {
    let number = meta.segment.map_or(0, |segment| segment.number);
    let name = name_of(number);
    debug_assert_eq!(number_of(&name), Some(number), "a reader finds it");
    let made = folder.create_folder(&name);
    let made = made.map_err(|source| Error::create(&folder.path_of(&name), source))?;
    Writer::within(made, meta)
}

/// The description of a segment of this number.
fn part(meta: &Meta, number: u32, continues: bool) -> Meta {
    Meta {
        segment: Some(Segment { number, continues }),
        ..meta.clone()
    }
}

/// Leaves out of a segment's description what was not seen outside of it. A firing is in the segment in which it was
/// noticed.
fn leave_out(mut meta: Meta, window: Window) -> Meta {
    let is_inside = |of: Window| of.start <= window.end && of.end >= window.start;
    meta.gaps.retain(|gap| gap.window.is_none_or(is_inside));
    meta.window = window;
    meta
}
