//! io_uring.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use io_uring::squeue::Entry;
use io_uring::{IoUring, opcode, types};

use super::{DEPTH, Done};

/// An io_uring.
pub struct Ring {
    ring: IoUring,
}

impl Ring {
    /// Creates an empty ring.
    ///
    /// # Errors
    /// As io_uring_setup(2): EPERM if kernel.io_uring_disabled forbids it.
    pub fn new() -> io::Result<Self> {
        let ring = IoUring::new(DEPTH)?;
        Ok(Self { ring })
    }

    /// Queues a write of bytes to a file at an offset.
    ///
    /// # Errors
    /// When the ring is full.
    pub fn write(
        &mut self,
        file: BorrowedFd<'_>,
        bytes: &'static [u8],
        offset: u64,
        tag: u64,
    ) -> io::Result<()> {
        let length = u32::try_from(bytes.len()).map_err(io::Error::other)?;
        let write = opcode::Write::new(types::Fd(file.as_raw_fd()), bytes.as_ptr(), length);
        self.push(&write.offset(offset).build().user_data(tag))
    }

    /// Queues a request for one notification when a descriptor has something to read.
    ///
    /// # Errors
    /// When the ring is full.
    pub fn watch(&mut self, descriptor: BorrowedFd<'_>, tag: u64) -> io::Result<()> {
        let descriptor = types::Fd(descriptor.as_raw_fd());
        let poll = opcode::PollAdd::new(descriptor, libc::POLLIN as u32);
        self.push(&poll.build().user_data(tag))
    }

    fn push(&mut self, entry: &Entry) -> io::Result<()> {
        // SAFETY: the entry points to nothing, or to bytes that are never freed nor written to.
        unsafe { self.ring.submission().push(entry) }.map_err(io::Error::other)
    }

    /// Submits queued requests; returns how many.
    ///
    /// # Errors
    /// As io_uring_enter(2).
    pub fn submit(&mut self) -> io::Result<usize> {
        if self.ring.submission().is_empty() {
            return Ok(0);
        }
        self.ring.submit()
    }

    /// Waits until a submitted request completes.
    ///
    /// # Errors
    /// As io_uring_enter(2).
    pub fn wait(&mut self) -> io::Result<()> {
        if self.ring.completion().is_empty() {
            self.ring.submit_and_wait(1)?;
        }
        Ok(())
    }

    /// Appends completed requests, without a system call.
    pub fn reap(&mut self, done: &mut Vec<Done>) {
        done.extend(self.ring.completion().map(|entry| Done {
            tag: entry.user_data(),
            result: i64::from(entry.result()),
        }));
    }
}
