//! What all probes share while they are read.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use sensors::{Facts, Sensor};

use super::{MOST_SOURCES, say_lack, share_of};
use crate::gaps::Gaps;
use crate::kept_file::KeptFile;
use crate::limits::Share;
use crate::remote_memory::RemoteMemory;
use crate::schedule::Look;

/// Buffers and what was found out, for one reading after the other.
pub(crate) struct Scratch {
    /// One buffer per source.
    pub(super) buffers: [Vec<u8>; MOST_SOURCES],
    /// Where a path is put together, and what is read there once.
    path: PathBuf,
    text: Vec<u8>,
    pub(crate) facts: Facts,
    /// Why it is looked now.
    pub(crate) look: Look,
    pub(crate) gaps: Gaps,
    pub(crate) remote_memory: RemoteMemory,
}

impl Scratch {
    pub(crate) fn new(facts: Facts) -> Self {
        Self {
            buffers: std::array::from_fn(|_| Vec::with_capacity(8192)),
            path: PathBuf::with_capacity(256),
            text: Vec::with_capacity(8192),
            facts,
            look: Look::Due,
            gaps: Gaps::default(),
            remote_memory: RemoteMemory::default(),
        }
    }

    /// Reads the stat file of a process or thread that a sensor will be pointed at, by its number in a
    /// folder of many. `None` where it is gone, which costs nothing: on a busy machine many end before
    /// they are looked at. Where no descriptor is left for it, that is said.
    pub(crate) fn first_look(
        &mut self,
        sensor: &'static Sensor,
        folder: &Path,
        number: u32,
    ) -> Option<&[u8]> {
        let Self {
            path, text, gaps, ..
        } = self;
        path.clear();
        path.push(folder);
        write!(path.as_mut_os_string(), "/{number}/stat").ok()?;
        match KeptFile::open(path, share_of(sensor)).and_then(|file| file.read(text)) {
            Ok(()) => return Some(text),
            Err(errno @ (Errno::MFILE | Errno::NFILE)) => say_lack(sensor, 0, errno, gaps),
            Err(_) => {}
        }
        None
    }

    /// Reads a file that is not kept open; nothing where it cannot be read.
    pub(crate) fn read_once(&mut self, folder: &Path, name: &str) -> &[u8] {
        let Self { path, text, .. } = self;
        path.clear();
        path.push(folder);
        path.push(name);
        if KeptFile::open(path, Share::Tracked)
            .and_then(|file| file.read(text))
            .is_err()
        {
            text.clear();
        }
        text
    }

    /// The bytes last read of a source.
    pub(crate) fn source(&self, index: usize) -> &[u8] {
        &self.buffers[index]
    }
}
