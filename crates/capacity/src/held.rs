//! The groups that a running process is in, and their capacity lowered for a while.

use std::fs;
use std::path::{Path, PathBuf};

use kernel::Hierarchies;

use crate::change::{Change, Step};
use crate::group::{Folder, line_of, own_folder, own_groups, read};
use crate::limit::{LEAST_QUOTA_US, PERIOD_US, quota_us};
use crate::{Controller, Error};

/// Groups below a group are followed so deep.
const DEEPEST: usize = 16;

/// The groups of a running process, which are somebody else's.
#[derive(Clone, Debug)]
pub struct Held {
    pid: u32,
    folders: Vec<Folder>,
    /// Where the account of CPU time is, if it has a v1 hierarchy of its own.
    pub(crate) cpuacct: Option<PathBuf>,
}

/// A capacity as it is for a while.
#[derive(Clone, PartialEq, Debug)]
pub enum Lowered {
    /// CPU time, in CPUs.
    Cpu(f64),
    /// Requests per second of one disk, those of a kind that is left out as before.
    Disk {
        /// `MAJOR:MINOR`.
        disk: String,
        /// Reads.
        reads: Option<u64>,
        /// Writes.
        writes: Option<u64>,
    },
    /// Memory, bytes: the limit in v1, in the unified hierarchy the mark above which it is reclaimed (memory.high), so
    /// that nothing is killed.
    Memory(u64),
}

impl Lowered {
    /// Who enforces it.
    pub const fn controller(&self) -> Controller {
        match self {
            Self::Cpu(_) => Controller::Cpu,
            Self::Disk { .. } => Controller::Io,
            Self::Memory(_) => Controller::Memory,
        }
    }
}

impl Held {
    /// The groups of this process.
    ///
    /// # Errors
    /// It has ended, or nothing can be read of it.
    pub fn of(pid: u32) -> Result<Self, Error> {
        let text = |path: PathBuf| {
            fs::read(&path)
                .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
                .map_err(|source| Error::Read { path, source })
        };
        let mounts = text("/proc/self/mountinfo".into())?;
        let own = own_groups(&text(format!("/proc/{pid}/cgroup").into())?);
        let hierarchies = Hierarchies::from_mountinfo(mounts.as_bytes(), Path::new("/"));
        let mut folders = Vec::new();
        for controller in Controller::ALL {
            let v1 = hierarchies.v1.get(controller.in_v1());
            let (mount, name) = match (v1, &hierarchies.v2) {
                (Some(mount), _) => (mount, controller.in_v1()),
                (None, Some(mount)) => (mount, ""),
                (None, None) => continue,
            };
            folders.push(Folder {
                path: own_folder(mount, own.get(name)),
                is_v2: v1.is_none(),
                controllers: vec![controller],
                origin: mount.point.clone(),
            });
        }
        let cpuacct = hierarchies.v1.get("cpuacct");
        let cpuacct = cpuacct.map(|mount| (own_folder(mount, own.get("cpuacct")), &mount.point));
        Ok(Self {
            pid,
            folders,
            // The root's account is the machine's.
            cpuacct: cpuacct.and_then(|(folder, root)| (folder != *root).then_some(folder)),
        })
    }

    /// The group whose capacity this controller sets.
    ///
    /// # Errors
    /// No hierarchy has the controller, or the process is in its root.
    pub fn group(&self, controller: Controller) -> Result<&Path, Error> {
        Ok(self.folder(controller)?.path.as_path())
    }

    pub(crate) fn folder(&self, controller: Controller) -> Result<&Folder, Error> {
        let mut folders = self.folders.iter();
        let folder = folders.find(|it| it.controllers.contains(&controller));
        let folder = folder.ok_or(Error::NoController(controller))?;
        match folder.path == folder.origin {
            true => Err(Error::InRoot {
                pid: self.pid,
                controller,
                root: folder.origin.clone(),
            }),
            false => Ok(folder),
        }
    }

