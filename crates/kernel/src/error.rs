//! Errors between the program and the kernel, with the file or object they concern.

use std::path::PathBuf;

use rustix::io::Errno;

use crate::file_limits::{refusal, too_many_files};

/// Something that the kernel refused. The message includes the cause, so no variant has a `source`, which
/// would be printed a second time.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or folder could not be read.
    #[error("cannot read {path}: {}", refusal(cause), path = path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// The kernel's error.
        cause: std::io::Error,
    },
    /// No machine's files were found below a root.
    #[error(
        "no machine's files stand in {root}: cannot read {root}/proc: {cause}. Name the folder that holds proc and sys with --root",
        root = root.display().to_string().trim_end_matches('/')
    )]
    Root {
        /// The folder given as root.
        root: PathBuf,
        /// The kernel's error.
        cause: std::io::Error,
    },
    /// The timer that wakes the sampler could not be created.
    #[error("cannot make a timer on the boot-time clock: {}", timer_refusal(*.0))]
    Timer(Errno),
    /// The workload could not be started.
    #[error("{}", start_sentence(program, cause))]
    Start {
        /// The program as the user named it.
        program: String,
        /// The kernel's error.
        cause: std::io::Error,
    },
    /// A thread or a signal handler could not be created.
    #[error("cannot {what}: {}", refusal(cause))]
    Setup {
        /// What was attempted, as an infinitive.
        what: &'static str,
        /// The kernel's error.
        cause: std::io::Error,
    },
}

impl Error {
    /// The exit status that env(1) gives for a command that could not be started: 127 if it does not exist,
    /// 126 if it cannot be run. `None` for other errors.
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
    // The user may have typed control characters, which a terminal must not interpret.
    let program = program.replace(char::is_control, "\u{fffd}");
    match cause.kind() {
        std::io::ErrorKind::NotFound => {
            format!("no such command: {program}. Check the name, or give its path")
        }
        // A folder of PATH that may not be searched gives the same error as a file that may not be executed.
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
    fn an_error_for_lack_of_descriptors_suggests_no_other_cause() {
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
