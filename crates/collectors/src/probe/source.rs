//! One source of a sensor: an open file, or a value in a process's memory.

use std::path::Path;

use rustix::io::Errno;
use sensors::Sensor;

use super::missing::{report_missing, share_of};
use super::scratch::Scratch;
use crate::gaps::Gaps;
use kernel::open_file::OpenFile;
use kernel::remote_memory::{MemoryCell, RemoteRead};

/// Where a source's bytes come from.
pub(super) enum Source {
    File(OpenFile),
    Memory(MemoryCell),
}

/// Next step after reading a source.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Parse it as usual.
    Parse,
    /// Read it again next time even if the first source has not changed.
    Again,
    /// Close it: it will return nothing any more.
    Drop,
}

impl Source {
    /// Opens a sensor's file; one that cannot be opened becomes a gap.
    pub(super) fn open(
        sensor: &'static Sensor,
        index: usize,
        path: &Path,
        gaps: &mut Gaps,
    ) -> Option<Self> {
        match OpenFile::open(path, share_of(sensor)) {
            Ok(file) => Some(Self::File(file)),
            Err(errno) => {
                report_missing(sensor, index, errno, gaps);
                None
            }
        }
    }

    /// Reads it into the buffer with its index.
    pub(super) fn read(&self, index: usize, scratch: &mut Scratch) -> Result<Next, Errno> {
        let buffer = &mut scratch.buffers[index];
        match self {
            Self::File(file) => file.read(buffer).map(|()| Next::Parse),
            Self::Memory(cell) => {
                let read = scratch.remote_memory.read(cell);
                buffer.clear();
                if let RemoteRead::Value(value) = read {
                    buffer.extend_from_slice(&value);
                }
                Ok(match read {
                    RemoteRead::Value(_) | RemoteRead::Nothing => Next::Parse,
                    RemoteRead::Unplaced => Next::Again,
                    RemoteRead::Gone => Next::Drop,
                })
            }
        }
    }

    pub(super) fn file(&self) -> Option<&OpenFile> {
        match self {
            Self::File(file) => Some(file),
            Self::Memory(_) => None,
        }
    }

    pub(super) fn memory_cell(&self) -> Option<&MemoryCell> {
        match self {
            Self::File(_) => None,
            Self::Memory(cell) => Some(cell),
        }
    }
}
