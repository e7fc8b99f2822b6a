//! The processes of a named cgroup, in all hierarchies that have it.
//!
//! On hybrid machines a group may exist in several hierarchies and have processes in only one of them.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use model::bytes_of;

use super::error::Error;

/// Deepest nesting that is searched: systemd's user sessions reach six.
const DEEPEST: usize = 8;

/// The processes of the group at that path below each mount, and of its subgroups.
pub(super) fn pids_at(mounts: &[PathBuf], path: &str) -> Result<BTreeSet<u32>, Error> {
    let relative = path.trim_start_matches('/');
    let climbs = relative.split('/').any(|part| part == "..");
    let relative = bytes_of(relative);
    let relative = OsStr::from_bytes(&relative);
    let places = mounts
        .iter()
        .map(|mount| mount.join(relative))
        .filter(|place| place.is_dir());
    let groups: Vec<PathBuf> = if climbs { Vec::new() } else { places.collect() };
    if groups.is_empty() {
        let searched: Vec<String> = mounts
            .iter()
            .map(|mount| mount.display().to_string())
            .collect();
        let mounts = match searched.as_slice() {
            [] => "no cgroup hierarchy is mounted".to_owned(),
            searched => format!("looked below {}", searched.join(", ")),
        };
        return Err(Error::NoCgroup {
            path: path.to_owned(),
            mounts,
        });
    }
    pids_in(&groups, path)
}

/// The processes of a unit: of the groups named `name`, `name.service` or `name.scope`.
pub(super) fn pids_of_unit(mounts: &[PathBuf], name: &str) -> Result<BTreeSet<u32>, Error> {
    let names = ["", ".service", ".scope"].map(|kind| format!("{name}{kind}"));
    let mut groups = Vec::new();
    for mount in mounts {
        walk(mount, DEEPEST, &mut |group| {
            let last = group.file_name().and_then(|last| last.to_str());
            let found = last.is_some_and(|last| names.iter().any(|name| name == last));
            if found {
                groups.push(group.to_owned());
            }
            // Subgroups of the unit have been taken in already.
            !found
        });
    }
    if groups.is_empty() {
        return Err(Error::NoUnit {
            name: name.to_owned(),
        });
    }
    pids_in(&groups, name)
}

fn pids_in(groups: &[PathBuf], path: &str) -> Result<BTreeSet<u32>, Error> {
    let mut pids = BTreeSet::new();
    let mut take = |group: &Path| {
        // Absent or refused for threaded groups; their subgroups may still be readable.
        let text = fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
        // 0 is a process that this PID namespace cannot name.
        pids.extend(
            text.lines()
                .filter_map(|line| line.parse::<u32>().ok())
                .filter(|&pid| pid != 0),
        );
        true
    };
    for group in groups {
        take(group);
        walk(group, DEEPEST, &mut take);
    }
    if pids.is_empty() {
        Err(Error::EmptyCgroup {
            path: path.to_owned(),
        })
    } else {
        Ok(pids)
    }
}

/// Visits the folders in `folder`; descends into those for which `visit` is true.
fn walk(folder: &Path, depth: usize, visit: &mut dyn FnMut(&Path) -> bool) {
    let Some(deeper) = depth.checked_sub(1) else {
        return;
    };
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        // Links are not followed: `file_type` does not resolve them.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) && visit(&entry.path()) {
            walk(&entry.path(), deeper, visit);
        }
    }
}
