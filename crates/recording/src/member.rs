//! A recording's own files, opened for reading. The folder may come from elsewhere: what lies in it may
//! be a link that leads out of it, to what the sender may not see and the reader may, or a pipe that
//! holds up whoever opens it.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// Why one is not read; in words for a person, without its name.
pub(crate) enum Refused {
    /// It is no file of a recording.
    Kind(&'static str),
    /// The kernel refused.
    Read(io::Error),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::Kind(what) => f.write_str(what),
            Refused::Read(error) => write!(f, "it cannot be read: {error}"),
        }
    }
}

/// Opens it; the file and its length in bytes.
pub(crate) fn open(path: &Path) -> Result<(File, u64), Refused> {
    // Not waited for: a pipe without a writer opens at once, and is refused then.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let opened = rustix::fs::open(path, flags, Mode::empty()).map_err(|errno| match errno {
        Errno::LOOP => Refused::Kind(
            "it is a symbolic link, and none is followed out of a recording. Put the file itself in its place",
        ),
        errno => Refused::Read(errno.into()),
    })?;
    let file = File::from(opened);
    let about = file.metadata().map_err(Refused::Read)?;
    if !about.is_file() {
        return Err(Refused::Kind("it is not a regular file"));
    }
    Ok((file, about.len()))
}
