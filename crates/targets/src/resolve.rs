//! From a target specification to the processes that it means.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use regex::Regex;

use super::error::Error;
use super::inet::{Namespace, TcpSocket, here};
use super::listeners::{listeners, listening_here};
use super::owners::Owners;
use super::spec::TargetSpec;
use kernel::process_list;

use super::cgroups;

/// The roots of the process trees that a target specification means.
///
/// Never a process in `exclude`: the recorder itself, the load generator.
pub fn resolve(
    proc: &Path,
    cgroup_mounts: &[PathBuf],
    spec: &TargetSpec,
    exclude: &HashSet<u32>,
) -> Result<Vec<u32>, Error> {
    let excluded = |pid: &u32| exclude.contains(pid);
    let meant: BTreeSet<u32> = match spec {
        TargetSpec::Port(port) => holders_of_port(proc, *port)?,
        TargetSpec::Cgroup(path) => cgroups::pids_at(cgroup_mounts, path)?,
        TargetSpec::Unit(name) => cgroups::pids_of_unit(cgroup_mounts, name)?,
        TargetSpec::Pid(pid) => BTreeSet::from([alive(proc, *pid)?]),
        TargetSpec::Name(pattern) => named(proc, pattern, &excluded)?,
    };
    let meant: BTreeSet<u32> = meant.into_iter().filter(|pid| !excluded(pid)).collect();
    if meant.is_empty() {
        return Err(Error::Measuring {
            spec: spec.to_string(),
        });
    }
    match spec {
        // A cgroup names each of its processes, related or not.
        TargetSpec::Cgroup(_) | TargetSpec::Unit(_) => Ok(meant.into_iter().collect()),
        _ => Ok(process_list::topmost(&process_list::all(proc), &meant)),
    }
}

fn holders_of_port(proc: &Path, port: u16) -> Result<BTreeSet<u32>, Error> {
    let namespace = Namespace::read(here(proc));
    let listening: Vec<&TcpSocket> = namespace
        .listening_sockets()
        .filter(|socket| socket.local.port() == port)
        .collect();
    let Some(first) = listening.first() else {
        let others = listeners(proc);
        let other = others.iter().find_map(|listener| listener.port);
        return Err(Error::NoListener {
            port,
            listening: listening_here(&others),
            other,
        });
    };
    let owners = Owners::find(proc, &listening.iter().map(|socket| socket.inode).collect());
    let pids: BTreeSet<u32> = owners.pids_by_inode.values().flatten().copied().collect();
    match (pids.is_empty(), owners.some_denied) {
        (false, _) => Ok(pids),
        (true, true) => Err(Error::HiddenListener {
            port,
            uid: first.uid,
        }),
        (true, false) => Err(Error::InvisibleListener { port }),
    }
}

/// The process with this pid, or that of the thread with this tid. A zombie does not count as alive.
fn alive(proc: &Path, pid: u32) -> Result<u32, Error> {
    let process = process_list::process_of(proc, pid).and_then(|pid| process_list::read(proc, pid));
    process
        .filter(|process| !process.zombie)
        .map(|process| process.pid)
        .ok_or(Error::NotAlive { pid })
}

/// The processes whose name matches the pattern. The kernel's name is cut at 15 bytes, and threads rename it;
/// servers that show a title rewrite `argv[0]`: either may match.
fn named(
    proc: &Path,
    pattern: &Regex,
    excluded: &dyn Fn(&u32) -> bool,
) -> Result<BTreeSet<u32>, Error> {
    let matches = |process: &process_list::Process| {
        pattern.is_match(&process.comm)
            || process_list::program_name(proc, process.pid)
                .is_some_and(|name| pattern.is_match(&name))
    };
    let found: BTreeSet<u32> = process_list::all(proc)
        .values()
        .filter(|process| !process.zombie && !excluded(&process.pid) && matches(process))
        .map(|process| process.pid)
        .collect();
    if found.is_empty() {
        Err(Error::NoMatch {
            pattern: pattern.to_string(),
        })
    } else {
        Ok(found)
    }
}
