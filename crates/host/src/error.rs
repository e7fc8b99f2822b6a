//! What can go wrong between the program and the kernel, with what it went wrong on.

use std::path::PathBuf;

use rustix::io::Errno;

use crate::limits::{refusal, too_many_files};

/// Something that the kernel refused. Its sentence holds the cause: none has a `source` that would be
/// printed a second time.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or folder could not be read.
    #[error("cannot read {path}: {}", refusal(cause), path = path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        cause: std::io::Error,
    },
    /// No machine's files stand below a root.
    #[error(
        "no machine's files stand in {root}: cannot read {root}/proc: {cause}. Name the folder that holds proc and sys with --root",
        root = root.display().to_string().trim_end_matches('/')
    )]
    Root {
        /// Which.
        root: PathBuf,
        /// Why.
        cause: std::io::Error,
    },
    /// The timer that wakes the sampler could not be made.
    #[error("cannot make a timer on the boot-time clock: {}", timer_refusal(*.0))]
    Timer(Errno),
    /// The workload could not be started.
    #[error("{}", start_sentence(program, cause))]
    Start {
        /// The program as it was named.
        program: String,
        /// Why.
        cause: std::io::Error,
    },
    /// A thread or a signal handler could not be made.
    #[error("cannot {what}: {}", refusal(cause))]
    Setup {
        /// What was tried.
        what: &'static str,
        /// Why.
        cause: std::io::Error,
    },
}

impl Error {
    /// The exit status that env(1) gives for a command that could not be started: 127 when it does
    /// not exist, 126 when it cannot be run. `None` for anything else.
    pub fn exit_status(&self) -> Option<u8> {
        match self {
            Error::Start { cause, .. } if cause.kind() == std::io::ErrorKind::NotFound => Some(127),
            Error::Start { .. } => Some(126),
            _ => None,
        }
    }
}

fn timer_refusal(errno: Errno) -> String {
    too_many_files(&errno.into())
        .unwrap_or_else(|| format!("{errno}. Stallscope needs Linux 3.15 or later"))
}

fn start_sentence(program: &str, cause: &std::io::Error) -> String {
    // Whatever was typed, a terminal must not obey it.
    let program = program.replace(char::is_control, "\u{fffd}");
    match cause.kind() {
        std::io::ErrorKind::NotFound => {
            format!("no such command: {program}. Check the name, or give its path")
        }
        // A folder of PATH that may not be searched gives the same answer as a file that may not be run.
        std::io::ErrorKind::PermissionDenied if !program.contains('/') => {
            format!(
                "cannot run {program}: no folder of PATH has it as a program, or one of them may not be searched. Check the name, or give its path"
            )
        }
        std::io::ErrorKind::PermissionDenied => {
            format!(
                "cannot run {program}: permission denied. Is it a program? Try: chmod +x {program}"
            )
        }
        _ => format!("cannot run {program}: {}", refusal(cause)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lacks_a_descriptor_is_sent_after_nothing_else() {
        let many = Error::Timer(Errno::NFILE).to_string();
        assert!(many.ends_with("sudo sysctl fs.file-max=1000000"), "{many}");
        let old = Error::Timer(Errno::INVAL).to_string();
        assert!(old.ends_with("needs Linux 3.15 or later"), "{old}");
        let run = start_sentence("a", &Errno::NFILE.into());
        assert!(run.starts_with("cannot run a: too many files"), "{run}");
        let denied = |program| start_sentence(program, &Errno::ACCESS.into());
        assert!(denied("a").ends_with("Check the name, or give its path"));
        assert!(denied("./a").ends_with("chmod +x ./a"));
    }
}
