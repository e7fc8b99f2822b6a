//! A group of processes: a folder in every hierarchy that sets a capacity or counts pressure.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kernel::{Hierarchies, Mount};

use crate::disks::disks;
use crate::limit::Setting;
use crate::{Controller, Error, Limit};

/// Groups of ours are named after the process that made them, so that those of a dead one are known.
const OWN: &str = "stallscope-";
/// Moves the shell, and what it becomes, into groups: their number, their folders, the command.
const INSIDE: &str = "n=$1; shift; \
    while [ \"$n\" -gt 0 ]; do echo $$ > \"$1/cgroup.procs\" || exit 125; shift; n=$((n-1)); done; \
    exec \"$@\"";
/// How long a group is waited for whose processes are ending.
const PATIENCE: u32 = 40;
const MOMENT: Duration = Duration::from_millis(50);

/// A group. Dropped, it is removed, and processes that are left in it go back to where its maker is.
#[derive(Debug)]
pub struct Group {
    folders: Vec<Folder>,
}

/// A group's folder in a hierarchy.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    pub(crate) path: PathBuf,
    /// Of the unified hierarchy.
    pub(crate) is_v2: bool,
    /// The controllers that are set here.
    pub(crate) controllers: Vec<Controller>,
    /// Where processes go that are left.
    pub(crate) origin: PathBuf,
}

impl Group {
    /// Makes a group of this process's.
    ///
    /// In v1 hierarchies it lies below the process's own group. In the unified one it lies there too unless controllers
    /// are needed from it: these cannot be had below a group that has processes (kernel,
    /// Documentation/admin-guide/cgroup-v2.rst, No Internal Process Constraint), so it then lies below the mount.
    ///
    /// # Errors
    /// The kernel refuses it, or there are no hierarchies.
    pub fn create(name: &str) -> Result<Self, Error> {
        let name = format!("{OWN}{}-{name}", std::process::id());
        let parents = parents()?;
        if parents.is_empty() {
            return Err(Error::NoController(Controller::Cpu));
        }
        Self::make(&parents, &name)
    }

    /// Makes a group below this one, whose processes are in groups below it only.
    ///
    /// # Errors
    /// The kernel refuses it.
    pub fn below(&self, name: &str) -> Result<Self, Error> {
        Self::make(&self.folders, name)
    }

    fn make(parents: &[Folder], name: &str) -> Result<Self, Error> {
        // Dropped where a later folder is refused.
        let mut group = Self {
            folders: Vec::new(),
        };
        for parent in parents {
            let path = parent.path.join(name);
            if parent.is_v2 {
                enable(parent)?;
            }
            fs::create_dir(&path).map_err(|source| Error::Make {
                path: path.clone(),
                source,
            })?;
            group.folders.push(Folder {
                path: path.clone(),
                ..parent.clone()
            });
            if !parent.is_v2 && parent.controllers.contains(&Controller::Cpuset) {
                // A v1 group begins without CPUs and memory nodes, and takes no process (cpuset(7)).
                for file in ["cpuset.mems", "cpuset.cpus"] {
                    let text = read(&parent.path.join(file))?;
                    write(&path.join(file), text.trim())?;
                }
            }
        }
        Ok(group)
    }

    /// Sets a capacity, and sees that the kernel took it.
    ///
    /// # Errors
    /// The controller is missing, the kernel refuses the value, or took another one.
    pub fn set(&self, limit: &Limit) -> Result<(), Error> {
        let controller = limit.kind().controller();
        let mut folders = self.folders.iter();
        let folder = folders
            .find(|it| it.controllers.contains(&controller))
            .ok_or(Error::NoController(controller))?;
        let disks = match controller {
            Controller::Io => disks(),
            _ => Vec::new(),
        };
        let settings = match folder.is_v2 {
            true => limit.in_v2(&disks),
            false => limit.in_v1(&disks),
        };
        if settings.is_empty() {
            return Err(Error::NoDisk);
        }
        settings.iter().try_for_each(|it| folder.set(it))
    }

    /// Its folder in each hierarchy.
    pub fn folders(&self) -> impl Iterator<Item = &Path> {
        self.folders.iter().map(|it| it.path.as_path())
    }

    /// The words before a command that start it in this group.
    pub fn inside(&self) -> Vec<OsString> {
        inside(self.folders())
    }
}

/// The words before a command that start it in the group of these folders: a shell that becomes the command.
pub fn inside<'a>(folders: impl Iterator<Item = &'a Path>) -> Vec<OsString> {
    let folders: Vec<OsString> = folders.map(|it| it.as_os_str().to_owned()).collect();
    let number = folders.len().to_string();
    let mut words: Vec<OsString> = ["sh", "-c", INSIDE, "sh", &number]
        .map(OsString::from)
        .into();
    words.extend(folders);
    words
}

