//! A folder held open by descriptor: every file of a recording is made, renamed, opened and removed
//! relative to it, and no symbolic link is followed on the way.
//!
//! A path is looked up anew each time it is used, and who may rename a folder on it decides what it
//! means the next time. A descriptor goes on meaning the folder that was opened. Which folder may be
//! opened for writing is decided in `place.rs`.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::exposed::Blocked;
use crate::member::Refused;
use crate::place::{self, file_mode};
use crate::{Error, Result};

/// Only the folder itself: nothing is read through this descriptor, so search permission is enough.
const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// No link is followed, and a pipe without a reader or writer holds up nobody.
const NO_LINK: OFlags = OFlags::CLOEXEC
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK);

/// Names that are tried for a temporary file before the folder is given up.
const TRIES: u32 = 100;

/// A folder held open. The path is for messages only.
#[derive(Debug)]
pub struct FolderHandle {
    fd: OwnedFd,
    path: PathBuf,
}

impl FolderHandle {
    /// Makes a folder that must not exist, and opens it. For root alone, mode 0700.
    ///
    /// # Errors
    /// [`Error::Exposed`] when this is root and another user may write in a folder on the way.
    pub fn create(path: &Path) -> Result<Self> {
        let (parent, name) = place::parent_of(path)?;
        let create = |source| Error::create(path, source);
        rustix::fs::mkdirat(&parent, &name, folder_mode()).map_err(|errno| create(errno.into()))?;
        let opened = open_folder_in(&parent, &name);
        if opened.is_err() {
            // Just made, and empty.
            let _ = rustix::fs::unlinkat(&parent, &name, AtFlags::REMOVEDIR);
        }
        Ok(Self {
            fd: opened.map_err(|errno| create(errno.into()))?,
            path: path.to_owned(),
        })
    }

