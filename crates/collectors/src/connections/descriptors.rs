//! Reads which sockets a process holds, without allocating: a search may run every second.

use std::fmt::Write;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags, openat, readlinkat_raw, statat};
use rustix::io::Errno;

use kernel::folder::{each_number_in, socket_inode};

/// /proc, kept open.
pub(super) struct Proc(OwnedFd);

/// Why a process could not be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Refused {
    /// The process belongs to another user.
    Denied,
    /// The process has exited.
    Gone,
}

impl From<Errno> for Refused {
    fn from(errno: Errno) -> Self {
        match errno {
            Errno::ACCESS | Errno::PERM => Self::Denied,
            _ => Self::Gone,
        }
    }
}

impl Proc {
    pub(super) fn open(path: &Path) -> Option<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        rustix::fs::open(path, flags, Mode::empty()).ok().map(Self)
    }

    /// Calls `each` with the inode of each socket that a process holds.
    pub(super) fn sockets_of(&self, pid: u32, mut each: impl FnMut(u64)) -> Result<(), Refused> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let place = Place::new(format_args!("{pid}/fd"));
        let folder = openat(&self.0, place.text(), flags, Mode::empty())?;
        each_number_in(&folder, |number| {
            let mut buffer = [MaybeUninit::<u8>::uninit(); 64];
            let name = Place::new(format_args!("{number}"));
            // A descriptor may be closed between listing and reading: then it does not matter.
            if let Ok((link, _)) = readlinkat_raw(&folder, name.text(), &mut buffer)
                && let Some(inode) = socket_inode(link)
            {
                each(inode);
            }
        });
        Ok(())
    }

    /// The inode of a process's network namespace.
    pub(super) fn namespace_of(&self, pid: u32) -> Result<u64, Refused> {
        let place = Place::new(format_args!("{pid}/ns/net"));
        Ok(statat(&self.0, place.text(), AtFlags::empty())?.st_ino)
    }

    /// Opens a process's network namespace, for setns(2).
    pub(super) fn open_namespace(&self, pid: u32) -> Result<OwnedFd, Errno> {
        let place = Place::new(format_args!("{pid}/ns/net"));
        openat(
            &self.0,
            place.text(),
            OFlags::RDONLY | OFlags::CLOEXEC,
            Mode::empty(),
        )
    }
}

/// A short path, formatted on the stack.
struct Place {
    bytes: [u8; 32],
    length: usize,
}

impl Place {
    fn new(text: std::fmt::Arguments<'_>) -> Self {
        let mut place = Self {
            bytes: [0; 32],
            length: 0,
        };
        place
            .write_fmt(text)
            .expect("a pid of ten digits and a word fit");
        place
    }

    fn text(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl Write for Place {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let end = self.length + text.len();
        let room = self
            .bytes
            .get_mut(self.length..end)
            .ok_or(std::fmt::Error)?;
        room.copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_pid_has_room() {
        let place = Place::new(format_args!("{}/ns/net", u32::MAX));
        assert_eq!(place.text(), b"4294967295/ns/net");
    }
}
