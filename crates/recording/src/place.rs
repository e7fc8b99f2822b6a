//! Where root may write: only where no other user can put a link, or another folder, in the way.
//!
//! A path is walked folder by folder. A folder where another user may write is refused: what root makes
//! there could be moved away, and a link to anywhere put in its place. One that is sticky, as /tmp, is
//! fine: there nobody but its owner moves an entry. Users other than root have only themselves to fool,
//! and the kernel's own permissions.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, PROC_SUPER_MAGIC, Stat};
use rustix::io::Errno;

use crate::exposed::{Blocked, Exposed};
use crate::{Error, Result};

/// As many as the kernel follows (path_resolution(7)).
const MAX_LINKS: u32 = 40;

const SEARCH: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);

/// What `create` needs to know of a file's place: its folder, and its name there.
pub(crate) type Parent = (OwnedFd, OsString);

/// Whether this process could write where another user's links lead.
pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// The folder of a path whose last part need not exist, and the name there.
///
/// # Errors
/// As the walk's.
pub(crate) fn unexposed(path: &Path) -> std::result::Result<Parent, Blocked> {
    match is_root() {
        true => Walk::new()?.parent_of(path),
        false => as_user(path),
    }
}

/// Where a recording's folder is to be made.
pub(crate) fn parent_of(path: &Path) -> Result<Parent> {
    unexposed(path).map_err(|blocked| match blocked {
        Blocked::Exposed(exposed) => Error::Exposed {
            folder: path.to_owned(),
            elsewhere: elsewhere(path),
            exposed,
        },
        Blocked::Io(source) => Error::create(path, source),
    })
}

/// A place that root may write to, with the same name.
pub fn elsewhere(path: &Path) -> PathBuf {
    Path::new("/var/tmp").join(path.file_name().unwrap_or(OsStr::new("x.stall")))
}

/// What root writes is for root: it holds command lines and names from the whole machine. What another
/// user writes is as his umask says.
pub(crate) fn file_mode() -> Mode {
    match is_root() {
        true => Mode::RUSR | Mode::WUSR,
        false => Mode::from_raw_mode(0o666),
    }
}

/// Opens a file that a user named for writing, without emptying it; makes it where there is none. It may
/// be a link, a pipe or a device. For root, no link of another user's is followed.
///
/// # Errors
/// As the walk's.
pub fn open_named(path: &Path) -> std::result::Result<File, Blocked> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::CLOEXEC;
    if !is_root() {
        return Ok(rustix::fs::openat(CWD, path, flags, file_mode())?.into());
    }
    let (folder, name, kind) = Walk::new()?.file(path)?;
    let flags = match kind {
        Last::Magic => OFlags::WRONLY | OFlags::CLOEXEC,
        Last::There | Last::Absent => flags | OFlags::NOFOLLOW,
    };
    Ok(rustix::fs::openat(&folder, &name, flags, file_mode())?.into())
}

/// The kernel's own walk, for who has no more rights than the owner of any link.
fn as_user(path: &Path) -> std::result::Result<Parent, Blocked> {
    let name = path.file_name().ok_or(Errno::INVAL)?;
    let parent = path.parent().filter(|it| !it.as_os_str().is_empty());
    let flags = SEARCH | OFlags::DIRECTORY;
    let folder = rustix::fs::openat(CWD, parent.unwrap_or(Path::new(".")), flags, Mode::empty())?;
    Ok((folder, name.to_owned()))
}

/// What the last name of a path is.
#[derive(PartialEq, Eq)]
enum Last {
    Absent,
    There,
    /// A link of /proc that stands for an open file (/proc/self/fd/1): the kernel alone can follow it.
    Magic,
}

/// A walk along a path, one descriptor at a time.
struct Walk {
    folder: OwnedFd,
    about: Stat,
    /// For messages.
    path: PathBuf,
    /// Whoever owns `/` can replace every program that root runs, and is trusted. That is root, or who
    /// stands for it in a user namespace that does not map it.
    owner: u32,
    left: VecDeque<OsString>,
    links: u32,
}

impl Walk {
    fn new() -> std::result::Result<Self, Blocked> {
        let folder = rustix::fs::openat(CWD, "/", SEARCH, Mode::empty())?;
        let about = rustix::fs::fstat(&folder)?;
        Ok(Self {
            folder,
            owner: about.st_uid,
            about,
            path: PathBuf::from("/"),
            left: VecDeque::new(),
            links: 0,
        })
    }

    /// To the folder of what is to be made.
    fn parent_of(mut self, path: &Path) -> std::result::Result<Parent, Blocked> {
        // What ends in `..` is there already.
        let name = path.file_name().ok_or(Errno::EXIST)?.to_owned();
        self.begin(path)?;
        self.left.pop_back();
        while let Some(next) = self.left.pop_front() {
            self.enter(next)?;
        }
        self.check()?;
        Ok((self.folder, name))
    }

