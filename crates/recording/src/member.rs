//! Why a file of a recording is not read. The folder may come from elsewhere.

use std::fmt;
use std::io;

/// Why one is not read; in words for a person, without its name.
#[derive(Debug)]
pub enum Refused {
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

impl From<Refused> for io::Error {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Kind(what) => io::Error::other(what),
            Refused::Read(error) => error,
        }
    }
}
