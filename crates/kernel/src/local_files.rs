//! Programs, folders and sockets of other processes, opened only where the filesystem is sure to answer.
//!
//! A program may come from a network filesystem whose server is away; opening it would block, unkillably, and
//! stop the sampling. So its mount is found from links and mounts in /proc first. That alone may be wrong: a
//! mount may be covered by another, or detached from the tree (umount -l). So the file is then held without
//! being opened (O_PATH does not ask the filesystem that a /proc link leads to), and opened only if it is on
//! the very mount that was found to be local.

use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags, readlink};
use rustix::io::Errno;

use crate::mounts::{self, Mountinfo};

/// The `mnt_id` line is among the first of a fdinfo file; some go on for thousands of lines.
const MOST_INFO: usize = 256;
/// As many as the kernel follows (MAXSYMLINKS in include/linux/namei.h).
const MOST_LINKS: usize = 40;

/// Holds the target of a link in a process's /proc folder, `exe` or `cwd`, without opening it.
///
/// # Errors
/// `REMOTE` if its filesystem might not answer; else the kernel's error.
pub fn hold(process: &Path, info: &Mountinfo, link: &str) -> Result<OwnedFd, Errno> {
    let target = text_of(&process.join(link))?;
    let root = text_of(&process.join("root"))?;
    let mount = membership(&target, &root)
        .and_then(|path| local_mount(info.of(process), path))
        .ok_or(Errno::REMOTE)?;
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let held = rustix::fs::open(process.join(link), flags, Mode::empty())?;
    if mount_of(&own("fdinfo", &held)) != Some(mount.number) {
        return Err(Errno::REMOTE);
    }
    Ok(held)
}

/// Opens the program that a process runs.
///
/// # Errors
/// `REMOTE` if its filesystem might not answer; else the kernel's error.
pub fn program(process: &Path, info: &Mountinfo) -> Result<File, Errno> {
    let held = hold(process, info, "exe")?;
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    rustix::fs::open(own("fd", &held), flags, Mode::empty()).map(File::from)
}

/// The owner of a file, by its absolute path in our own mount namespace; `None` if its filesystem might not
/// answer or there is no such file.
///
/// The kernel would follow links to any filesystem, so links are resolved here: each step is looked at only
/// after its mount is known to be local.
pub fn owner(info: &str, path: &str) -> Option<u32> {
    let mut left: Vec<String> = names_of(path);
    let mut links = 0;
    let mut place = PathBuf::from("/");
    while let Some(name) = left.pop() {
        if name == ".." {
            place.pop();
            continue;
        }
        place.push(name);
        local_mount(info, place.to_str()?)?;
        match text_of(&place) {
            Ok(target) => {
                links += 1;
                if links > MOST_LINKS {
                    return None;
                }
                place.pop();
                if target.starts_with('/') {
                    place = PathBuf::from("/");
                }
                left.extend(names_of(&target));
            }
            // Not a link.
            Err(Errno::INVAL) => {}
            Err(_) => return None,
        }
    }
    Some(rustix::fs::lstat(&place).ok()?.st_uid)
}

/// The steps of a path in reverse order.
fn names_of(path: &str) -> Vec<String> {
    let names = path.split('/').filter(|name| !matches!(*name, "" | "."));
    names.rev().map(str::to_owned).collect()
}

/// The mount of a path, if it is sure to answer.
fn local_mount(info: &str, path: &str) -> Option<mounts::Mount> {
    mounts::of_path(info, path).filter(|mount| mounts::is_reached_locally(info, mount))
}

/// A file that a process has mapped, by the path and inode in its list of mappings; `process` is its folder
/// in /proc.
///
/// # Errors
/// `STALE` where another file is there by now, or none that is regular, `REMOTE` where its filesystem might not
/// answer, and those of open(2).
pub fn mapped(process: &Path, info: &Mountinfo, path: &str, inode: u64) -> Result<OwnedFd, Errno> {
    local_mount(info.of(process), path).ok_or(Errno::REMOTE)?;
    let place = process.join("root").join(path.trim_start_matches('/'));
    // Whoever owns the folder may put anything there: no link is followed, and a pipe is not waited for.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = rustix::fs::open(&place, flags, Mode::empty())?;
    let about = rustix::fs::fstat(&file)?;
    let is_regular = FileType::from_raw_mode(about.st_mode) == FileType::RegularFile;
    match is_regular && about.st_ino == inode {
        true => Ok(file),
        false => Err(Errno::STALE),
    }
}