impl Drop for Group {
    fn drop(&mut self) {
        for folder in &self.folders {
            // What is left is taken away by the next command that makes groups.
            let _ = remove(&folder.path, &folder.origin);
        }
    }
}

impl Folder {
    /// What a file says in this group, and then in those around it that have it: they limit it as well. The outermost is
    /// the root of the mount, which in a container is a group like others.
    pub(crate) fn with_those_around(&self, file: &str) -> Result<Vec<String>, Error> {
        let own = read(&self.path.join(file))?;
        let around = self.path.ancestors().skip(1);
        let around = around
            .take_while(|it| it.starts_with(&self.origin))
            .filter_map(|it| read(&it.join(file)).ok());
        Ok(std::iter::once(own).chain(around).collect())
    }

    fn set(&self, setting: &Setting) -> Result<(), Error> {
        let path = self.path.join(setting.file);
        write(&path, &setting.text)?;
        if !setting.is_read_back {
            return Ok(());
        }
        let found = read(&path)?;
        match found.trim() == setting.text {
            true => Ok(()),
            false => Err(Error::Differs {
                path,
                value: setting.text.clone(),
                found: found.trim().to_owned(),
            }),
        }
    }
}

/// Removes the groups of processes that have ended, and says which.
///
/// # Errors
/// One of them cannot be removed.
pub fn remove_of_dead() -> Result<Vec<PathBuf>, Error> {
    let mut removed = Vec::new();
    for parent in parents()? {
        for entry in fs::read_dir(&parent.path).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let owner = name.to_str().and_then(owner);
            if owner.is_some_and(|pid| !is_alive(pid)) {
                remove(&entry.path(), &parent.origin)?;
                removed.push(entry.path());
            }
        }
    }
    Ok(removed)
}

/// The process that made a group of this name.
fn owner(name: &str) -> Option<u32> {
    let (pid, _) = name.strip_prefix(OWN)?.split_once('-')?;
    pid.parse().ok()
}

fn is_alive(pid: u32) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}

/// Where groups of this process may be made.
fn parents() -> Result<Vec<Folder>, Error> {
    let read_text = |path: &str| {
        fs::read(path).map_err(|source| Error::Read {
            path: path.into(),
            source,
        })
    };
    let mounts = read_text("/proc/self/mountinfo")?;
    let own = read_text("/proc/self/cgroup")?;
    let hierarchies = Hierarchies::from_mountinfo(&mounts, Path::new("/"));
    let own = own_groups(&String::from_utf8_lossy(&own));
    Ok(parents_in(&hierarchies, &own))
}

fn parents_in(hierarchies: &Hierarchies, own: &BTreeMap<String, String>) -> Vec<Folder> {
    let mut folders: Vec<Folder> = Vec::new();
    let of_v2 = |it: &&Controller| !hierarchies.v1.contains_key(it.in_v1());
    for controller in Controller::ALL {
        let Some(mount) = hierarchies.v1.get(controller.in_v1()) else {
            continue;
        };
        let origin = own_folder(mount, own.get(controller.in_v1()));
        // Hierarchies may have several controllers.
        match folders.iter_mut().find(|it| it.path == origin) {
            Some(folder) => folder.controllers.push(controller),
            None => folders.push(Folder {
                path: origin.clone(),
                is_v2: false,
                controllers: vec![controller],
                origin,
            }),
        }
    }
    if let Some(mount) = &hierarchies.v2 {
        let offered =
            fs::read_to_string(mount.point.join("cgroup.controllers")).unwrap_or_default();
        let is_offered =
            |it: &&Controller| offered.split_whitespace().any(|word| word == it.in_v2());
        let controllers = Controller::ALL.iter().filter(of_v2).filter(is_offered);
        let controllers: Vec<Controller> = controllers.copied().collect();
        let origin = own_folder(mount, own.get(""));
        folders.push(Folder {
            path: match controllers.is_empty() {
                true => origin.clone(),
                false => mount.point.clone(),
            },
            is_v2: true,
            controllers,
            origin,
        });
    }
    folders
}

/// The folder of the process's own group; the mount where that is out of sight.
pub(crate) fn own_folder(mount: &Mount, group: Option<&String>) -> PathBuf {
    let own = group.and_then(|it| mount.folder(it));
    own.unwrap_or_else(|| mount.point.clone())
}

/// A process's group by controller, the unified hierarchy's under the empty name (proc_pid_cgroup(5)).
pub(crate) fn own_groups(text: &str) -> BTreeMap<String, String> {
    let mut groups = BTreeMap::new();
    for line in text.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        if let (Some(controllers), Some(path)) = (parts.next(), parts.next()) {
            for controller in controllers.split(',') {
                groups.insert(controller.to_owned(), path.to_owned());
            }
        }
    }
    groups
}

