//! Limits on what a process tree may use, by control groups: the v1 controller where it is mounted,
//! else v2 where it is enabled. Each group has a v2 twin of the same name, which gives it a pressure
//! of its own.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::Stage;
use crate::groups::{Group, Hierarchies, Hierarchy, members, path_in};
use crate::scenario::Later;

/// In v1 each task of the root group weighs as much as a whole default child group (1024): with the
/// default a group would also lose against everything else, a second cause.
const SHARES: u32 = 8192;
/// The kernel's default period of a CPU quota.
const PERIOD_US: u32 = 100_000;
/// The weight of an ordinary v2 group, which stands for 1024 shares of v1.
const V2_WEIGHT: u32 = 100;

/// Hierarchies in which an experiment sets a limit, or reads what was used; v2 has no name.
const LOWERED: [&str; 5] = ["", "blkio", "cpu", "cpuacct", "memory"];

/// One limit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Limit {
    /// CPU time per 100 ms, us; `None` is none, to be set later.
    CpuQuota(Option<u32>),
    /// Weight against others, in shares of v1.
    CpuShares(u32),
    /// Reads per second from a device (`254:0`).
    ReadsPerSecond(String, u32),
    /// Writes per second to a device.
    WritesPerSecond(String, u32),
    /// Bytes read per second from a device.
    BytesReadPerSecond(String, u32),
    /// Memory with page cache, bytes.
    Memory(u64),
}

impl Limit {
    /// The controller that it needs.
    fn controller(&self) -> &'static str {
        match self {
            Limit::CpuQuota(_) | Limit::CpuShares(_) => "cpu",
            Limit::ReadsPerSecond(..)
            | Limit::WritesPerSecond(..)
            | Limit::BytesReadPerSecond(..) => "blkio",
            Limit::Memory(_) => "memory",
        }
    }

    /// File and value in v1.
    fn v1(&self) -> (&'static str, String) {
        match self {
            Limit::CpuQuota(quota) => (
                "cpu.cfs_quota_us",
                quota.map_or("-1".to_owned(), |us| us.to_string()),
            ),
            Limit::CpuShares(shares) => ("cpu.shares", shares.to_string()),
            Limit::ReadsPerSecond(device, reads) => (
                "blkio.throttle.read_iops_device",
                format!("{device} {reads}"),
            ),
            Limit::WritesPerSecond(device, writes) => (
                "blkio.throttle.write_iops_device",
                format!("{device} {writes}"),
            ),
            Limit::BytesReadPerSecond(device, bytes) => (
                "blkio.throttle.read_bps_device",
                format!("{device} {bytes}"),
            ),
            Limit::Memory(bytes) => ("memory.limit_in_bytes", bytes.to_string()),
        }
    }

    /// File and value in v2.
    fn v2(&self) -> (&'static str, String) {
        match self {
            Limit::CpuQuota(quota) => {
                let quota = quota.map_or("max".to_owned(), |us| us.to_string());
                ("cpu.max", format!("{quota} {PERIOD_US}"))
            }
            Limit::CpuShares(shares) => {
                let weight = (shares * V2_WEIGHT / 1024).clamp(1, 10_000);
                ("cpu.weight", weight.to_string())
            }
            Limit::ReadsPerSecond(device, reads) => ("io.max", format!("{device} riops={reads}")),
            Limit::WritesPerSecond(device, writes) => {
                ("io.max", format!("{device} wiops={writes}"))
            }
            Limit::BytesReadPerSecond(device, bytes) => {
                ("io.max", format!("{device} rbps={bytes}"))
            }
            Limit::Memory(bytes) => ("memory.max", bytes.to_string()),
        }
    }
}

/// A group with limits.
pub struct Confined {
    /// Its path, as reports name it.
    pub path: String,
    folder: PathBuf,
    v1: bool,
}

impl Confined {
    /// The change of one of its limits after some time.
    pub fn later(&self, after: Duration, limit: &Limit) -> Later {
        let (file, value) = if self.v1 { limit.v1() } else { limit.v2() };
        Later {
            after,
            file: self.folder.join(file),
            value,
        }
    }

    /// What a process writes its number into to become one of its members.
    pub fn entry(&self) -> PathBuf {
        self.folder.join("cgroup.procs")
    }
}

impl Stage {
    /// Puts a process and its descendants into a group of its own with these limits. An error says
    /// why this machine cannot do that.
    pub fn confine(&mut self, name: &str, root: u32, limits: &[Limit]) -> Result<Confined> {
        let first = limits.first().context("a group is made for a limit")?;
        let hierarchies = Hierarchies::find()?;
        let v1 = limits
            .iter()
            .all(|limit| hierarchies.v1.contains_key(limit.controller()));
        let (folder, controller) = if v1 {
            (
                self.confine_v1(name, root, limits, &hierarchies)?,
                first.controller(),
            )
        } else {
            (self.confine_v2(name, root, limits, &hierarchies)?, "")
        };
        let groups = fs::read_to_string(format!("/proc/{root}/cgroup"))
            .with_context(|| format!("process {root} ended while it was put into a group"))?;
        let path = path_in(&groups, controller).context("a process is in each hierarchy")?;
        Ok(Confined { path, folder, v1 })
    }

