//! Control groups of the lab: made below the mounted root, filled with a process tree, and removed
//! after the processes were moved back. v1 and v2 both, since hybrid machines need a task in each.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::{leftovers, processes};

/// A hierarchy as this process sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hierarchy {
    /// Where it is mounted.
    pub mount: PathBuf,
    /// The folder of the group that this process is in.
    origin: PathBuf,
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

/// A group of the lab's own. Dropped, it gives its processes back and is removed.
pub struct Group {
    folder: PathBuf,
    origin: PathBuf,
}

impl Group {
    /// Makes the group of this run below the hierarchy's root.
    pub fn create(hierarchy: &Hierarchy) -> Result<Self> {
        let folder = hierarchy.mount.join(leftovers::own_name());
        fs::create_dir(&folder)
            .with_context(|| format!("cannot make the cgroup {}", folder.display()))?;
        Ok(Self {
            folder,
            origin: hierarchy.origin.clone(),
        })
    }

    /// Writes one of the group's files.
    pub fn set(&self, file: &str, value: &str) -> Result<()> {
        let path = self.folder.join(file);
        fs::write(&path, value).with_context(|| format!("cannot set {} to {value}", path.display()))
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// One of the group's files.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Moves a process and all its descendants here; children that it starts later follow by
    /// themselves.
    pub fn take(&self, root: u32) -> Result<()> {
        self.set("cgroup.procs", &root.to_string())?;
        // A child that was forked before its parent moved is found by looking until none is left.
        for _ in 0..5 {
            let inside = members(&self.folder);
            let all = processes::Process::all();
            let outside: Vec<u32> = processes::tree(&all, root)
                .iter()
                .map(|process| process.pid)
                .filter(|pid| !inside.contains(pid))
                .collect();
            if outside.is_empty() {
                return Ok(());
            }
            for pid in outside {
                // Refused when it has ended meanwhile; the next look tells.
                let _ = self.set("cgroup.procs", &pid.to_string());
            }
        }
        bail!(
            "cannot move all processes below {root} to {}",
            self.folder.display()
        )
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Err(error) = remove(&self.folder, &self.origin) {
            eprintln!("stallscope-lab: {error:#}");
        }
    }
}

/// The processes of a group.
pub fn members(folder: &Path) -> Vec<u32> {
    let text = fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

/// Moves a group's processes to another group and removes it.
pub fn remove(folder: &Path, to: &Path) -> Result<()> {
    let mut refused = None;
    // A process that is ending keeps its group busy for a moment.
    for _ in 0..40 {
        for pid in members(folder) {
            let _ = fs::write(to.join("cgroup.procs"), pid.to_string());
        }
        match fs::remove_dir(folder) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => refused = Some(error),
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    match refused {
        None => Ok(()),
        Some(error) => Err(error)
            .with_context(|| format!("cannot remove the cgroup {0}: rmdir {0}", folder.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::requirement;
    use std::process::Command;

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

    #[test]
    fn a_group_takes_processes_and_gives_them_back() {
        let found = Hierarchies::find().expect("mountinfo");
        // pids (or any other controller) would change nothing either; cpuacct and v2 are used here.
        let Some(hierarchy) = found.v1.get("freezer").or(found.v2.as_ref()) else {
            return requirement::skip("cgroups of the lab", "no hierarchy is mounted");
        };
        let group = match Group::create(hierarchy) {
            Ok(group) => group,
            Err(error) => return requirement::skip("cgroups of the lab", &format!("{error:#}")),
        };
        let mut child = Command::new("sleep").arg("30").spawn().expect("sleep runs");
        group.take(child.id()).expect("root may move processes");
        assert_eq!(members(&group.folder), [child.id()]);
        let folder = group.folder.clone();
        drop(group);
        assert!(!folder.exists());
        assert!(members(&hierarchy.origin).contains(&child.id()));
        child
            .kill()
            .and_then(|()| child.wait().map(drop))
            .expect("our own child");
    }
}