    /// The processes in the group of a controller and below it.
    ///
    /// # Errors
    /// There is no such group, or it cannot be read.
    pub fn members(&self, controller: Controller) -> Result<Vec<u32>, Error> {
        let mut found = Vec::new();
        members(self.group(controller)?, DEEPEST, &mut found)?;
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// What lowers a capacity, and what puts it back, as the files are now. Nothing is written. A limit that is lower
    /// already stays as it is: none is ever raised.
    ///
    /// # Errors
    /// There is no group, a file cannot be read or is not ours to write, or the kernel does not take so little.
    pub fn change(&self, lowered: &Lowered) -> Result<Change, Error> {
        let folder = self.folder(lowered.controller())?;
        let lowered = self.not_raised(lowered)?;
        let steps = match folder.is_v2 {
            true => in_v2(&folder.path, &lowered)?,
            false => in_v1(&folder.path, &lowered)?,
        };
        steps.iter().try_for_each(|it| is_ours(&it.path))?;
        Ok(Change { steps })
    }

    /// The same within what the group's limits allow now.
    fn not_raised(&self, lowered: &Lowered) -> Result<Lowered, Error> {
        Ok(match lowered {
            Lowered::Cpu(cpus) => {
                let quota = self.quota()?;
                Lowered::Cpu(quota.map_or(*cpus, |quota| quota.min(*cpus)))
            }
            Lowered::Memory(bytes) => {
                let (_, limit) = self.memory()?;
                Lowered::Memory(limit.map_or(*bytes, |limit| limit.min(*bytes)))
            }
            Lowered::Disk {
                disk,
                reads,
                writes,
            } => {
                let limits = self.disk_limits(disk)?;
                Lowered::Disk {
                    disk: disk.clone(),
                    reads: lower(*reads, limits.reads),
                    writes: lower(*writes, limits.writes),
                }
            }
        })
    }
}

/// The lower of a wish and what is allowed.
fn lower<T: Ord>(wanted: Option<T>, allowed: Option<T>) -> Option<T> {
    wanted.map(|wanted| match allowed {
        Some(allowed) => wanted.min(allowed),
        None => wanted,
    })
}

/// A file of a group with what is written to it, and what stands there now.
fn step(folder: &Path, file: &str, text: String) -> Result<Step, Error> {
    let path = folder.join(file);
    Ok(Step {
        before: read(&path)?.trim().to_owned(),
        lowered: text,
        path,
    })
}

fn in_v1(folder: &Path, lowered: &Lowered) -> Result<Vec<Step>, Error> {
    let step = |file: &str, text: String| step(folder, file, text);
    match lowered {
        Lowered::Cpu(cpus) => Ok(vec![
            step("cpu.cfs_period_us", PERIOD_US.to_string())?,
            step("cpu.cfs_quota_us", quota(*cpus))?,
        ]),
        Lowered::Memory(bytes) => Ok(vec![step("memory.limit_in_bytes", bytes.to_string())?]),
        Lowered::Disk {
            disk,
            reads,
            writes,
        } => {
            let each = [
                ("blkio.throttle.read_iops_device", reads),
                ("blkio.throttle.write_iops_device", writes),
            ];
            let wanted = each
                .into_iter()
                .filter_map(|(file, most)| Some((file, (*most)?)));
            wanted
                .map(|(file, most)| {
                    let step = step(file, format!("{disk} {}", most.max(1)))?;
                    // 0 takes a rule away (kernel, Documentation/admin-guide/cgroup-v1/blkio-controller.rst).
                    let before = line_of(&step.before, disk).unwrap_or("0");
                    let before = format!("{disk} {before}");
                    Ok(Step { before, ..step })
                })
                .collect()
        }
    }
}

fn in_v2(folder: &Path, lowered: &Lowered) -> Result<Vec<Step>, Error> {
    let step = |file: &str, text: String| step(folder, file, text);
    Ok(vec![match lowered {
        Lowered::Cpu(cpus) => step("cpu.max", format!("{} {PERIOD_US}", quota(*cpus)))?,
        Lowered::Memory(bytes) => step("memory.high", bytes.to_string())?,
        Lowered::Disk {
            disk,
            reads,
            writes,
        } => {
            let words = [("riops", reads), ("wiops", writes)];
            let words = words
                .into_iter()
                .filter_map(|(word, most)| Some(format!("{word}={}", (*most)?.max(1))));
            let text: Vec<String> = words.collect();
            let step = step("io.max", format!("{disk} {}", text.join(" ")))?;
            let none = "rbps=max wbps=max riops=max wiops=max";
            let before = line_of(&step.before, disk).unwrap_or(none);
            let before = format!("{disk} {before}");
            Step { before, ..step }
        }
    }])
}

fn quota(cpus: f64) -> String {
    quota_us(cpus).max(LEAST_QUOTA_US).to_string()
}

/// An error where a file cannot be opened for writing.
fn is_ours(path: &Path) -> Result<(), Error> {
    let opened = fs::OpenOptions::new().write(true).open(path);
    opened.map(drop).map_err(|source| Error::Set {
        path: path.to_owned(),
        value: "a limit".to_owned(),
        source,
    })
}

fn members(folder: &Path, deepest: usize, found: &mut Vec<u32>) -> Result<(), Error> {
    let text = read(&folder.join("cgroup.procs"))?;
    found.extend(text.lines().filter_map(|line| line.parse::<u32>().ok()));
    if deepest == 0 {
        return Ok(());
    }
    for below in fs::read_dir(folder).into_iter().flatten().flatten() {
        if below.file_type().is_ok_and(|it| it.is_dir()) {
            // It may be gone.
            let _ = members(&below.path(), deepest - 1, found);
        }
    }
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests {
    use std::process::{Child, Command};

    use super::*;
    use crate::Group;

    /// A process that sleeps in a group of its own.
    #[expect(clippy::zombie_processes, reason = "who asked for it waits for it")]
    pub(crate) fn held(name: &str) -> Option<(Group, Child, Held)> {
        if !rustix::process::geteuid().is_root() {
            kernel::requirement::skipped("a cgroup", "making one needs root");
            return None;
        }
        let group = Group::create(name).expect("a group");
        let words = group.inside();
        let child = Command::new(&words[0])
            .args(&words[1..])
            .args(["sleep", "60"])
            .spawn()
            .expect("a shell");
        loop {
            let held = Held::of(child.id()).expect("it runs");
            // The shell moves before it becomes the command.
            let is_inside = |it| held.members(it).is_ok_and(|all| all == [child.id()]);
            if [Controller::Cpu, Controller::Memory, Controller::Io]
                .into_iter()
                .all(is_inside)
            {
                return Some((group, child, held));
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }

    fn inside(folder: &Folder) -> Folder {
        Folder {
            path: folder.path.join("inner"),
            ..folder.clone()
        }
    }

    fn texts(change: &Change) -> Vec<String> {
        let text = |step: &Step| read(&step.path).expect("a file").trim().to_owned();
        change.steps.iter().map(text).collect()
    }

    #[test]
    fn capacities_are_lowered_read_back_and_restored() {
        let Some((_group, mut child, held)) = held("held") else {
            return;
        };
        let machine = crate::Machine::read(&[]).expect("/proc");
        let disk = machine
            .disk_busy_ns
            .keys()
            .find(|it| it.starts_with("254:"));
        let disk = disk.or(machine.disk_busy_ns.keys().next()).expect("a disk");
        let disk = Lowered::Disk {
            disk: disk.clone(),
            reads: Some(100),
            writes: None,
        };
        for (lowered, is_same) in [
            (Lowered::Cpu(0.25), true),
            (Lowered::Memory(64 << 20), true),
            (disk, false),
        ] {
            let change = held.change(&lowered).expect("it is ours");
            let before = texts(&change);
            change.apply().expect("the kernel takes it");
            let during = texts(&change);
            assert_ne!(before, during, "{lowered:?}");
            if is_same {
                let wanted: Vec<&String> = change.steps.iter().map(|it| &it.lowered).collect();
                assert_eq!(during.iter().collect::<Vec<_>>(), wanted);
            }
            change.restore().expect("the kernel takes it");
            assert_eq!(texts(&change), before, "{lowered:?}");
        }
        assert_eq!(held.quota().expect("a group"), None);
        let quarter = held.change(&Lowered::Cpu(0.25)).expect("it is ours");
        quarter.apply().expect("the kernel takes it");
        assert_eq!(held.quota().expect("a group"), Some(0.25));
        // What was there before is put back, not what is usual.
        let less = held.change(&Lowered::Cpu(0.1)).expect("it is ours");
        less.apply().expect("the kernel takes it");
        less.restore().expect("the kernel takes it");
        assert_eq!(held.quota().expect("a group"), Some(0.25));
        assert!(held.memory().expect("a group").0 > 0);
        assert!(held.disks().is_ok() && held.cpu_ns().is_ok());
        child.kill().expect("it sleeps");
        child.wait().expect("it ended");
    }

    /// As in a container with groups of its own: what the group around it may use limits it as well. In the unified
    /// hierarchy a group with processes has none with controllers below it.
    fn limits_of_the_group_around_it(held: &Held, disk: &str) {
        let inner = Held {
            folders: held.folders.iter().map(inside).collect(),
            ..held.clone()
        };
        for folder in &inner.folders {
            fs::create_dir(&folder.path).expect("root may make groups");
        }
        let [own, around] = [held, &inner].map(|it| {
            let disk = it.disk_limits(disk).expect("a group").reads;
            let (_, memory) = it.memory().expect("a group");
            (disk, it.quota().expect("a group"), memory)
        });
        for folder in &inner.folders {
            fs::remove_dir(&folder.path).expect("nobody is in it");
        }
        assert_eq!(own, (Some(300), Some(0.25), Some(64 << 20)));
        assert_eq!(around, own);
    }

    #[test]
    fn a_limit_that_is_lower_already_is_not_raised() {
        let Some((_group, mut child, held)) = held("low") else {
            return;
        };
        let machine = crate::Machine::read(&[]).expect("/proc");
        let disk = machine.disk_busy_ns.keys().find(|it| it.ends_with(":0"));
        let disk = disk.expect("a disk").clone();
        let reads = |most| Lowered::Disk {
            disk: disk.clone(),
            reads: Some(most),
            writes: None,
        };
        assert_eq!(held.disk_limits(&disk).expect("a group").reads, None);
        for (low, high) in [
            (Lowered::Cpu(0.25), Lowered::Cpu(1.5)),
            (Lowered::Memory(64 << 20), Lowered::Memory(1 << 30)),
            (reads(300), reads(2_370)),
        ] {
            let low = held.change(&low).expect("it is ours");
            low.apply().expect("the kernel takes it");
            let as_it_is = texts(&low);
            let high = held.change(&high).expect("it is ours");
            high.apply().expect("the kernel takes it");
            assert_eq!(texts(&low), as_it_is);
            high.restore().expect("the kernel takes it");
            assert_eq!(texts(&low), as_it_is);
        }
        if held.folders.iter().all(|it| !it.is_v2) {
            limits_of_the_group_around_it(&held, &disk);
        }
        child.kill().expect("it sleeps");
        child.wait().expect("it ended");
    }
}
