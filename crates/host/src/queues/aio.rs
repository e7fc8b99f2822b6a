//! linux-aio by its system calls: glibc has none of them, and libaio is one more library.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use super::{DEPTH, Done};

/// The kernel's `struct iocb` for little-endian machines (include/uapi/linux/aio_abi.h). It is copied
/// when it is handed in.
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
    /// A context with nothing in it.
    ///
    /// # Errors
    /// As io_setup(2): EAGAIN when fs.aio-max-nr is used up, ENOSYS where the kernel has none.
    pub fn new() -> io::Result<Self> {
        let mut context: libc::c_ulong = 0;
        // SAFETY: the kernel writes one word there.
        checked(unsafe { libc::syscall(libc::SYS_io_setup, DEPTH, &raw mut context) })?;
        Ok(Self { context })
    }

    /// Begins to write bytes to a file at an offset.
    ///
    /// # Errors
    /// As io_submit(2). What fails later comes back as a result.
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

    /// Wants to be told once when a descriptor has something to read.
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

    /// Appends what is done, without waiting.
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

    /// Waits until something is done, and appends it.
    ///
    /// # Errors
    /// As io_getevents(2).
    pub fn wait(&mut self, done: &mut Vec<Done>) -> io::Result<()> {
        self.events(1, std::ptr::null(), done)
    }

    fn submit(&mut self, iocb: Iocb) -> io::Result<()> {
        let list = [&raw const iocb];
        // SAFETY: one iocb, copied before the call returns. What it points at is never freed nor
        // written to, and the kernel takes a reference to the file.
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
        // SAFETY: the context is this one's own, and it is not used again.
        let _ = unsafe { libc::syscall(libc::SYS_io_destroy, self.context) };
    }
}

fn checked(returned: libc::c_long) -> io::Result<usize> {
    usize::try_from(returned).map_err(|_| io::Error::last_os_error())
}
