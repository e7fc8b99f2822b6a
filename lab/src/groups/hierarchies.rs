//! Where the cgroup hierarchies are mounted, and where in them this process is. On hybrid machines v1
//! controllers stand beside v2; in a container a mount may show only a part of a hierarchy.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// A hierarchy as this process sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hierarchy {
    /// Where it is mounted.
    pub mount: PathBuf,
    origin: PathBuf,
}

impl Hierarchy {
    /// The folder of the group that this process is in.
    pub fn origin(&self) -> &Path {
        &self.origin
    }
}

/// The mounted hierarchies.
#[derive(Default, Debug)]
pub struct Hierarchies {
    /// v1, by controller.
    pub v1: BTreeMap<String, Hierarchy>,
    /// The unified hierarchy.
    pub v2: Option<Hierarchy>,
}

impl Hierarchies {
    /// Those of this machine, or container.
    pub fn find() -> Result<Self> {
        let mounts = fs::read_to_string("/proc/self/mountinfo").context("cannot read mountinfo")?;
        // Absent where the kernel has no cgroups: then there is nothing to find.
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        Ok(Self::parse(&mounts, &own))
    }

    fn parse(mounts: &str, own: &str) -> Self {
        let mut found = Self::default();
        for line in mounts.lines() {
            let Some((left, right)) = line.split_once(" - ") else {
                continue;
            };
            let (left, right): (Vec<&str>, Vec<&str>) =
                (left.split(' ').collect(), right.split(' ').collect());
            let (Some(root), Some(mount), Some(kind)) = (left.get(3), left.get(4), right.first())
            else {
                continue;
            };
            let options = right.get(2).copied().unwrap_or_default();
            let hierarchy = |controller| Hierarchy {
                mount: PathBuf::from(mount),
                origin: origin(mount, root, path_in(own, controller).as_deref()),
            };
            match *kind {
                "cgroup2" if found.v2.is_none() => found.v2 = Some(hierarchy("")),
                "cgroup" => {
                    for name in options.split(',') {
                        let seen = found.v1.entry(name.to_owned());
                        seen.or_insert_with(|| hierarchy(name));
                    }
                }
                _ => {}
            }
        }
        found
    }

    /// All of them with the controller that one is for; v2 has an empty name.
    pub fn named(&self) -> impl Iterator<Item = (&str, &Hierarchy)> {
        let v1 = self.v1.iter().map(|(name, it)| (name.as_str(), it));
        v1.chain(self.v2.iter().map(|it| ("", it)))
    }

    /// All of them, each mount once.
    pub fn all(&self) -> Vec<&Hierarchy> {
        let mut all: Vec<_> = self.v1.values().chain(&self.v2).collect();
        all.sort_by(|a, b| a.mount.cmp(&b.mount));
        all.dedup();
        all
    }
}

fn origin(mount: &str, root: &str, own: Option<&str>) -> PathBuf {
    let inside = own.and_then(|own| own.strip_prefix(root.trim_end_matches('/')));
    Path::new(mount).join(inside.unwrap_or_default().trim_start_matches('/'))
}

/// The path of a process in the hierarchy of a v1 controller, or of v2 for an empty name, from the
/// text of its /proc/PID/cgroup.
pub fn path_in(text: &str, controller: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        let same = controllers.split(',').any(|name| name == controller);
        same.then(|| path.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct
40 31 0:30 /docker/ab /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
41 31 0:31 / /sys/fs/cgroup/unified rw shared:9 - cgroup2 cgroup2 rw";
    const OWN: &str = "4:cpu,cpuacct:/\n3:memory:/docker/ab/inner\n0::/user.slice";

    #[test]
    fn hybrid_mounts_are_found_with_the_group_that_we_are_in() {
        let found = Hierarchies::parse(MOUNTS, OWN);
        assert_eq!(
            found.v1["cpuacct"].mount,
            Path::new("/sys/fs/cgroup/cpu,cpuacct")
        );
        assert_eq!(
            found.v1["memory"].origin,
            Path::new("/sys/fs/cgroup/memory/inner")
        );
        let v2 = found.v2.as_ref().expect("mounted");
        assert_eq!(v2.origin, Path::new("/sys/fs/cgroup/unified/user.slice"));
        assert_eq!(found.all().len(), 3);
        assert!(Hierarchies::parse("", "").all().is_empty());
    }

    #[test]
    fn a_path_is_told_by_controller() {
        assert_eq!(path_in(OWN, "cpu").as_deref(), Some("/"));
        assert_eq!(path_in(OWN, "").as_deref(), Some("/user.slice"));
        assert_eq!(path_in(OWN, "blkio"), None);
    }
}
