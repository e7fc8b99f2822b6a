//! Walks over all groups of a mounted hierarchy without allocating: most walks find only known ones.

use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use model::name_of;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawDir, openat, statat};
use rustix::io::Errno;
use rustix::path::Arg;

/// Groups beyond this many are not measured; a gap reports that.
pub(crate) const MOST_GROUPS: usize = 10_000;
/// Deepest nesting that is walked.
const MOST_DEPTH: usize = 16;
/// Buffer for the entries of one folder; each level has its own.
const ENTRIES_BYTES: usize = 4_096;
/// Folders that are walked, at most, with a margin above those that can be measured; the others are not even
/// counted.
const MOST_WALKED: usize = 2 * MOST_GROUPS;

/// Calls `each` with the path of the group at `folder`, which is `path`, and of every group below it.
pub(crate) fn walk(folder: &Path, path: &mut String, each: &mut dyn FnMut(&str)) {
    let mut walk = Walk {
        path,
        each,
        walked: 0,
    };
    (walk.each)(walk.path);
    if let Ok(folder) = open(CWD, folder) {
        walk.below(&folder, 0);
    }
}

struct Walk<'a> {
    path: &'a mut String,
    each: &'a mut dyn FnMut(&str),
    walked: usize,
}

impl Walk<'_> {
    fn below(&mut self, folder: &OwnedFd, depth: usize) {
        let mut buffer = [MaybeUninit::<u8>::uninit(); ENTRIES_BYTES];
        let mut entries = RawDir::new(folder, &mut buffer);
        while let Some(Ok(entry)) = entries.next() {
            if self.walked >= MOST_WALKED {
                return;
            }
            let name = entry.file_name();
            if entry.file_type() != FileType::Directory || name == c"." || name == c".." {
                continue;
            }
            self.walked += 1;
            let length = self.path.len();
            if length > 1 {
                self.path.push('/');
            }
            self.path.push_str(&name_of(name.to_bytes()));
            (self.each)(self.path);
            // kernfs counts subfolders as links: most groups have none, so their folder need not be listed.
            let about = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
            let leaf = about.is_ok_and(|about| about.st_nlink == 2);
            if !leaf
                && depth < MOST_DEPTH
                && let Ok(below) = open(folder, name)
            {
                self.below(&below, depth + 1);
            }
            self.path.truncate(length);
        }
    }
}

fn open(folder: impl AsFd, name: impl Arg) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(folder, name, flags, Mode::empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_folder_is_visited_and_the_deepest_are_left_out() {
        let top = tempfile::tempdir().expect("a temporary folder");
        let inside = |path: &str| top.path().join(path);
        std::fs::create_dir_all(inside("a/b b")).expect("a folder");
        std::fs::create_dir_all(inside(&["d"; 30].join("/"))).expect("a folder");
        std::fs::write(inside("file"), "").expect("written");
        std::os::unix::fs::symlink("a", inside("link")).expect("a link");
        let walked = |root: &str| {
            let (mut visited, mut path) = (Vec::new(), root.to_owned());
            walk(top.path(), &mut path, &mut |path| {
                visited.push(path.to_owned())
            });
            assert_eq!(path, root);
            visited.sort();
            visited
        };
        let visited = walked("/");
        assert_eq!(visited[..4], ["/", "/a", "/a/b b", "/d"]);
        assert_eq!(visited.len(), 3 + MOST_DEPTH + 1);
        assert_eq!(walked("/docker/ab")[..2], ["/docker/ab", "/docker/ab/a"]);
    }
}