/// Lets the groups below a unified one have its controllers.
fn enable(parent: &Folder) -> Result<(), Error> {
    let path = parent.path.join("cgroup.subtree_control");
    let enabled = fs::read_to_string(&path).unwrap_or_default();
    let missing = parent.controllers.iter().filter(|it| {
        let mut words = enabled.split_whitespace();
        !words.any(|word| word == it.in_v2())
    });
    for controller in missing {
        write(&path, &format!("+{controller}"))?;
    }
    Ok(())
}

/// Moves a group's processes, and those of groups below it, and removes it.
fn remove(folder: &Path, origin: &Path) -> Result<(), Error> {
    for below in fs::read_dir(folder).into_iter().flatten().flatten() {
        if below.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove(&below.path(), origin)?;
        }
    }
    let mut refused = None;
    // A process that is ending keeps its group busy for a moment.
    for _ in 0..PATIENCE {
        for pid in fs::read_to_string(folder.join("cgroup.procs"))
            .unwrap_or_default()
            .lines()
        {
            // It may have ended.
            let _ = fs::write(origin.join("cgroup.procs"), pid);
        }
        match fs::remove_dir(folder) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => refused = Some(error),
        }
        std::thread::sleep(MOMENT);
    }
    refused.map_or(Ok(()), |source| {
        Err(Error::Remove {
            path: folder.to_owned(),
            source,
        })
    })
}

/// What stands behind a disk's number in a file with a line for each.
pub(crate) fn line_of<'t>(text: &'t str, disk: &str) -> Option<&'t str> {
    text.lines()
        .find_map(|line| line.strip_prefix(disk)?.strip_prefix(' '))
}

pub(crate) fn read(path: &Path) -> Result<String, Error> {
    fs::read_to_string(path).map_err(|source| Error::Read {
        path: path.to_owned(),
        source,
    })
}

pub(crate) fn write(path: &Path, text: &str) -> Result<(), Error> {
    fs::write(path, text).map_err(|source| Error::Set {
        path: path.to_owned(),
        value: text.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::Kind;

    fn is_root() -> bool {
        match rustix::process::geteuid().is_root() {
            true => true,
            false => {
                kernel::requirement::skipped("a cgroup", "making one needs root");
                false
            }
        }
    }

    #[test]
    fn groups_are_found_whatever_their_names() {
        let text = "4:cpu,cpuacct:/a:b\n3:memory:/m\n0::/u\n";
        let groups = own_groups(text);
        assert_eq!(groups["cpu"], "/a:b");
        assert_eq!(groups["cpuacct"], "/a:b");
        assert_eq!(
            (groups["memory"].as_str(), groups[""].as_str()),
            ("/m", "/u")
        );
        assert_eq!(owner("stallscope-12-sweep"), Some(12));
        assert_eq!((owner("stallscope-x-y"), owner("user.slice")), (None, None));
    }

    #[test]
    fn a_command_runs_inside_its_limits_and_the_group_goes_with_its_value() {
        if !is_root() {
            return;
        }
        let above = Group::create("test").expect("a group");
        let group = above.below("one").expect("a group below");
        for (kind, value) in [
            (Kind::Quota, "0.5"),
            (Kind::Cpus, "0"),
            (Kind::Memory, "64M"),
        ] {
            let limit = Limit::parse(kind, value).expect(value);
            group.set(&limit).expect(value);
        }
        let words = group.inside();
        let said = Command::new(&words[0])
            .args(&words[1..])
            .args(["sh", "-c", "cat /proc/self/cgroup; nproc"])
            .output()
            .expect("a shell");
        let said = String::from_utf8_lossy(&said.stdout).into_owned();
        let inside = said.lines().filter(|it| it.ends_with("-test/one")).count();
        assert_eq!(inside, group.folders().count(), "{said}");
        assert!(said.ends_with("\n1\n"), "one CPU is left: {said}");
        let folders: Vec<PathBuf> = group.folders().map(Path::to_owned).collect();
        // What is left in it does not keep it.
        let mut left = Command::new(&words[0])
            .args(&words[1..])
            .args(["sleep", "60"])
            .spawn()
            .expect("a shell");
        drop(group);
        left.kill().expect("it slept");
        left.wait().expect("it ended");
        drop(above);
        assert!(folders.iter().all(|it| !it.exists()), "{folders:?}");
    }

    #[test]
    fn groups_of_the_dead_are_removed_and_those_of_the_living_stay() {
        if !is_root() {
            return;
        }
        let group = Group::create("alive").expect("a group");
        let mut ended = Command::new("true").spawn().expect("a process");
        ended.wait().expect("it ended");
        let left: Vec<PathBuf> = group
            .folders()
            .map(|it| it.with_file_name(format!("{OWN}{}-dead", ended.id())))
            .collect();
        left.iter()
            .for_each(|it| fs::create_dir(it).expect("a folder"));
        let removed = remove_of_dead().expect("they go");
        assert!(left.iter().all(|it| removed.contains(it) && !it.exists()));
        assert!(group.folders().all(Path::exists));
    }
}
