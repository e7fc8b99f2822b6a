//! Why a place is not written to.

use std::fmt;
use std::io;
use std::path::PathBuf;

use rustix::io::Errno;

/// A folder on the way where another user may write.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Exposed {
    pub(crate) folder: PathBuf,
    pub(crate) who: String,
}

impl fmt::Display for Exposed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { folder, who } = self;
        let folder = folder.display();
        write!(
            f,
            "{who} may write in {folder}, and could lead there what root writes to another file"
        )
    }
}

/// Why a path was not walked to its end.
#[derive(Debug)]
pub enum Blocked {
    /// Another user may write on the way.
    Exposed(Exposed),
    /// The kernel refused.
    Io(io::Error),
}

impl From<Errno> for Blocked {
    fn from(errno: Errno) -> Self {
        Blocked::Io(errno.into())
    }
}

impl From<io::Error> for Blocked {
    fn from(error: io::Error) -> Self {
        Blocked::Io(error)
    }
}
