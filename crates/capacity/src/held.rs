//! The groups that a running process is in, and their capacity lowered for a while.

mod limited;

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
            let before = line_of(&step.before, disk).unwrap_or(limited::NONE_IN_V2);
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
pub(crate) mod tests;
