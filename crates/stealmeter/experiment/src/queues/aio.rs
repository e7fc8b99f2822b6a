//! linux-aio through its system calls: glibc has no wrappers, and libaio would be another dependency.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use super::{DEPTH, Done};

/// The kernel's `struct iocb` on little-endian machines (include/uapi/linux/aio_abi.h). The kernel copies it
/// at submission.
#[repr(C)]
#[derive(Default)]
struct Iocb {
    data: u64,
    key: u32,
    rw_flags: u32,
    opcode: u16,
    priority: i16,
    descriptor: u32,
    buffer: u64,
    /// Bytes, or the events of a poll.
    count: u64,
    offset: i64,
    reserved: u64,
    flags: u32,
    notified: u32,
}

/// `struct io_event`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Event {
    data: u64,
    object: u64,
    result: i64,
    result_2: i64,
}

const _: () = assert!(size_of::<Iocb>() == 64 && size_of::<Event>() == 32);
const _: () = assert!(
    cfg!(target_endian = "little"),
    "iocb has key and rw_flags swapped"
);

const PWRITE: u16 = 1;
/// Since 4.19.
const POLL: u16 = 5;

/// A linux-aio context.
#[derive(Debug)]
pub struct Aio {
    context: libc::c_ulong,
}

impl Aio {
    /// Creates an empty context.
    ///
    /// # Errors
    /// As io_setup(2): EAGAIN if fs.aio-max-nr is used up, ENOSYS if the kernel has no linux-aio.
    pub fn new() -> io::Result<Self> {
        let mut context: libc::c_ulong = 0;
        // SAFETY: the kernel writes one word to `context`.
        checked(unsafe { libc::syscall(libc::SYS_io_setup, DEPTH, &raw mut context) })?;
        Ok(Self { context })
    }

    /// Begins to write bytes to a file at an offset.
    ///
    /// # Errors
    /// As io_submit(2). Later failures come back as a result.
    pub fn write(
        &mut self,
        file: BorrowedFd<'_>,
        bytes: &'static [u8],
        offset: u64,
        tag: u64,
    ) -> io::Result<()> {
        self.submit(Iocb {
            data: tag,
            opcode: PWRITE,
            descriptor: file.as_raw_fd().cast_unsigned(),
            buffer: bytes.as_ptr().addr() as u64,
            count: bytes.len() as u64,
            offset: offset.cast_signed(),
            ..Iocb::default()
        })
    }

    /// Requests one notification when a descriptor has something to read.
    ///
    /// # Errors
    /// As io_submit(2).
    pub fn watch(&mut self, descriptor: BorrowedFd<'_>, tag: u64) -> io::Result<()> {
        self.submit(Iocb {
            data: tag,
            opcode: POLL,
            descriptor: descriptor.as_raw_fd().cast_unsigned(),
            buffer: libc::POLLIN as u64,
            ..Iocb::default()
        })
    }

    /// Appends completed requests, without waiting.
    ///
    /// # Errors
    /// As io_getevents(2).
    pub fn reap(&mut self, done: &mut Vec<Done>) -> io::Result<()> {
        let now = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        self.events(0, &raw const now, done)
    }

    /// Waits until a request completes, and appends it.
    ///
    /// # Errors
    /// As io_getevents(2).
    pub fn wait(&mut self, done: &mut Vec<Done>) -> io::Result<()> {
        self.events(1, std::ptr::null(), done)
    }

    fn submit(&mut self, iocb: Iocb) -> io::Result<()> {
        let list = [&raw const iocb];
        // SAFETY: one iocb, copied before the call returns. Its buffer is never freed nor written to, and the
        // kernel takes a reference to the file.
        checked(unsafe { libc::syscall(libc::SYS_io_submit, self.context, 1, list.as_ptr()) })?;
        Ok(())
    }

    fn events(
        &mut self,
        least: libc::c_long,
        timeout: *const libc::timespec,
        done: &mut Vec<Done>,
    ) -> io::Result<()> {
        let mut events = [Event::default(); DEPTH as usize];
        let (context, most, at) = (self.context, events.len(), events.as_mut_ptr());
        // SAFETY: room for `most` events; the timeout is null or outlives the call.
        let count = checked(unsafe {
            libc::syscall(libc::SYS_io_getevents, context, least, most, at, timeout)
        })?;
        done.extend(events.iter().take(count).map(|event| Done {
            tag: event.data,
            result: event.result,
        }));
        Ok(())
    }
}

impl Drop for Aio {
    fn drop(&mut self) {
        // SAFETY: the context belongs to this value, and is not used again.
        let _ = unsafe { libc::syscall(libc::SYS_io_destroy, self.context) };
    }
}

fn checked(returned: libc::c_long) -> io::Result<usize> {
    usize::try_from(returned).map_err(|_| io::Error::last_os_error())
}
