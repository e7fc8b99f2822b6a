//! Buffers and facts that all probes share during a reading.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use sensors::{Facts, Sensor};

use super::missing::{report_missing, share_of};
use crate::gaps::Gaps;
use kernel::limits::Share;
use kernel::open_file::OpenFile;
use kernel::remote_memory::RemoteMemory;

/// The largest number of sources of a sensor.
pub(super) const MOST_SOURCES: usize = 12;

/// Reusable buffers, and facts that were found out once.
pub(crate) struct Scratch {
    /// One buffer per source.
    pub(super) buffers: [Vec<u8>; MOST_SOURCES],
    /// Buffers for a path, and for a file that is read once.
    path: PathBuf,
    text: Vec<u8>,
    pub(crate) facts: Facts,
    pub(crate) remote_memory: RemoteMemory,
}

impl Scratch {
    pub(crate) fn new(facts: Facts) -> Self {
        Self {
            buffers: std::array::from_fn(|_| Vec::with_capacity(8192)),
            path: PathBuf::with_capacity(256),
            text: Vec::with_capacity(8192),
            facts,
            remote_memory: RemoteMemory::default(),
        }
    }

    /// Reads the stat file of a process or thread before a sensor is opened on it, by its number in a folder.
    /// `None` if it has exited, which costs nothing: on a busy machine many exit before they are looked at. A
    /// lack of descriptors is reported as a gap.
    pub(crate) fn first_look(
        &mut self,
        sensor: &'static Sensor,
        folder: &Path,
        number: u32,
        gaps: &mut Gaps,
    ) -> Option<&[u8]> {
        let Self { path, text, .. } = self;
        path.clear();
        path.push(folder);
        write!(path.as_mut_os_string(), "/{number}/stat").ok()?;
        match OpenFile::open(path, share_of(sensor)).and_then(|file| file.read(text)) {
            Ok(()) => return Some(text),
            Err(errno @ (Errno::MFILE | Errno::NFILE)) => report_missing(sensor, 0, errno, gaps),
            Err(_) => {}
        }
        None
    }

    /// Reads a file that is not kept open; empty if it cannot be read.
    pub(crate) fn read_once(&mut self, folder: &Path, name: &str) -> &[u8] {
        let Self { path, text, .. } = self;
        path.clear();
        path.push(folder);
        path.push(name);
        if OpenFile::open(path, Share::Tracked)
            .and_then(|file| file.read(text))
            .is_err()
        {
            text.clear();
        }
        text
    }

    /// The bytes of a source as last read.
    pub(crate) fn source(&self, index: usize) -> &[u8] {
        &self.buffers[index]
    }
}
