//! What can go wrong between the program and the kernel, with what it went wrong on.

use std::path::PathBuf;

/// Something that the kernel refused.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or folder could not be read.
    #[error("cannot read {path}: {source}", path = path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The timer that wakes the sampler could not be made.
    #[error(
        "cannot make a timer on the boot-time clock: {0}. Stallscope needs Linux 3.15 or later"
    )]
    Timer(rustix::io::Errno),
    /// The workload could not be started.
    #[error("{}", start_sentence(program, source))]
    Start {
        /// The program as it was named.
        program: String,
        /// Why.
        source: std::io::Error,
    },
    /// A thread or a signal handler could not be made.
    #[error("cannot {what}: {source}")]
    Setup {
        /// What was tried.
        what: &'static str,
        /// Why.
        source: std::io::Error,
    },
}

impl Error {
    /// The exit status that env(1) gives for a command that could not be started: 127 when it does
    /// not exist, 126 when it cannot be run, 125 for anything else.
    pub fn exit_status(&self) -> i32 {
        match self {
            Error::Start { source, .. } if source.kind() == std::io::ErrorKind::NotFound => 127,
            Error::Start { .. } => 126,
            _ => 125,
        }
    }
}

fn start_sentence(program: &str, source: &std::io::Error) -> String {
    match source.kind() {
        std::io::ErrorKind::NotFound => {
            format!("no such command: {program}. Check the name, or give its path")
        }
        std::io::ErrorKind::PermissionDenied => {
            format!(
                "cannot run {program}: permission denied. Is it a program? Try: chmod +x {program}"
            )
        }
        _ => format!("cannot run {program}: {source}"),
    }
}
