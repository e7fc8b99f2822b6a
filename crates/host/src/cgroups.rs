//! The control groups: where the hierarchies are mounted, which groups exist, and their sensors.
//!
//! The v2 root is found from mountinfo, since hybrid layouts mount it anywhere. Groups of one path in
//! several hierarchies are one entity, and each of its sensors opens its sources wherever they are.

mod lost;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use model::{Entity, EntityId, EntityKind, GapReason, Timestamp, bytes_of, name_of};
use sensors::{Hierarchy, Scope, Sensor, Source};

use crate::gaps::Gaps;
use crate::group_walk::walk;
use crate::intake::Intake;
use crate::kept_file::KeptFile;
use crate::probe::{Presence, Probe, Scratch};
use crate::registry::Registry;
use lost::Lost;

/// Groups beyond this many are not measured; the gap says so.
pub(crate) const MOST_GROUPS: usize = 10_000;

/// A mounted hierarchy.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Mount {
    /// Where it is mounted.
    pub point: PathBuf,
    /// The group that stands there: `/`, or a container's own, whose processes still name their
    /// groups from the true root.
    pub root: String,
}

impl Mount {
    /// The folder of the group at `path`; `None` for a group that is not below this mount: a process
    /// outside of our own cgroup namespace is shown at `/../...` (cgroup_namespaces(7)).
    pub(crate) fn folder(&self, path: &str) -> Option<PathBuf> {
        let inside = path.strip_prefix(self.root.trim_end_matches('/'))?;
        if inside.split('/').any(|part| part == "..") {
            return None;
        }
        (inside.is_empty() || inside.starts_with('/'))
            .then(|| below(&self.point, &bytes_of(inside)))
    }
}

/// Where the cgroup hierarchies are mounted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Hierarchies {
    /// The unified hierarchy.
    pub v2: Option<Mount>,
    /// The v1 hierarchies by controller.
    pub v1: BTreeMap<String, Mount>,
}

impl Hierarchies {
    /// Finds the mounts in the text of /proc/self/mountinfo (proc(5)); paths are below `root`.
    pub fn from_mountinfo(text: &[u8], root: &Path) -> Self {
        let mut found = Self::default();
        for line in text.split(|byte| *byte == b'\n') {
            let line = name_of(line);
            let Some((left, right)) = line.split_once(" - ") else {
                continue;
            };
            let mut right = right.split(' ');
            let (kind, options) = (
                right.next().unwrap_or_default(),
                right.nth(1).unwrap_or_default(),
            );
            let left: Vec<&str> = left.split(' ').collect();
            // A bind mount of a sub-tree is not the hierarchy's root, unless we are in a container,
            // where it is all that there is: the first mount of each kind wins.
            let (Some(group), Some(point)) = (left.get(3), left.get(4)) else {
                continue;
            };
            let mount = Mount {
                point: below(root, &bytes_of(&unescape(point))),
                root: unescape(group),
            };
            match kind {
                "cgroup2" if found.v2.is_none() => found.v2 = Some(mount),
                "cgroup" => {
                    for option in options
                        .split(',')
                        .filter(|option| CONTROLLERS.contains(option))
                    {
                        found
                            .v1
                            .entry(option.to_owned())
                            .or_insert_with(|| mount.clone());
                    }
                }
                _ => {}
            }
        }
        found
    }

    /// Every mount point.
    pub fn mounts(&self) -> Vec<PathBuf> {
        let all = self.v2.iter().chain(self.v1.values());
        let mut mounts: Vec<_> = all.map(|mount| mount.point.clone()).collect();
        mounts.dedup();
        mounts
    }

    /// `v1`, `v2`, `hybrid` or `none`.
    pub fn layout(&self) -> &'static str {
        match (&self.v2, self.v1.is_empty()) {
            (Some(_), true) => "v2",
            (Some(_), false) => "hybrid",
            (None, false) => "v1",
            (None, true) => "none",
        }
    }

    fn mount(&self, hierarchy: Hierarchy) -> Option<&Mount> {
        match hierarchy {
            Hierarchy::None => None,
            Hierarchy::V2 => self.v2.as_ref(),
            Hierarchy::V1(controller) => self.v1.get(controller),
        }
    }

    /// Whether a group is there, in any of them.
    fn have(&self, group: &str) -> bool {
        let mut mounts = self.v2.iter().chain(self.v1.values());
        mounts.any(|mount| mount.folder(group).is_some_and(|folder| folder.is_dir()))
    }

    fn place(&self, source: &Source, group: &str) -> Option<PathBuf> {
        let folder = self.mount(source.hierarchy)?.folder(group)?;
        // A group need not exist in every hierarchy.
        Some(folder.join(source.path))
    }
}

