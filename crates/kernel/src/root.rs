//! The root of the kernel's files: `/`, or another folder that has them: the host's, mounted in a container,
//! or a tree of captured files.
//!
//! Two places of /proc depend on the reader: `/proc/self`, and with it `/proc/net` and the list of mounts.
//! Below another root they would describe the recorder's own container, so there they are read from process
//! 1.

use std::path::{Path, PathBuf};

use crate::Error;

/// Whether the root is `/`.
pub fn is_own(root: &Path) -> bool {
    root == Path::new("/")
}

/// Whether the root has a machine's files.
///
/// # Errors
/// When its /proc cannot be read.
pub fn check_root(root: &Path) -> Result<(), Error> {
    let read = std::fs::read_dir(root.join("proc"));
    read.map(drop).map_err(|cause| Error::Root {
        root: root.to_owned(),
        cause,
    })
}

/// The path of a sensor's file below the root.
pub fn place(root: &Path, file: &str) -> PathBuf {
    let own = ["proc/self/", "proc/net/"].map(|start| file.strip_prefix(start));
    match own {
        _ if is_own(root) => root.join(file),
        [Some(file), _] => root.join("proc/1").join(file),
        [_, Some(file)] => root.join("proc/1/net").join(file),
        [None, None] => root.join(file),
    }
}

/// The recorder's pid in the processes visible below the root: in another PID namespace it has another one,
/// or none.
pub fn own_pid(root: &Path) -> Option<u32> {
    if is_own(root) {
        return Some(std::process::id());
    }
    let link = std::fs::read_link(root.join("proc/self")).ok()?;
    link.to_str()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_another_root_proc_self_is_read_from_process_1() {
        let place = |root: &str, file| place(Path::new(root), file);
        for file in ["proc/net/dev", "proc/self/mountinfo", "proc/stat"] {
            assert_eq!(place("/", file), Path::new("/").join(file));
        }
        assert_eq!(
            place("/host", "proc/net/dev"),
            Path::new("/host/proc/1/net/dev")
        );
        assert_eq!(
            place("/host", "proc/self/mountinfo"),
            Path::new("/host/proc/1/mountinfo")
        );
        assert_eq!(place("/host", "proc/stat"), Path::new("/host/proc/stat"));
    }

    #[test]
    fn own_pid_is_the_one_shown_below_that_root() {
        let tree = tempfile::tempdir().expect("a folder");
        assert_eq!(own_pid(Path::new("/")), Some(std::process::id()));
        assert_eq!(own_pid(tree.path()), None);
        std::fs::create_dir(tree.path().join("proc")).expect("made");
        std::os::unix::fs::symlink("4711", tree.path().join("proc/self")).expect("made");
        assert_eq!(own_pid(tree.path()), Some(4711));
    }
}