/// The id of the mount that an open file is on, from its fdinfo.
pub fn mount_of(info: &Path) -> Option<u64> {
    let file = rustix::fs::open(info, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let mut text = [0; MOST_INFO];
    let length = rustix::io::read(&file, &mut text).ok()?;
    let mut lines = text.get(..length)?.split(|byte| *byte == b'\n');
    let number = lines.find_map(|line| line.strip_prefix(b"mnt_id:"))?;
    std::str::from_utf8(number).ok()?.trim().parse().ok()
}

/// The path of one of our descriptors in a folder of /proc/self, `fd` or `fdinfo`.
pub fn own(folder: &str, descriptor: &OwnedFd) -> PathBuf {
    let number = descriptor.as_raw_fd().to_string();
    Path::new("/proc/self").join(folder).join(number)
}

fn text_of(link: &Path) -> Result<String, Errno> {
    let target = readlink(link, Vec::new())?;
    target.into_string().map_err(|_| Errno::ILSEQ)
}

/// The path relative to the process's root, as its mountinfo has it.
fn membership<'path>(path: &'path str, root: &str) -> Option<&'path str> {
    let below = path.strip_prefix(root.trim_end_matches('/'))?;
    below.starts_with('/').then_some(below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_to_the_root_of_their_process() {
        assert_eq!(membership("/bin/a", "/"), Some("/bin/a"));
        assert_eq!(membership("/srv/root/bin/a", "/srv/root"), Some("/bin/a"));
        // Outside its root, through a descriptor that it got from elsewhere.
        assert_eq!(membership("/bin/a", "/srv/root"), None);
        assert_eq!(membership("/srv/rooted/a", "/srv/root"), None);
    }

    #[test]
    fn files_of_kernel_filesystems_are_not_opened() {
        // Neither local nor remote: an unknown filesystem is not asked.
        let process = tempfile::tempdir().expect("a folder");
        for (link, target) in [("exe", "/proc/version"), ("root", "/")] {
            std::os::unix::fs::symlink(target, process.path().join(link)).expect("made");
        }
        let mounts = std::fs::read("/proc/self/mountinfo").expect("it is there");
        std::fs::write(process.path().join("mountinfo"), mounts).expect("written");
        let info = Mountinfo::default();
        assert_eq!(program(process.path(), &info).err(), Some(Errno::REMOTE));
    }

    #[test]
    fn the_mounts_of_a_process_are_read_once() {
        let process = tempfile::tempdir().expect("a folder");
        let own = std::env::current_exe().expect("it has a file");
        for (link, target) in [("exe", own.as_path()), ("root", Path::new("/"))] {
            std::os::unix::fs::symlink(target, process.path().join(link)).expect("made");
        }
        let mounts = "1 0 0:1 / / rw - nfs4 host:/ rw\n";
        let file = process.path().join("mountinfo");
        std::fs::write(&file, mounts).expect("written");
        let info = Mountinfo::default();
        let opened = || program(process.path(), &info).err();
        let first = opened();
        std::fs::remove_file(&file).expect("it is there");
        assert_eq!(
            (first, opened()),
            (Some(Errno::REMOTE), Some(Errno::REMOTE))
        );
        assert_eq!(info.of(process.path()), mounts);
    }

    #[test]
    fn file_owners_are_read_only_on_local_mounts() {
        use std::os::unix::fs::{MetadataExt as _, symlink};
        let home = tempfile::tempdir().expect("a folder");
        let home = home.path().canonicalize().expect("it is there");
        for folder in ["run", "away"] {
            std::fs::create_dir(home.join(folder)).expect("it is ours");
            std::fs::write(home.join(folder).join("socket"), "").expect("it is ours");
        }
        for (target, link) in [
            ("run", "var"),
            ("../away", "run/out"),
            ("loop", "loop"),
            ("nothing", "broken"),
        ] {
            symlink(target, home.join(link)).expect("it is ours");
        }
        symlink(home.join("var/socket"), home.join("run/absolute")).expect("it is ours");
        let away = home.join("away");
        let info = format!(
            "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n2 1 0:9 / {} rw - nfs4 host:/ rw\n",
            away.display()
        );
        let owner = |path: &str| owner(&info, home.join(path).to_str().expect("a plain path"));
        let mine = Some(home.metadata().expect("it is there").uid());
        for path in [
            "run/socket",
            "var/socket",
            "run/../var/./socket",
            "run/absolute",
        ] {
            assert_eq!(owner(path), mine, "{path}");
        }
        for path in [
            "away/socket",
            "away",
            "var/out/socket",
            "loop",
            "broken",
            "none/x",
        ] {
            assert_eq!(owner(path), None, "{path}");
        }
    }

    #[test]
    fn the_own_program_is_opened_where_it_is_local() {
        let text = std::fs::read_to_string("/proc/self/mountinfo").expect("it is there");
        let path = std::env::current_exe().expect("it has a file");
        let mount = mounts::of_path(&text, path.to_str().expect("a plain path"));
        let local = mount.is_some_and(|mount| mounts::is_reached_locally(&text, &mount));
        let opened = program(Path::new("/proc/self"), &Mountinfo::default());
        assert_eq!(opened.is_ok(), local);
    }
}