    /// To the folder of a file that may be there, and may be a link.
    fn file(mut self, path: &Path) -> std::result::Result<(OwnedFd, OsString, Last), Blocked> {
        self.begin(path)?;
        loop {
            let next = self.left.pop_front().ok_or(Errno::ISDIR)?;
            if !self.left.is_empty() {
                self.enter(next)?;
                continue;
            }
            self.check()?;
            let last = match self.look(&next) {
                Err(Errno::NOENT) => Last::Absent,
                Err(errno) => return Err(errno.into()),
                Ok(about) => {
                    self.check_entry(&about)?;
                    if kind(&about) == FileType::Symlink {
                        if !self.is_magic(&next) {
                            self.follow(&next)?;
                            continue;
                        }
                        Last::Magic
                    } else {
                        Last::There
                    }
                }
            };
            return Ok((self.folder, next, last));
        }
    }

    fn begin(&mut self, path: &Path) -> std::result::Result<(), Blocked> {
        if path.is_relative() {
            self.left.extend(names(&std::env::current_dir()?));
        }
        self.left.extend(names(path));
        Ok(())
    }

    fn push_front(&mut self, path: &Path) {
        for name in names(path).into_iter().rev() {
            self.left.push_front(name);
        }
    }

    /// Into the next folder, along a link as well.
    fn enter(&mut self, name: OsString) -> std::result::Result<(), Blocked> {
        self.check()?;
        let flags = SEARCH | OFlags::NOFOLLOW;
        let fd = rustix::fs::openat(&self.folder, &name, flags, Mode::empty())?;
        let about = rustix::fs::fstat(&fd)?;
        self.check_entry(&about)?;
        match kind(&about) {
            FileType::Symlink => self.follow(&name)?,
            FileType::Directory => {
                if name == ".." {
                    self.path.pop();
                } else {
                    self.path.push(&name);
                }
                (self.folder, self.about) = (fd, about);
            }
            _ => return Err(Errno::NOTDIR.into()),
        }
        Ok(())
    }

    fn look(&self, name: &OsStr) -> rustix::io::Result<Stat> {
        rustix::fs::statat(&self.folder, name, AtFlags::SYMLINK_NOFOLLOW)
    }

    fn is_magic(&self, name: &OsStr) -> bool {
        let proc = rustix::fs::fstatfs(&self.folder).is_ok_and(|it| it.f_type == PROC_SUPER_MAGIC);
        proc && name != "self" && name != "thread-self"
    }

    /// What a link says stands in its place from now on.
    fn follow(&mut self, name: &OsStr) -> std::result::Result<(), Blocked> {
        self.links += 1;
        if self.links > MAX_LINKS {
            return Err(Errno::LOOP.into());
        }
        let target = rustix::fs::readlinkat(&self.folder, name, Vec::new())?;
        let target = PathBuf::from(OsString::from_vec(target.into_bytes()));
        if target.is_absolute() {
            self.folder = rustix::fs::openat(CWD, "/", SEARCH, Mode::empty())?;
            self.about = rustix::fs::fstat(&self.folder)?;
            self.path = PathBuf::from("/");
        }
        self.push_front(&target);
        Ok(())
    }

    /// Refuses a folder where another user may put what he likes.
    fn check(&self) -> std::result::Result<(), Blocked> {
        let about = &self.about;
        let who = if !self.trusts(about.st_uid) {
            // The owner of a sticky folder may move everything in it.
            format!("user {}", about.st_uid)
        } else if is_sticky(about) {
            return Ok(());
        } else if about.st_mode & Mode::WOTH.bits() != 0 {
            "every user".to_owned()
        } else if about.st_mode & Mode::WGRP.bits() == 0 {
            return Ok(());
        } else if about.st_gid != 0 {
            format!("group {}", about.st_gid)
        } else if self.has_list() {
            // The mask of an access control list is shown as the group's bits.
            "who its access control list names".to_owned()
        } else {
            return Ok(());
        };
        Err(Blocked::Exposed(Exposed {
            folder: self.path.clone(),
            who,
        }))
    }

    /// In a sticky folder anybody may have made an entry, a link or a file.
    fn check_entry(&self, about: &Stat) -> std::result::Result<(), Blocked> {
        let open = about_writable(&self.about) && kind(about) != FileType::Directory;
        if open && !self.trusts(about.st_uid) {
            return Err(Blocked::Exposed(Exposed {
                folder: self.path.clone(),
                who: format!("user {}", about.st_uid),
            }));
        }
        Ok(())
    }

    fn trusts(&self, user: u32) -> bool {
        user == 0 || user == self.owner
    }

    fn has_list(&self) -> bool {
        let path = format!("/proc/self/fd/{}", self.folder.as_raw_fd());
        let mut none: [u8; 0] = [];
        let size = rustix::fs::getxattr(path, "system.posix_acl_access", &mut none[..]);
        !matches!(size, Err(Errno::NODATA | Errno::OPNOTSUPP))
    }
}

/// The names that a path is walked by.
fn names(path: &Path) -> Vec<OsString> {
    let named = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        _ => None,
    });
    named.collect()
}

fn kind(about: &Stat) -> FileType {
    FileType::from_raw_mode(about.st_mode)
}

fn is_sticky(about: &Stat) -> bool {
    about.st_mode & Mode::SVTX.bits() != 0
}

fn about_writable(about: &Stat) -> bool {
    about.st_mode & (Mode::WGRP | Mode::WOTH).bits() != 0
}

#[cfg(test)]
mod tests;
