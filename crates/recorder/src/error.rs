//! Why a recording could not be planned or begun. What goes wrong later is a gap, a notice, or stands in
//! `Recorded`.

use std::io;
use std::path::PathBuf;

/// The result of planning or making a recording.
pub(super) type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a recording could not be planned or begun.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The options contradict each other or name nothing that is there: one sentence with the way round.
    #[error("{0}")]
    Options(String),
    /// The machine refuses something that every recording needs, or the workload cannot be started.
    #[error(transparent)]
    Host(#[from] kernel::Error),
    /// A target that was named is not there.
    #[error(transparent)]
    Target(#[from] targets::Error),
    /// The recording's folder cannot be made.
    #[error(transparent)]
    Recording(#[from] recording::Error),
    /// The folder for the workload's log cannot be made.
    #[error("cannot make {} for the workload's log", folder.display())]
    LogFolder {
        /// The folder, in that of the recording.
        folder: PathBuf,
        /// What the file system says.
        source: io::Error,
    },
    /// The workload runs, and nothing could carry its output.
    #[error("cannot start a thread for the workload's output")]
    OutputThread(#[source] io::Error),
}

impl Error {
    /// The exit status that env(1) gives for a command that could not be started; `None` for other
    /// errors.
    pub fn exit_status(&self) -> Option<u8> {
        match self {
            Self::Host(error) => error.exit_status(),
            _ => None,
        }
    }
}
