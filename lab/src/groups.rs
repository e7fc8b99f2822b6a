//! Control groups of the lab: made below the mounted root, filled with a process tree, and removed
//! after the processes were moved back. v1 and v2 both, since hybrid machines need a task in each.

mod hierarchies;

pub use hierarchies::{Hierarchies, Hierarchy, path_in};

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::{names, processes};

/// Files that hold what a group may use, of both versions.
const LIMITS: [&str; 9] = [
    "cpu.cfs_quota_us",
    "blkio.throttle.read_iops_device",
    "blkio.throttle.write_iops_device",
    "blkio.throttle.read_bps_device",
    "blkio.throttle.write_bps_device",
    "memory.limit_in_bytes",
    "cpu.max",
    "io.max",
    "memory.high",
];

/// A group of the lab's own. Dropped, it gives its processes back and is removed.
pub struct Group {
    folder: PathBuf,
    origin: PathBuf,
}

impl Group {
    /// Makes a group of this run below the hierarchy's root.
    pub fn create(hierarchy: &Hierarchy, name: &str) -> Result<Self> {
        let own = names::own_name();
        let folder = hierarchy.mount.join(format!("{own}-{name}"));
        fs::create_dir(&folder)
            .with_context(|| format!("cannot make the cgroup {}", folder.display()))?;
        Ok(Self {
            folder,
            origin: hierarchy.origin().to_path_buf(),
        })
    }

    /// Makes a group below this one.
    pub fn below(&self, name: &str) -> Result<Self> {
        let folder = self.folder.join(name);
        fs::create_dir(&folder)
            .with_context(|| format!("cannot make the cgroup {}", folder.display()))?;
        Ok(Self {
            folder,
            origin: self.origin.clone(),
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

/// What the limits of a process's groups are, by file.
pub fn limits_of(pid: u32) -> Result<BTreeMap<PathBuf, String>> {
    let text = fs::read_to_string(format!("/proc/{pid}/cgroup"));
    let text = text.with_context(|| format!("process {pid} has ended"))?;
    let hierarchies = Hierarchies::find()?;
    let mut found = BTreeMap::new();
    for (controller, hierarchy) in hierarchies.named() {
        let path = path_in(&text, controller).unwrap_or_default();
        let folder = hierarchy.mount.join(path.trim_start_matches('/'));
        for file in LIMITS {
            if let Ok(text) = fs::read_to_string(folder.join(file)) {
                found.insert(folder.join(file), text);
            }
        }
    }
    Ok(found)
}

/// Moves a group's processes, and those of groups below it, to another group and removes it.
pub fn remove(folder: &Path, to: &Path) -> Result<()> {
    for below in fs::read_dir(folder).into_iter().flatten().flatten() {
        if below.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove(&below.path(), to)?;
        }
    }
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

    #[test]
    fn a_group_takes_processes_and_gives_them_back() {
        let found = Hierarchies::find().expect("mountinfo");
        // pids (or any other controller) would change nothing either; cpuacct and v2 are used here.
        let Some(hierarchy) = found.v1.get("freezer").or(found.v2.as_ref()) else {
            return requirement::skip("cgroups of the lab", "no hierarchy is mounted");
        };
        let group = match Group::create(hierarchy, "test") {
            Ok(group) => group,
            Err(error) => return requirement::skip("cgroups of the lab", &format!("{error:#}")),
        };
        let mut child = Command::new("sleep").arg("30").spawn().expect("sleep runs");
        group.take(child.id()).expect("root may move processes");
        assert_eq!(members(&group.folder), [child.id()]);
        let below = group.below("below").expect("root may make groups");
        below.take(child.id()).expect("root may move processes");
        assert!(members(&group.folder).is_empty());
        assert_eq!(members(&below.folder), [child.id()]);
        let folder = group.folder.clone();
        drop(group);
        assert!(!folder.exists(), "with what is below it");
        drop(below);
        assert!(members(hierarchy.origin()).contains(&child.id()));
        child
            .kill()
            .and_then(|()| child.wait().map(drop))
            .expect("our own child");
    }
}