/// The v1 controllers that some sensor reads, now or in a verdict.
const CONTROLLERS: [&str; 6] = ["cpu", "cpuacct", "cpuset", "memory", "blkio", "pids"];

/// Where a process is in each hierarchy that some sensor reads; a controller that has no v1
/// hierarchy lives in v2.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Placement<T> {
    /// In v1 cpu.
    pub cpu: Option<T>,
    /// In v1 memory.
    pub memory: Option<T>,
    /// In v1 blkio.
    pub io: Option<T>,
    /// In v2.
    pub v2: Option<T>,
}

impl<T> Placement<T> {
    /// The same places by another name.
    pub fn map<U>(self, mut to: impl FnMut(T) -> U) -> Placement<U> {
        Placement {
            cpu: self.cpu.map(&mut to),
            memory: self.memory.map(&mut to),
            io: self.io.map(&mut to),
            v2: self.v2.map(&mut to),
        }
    }
}

/// The groups of a process, from the text of its /proc/PID/cgroup. A group's name may hold any byte but
/// a line's end, which the kernel refuses (cgroup_mkdir).
pub fn groups_of(text: &[u8]) -> Placement<&[u8]> {
    let mut found = Placement::default();
    for line in text.split(|byte| *byte == b'\n') {
        let mut fields = line.splitn(3, |byte| *byte == b':');
        let (number, controllers, path) = (
            fields.next(),
            fields.next().unwrap_or_default(),
            fields.next(),
        );
        let Some(path) = path else { continue };
        if number == Some(b"0") && controllers.is_empty() {
            found.v2 = Some(path);
        }
        for controller in controllers.split(|byte| *byte == b',') {
            match controller {
                b"cpu" => found.cpu = Some(path),
                b"memory" => found.memory = Some(path),
                b"blkio" => found.io = Some(path),
                _ => {}
            }
        }
    }
    found
}

fn below(root: &Path, path: &[u8]) -> PathBuf {
    let inside = path.iter().position(|byte| *byte != b'/');
    root.join(OsStr::from_bytes(&path[inside.unwrap_or(path.len())..]))
}

/// mountinfo writes space, tab, line end and backslash as octal.
pub(crate) fn unescape(text: &str) -> String {
    text.replace("\\040", " ")
        .replace("\\011", "\t")
        .replace("\\012", "\n")
        .replace("\\134", "\\")
}

struct Group {
    entity: EntityId,
    /// The kernel's number of the v2 group: its folder's inode.
    id: Option<u64>,
    probes: Vec<(usize, Probe)>,
    near: bool,
    /// What is not seen of a near group any more.
    lost: Vec<Lost>,
    generation: u64,
}

impl Group {
    /// Opens again what came back.
    fn look_for_lost(
        &mut self,
        path: &str,
        hierarchies: &Hierarchies,
        now: Timestamp,
        gaps: &mut Gaps,
    ) {
        let Self { probes, lost, .. } = self;
        lost.retain(|lost| {
            let found = lost.find(hierarchies, (path, self.entity), now, gaps);
            let stays = found.is_none();
            probes.extend(found);
            stays
        });
    }

    fn tell_lost(&self, path: &str, now: Timestamp, gaps: &mut Gaps) {
        let lost = self.lost.iter();
        lost.for_each(|lost| lost.tell(path, now, gaps));
    }

    fn finish(&mut self, intakes: &mut [Intake]) {
        let probes = self.probes.iter_mut();
        probes.for_each(|(sensor, probe)| probe.finish(&mut intakes[*sensor]));
    }
}

