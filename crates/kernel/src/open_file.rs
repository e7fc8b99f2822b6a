//! A file of /proc, /sys or a cgroup that is opened once and read at offset 0 again and again.
//!
//! An open descriptor costs a third of open-read-close, and never shows another process's data: the kernel
//! binds it to the task, not to the pid.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::buffer::spare_capacity;
use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, pread};

use crate::limits::{self, Share};

/// One read of /proc returns at most about a page; less than half a page means that the end was reached (no
/// record in these files is longer than the other half).
const SURELY_WHOLE: usize = 2_048;

/// Files are read to their end; a longer one is not what it claims to be.
const MOST_BYTES: usize = 16 << 20;

/// A file that stays open.
#[derive(Debug)]
pub struct OpenFile(OwnedFd);

impl OpenFile {
    /// Opens for reading, if the share has room for another descriptor.
    pub fn open(path: &Path, share: Share) -> Result<Self, Errno> {
        let opened = rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
        opened
            .and_then(|file| limits::reserve(file, share))
            .map(Self)
    }

    /// Keeps a file that was opened otherwise, as `open` does.
    pub fn of(file: OwnedFd, share: Share) -> Result<Self, Errno> {
        limits::reserve(file, share).map(Self)
    }

    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    /// Reads the whole file into `buffer`, which is cleared first and grows only if the file has outgrown it.
    pub fn read(&self, buffer: &mut Vec<u8>) -> Result<(), Errno> {
        buffer.clear();
        buffer.reserve(SURELY_WHOLE * 2);
        loop {
            if buffer.len() == buffer.capacity() {
                if buffer.len() >= MOST_BYTES {
                    return Err(Errno::FBIG);
                }
                buffer.reserve(buffer.len());
            }
            let at = buffer.len() as u64;
            let count = pread(&self.0, spare_capacity(buffer), at)?;
            if count == 0 || (count < SURELY_WHOLE && buffer.len() < buffer.capacity()) {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn reads_the_whole_of_small_and_large_files_afresh() {
        let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
        let opened = OpenFile::open(file.path(), Share::Tracked).expect("it exists");
        let mut buffer = Vec::new();
        opened.read(&mut buffer).expect("readable");
        assert!(buffer.is_empty());
        for length in [1, 5_000, 200_000] {
            file.as_file().set_len(0).expect("truncated");
            file.as_file_mut()
                .write_all(&vec![b'x'; length])
                .expect("written");
            opened.read(&mut buffer).expect("readable");
            assert!(buffer.iter().filter(|byte| **byte == b'x').count() <= length);
            assert!(buffer.ends_with(b"x"));
        }
        opened.read(&mut buffer).expect("readable");
        assert!(buffer.len() >= 200_000);
    }
}
