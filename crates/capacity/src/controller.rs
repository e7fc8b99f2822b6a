//! The controllers of cgroups that capacities are set with.

use std::fmt;

/// A controller.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Controller {
    /// CPU time: quota.
    Cpu,
    /// Which CPUs.
    Cpuset,
    /// Memory.
    Memory,
    /// Disk requests.
    Io,
}

impl Controller {
    /// All.
    pub const ALL: [Controller; 4] = [Self::Cpu, Self::Cpuset, Self::Memory, Self::Io];

    /// Its name among the v1 hierarchies (cgroups(7)).
    pub const fn in_v1(self) -> &'static str {
        match self {
            Self::Io => "blkio",
            other => other.in_v2(),
        }
    }

    /// Its name in `cgroup.controllers` (kernel, Documentation/admin-guide/cgroup-v2.rst).
    pub const fn in_v2(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Cpuset => "cpuset",
            Self::Memory => "memory",
            Self::Io => "io",
        }
    }
}

impl fmt::Display for Controller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.in_v2())
    }
}
