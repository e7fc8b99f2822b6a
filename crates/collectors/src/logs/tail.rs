//! A file that grows, and is replaced or cut off from time to time.
//!
//! It is looked at ten times a second, and not by inotify: that says nothing of other machines' filesystems, and of a
//! log that is written 10,000 times a second too much.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use sensors::log::Lines;

use super::reading::{Reading, Room};
use super::source::{denied, open};

/// Readings for which a file is still read after it was replaced: who writes opens the new one when it is told to.
const STILL_READ: u32 = 100;

/// Follows one file.
pub(super) struct Tail {
    path: PathBuf,
    now: Option<Growing>,
    /// The file before, and how many readings are left of it.
    before: Option<(Growing, u32)>,
    /// How often it was read anew.
    pub(super) rotations: u64,
    /// Whether it was told that the file may not be read.
    is_refused: bool,
}

/// An open file.
struct Growing {
    file: File,
    /// Device and inode.
    id: (u64, u64),
    /// Where it is read.
    offset: u64,
    lines: Lines,
}

impl Tail {
    /// Follows a file from its end on, and one that is awaited from its beginning.
    pub(super) fn new(path: &Path, is_awaited: bool) -> Self {
        let mut now = Growing::open(path).ok();
        if let Some(file) = now.as_mut().filter(|_| !is_awaited) {
            file.go_to_end();
        }
        Self {
            path: path.to_owned(),
            now,
            before: None,
            rotations: 0,
            is_refused: false,
        }
    }

    /// Reads what has come; a sentence where the file is there and cannot be read.
    pub(super) fn read(&mut self, reading: &mut Reading<'_>) -> Option<String> {
        if let Some((file, left)) = &mut self.before {
            file.read(reading);
            *left -= 1;
            if *left == 0 {
                self.before = None;
            }
        }
        if let Some(file) = &mut self.now {
            self.rotations += u64::from(file.was_cut_off());
            file.read(reading);
        }
        match self.successor() {
            Ok(None) => None,
            Ok(Some(mut file)) => {
                file.read(reading);
                if let Some(old) = self.now.replace(file) {
                    self.rotations += 1;
                    self.before = Some((old, STILL_READ));
                }
                self.is_refused = false;
                None
            }
            Err(_) if std::mem::replace(&mut self.is_refused, true) => None,
            Err(error) if error.kind() == ErrorKind::PermissionDenied => Some(denied(&self.path)),
            Err(error) => Some(format!("it cannot be read: {error}")),
        }
    }

    /// The file that has the name now, where that is another one.
    fn successor(&self) -> io::Result<Option<Growing>> {
        let found = match fs::metadata(&self.path) {
            Ok(found) => found,
            // Moved away, and not made anew yet.
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let known = self.now.as_ref().map(|it| it.id);
        if known == Some((found.dev(), found.ino())) {
            return Ok(None);
        }
        Growing::open(&self.path).map(Some)
    }
}

impl Growing {
    fn open(path: &Path) -> io::Result<Self> {
        let file = open(path)?;
        let found = file.metadata()?;
        if !found.is_file() {
            return Err(io::Error::other("it is no file"));
        }
        Ok(Self {
            file,
            id: (found.dev(), found.ino()),
            offset: 0,
            lines: Lines::default(),
        })
    }

    fn length(&self) -> u64 {
        self.file.metadata().map_or(self.offset, |it| it.len())
    }

    /// What is there already is not read, and of a line that is half written not the other half.
    fn go_to_end(&mut self) {
        let end = self.length();
        self.go_to(end);
    }

    fn go_to(&mut self, offset: u64) {
        let mut last = [b'\n'];
        if let Some(before) = offset.checked_sub(1) {
            let _ = self.file.seek(SeekFrom::Start(before));
            let _ = self.file.read(&mut last);
        }
        self.lines = match last {
            [b'\n'] => Lines::default(),
            _ => Lines::partial(),
        };
        let _ = self.file.seek(SeekFrom::Start(offset));
        self.offset = offset;
    }

    /// Begins anew where somebody made the file shorter.
    fn was_cut_off(&mut self) -> bool {
        let is_shorter = self.length() < self.offset;
        if is_shorter {
            self.go_to(0);
        }
        is_shorter
    }

    fn read(&mut self, reading: &mut Reading<'_>) {
        loop {
            if reading.room() == Room::None {
                let end = self.length();
                reading.miner.skipped(end.saturating_sub(self.offset));
                self.go_to(end.max(self.offset));
                return;
            }
            match self.file.read(reading.buffer) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Ok(0) | Err(_) => return,
                Ok(count) => {
                    self.offset += count as u64;
                    reading.take(count, &mut self.lines);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
