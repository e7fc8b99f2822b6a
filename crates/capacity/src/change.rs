//! A limit of a group that is changed for a while, and put back.

use std::path::{Path, PathBuf};

use kernel::Hierarchies;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::group::write;

/// What is written to lower a capacity, and what to put it back.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Change {
    pub(crate) steps: Vec<Step>,
}

/// A file of a group.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Step {
    pub(crate) path: PathBuf,
    pub(crate) lowered: String,
    pub(crate) before: String,
}

impl Change {
    /// Lowers it.
    ///
    /// # Errors
    /// The kernel refuses it; what was written before that stays, and is put back by `restore`.
    pub fn apply(&self) -> Result<(), Error> {
        let mut steps = self.steps.iter();
        steps.try_for_each(|it| write(&it.path, &it.lowered))
    }

    /// Puts back what was there. A group that is gone needs nothing.
    ///
    /// # Errors
    /// The first file that the kernel refuses; the others are written all the same.
    pub fn restore(&self) -> Result<(), Error> {
        let mut result = Ok(());
        for step in self.steps.iter().rev() {
            if step.path.exists() {
                result = result.and(write(&step.path, &step.before));
            }
        }
        result
    }

    /// The group, where it is still there.
    pub fn group(&self) -> Option<&Path> {
        self.steps
            .first()
            .and_then(|it| it.path.parent())
            .filter(|it| it.exists())
    }

    /// Whether it writes to nothing but limits of groups: a journal that says otherwise is none of ours.
    pub(crate) fn is_of_groups(&self, hierarchies: &Hierarchies) -> bool {
        let mounts = hierarchies.v1.values().chain(hierarchies.v2.as_ref());
        let points: Vec<&Path> = mounts.map(|it| it.point.as_path()).collect();
        self.steps.iter().all(|it| {
            let name = it.path.file_name().and_then(|it| it.to_str());
            let is_below = points.iter().any(|point| it.path.starts_with(point));
            let is_plain = !it.path.components().any(|part| part.as_os_str() == "..");
            is_below && is_plain && name.is_some_and(|it| FILES.contains(&it))
        })
    }
}

/// Every file that a change may write.
const FILES: &[&str] = &[
    "cpu.cfs_period_us",
    "cpu.cfs_quota_us",
    "cpu.max",
    "blkio.throttle.read_iops_device",
    "blkio.throttle.write_iops_device",
    "blkio.throttle.read_bps_device",
    "blkio.throttle.write_bps_device",
    "cpuset.cpus",
    "io.max",
    "memory.limit_in_bytes",
    "memory.high",
];
