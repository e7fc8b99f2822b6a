//! The files of a machine: this one, a container's host, or captured ones.
//!
//! A check asks for paths and gets bytes or the kernel's errno, so tests can run it on a tree given as text.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use kernel::root;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// No file that a check reads is longer; a kernel's configuration is about 300 KB.
const MOST_BYTES: u64 = 4 << 20;

/// What checks read from. Paths are relative to the root: `proc/stat`.
pub(crate) trait Tree {
    /// The whole content of a file.
    fn read(&self, path: &str) -> Result<Vec<u8>, Errno>;
    /// The entries of a folder, by name.
    fn entries(&self, path: &str) -> Result<Vec<Entry>, Errno>;
    /// The target of a link.
    fn link(&self, path: &str) -> Result<String, Errno>;
}

/// One entry of a folder.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) is_folder: bool,
}

/// The tree below a folder.
pub(crate) struct Below<'a>(pub(crate) &'a Path);

impl Below<'_> {
    /// Of another machine, what `/proc/self` would show is read from process 1.
    fn place(&self, path: &str) -> PathBuf {
        let of_first = root::place(self.0, path);
        // Captured trees may have one or the other.
        if of_first.exists() {
            of_first
        } else {
            self.0.join(path)
        }
    }
}

impl Tree for Below<'_> {
    fn read(&self, path: &str) -> Result<Vec<u8>, Errno> {
        // A captured tree may contain anything, even a pipe without a writer.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = rustix::fs::open(self.place(path), flags, Mode::empty())?;
        let mut bytes = Vec::new();
        let read = File::from(file).take(MOST_BYTES).read_to_end(&mut bytes);
        read.map_err(|error| errno(&error))?;
        Ok(bytes)
    }

    fn entries(&self, path: &str) -> Result<Vec<Entry>, Errno> {
        let found = std::fs::read_dir(self.place(path)).map_err(|error| errno(&error))?;
        // No check asks for a name that is not UTF-8.
        let mut entries: Vec<_> = found
            .flatten()
            .filter_map(|entry| {
                let name = entry.file_name().into_string().ok()?;
                let is_folder = entry.file_type().is_ok_and(|it| it.is_dir());
                Some(Entry { name, is_folder })
            })
            .collect();
        entries.sort();
        Ok(entries)
    }

    fn link(&self, path: &str) -> Result<String, Errno> {
        let target = rustix::fs::readlink(self.place(path), Vec::new())?;
        Ok(target.to_string_lossy().into_owned())
    }
}

fn errno(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

/// An errno's name in manuals.
pub(crate) fn name_of(errno: Errno) -> String {
    let known = [
        (Errno::NOENT, "ENOENT"),
        (Errno::ACCESS, "EACCES"),
        (Errno::PERM, "EPERM"),
        (Errno::OPNOTSUPP, "EOPNOTSUPP"),
        (Errno::NOSYS, "ENOSYS"),
        (Errno::INVAL, "EINVAL"),
        (Errno::NODEV, "ENODEV"),
        (Errno::ROFS, "EROFS"),
    ];
    let known = known.iter().find(|(known, _)| *known == errno);
    known.map_or_else(|| errno.to_string(), |(_, name)| (*name).to_owned())
}

#[cfg(test)]
pub(crate) mod testing {
    use std::collections::BTreeMap;

    use super::*;

    /// A tree given as text, one file per line: `PATH = CONTENT`, with `\n` for a line end and `\t` for a tab
    /// in the content; `PATH ! ERRNO` for a file that cannot be read; `PATH -> TARGET` for a link.
    pub(crate) struct Drawn {
        files: BTreeMap<String, Result<Vec<u8>, Errno>>,
        links: BTreeMap<String, String>,
    }

    impl Drawn {
        pub(crate) fn new(text: &str) -> Self {
            let mut drawn = Self {
                files: BTreeMap::new(),
                links: BTreeMap::new(),
            };
            for line in text
                .lines()
                .map(str::trim_start)
                .filter(|line| !line.is_empty())
            {
                if let Some((path, content)) = line.split_once(" = ") {
                    let content = content
                        .replace("\\n", "\n")
                        .replace("\\t", "\t")
                        .into_bytes();
                    drawn.files.insert(path.to_owned(), Ok(content));
                } else if let Some((path, errno)) = line.split_once(" ! ") {
                    let errno = match errno {
                        "EOPNOTSUPP" => Errno::OPNOTSUPP,
                        "EACCES" => Errno::ACCESS,
                        other => panic!("draw {other} first"),
                    };
                    drawn.files.insert(path.to_owned(), Err(errno));
                } else if let Some((path, target)) = line.split_once(" -> ") {
                    drawn.links.insert(path.to_owned(), target.to_owned());
                } else {
                    panic!("not drawn: {line}");
                }
            }
            drawn
        }
    }

    impl Tree for Drawn {
        fn read(&self, path: &str) -> Result<Vec<u8>, Errno> {
            self.files.get(path).cloned().unwrap_or(Err(Errno::NOENT))
        }

        fn entries(&self, path: &str) -> Result<Vec<Entry>, Errno> {
            let paths = self.files.keys().chain(self.links.keys());
            let inside = paths.filter_map(|file| file.strip_prefix(path)?.strip_prefix('/'));
            let mut entries: Vec<_> = inside
                .map(|rest| Entry {
                    name: rest.split('/').next().unwrap_or(rest).to_owned(),
                    is_folder: rest.contains('/'),
                })
                .collect();
            entries.sort();
            entries.dedup();
            match entries.is_empty() {
                true => Err(Errno::NOENT),
                false => Ok(entries),
            }
        }

        fn link(&self, path: &str) -> Result<String, Errno> {
            self.links.get(path).cloned().ok_or(Errno::NOENT)
        }
    }
}
