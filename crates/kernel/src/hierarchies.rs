//! Where the cgroup hierarchies are mounted, and a process's group in each.
//!
//! The v2 root is found from mountinfo, since hybrid layouts mount it anywhere.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use model::{bytes_of, name_of};
use sensors::{Hierarchy, Source};

/// A mounted hierarchy.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Mount {
    /// The mount point.
    pub point: PathBuf,
    /// The group at the mount point: `/`, or in a container its own group, while its processes still name
    /// their groups from the true root.
    pub root: String,
}

impl Mount {
    /// The folder of the group at `path`; `None` for a group that is not below this mount: the kernel shows a
    /// process outside our own cgroup namespace at `/../...` (cgroup_namespaces(7)).
    pub fn folder(&self, path: &str) -> Option<PathBuf> {
        let inside = path.strip_prefix(self.root.trim_end_matches('/'))?;
        if inside.split('/').any(|part| part == "..") {
            return None;
        }
        (inside.is_empty() || inside.starts_with('/'))
            .then(|| below(&self.point, &bytes_of(inside)))
    }
}

/// The mounted cgroup hierarchies.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Hierarchies {
    /// The unified hierarchy.
    pub v2: Option<Mount>,
    /// The v1 hierarchies by controller.
    pub v1: BTreeMap<String, Mount>,
}

impl Hierarchies {
    /// Finds the mounts in the text of /proc/self/mountinfo (proc(5)); paths are below `root`.
    pub fn from_mountinfo(text: &[u8], root: &Path) -> Self {
        let mut found = Self::default();
        for line in text.split(|byte| *byte == b'\n') {
            let line = name_of(line);
            let Some((left, right)) = line.split_once(" - ") else {
                continue;
            };
            let mut right = right.split(' ');
            let (kind, options) = (
                right.next().unwrap_or_default(),
                right.nth(1).unwrap_or_default(),
            );
            let left: Vec<&str> = left.split(' ').collect();
            // A bind mount of a subtree is not the hierarchy's root, unless it is all that a container has:
            // the first mount of each kind counts.
            let (Some(group), Some(point)) = (left.get(3), left.get(4)) else {
                continue;
            };
            let mount = Mount {
                point: below(root, &bytes_of(&unescape(point))),
                root: unescape(group),
            };
            match kind {
                "cgroup2" if found.v2.is_none() => found.v2 = Some(mount),
                "cgroup" => {
                    for option in options
                        .split(',')
                        .filter(|option| CONTROLLERS.contains(option))
                    {
                        found
                            .v1
                            .entry(option.to_owned())
                            .or_insert_with(|| mount.clone());
                    }
                }
                _ => {}
            }
        }
        found
    }

    /// Every mount point.
    pub fn mounts(&self) -> Vec<PathBuf> {
        let all = self.v2.iter().chain(self.v1.values());
        let mut mounts: Vec<_> = all.map(|mount| mount.point.clone()).collect();
        mounts.dedup();
        mounts
    }

    /// `v1`, `v2`, `hybrid` or `none`.
    pub fn layout(&self) -> &'static str {
        match (&self.v2, self.v1.is_empty()) {
            (Some(_), true) => "v2",
            (Some(_), false) => "hybrid",
            (None, false) => "v1",
            (None, true) => "none",
        }
    }

    /// Where a hierarchy is mounted, if it is.
    pub fn mount(&self, hierarchy: Hierarchy) -> Option<&Mount> {
        match hierarchy {
            Hierarchy::None => None,
            Hierarchy::V2 => self.v2.as_ref(),
            Hierarchy::V1(controller) => self.v1.get(controller),
        }
    }

    /// Whether a group exists in any hierarchy.
    pub fn have(&self, group: &str) -> bool {
        let mut mounts = self.v2.iter().chain(self.v1.values());
        mounts.any(|mount| mount.folder(group).is_some_and(|folder| folder.is_dir()))
    }

    /// A source's file in a group; `None` if the group is not in its hierarchy.
    pub fn place(&self, source: &Source, group: &str) -> Option<PathBuf> {
        let folder = self.mount(source.hierarchy)?.folder(group)?;
        // A group need not exist in every hierarchy.
        Some(folder.join(source.path))
    }
}

/// The v1 controllers that some sensor or verdict uses.
const CONTROLLERS: [&str; 6] = ["cpu", "cpuacct", "cpuset", "memory", "blkio", "pids"];

/// A process's group in each hierarchy that some sensor reads; a controller without a v1 hierarchy is in v2.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Placement<T> {
    /// Group in the v1 hierarchy of cpu.
    pub cpu: Option<T>,
    /// Group in the v1 hierarchy of memory.
    pub memory: Option<T>,
    /// Group in the v1 hierarchy of blkio.
    pub io: Option<T>,
    /// Group in v2.
    pub v2: Option<T>,
}

impl<T> Placement<T> {
    /// Converts the group of every hierarchy.
    pub fn map<U>(self, mut to: impl FnMut(T) -> U) -> Placement<U> {
        Placement {
            cpu: self.cpu.map(&mut to),
            memory: self.memory.map(&mut to),
            io: self.io.map(&mut to),
            v2: self.v2.map(&mut to),
        }
    }
}

/// The groups of a process, from the text of its /proc/PID/cgroup. A group's name may have any byte but a
/// newline, which the kernel refuses (cgroup_mkdir).
pub fn groups_of(text: &[u8]) -> Placement<&[u8]> {
    let mut found = Placement::default();
    for line in text.split(|byte| *byte == b'\n') {
        let mut fields = line.splitn(3, |byte| *byte == b':');
        let (number, controllers, path) = (
            fields.next(),
            fields.next().unwrap_or_default(),
            fields.next(),
        );
        let Some(path) = path else { continue };
        if number == Some(b"0") && controllers.is_empty() {
            found.v2 = Some(path);
        }
        for controller in controllers.split(|byte| *byte == b',') {
            match controller {
                b"cpu" => found.cpu = Some(path),
                b"memory" => found.memory = Some(path),
                b"blkio" => found.io = Some(path),
                _ => {}
            }
        }
    }
    found
}

fn below(root: &Path, path: &[u8]) -> PathBuf {
    let inside = path.iter().position(|byte| *byte != b'/');
    root.join(OsStr::from_bytes(&path[inside.unwrap_or(path.len())..]))
}

/// mountinfo writes space, tab, newline and backslash as octal escapes.
pub fn unescape(text: &str) -> String {
    text.replace("\\040", " ")
        .replace("\\011", "\t")
        .replace("\\012", "\n")
        .replace("\\134", "\\")
}
