//! What to say, and to do, when no more files may be open.

use std::io;

use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};

/// Command that gives a shell and its children more descriptors. The soft limit has been raised already, and
/// only root may exceed the hard one.
pub const MORE_FILES: &str = "allow this shell more with: sudo prlimit --pid $$ --nofile=65536";
/// Command that allows a machine more open files (fs.file-max, proc_sys_fs(5)).
pub const MORE_FILES_OF_ALL: &str = "allow more with: sudo sysctl fs.file-max=1000000";

/// Which limit of open files was reached, as a sentence with the remedy; `None` for another error.
pub fn too_many_files(cause: &io::Error) -> Option<String> {
    match Errno::from_io_error(cause)? {
        Errno::MFILE => {
            let limit = getrlimit(Resource::Nofile).current;
            let most = limit.map_or_else(String::new, |limit| format!(" than {limit}"));
            Some(format!(
                "this process may open no more files{most} (ulimit -n); {MORE_FILES}"
            ))
        }
        Errno::NFILE => Some(format!(
            "too many files are open on this machine; {MORE_FILES_OF_ALL}"
        )),
        _ => None,
    }
}

/// The error as a sentence, with the remedy if one is known.
pub fn refusal(cause: &io::Error) -> String {
    too_many_files(cause).unwrap_or_else(|| cause.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_for_lack_of_descriptors_name_the_limit() {
        let text = |errno: Errno| refusal(&errno.into());
        let limit = getrlimit(Resource::Nofile).current;
        let limit = limit.expect("a kernel limits them always");
        assert_eq!(
            text(Errno::MFILE),
            format!(
                "this process may open no more files than {limit} (ulimit -n); allow this shell more with: sudo prlimit --pid $$ --nofile=65536"
            )
        );
        assert_eq!(
            text(Errno::NFILE),
            "too many files are open on this machine; allow more with: sudo sysctl fs.file-max=1000000"
        );
        assert_eq!(text(Errno::IO), "Input/output error (os error 5)");
    }
}