/// The groups of the machine with their sensors.
pub(crate) struct Cgroups {
    hierarchies: Hierarchies,
    /// Those of them that some sensor reads.
    mounts: BTreeSet<Mount>,
    sensors: Vec<(usize, &'static Sensor)>,
    groups: BTreeMap<String, Group>,
    /// The v2 groups by the kernel's number.
    by_id: HashMap<u64, EntityId>,
    generation: u64,
    /// Where a path is put together.
    path: String,
    /// Groups beyond the most, when that was last said.
    beyond_said: u64,
}

impl Cgroups {
    /// The groups with those of their sensors that `wanted` picks.
    pub(crate) fn new(hierarchies: Hierarchies, wanted: impl Fn(&Sensor) -> bool) -> Self {
        let all = sensors::all().iter().copied().enumerate();
        let of_groups = all.filter(|(_, sensor)| sensor.scope == Scope::Cgroup);
        let sensors: Vec<_> = of_groups.filter(|(_, sensor)| wanted(sensor)).collect();
        let sources = sensors.iter().flat_map(|(_, sensor)| sensor.sources);
        let mounts = sources
            .filter_map(|source| hierarchies.mount(source.hierarchy).cloned())
            .collect();
        Self {
            hierarchies,
            mounts,
            sensors,
            groups: BTreeMap::new(),
            by_id: HashMap::new(),
            generation: 0,
            path: String::with_capacity(256),
            beyond_said: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.groups.len()
    }

    /// The v2 group that the kernel calls by this number.
    pub(crate) fn entity(&self, id: u64) -> Option<EntityId> {
        self.by_id.get(&id).copied()
    }

    /// The v2 groups of target and generator, and those above them: the kernel's numbers.
    pub(crate) fn near(&self) -> impl Iterator<Item = (u64, EntityId)> {
        let near = self.groups.values().filter(|group| group.near);
        near.filter_map(|group| Some((group.id?, group.entity)))
    }

    /// Looks for groups that came and went; allocates only for those that came.
    pub(crate) fn scan(
        &mut self,
        now: Timestamp,
        scratch: &mut Scratch,
        intakes: &mut [Intake],
        registry: &mut Registry,
    ) {
        self.generation += 1;
        let (mut newcomers, mut beyond) = (BTreeSet::new(), 0);
        let Self {
            mounts,
            groups,
            generation,
            path,
            ..
        } = self;
        for mount in &*mounts {
            path.clear();
            path.push_str(&mount.root);
            walk(&mount.point, path, &mut |path| {
                if let Some(group) = groups.get_mut(path) {
                    group.generation = *generation;
                } else if groups.len() + newcomers.len() < MOST_GROUPS {
                    newcomers.insert(path.to_owned());
                } else {
                    beyond += u64::from(!newcomers.contains(path));
                }
            });
        }
        // Said anew when it has doubled: each gap is kept.
        if beyond > 2 * self.beyond_said {
            self.beyond_said = beyond;
            let reason = GapReason::Dropped(beyond);
            scratch.gaps.say("cgroup_cpu", "groups", reason);
        }
        for path in newcomers {
            self.ensure(&path, now, scratch, registry);
        }
        let (generation, hierarchies) = (self.generation, &self.hierarchies);
        let by_id = &mut self.by_id;
        self.groups.retain(|path, group| {
            // The walk passes over what lies too deep; a process may have led there.
            let alive = group.generation == generation || hierarchies.have(path);
            if !alive {
                group.tell_lost(path, now, &mut scratch.gaps);
                group.finish(intakes);
                registry.vanish_with_parts(group.entity, now);
                group.id.and_then(|id| by_id.remove(&id));
            }
            alive
        });
    }

    /// Looks for what target and generator showed and show no more. However many groups there are,
    /// few of them are near: this need not wait for a scan.
    pub(crate) fn look_for_lost(&mut self, now: Timestamp, gaps: &mut Gaps) {
        for (path, group) in &mut self.groups {
            group.look_for_lost(path, &self.hierarchies, now, gaps);
        }
    }

    /// The entity of the group at `path`, with its sensors opened if this is the first time.
    pub(crate) fn ensure(
        &mut self,
        path: &str,
        now: Timestamp,
        scratch: &mut Scratch,
        registry: &mut Registry,
    ) -> EntityId {
        if let Some(group) = self.groups.get(path) {
            return group.entity;
        }
        let name = path
            .rsplit('/')
            .find(|part| !part.is_empty())
            .unwrap_or("/");
        let entity = registry.add(Entity::new(EntityKind::Cgroup, name, path), None, now);
        let folder = self.hierarchies.v2.as_ref().and_then(|it| it.folder(path));
        let id = folder.and_then(|it| std::fs::metadata(it).ok()).map(|it| it.ino());
        self.by_id.extend(id.map(|id| (id, entity)));
        let mut probes = Vec::new();
        for (index, sensor) in &self.sensors {
            let place = |source: usize| self.hierarchies.place(&sensor.sources[source], path);
            if let Some(probe) = Probe::open(sensor, entity, place, &mut scratch.gaps) {
                probes.push((*index, probe));
            }
        }
        self.groups.insert(
            path.to_owned(),
            Group {
                entity,
                id,
                probes,
                near: false,
                lost: Vec::new(),
                generation: self.generation,
            },
        );
        entity
    }

    /// Marks the groups that hold target or generator, and all groups above them: read more often.
    pub(crate) fn mark_near(
        &mut self,
        paths: impl Iterator<Item = impl AsRef<str>>,
        gaps: &mut Gaps,
    ) {
        for path in paths {
            let mut path = path.as_ref();
            loop {
                if let Some(group) = self.groups.get_mut(path) {
                    if !group.near {
                        say_pressure_off(&self.hierarchies, path, gaps);
                    }
                    group.near = true;
                    // What decides for most groups lets a little slip: too much for these.
                    group
                        .probes
                        .iter_mut()
                        .for_each(|(_, probe)| probe.first_decides = false);
                }
                match path.rfind('/') {
                    Some(0) if path.len() > 1 => path = "/",
                    Some(end) if end > 0 => path = &path[..end],
                    _ => break,
                }
            }
        }
    }

    /// Reads the sensors for which `due(sensor, near)` holds.
    pub(crate) fn sample(
        &mut self,
        stamp: &mut dyn FnMut() -> Timestamp,
        due: &dyn Fn(&Sensor, bool) -> bool,
        scratch: &mut Scratch,
        intakes: &mut [Intake],
        registry: &mut Registry,
    ) {
        // Nothing of the many groups is due at nine ticks of ten: they are not even walked over.
        let any_rest = self.sensors.iter().any(|(_, sensor)| due(sensor, false));
        let (hierarchies, by_id) = (&self.hierarchies, &mut self.by_id);
        self.groups.retain(|path, group| {
            let near = group.near;
            if group.probes.is_empty() || (!near && !any_rest) {
                return true;
            }
            let Group { probes, lost, .. } = group;
            let mut now = Timestamp::default();
            probes.retain_mut(|(sensor, probe)| {
                let due =
                    due(sensors::all()[*sensor], near) && (near || !probe.rests(scratch.look));
                let gone = due && {
                    now = stamp();
                    probe.sample(now, scratch, &mut intakes[*sensor], registry) == Presence::Gone
                };
                if gone {
                    probe.finish(&mut intakes[*sensor]);
                    // Of a group that is gone its end says enough.
                    if near {
                        lost.push(Lost::new(*sensor, probe, now));
                        say_pressure_off(hierarchies, path, &mut scratch.gaps);
                    }
                }
                !gone
            });
            // Nothing of it is left: it is gone, whenever groups are next looked for.
            let alive = !group.probes.is_empty();
            if !alive {
                group.tell_lost(path, now, &mut scratch.gaps);
                registry.vanish_with_parts(group.entity, now);
                group.id.and_then(|id| by_id.remove(&id));
            }
            alive
        });
    }

    /// The files that are kept open.
    pub(crate) fn files(&self) -> impl Iterator<Item = &KeptFile> {
        let probes = self.groups.values().flat_map(|group| &group.probes);
        probes.flat_map(|(_, probe)| probe.files())
    }

    pub(crate) fn finish(&mut self, now: Timestamp, gaps: &mut Gaps, intakes: &mut [Intake]) {
        for (path, group) in &mut self.groups {
            group.tell_lost(path, now, gaps);
            group.finish(intakes);
        }
    }
}

/// Says so where a group's pressure is switched off (since 6.1): its files are then not there, and those
/// that are held open read nothing any more.
fn say_pressure_off(hierarchies: &Hierarchies, path: &str, gaps: &mut Gaps) {
    let Some(folder) = hierarchies.v2.as_ref().and_then(|it| it.folder(path)) else {
        return;
    };
    let switch = std::fs::read(folder.join("cgroup.pressure"));
    if switch.is_ok_and(|state| state.trim_ascii() == b"0") {
        // No command to copy: the name is its owner's to choose.
        let sentence =
            format!("pressure of {path} is switched off: write 1 into its cgroup.pressure");
        gaps.say("cgroup_pressure", path, GapReason::Unsupported(sentence));
    }
}

#[cfg(test)]
mod tests;
