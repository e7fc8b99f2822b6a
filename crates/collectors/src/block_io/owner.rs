//! For whom a device works: what people call it, and whose part it is.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use model::{Entity, EntityId, EntityKind, Timestamp, name_of};
use rustix::fs::{CWD, readlinkat_raw};

use crate::output::Output;
use crate::registry::MACHINE;
use crate::scene::Scene;
use kernel::bpf::block::{Account, Scope};

use super::word;

/// The name of a link's target in /sys is not longer.
const MOST_PATH: usize = 4_096;

/// One for whom a device works, to be added.
pub(super) struct Owner {
    pub(super) scope: Scope,
    pub(super) entity: Entity,
    pub(super) parent: Option<EntityId>,
    /// Whether its process or group was not known yet.
    pub(super) is_nameless: bool,
}

/// Disks by their numbers.
#[derive(Default)]
pub(super) struct Disks {
    names: HashMap<u32, String>,
    /// Streams so far: their paths differ by it.
    streams: u64,
}

impl Disks {
    /// Whom an account is for; `None` if its disk is unknown.
    pub(super) fn owner(
        &mut self,
        account: &Account,
        scope: Scope,
        scene: &Scene,
        now: Timestamp,
        out: &mut Output,
    ) -> Option<Owner> {
        let device = account.key.device;
        let (major, minor) = (device >> 20, device & 0xf_ffff);
        let disk = match self.names.entry(device) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(disk_name(major, minor)?),
        };
        let (name, parent) = match scope {
            Scope::Device => (disk.clone(), None),
            Scope::Journal => ("journal".to_owned(), None),
            Scope::Metadata => ("metadata".to_owned(), None),
            Scope::File { inode, .. } => (format!("inode {inode}"), None),
            Scope::Process(0) | Scope::Unnamed(0) => ("kernel threads".to_owned(), None),
            Scope::Process(_) | Scope::Unnamed(_) | Scope::Cgroup(_) => {
                match found_later(scope, scene, out) {
                    Some((name, parent)) => (name, Some(parent)),
                    None => (number(scope), None),
                }
            }
        };
        let is_part = matches!(
            scope,
            Scope::Process(1..) | Scope::Unnamed(1..) | Scope::Cgroup(_)
        );
        let is_nameless = parent.is_none() && is_part;
        let disk = || out.registry.part(EntityKind::Disk, disk, MACHINE, now);
        let parent = parent.unwrap_or_else(disk);
        self.streams += 1;
        let operation = word(account.key.operation);
        let path = format!("{major}:{minor}/{operation}/{}", self.streams);
        Some(Owner {
            scope,
            entity: Entity::new(EntityKind::BlockStream, name, path),
            parent: Some(parent),
            is_nameless,
        })
    }
}

/// The name and entity of a process or group, once that is known.
pub(super) fn found_later(scope: Scope, scene: &Scene, out: &Output) -> Option<(String, EntityId)> {
    let owner = match scope {
        Scope::Process(pid) | Scope::Unnamed(pid) => scene.processes.entity(pid)?,
        Scope::Cgroup(id) => scene.cgroups.of_io(id)?,
        _ => return None,
    };
    let entity = &out.registry.get(owner)?.entity;
    let name = match scope {
        Scope::Cgroup(_) => &entity.path,
        _ => &entity.name,
    };
    Some((name.clone(), owner))
}

fn number(scope: Scope) -> String {
    match scope {
        Scope::Cgroup(id) => format!("control group {id}"),
        Scope::Process(pid) | Scope::Unnamed(pid) => format!("pid {pid}"),
        _ => String::new(),
    }
}

/// As /proc/diskstats calls it: the last part of its link in /sys, where a slash is an exclamation mark.
fn disk_name(major: u32, minor: u32) -> Option<String> {
    let mut room = [std::mem::MaybeUninit::<u8>::uninit(); MOST_PATH];
    let path = format!("/sys/dev/block/{major}:{minor}");
    let (link, _) = readlinkat_raw(CWD, path, &mut room).ok()?;
    let name = link.rsplit(|byte| *byte == b'/').next()?;
    Some(name_of(name).replace('!', "/"))
}