    /// Opens a folder that a user named, and that may be a link; links in it are not followed.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn open(path: &Path) -> io::Result<Self> {
        let named = match path.as_os_str().is_empty() {
            true => Path::new("."),
            false => path,
        };
        Ok(Self {
            fd: rustix::fs::openat(CWD, named, FOLDER, Mode::empty())?,
            path: path.to_owned(),
        })
    }

    /// Where it was when it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where it is now, when that is no longer what its path leads to.
    pub fn moved_to(&self) -> Option<PathBuf> {
        let own = rustix::fs::fstat(&self.fd).ok()?;
        let there = rustix::fs::stat(&self.path).ok();
        if there.is_some_and(|there| (there.st_dev, there.st_ino) == (own.st_dev, own.st_ino)) {
            return None;
        }
        std::fs::read_link(format!("/proc/self/fd/{}", self.fd.as_raw_fd())).ok()
    }

    /// The path of a file in it, for messages.
    pub fn path_of(&self, name: impl AsRef<OsStr>) -> PathBuf {
        self.path.join(name.as_ref())
    }

    /// Makes a file that must not exist. For root alone, mode 0600.
    ///
    /// # Errors
    /// What the kernel says; `AlreadyExists` for a link as well, wherever it leads.
    pub fn create_file(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        let flags = NO_LINK | OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        Ok(rustix::fs::openat(&self.fd, single(name.as_ref())?, flags, file_mode())?.into())
    }

    /// Opens a file that is there for writing, without emptying it.
    ///
    /// # Errors
    /// What the kernel says, or that it is a link or no regular file.
    pub fn open_file(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        let flags = NO_LINK | OFlags::WRONLY;
        let opened = rustix::fs::openat(&self.fd, single(name.as_ref())?, flags, Mode::empty())?;
        regular(File::from(opened))
    }

    /// Opens a file to add to its end, made where it is not there. For root alone, mode 0600.
    ///
    /// # Errors
    /// What the kernel says, or that it is a link or no regular file.
    pub fn open_to_append(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        let flags = NO_LINK | OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE;
        let opened = rustix::fs::openat(&self.fd, single(name.as_ref())?, flags, file_mode())?;
        regular(File::from(opened))
    }

    /// Opens a file of it for reading, with its length. The folder may come from elsewhere: what lies in
    /// it may be a link that leads out of it, to what the sender may not see and the reader may, or a
    /// pipe that holds up whoever opens it.
    ///
    /// # Errors
    /// What the kernel says, or that it is a link or no regular file.
    pub fn read(&self, name: impl AsRef<OsStr>) -> std::result::Result<(File, u64), Refused> {
        let name = single(name.as_ref()).map_err(Refused::Read)?;
        let opened = rustix::fs::openat(&self.fd, name, NO_LINK | OFlags::RDONLY, Mode::empty());
        let opened = opened.map_err(|errno| match errno {
            Errno::LOOP => Refused::Kind(LINK),
            errno => Refused::Read(errno.into()),
        })?;
        let file = File::from(opened);
        let about = file.metadata().map_err(Refused::Read)?;
        match about.is_file() {
            true => Ok((file, about.len())),
            false => Err(Refused::Kind(NO_FILE)),
        }
    }

    /// Makes a folder in it that must not exist, and opens it. For root alone, mode 0700.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn create_folder(&self, name: impl AsRef<OsStr>) -> io::Result<Self> {
        let name = single(name.as_ref())?;
        rustix::fs::mkdirat(&self.fd, name, folder_mode())?;
        Ok(Self {
            fd: open_folder_in(&self.fd, name)?,
            path: self.path.join(name),
        })
    }

    /// Opens a folder in it, and no link to one.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn open_folder(&self, name: impl AsRef<OsStr>) -> io::Result<Self> {
        let name = single(name.as_ref())?;
        Ok(Self {
            fd: open_folder_in(&self.fd, name)?,
            path: self.path.join(name),
        })
    }

    /// Moves a folder of it into another folder of the same file system, under the same name.
    ///
    /// # Errors
    /// What the kernel says; a folder that is there and not empty is not replaced.
    pub fn move_to(&self, name: impl AsRef<OsStr>, other: &Self) -> io::Result<()> {
        let name = single(name.as_ref())?;
        Ok(rustix::fs::renameat(&self.fd, name, &other.fd, name)?)
    }

    /// Gives a file or folder another name, in the place of what has that name: a link is replaced itself.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn rename(&self, from: impl AsRef<OsStr>, to: impl AsRef<OsStr>) -> io::Result<()> {
        let (from, to) = (single(from.as_ref())?, single(to.as_ref())?);
        Ok(rustix::fs::renameat(&self.fd, from, &self.fd, to)?)
    }

    /// Removes a file; of a link, the link.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn remove(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        let name = single(name.as_ref())?;
        Ok(rustix::fs::unlinkat(&self.fd, name, AtFlags::empty())?)
    }

    /// Makes a file with a new name that begins so, to be renamed or removed.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn create_temporary(&self, prefix: &str) -> io::Result<(OsString, File)> {
        for number in 0..TRIES {
            let name = OsString::from(format!("{prefix}{}-{number}", std::process::id()));
            match self.create_file(&name) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => return made.map(|file| (name, file)),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// The names of what is in it.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn names(&self) -> io::Result<Vec<OsString>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let listed = rustix::fs::openat(&self.fd, ".", flags, Mode::empty())?;
        let mut names = Vec::new();
        for entry in Dir::new(listed)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name != "." && name != ".." {
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }

    /// Removes it with all that is in it, wherever it is now; a link in it is removed itself.
    ///
    /// # Errors
    /// What the kernel says. A folder that has taken its place stays, unless it is empty.
    pub fn remove_all(&self) -> io::Result<()> {
        for name in self.names()? {
            match rustix::fs::unlinkat(&self.fd, &name, AtFlags::empty()) {
                Err(Errno::ISDIR) => {
                    let fd = open_folder_in(&self.fd, &name)?;
                    let path = self.path.join(&name);
                    Self { fd, path }.remove_all()?;
                }
                removed => removed?,
            }
        }
        let Some(name) = self.path.file_name() else {
            return Ok(());
        };
        let above = rustix::fs::openat(&self.fd, "..", FOLDER, Mode::empty())?;
        Ok(rustix::fs::unlinkat(&above, name, AtFlags::REMOVEDIR)?)
    }

    /// Whether something of that name is there, a link that leads nowhere included.
    pub fn has(&self, name: impl AsRef<OsStr>) -> bool {
        rustix::fs::statat(&self.fd, name.as_ref(), AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    /// A folder that was walked to.
    pub(crate) fn of(fd: OwnedFd, path: PathBuf) -> Self {
        Self { fd, path }
    }
}

const LINK: &str = "it is a symbolic link, and none is followed out of a recording. Put the file itself in its place";
const NO_FILE: &str = "it is not a regular file";

fn regular(file: File) -> io::Result<File> {
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other(NO_FILE)),
    }
}

