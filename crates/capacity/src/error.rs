//! What went wrong with a group, for the person who reads it.

use std::io;
use std::path::PathBuf;

use crate::Controller;

/// A group could not be made, set or removed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No hierarchy has the controller.
    #[error(
        "no cgroup hierarchy of this machine has the controller {0}: `grep cgroup /proc/mounts` shows those that are mounted"
    )]
    NoController(Controller),
    /// The folder of a group could not be made.
    #[error("cannot make the cgroup {path}: {source}{}", remedy(source))]
    Make {
        /// The folder.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// A file of a group could not be written.
    #[error("cannot write `{value}` to {path}: {source}{}", remedy(source))]
    Set {
        /// The file.
        path: PathBuf,
        /// What was written.
        value: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// A file of a group could not be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// The kernel took another value than the one that was written.
    #[error("{path} has `{found}` after `{value}` was written to it")]
    Differs {
        /// The file.
        path: PathBuf,
        /// What was written.
        value: String,
        /// What stands there.
        found: String,
    },
    /// A group could not be removed.
    #[error(
        "cannot remove the cgroup {path}: {source}. When its processes have ended: rmdir {path}"
    )]
    Remove {
        /// The folder.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// A process is in the root of a hierarchy, whose capacity is the machine's.
    #[error(
        "process {pid} is in no group of its own with the controller {controller}. Start it as a service, or move it: mkdir {root}/prove && echo {pid} > {root}/prove/cgroup.procs"
    )]
    InRoot {
        /// The process.
        pid: u32,
        /// What has no group of it.
        controller: Controller,
        /// Where the hierarchy is mounted.
        root: PathBuf,
    },
    /// A group may use less than it was to be given.
    #[error(
        "the cgroup {group} may use no more than {has}, and no limit is raised here: set it higher yourself, or leave higher values out"
    )]
    Raises {
        /// The group.
        group: PathBuf,
        /// What it may use.
        has: String,
    },
    /// What has to be put back cannot be written down where nobody else can write.
    #[error("cannot keep a journal in {path}: {why}")]
    Journal {
        /// Its folder or its file.
        path: PathBuf,
        /// A clause.
        why: String,
    },
    /// A process could not be stopped or resumed.
    #[error("cannot {what} process {pid}: {source}")]
    Signal {
        /// `stop`, `resume`.
        what: &'static str,
        /// The process.
        pid: u32,
        /// What the kernel said.
        source: io::Error,
    },
    /// There is no disk whose requests could be limited.
    #[error("no disk is in /sys/block, so that no limit of disk requests can be set")]
    NoDisk,
}

fn remedy(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::PermissionDenied => {
            ". Changing cgroups needs root, or a group that was delegated to you"
        }
        io::ErrorKind::ReadOnlyFilesystem => ". In a container cgroups are often mounted read-only",
        _ => "",
    }
}
