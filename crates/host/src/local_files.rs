//! Programs and folders of other processes, opened only where they surely answer.
//!
//! A program may have been started from a network filesystem whose server is away, and whoever opens it
//! then waits, unkillable, with all that is sampled. So its place is told from links and mounts in
//! /proc first. That alone may err: a mount may be hidden by another, or detached from the tree (umount
//! -l). So it is then taken hold of without being opened (O_PATH asks no filesystem where a link of
//! /proc leads right to it), and only on the very mount that was found local it is opened.

use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, readlink};
use rustix::io::Errno;

use crate::mounts;

/// The `mnt_id` line stands among the first of a fdinfo; some go on for thousands of lines.
const MOST_INFO: usize = 256;

/// Where a link of a process's folder of /proc leads, `exe` or `cwd`, held without being opened.
///
/// # Errors
/// `REMOTE` where it might not answer; else what the kernel said.
pub(crate) fn hold(process: &Path, link: &str) -> Result<OwnedFd, Errno> {
    let target = text_of(&process.join(link))?;
    let root = text_of(&process.join("root"))?;
    let text = std::fs::read_to_string(process.join("mountinfo")).unwrap_or_default();
    let mount = within(&target, &root)
        .and_then(|path| mounts::of_path(&text, path))
        .filter(|mount| mounts::is_reached_locally(&text, mount))
        .ok_or(Errno::REMOTE)?;
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let held = rustix::fs::open(process.join(link), flags, Mode::empty())?;
    if mount_of(&own("fdinfo", &held)) != Some(mount.number) {
        return Err(Errno::REMOTE);
    }
    Ok(held)
}

/// The program that a process runs.
///
/// # Errors
/// `REMOTE` where it might not answer; else what the kernel said.
pub(crate) fn program(process: &Path) -> Result<File, Errno> {
    let held = hold(process, "exe")?;
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    rustix::fs::open(own("fd", &held), flags, Mode::empty()).map(File::from)
}

/// The number of the mount that an open file is on, from its fdinfo.
pub(crate) fn mount_of(info: &Path) -> Option<u64> {
    let file = rustix::fs::open(info, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let mut text = [0; MOST_INFO];
    let length = rustix::io::read(&file, &mut text).ok()?;
    let mut lines = text.get(..length)?.split(|byte| *byte == b'\n');
    let number = lines.find_map(|line| line.strip_prefix(b"mnt_id:"))?;
    std::str::from_utf8(number).ok()?.trim().parse().ok()
}

/// What /proc tells of an own descriptor.
pub(crate) fn own(folder: &str, descriptor: &OwnedFd) -> PathBuf {
    let number = descriptor.as_raw_fd().to_string();
    Path::new("/proc/self").join(folder).join(number)
}

fn text_of(link: &Path) -> Result<String, Errno> {
    let target = readlink(link, Vec::new())?;
    target.into_string().map_err(|_| Errno::ILSEQ)
}

/// A path as the process sees it, whose mounts are told by their places below its root.
fn within<'path>(path: &'path str, root: &str) -> Option<&'path str> {
    let below = path.strip_prefix(root.trim_end_matches('/'))?;
    below.starts_with('/').then_some(below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_told_from_the_root_of_its_process() {
        assert_eq!(within("/bin/a", "/"), Some("/bin/a"));
        assert_eq!(within("/srv/root/bin/a", "/srv/root"), Some("/bin/a"));
        // Outside of its root: by a descriptor that it got from elsewhere.
        assert_eq!(within("/bin/a", "/srv/root"), None);
        assert_eq!(within("/srv/rooted/a", "/srv/root"), None);
    }

    #[test]
    fn what_is_a_file_of_the_kernel_itself_is_not_opened() {
        // Neither local nor remote: what is not known is not asked.
        let process = tempfile::tempdir().expect("a folder");
        for (link, target) in [("exe", "/proc/version"), ("root", "/")] {
            std::os::unix::fs::symlink(target, process.path().join(link)).expect("made");
        }
        let mounts = std::fs::read("/proc/self/mountinfo").expect("it is there");
        std::fs::write(process.path().join("mountinfo"), mounts).expect("written");
        assert_eq!(program(process.path()).err(), Some(Errno::REMOTE));
    }

    #[test]
    fn the_own_program_is_opened_where_it_is_local() {
        let text = std::fs::read_to_string("/proc/self/mountinfo").expect("it is there");
        let path = std::env::current_exe().expect("it has a file");
        let mount = mounts::of_path(&text, path.to_str().expect("a plain path"));
        let local = mount.is_some_and(|mount| mounts::is_reached_locally(&text, &mount));
        assert_eq!(program(Path::new("/proc/self")).is_ok(), local);
    }
}