/// As [`place::file_mode`], of a folder.
fn folder_mode() -> Mode {
    match place::is_root() {
        true => Mode::RWXU,
        false => Mode::from_raw_mode(0o777),
    }
}

/// The folder in which a new file is to be made, and its name there.
///
/// # Errors
/// [`Blocked`] when this is root and another user may write in a folder on the way, and where the kernel refuses.
pub fn for_new_file(path: &Path) -> std::result::Result<(FolderHandle, OsString), Blocked> {
    let (fd, name) = place::unexposed(path)?;
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    Ok((FolderHandle::of(fd, folder), name))
}

/// A folder right in another, and no link to one.
fn open_folder_in(folder: &OwnedFd, name: &OsStr) -> rustix::io::Result<OwnedFd> {
    let fd = rustix::fs::openat(folder, name, FOLDER | OFlags::NOFOLLOW, Mode::empty())?;
    // O_PATH opens a link itself where it may not follow it.
    let about = rustix::fs::fstat(&fd)?;
    match FileType::from_raw_mode(about.st_mode) {
        FileType::Directory => Ok(fd),
        _ => Err(Errno::NOTDIR),
    }
}

/// The kernel keeps to the folder for a name alone: one with a slash may lead through a link.
fn single(name: &OsStr) -> io::Result<&OsStr> {
    let leads_on =
        name.is_empty() || name == "." || name == ".." || name.as_bytes().contains(&b'/');
    match leads_on {
        true => Err(Errno::INVAL.into()),
        false => Ok(name),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn no_name_leads_out_of_the_folder() {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("victim"), "old").unwrap();
        let folder = FolderHandle::create(&home.path().join("a.stall")).unwrap();
        symlink("../victim", folder.path_of("link")).unwrap();
        symlink("../new", folder.path_of("dangling")).unwrap();
        symlink("..", folder.path_of("above")).unwrap();
        for name in ["link", "dangling", "above"] {
            assert!(folder.create_file(name).is_err(), "{name}");
            assert!(folder.open_file(name).is_err(), "{name}");
            assert!(folder.open_to_append(name).is_err(), "{name}");
            assert!(matches!(folder.read(name), Err(Refused::Kind(_))), "{name}");
            assert!(folder.create_folder(name).is_err(), "{name}");
        }
        for name in ["../victim", "above/victim", "..", ".", ""] {
            assert!(folder.create_file(name).is_err(), "{name}");
            assert!(folder.open_file(name).is_err(), "{name}");
            assert!(folder.read(name).is_err(), "{name}");
            assert!(folder.rename("link", name).is_err(), "{name}");
            assert!(folder.remove(name).is_err(), "{name}");
        }
        let (name, _) = folder.create_temporary(".report-").unwrap();
        folder.rename(&name, "link").unwrap();
        assert!(!folder.path_of("link").is_symlink(), "it is replaced");
        folder.remove_all().unwrap();
        assert_eq!(fs::read(home.path().join("victim")).unwrap(), b"old");
        let left: Vec<_> = fs::read_dir(home.path()).unwrap().flatten().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }

    #[test]
    fn what_takes_the_folders_place_is_left_alone() {
        let home = tempfile::tempdir().unwrap();
        let other = home.path().join("other");
        fs::create_dir(&other).unwrap();
        fs::write(other.join("meta.json"), "theirs").unwrap();
        let path = home.path().join("a.stall");
        let folder = FolderHandle::create(&path).unwrap();
        assert_eq!(folder.moved_to(), None);
        let moved = home.path().join("moved");
        fs::rename(&path, &moved).unwrap();
        symlink(&other, &path).unwrap();
        assert_eq!(folder.moved_to(), Some(fs::canonicalize(&moved).unwrap()));
        folder.create_file("meta.json").unwrap();
        assert!(moved.join("meta.json").exists());
        assert!(folder.remove_all().is_err(), "a link has its name");
        assert_eq!(fs::read(other.join("meta.json")).unwrap(), b"theirs");
        assert_eq!(fs::read_dir(&moved).unwrap().count(), 0);
    }
}