    /// Puts another process and its descendants into the groups of a confined one, as what is started in a container.
    pub fn join(&self, confined: u32, root: u32) -> Result<()> {
        let of_confined = |group: &&Group| members(group.folder()).contains(&confined);
        let mut groups = self.groups.iter().filter(of_confined);
        groups.try_for_each(|group| group.take(root))
    }

    /// Puts a confined process and its descendants into a group without limits below the one that has
    /// them, as a service manager or a container does.
    pub fn nest(&mut self, name: &str, root: u32) -> Result<()> {
        self.nest_beside(name, root, root)
    }

    /// Puts another process and its descendants into a group without limits beside a confined one, below
    /// the group that has the limits: they share them.
    pub fn nest_beside(&mut self, name: &str, confined: u32, root: u32) -> Result<()> {
        let of_confined = |group: &&Group| members(group.folder()).contains(&confined);
        let inner: Result<Vec<Group>> = self
            .groups
            .iter()
            .filter(of_confined)
            .map(|group| group.below(name))
            .collect();
        for group in inner? {
            group.take(root)?;
            // Dropped after the group around it, with which it has gone then.
            self.groups.push(group);
        }
        Ok(())
    }

    /// Gives a process and its descendants a group of their own in each hierarchy where they have none yet, without a
    /// limit: one can be set later, as by `stallscope prove`.
    pub fn keep_apart(&mut self, name: &str, root: u32) -> Result<()> {
        let hierarchies = Hierarchies::find()?;
        let lowered = hierarchies.named().filter(|(it, _)| LOWERED.contains(it));
        let mut mounts: Vec<_> = lowered.map(|(_, it)| it).collect();
        mounts.sort_by(|a, b| a.mount.cmp(&b.mount));
        mounts.dedup();
        for hierarchy in mounts {
            if members(hierarchy.origin()).contains(&root) {
                let group = with_shares(hierarchy, name)?;
                group.take(root)?;
                self.groups.push(group);
            }
        }
        Ok(())
    }

    fn confine_v1(
        &mut self,
        name: &str,
        root: u32,
        limits: &[Limit],
        hierarchies: &Hierarchies,
    ) -> Result<PathBuf> {
        let mut mounts: Vec<_> = limits
            .iter()
            .map(|limit| &hierarchies.v1[limit.controller()])
            .collect();
        mounts.dedup();
        let first = self.groups.len();
        for hierarchy in mounts {
            let group = with_shares(hierarchy, name)?;
            for limit in limits {
                let (file, value) = limit.v1();
                if group.file(file).exists() {
                    group.set(file, &value)?;
                }
            }
            group.take(root)?;
            self.groups.push(group);
        }
        if let Some(v2) = &hierarchies.v2 {
            let group = Group::create(v2, name)?;
            group.take(root)?;
            self.groups.push(group);
        }
        Ok(self.groups[first].folder().to_path_buf())
    }

    fn confine_v2(
        &mut self,
        name: &str,
        root: u32,
        limits: &[Limit],
        hierarchies: &Hierarchies,
    ) -> Result<PathBuf> {
        let Some(v2) = &hierarchies.v2 else {
            bail!("no cgroup hierarchy is mounted");
        };
        let enabled = v2.mount.join("cgroup.subtree_control");
        let controllers = fs::read_to_string(&enabled).unwrap_or_default();
        for limit in limits {
            let needed = match limit.controller() {
                "blkio" => "io",
                other => other,
            };
            // Enabling it would change the machine for everything that runs on it.
            if !controllers
                .split_ascii_whitespace()
                .any(|name| name == needed)
            {
                bail!(
                    "the {needed} controller is not enabled below {0}: echo +{needed} > {0}",
                    enabled.display()
                );
            }
        }
        let group = Group::create(v2, name)?;
        for limit in limits {
            let (file, value) = limit.v2();
            group.set(file, &value)?;
        }
        group.take(root)?;
        let folder = group.folder().to_path_buf();
        self.groups.push(group);
        Ok(folder)
    }
}

/// A group that is not at a disadvantage for being one. Where several controllers share a hierarchy, the weight comes with
/// any of them.
fn with_shares(hierarchy: &Hierarchy, name: &str) -> Result<Group> {
    let group = Group::create(hierarchy, name)?;
    if group.file("cpu.shares").exists() {
        group.set("cpu.shares", &SHARES.to_string())?;
    }
    Ok(group)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_say_the_same() {
        let said = |limit: Limit| (limit.v1().1, limit.v2().1);
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(
            said(Limit::CpuQuota(Some(40_000))),
            pair("40000", "40000 100000")
        );
        assert_eq!(said(Limit::CpuQuota(None)), pair("-1", "max 100000"));
        assert_eq!(said(Limit::CpuShares(8192)), pair("8192", "800"));
        assert_eq!(said(Limit::CpuShares(2)), pair("2", "1"));
        let reads = Limit::ReadsPerSecond("254:0".to_owned(), 300);
        assert_eq!(said(reads), pair("254:0 300", "254:0 riops=300"));
        let writes = Limit::WritesPerSecond("254:0".to_owned(), 200);
        assert_eq!(said(writes), pair("254:0 200", "254:0 wiops=200"));
        let bytes = Limit::BytesReadPerSecond("254:0".to_owned(), 4096);
        assert_eq!(said(bytes), pair("254:0 4096", "254:0 rbps=4096"));
    }
}
