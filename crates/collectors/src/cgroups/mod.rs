//! Control groups: where the hierarchies are mounted, which groups exist, and their sensors.
//!
//! Groups of the same path in several hierarchies are one entity; each of its sensors opens its files in the
//! hierarchy that has them.

mod group_walk;
mod lost_sensors;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::os::unix::fs::MetadataExt;

use crate::gaps::Gaps;
use crate::output::{Output, Recorded};
use crate::probe::{Presence, Probe, Scratch};
use crate::tick::Tick;
use group_walk::{MOST_GROUPS, walk};
use kernel::hierarchies::{Hierarchies, Mount};
use kernel::open_file::OpenFile;
use lost_sensors::Lost;
use model::{Entity, EntityId, EntityKind, GapReason, Part, Timestamp, sentence};

struct Group {
    entity: EntityId,
    /// The kernel's id of the v2 group: the inode of its folder.
    id: Option<u64>,
    /// The same in the v1 hierarchy that has the I/O controller, where there is one.
    io_id: Option<u64>,
    probes: Vec<Probe>,
    tracked: bool,
    /// Sensors of a tracked group that have stopped working.
    lost: Vec<Lost>,
    generation: u64,
}

impl Group {
    /// Opens lost sensors that work again.
    fn look_for_lost(
        &mut self,
        path: &str,
        hierarchies: &Hierarchies,
        now: Timestamp,
        gaps: &mut Gaps,
    ) {
        let Self { probes, lost, .. } = self;
        lost.retain(|lost| {
            let found = lost.find(hierarchies, path, self.entity, now, gaps);
            let stays = found.is_none();
            probes.extend(found);
            stays
        });
    }

    fn report_lost(&self, path: &str, now: Timestamp, gaps: &mut Gaps) {
        let lost = self.lost.iter();
        lost.for_each(|lost| lost.report(path, now, gaps));
    }

    fn finish(&mut self, out: &mut Output) {
        let probes = self.probes.iter_mut();
        probes.for_each(|probe| probe.finish(out));
    }
}

/// The machine's groups with their sensors.
pub(crate) struct Cgroups {
    hierarchies: Hierarchies,
    /// Hierarchies that some sensor reads.
    mounts: BTreeSet<Mount>,
    sensors: Vec<Recorded>,
    groups: BTreeMap<String, Group>,
    /// The v2 groups by the kernel's id.
    by_id: HashMap<u64, EntityId>,
    /// The groups of the v1 hierarchy that has the I/O controller, by the kernel's id.
    by_io_id: HashMap<u64, EntityId>,
    generation: u64,
    /// Reused buffer for paths.
    path: String,
    /// Number of unmeasured groups when that was last reported.
    beyond_reported: u64,
}

impl Cgroups {
    /// All groups, with these sensors.
    pub(crate) fn new(hierarchies: Hierarchies, sensors: Vec<Recorded>) -> Self {
        let sources = sensors.iter().flat_map(|it| it.sensor.sources);
        let mounts = sources
            .filter_map(|source| hierarchies.mount(source.hierarchy).cloned())
            .collect();
        Self {
            hierarchies,
            mounts,
            sensors,
            groups: BTreeMap::new(),
            by_id: HashMap::new(),
            by_io_id: HashMap::new(),
            generation: 0,
            path: String::with_capacity(256),
            beyond_reported: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.groups.len()
    }

    /// The v2 group with the kernel's id `id`.
    pub(crate) fn entity(&self, id: u64) -> Option<EntityId> {
        self.by_id.get(&id).copied()
    }

    /// The group with an id of the kernel's in the hierarchy that has the I/O controller.
    pub(crate) fn of_io(&self, id: u64) -> Option<EntityId> {
        match self.hierarchies.v1.contains_key("blkio") {
            true => self.by_io_id.get(&id).copied(),
            false => self.entity(id),
        }
    }

    /// Whether there is a v2 group at a path.
    pub(crate) fn is_v2(&self, path: &str) -> bool {
        self.groups
            .get(path)
            .is_some_and(|group| group.id.is_some())
    }

    /// Id, path and entity of the v2 groups of target and generator, and of their ancestors.
    pub(crate) fn tracked(&self) -> impl Iterator<Item = (u64, &str, EntityId)> {
        let tracked = self.groups.iter().filter(|(_, group)| group.tracked);
        tracked.filter_map(|(path, group)| Some((group.id?, path.as_str(), group.entity)))
    }

    /// Reports a gap if the pressure of the group at `path` is disabled.
    pub(crate) fn report_pressure_off(&self, path: &str, gaps: &mut Gaps) {
        report_pressure_off(&self.hierarchies, path, gaps);
    }

    /// Looks for new and removed groups; allocates only for new ones.
    pub(crate) fn scan(&mut self, now: Timestamp, out: &mut Output) {
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
        // Reported again only when it has doubled, because gaps are never removed.
        if beyond > 2 * self.beyond_reported {
            self.beyond_reported = beyond;
            let reason = GapReason::Dropped(beyond);
            out.gaps.report("cgroup_cpu", "groups", reason);
        }
        for path in newcomers {
            self.ensure(&path, now, out);
        }
        let (generation, hierarchies) = (self.generation, &self.hierarchies);
        let (by_id, by_io_id) = (&mut self.by_id, &mut self.by_io_id);
        self.groups.retain(|path, group| {
            // The walk leaves out groups that are nested too deeply; one may be known because a process is in
            // it.
            let alive = group.generation == generation || hierarchies.have(path);
            if !alive {
                group.report_lost(path, now, &mut out.gaps);
                group.finish(out);
                out.registry.vanish_with_parts(group.entity, now);
                group.id.and_then(|id| by_id.remove(&id));
                group.io_id.and_then(|id| by_io_id.remove(&id));
            }
            alive
        });
    }

    /// Looks whether lost sensors of tracked groups work again. However many groups there are, few are
    /// tracked, so this need not wait for a scan.
    pub(crate) fn look_for_lost(&mut self, now: Timestamp, gaps: &mut Gaps) {
        for (path, group) in &mut self.groups {
            group.look_for_lost(path, &self.hierarchies, now, gaps);
        }
    }

    /// The entity of the group at `path`; opens its sensors the first time.
    pub(crate) fn ensure(&mut self, path: &str, now: Timestamp, out: &mut Output) -> EntityId {
        if let Some(group) = self.groups.get(path) {
            return group.entity;
        }
        let name = path
            .rsplit('/')
            .find(|part| !part.is_empty())
            .unwrap_or("/");
        let group = Entity::new(EntityKind::Cgroup, name, path);
        let entity = out.registry.add(group, None, now);
        let id_in = |mount: Option<&Mount>| {
            let folder = mount.and_then(|it| it.folder(path));
            let folder = folder.and_then(|it| std::fs::metadata(it).ok());
            folder.map(|it| it.ino())
        };
        let id = id_in(self.hierarchies.v2.as_ref());
        let io_id = id_in(self.hierarchies.v1.get("blkio"));
        self.by_id.extend(id.map(|id| (id, entity)));
        self.by_io_id.extend(io_id.map(|id| (id, entity)));
        let mut probes = Vec::new();
        for recorded in &self.sensors {
            let sources = recorded.sensor.sources;
            let place = |source: usize| self.hierarchies.place(&sources[source], path);
            probes.extend(Probe::open(*recorded, entity, place, &mut out.gaps));
        }
        self.groups.insert(
            path.to_owned(),
            Group {
                entity,
                id,
                io_id,
                probes,
                tracked: false,
                lost: Vec::new(),
                generation: self.generation,
            },
        );
        entity
    }

    /// Marks the groups of target and generator and their ancestors, which are read more often.
    pub(crate) fn mark_tracked(
        &mut self,
        paths: impl Iterator<Item = impl AsRef<str>>,
        gaps: &mut Gaps,
    ) {
        for path in paths {
            let mut path = path.as_ref();
            loop {
                if let Some(group) = self.groups.get_mut(path) {
                    if !group.tracked {
                        report_pressure_off(&self.hierarchies, path, gaps);
                    }
                    group.tracked = true;
                    // The rule for most groups lets small changes pass unnoticed, which is not precise enough
                    // for these.
                    group
                        .probes
                        .iter_mut()
                        .for_each(|probe| probe.first_decides = false);
                }
                match path.rfind('/') {
                    Some(0) if path.len() > 1 => path = "/",
                    Some(end) if end > 0 => path = &path[..end],
                    _ => break,
                }
            }
        }
    }

    /// Reads the sensors that are due.
    pub(crate) fn sample(&mut self, tick: &Tick, scratch: &mut Scratch, out: &mut Output) {
        // At nine ticks of ten no untracked group is due: then they are not even iterated over.
        let mut all = self.sensors.iter();
        let any_background = all.any(|it| tick.reads(it.sensor, false));
        let hierarchies = &self.hierarchies;
        let (by_id, by_io_id) = (&mut self.by_id, &mut self.by_io_id);
        self.groups.retain(|path, group| {
            let tracked = group.tracked;
            if group.probes.is_empty() || (!tracked && !any_background) {
                return true;
            }
            let Group { probes, lost, .. } = group;
            let mut now = Timestamp::default();
            probes.retain_mut(|probe| {
                let due = tick.reads(probe.recorded().sensor, tracked)
                    && (tracked || !probe.skips_deadline(tick.look()));
                let gone = due && {
                    now = tick.stamp();
                    probe.sample(now, scratch, out) == Presence::Gone
                };
                if gone {
                    probe.finish(out);
                    // For an untracked group the end of its series says enough.
                    if tracked {
                        lost.push(Lost::new(probe, now));
                        report_pressure_off(hierarchies, path, &mut out.gaps);
                    }
                }
                !gone
            });
            // Without sensors the group is gone; it is added again if a scan finds it.
            let alive = !group.probes.is_empty();
            if !alive {
                group.report_lost(path, now, &mut out.gaps);
                out.registry.vanish_with_parts(group.entity, now);
                group.id.and_then(|id| by_id.remove(&id));
                group.io_id.and_then(|id| by_io_id.remove(&id));
            }
            alive
        });
    }

    /// The files that are kept open.
    pub(crate) fn files(&self) -> impl Iterator<Item = &OpenFile> {
        let probes = self.groups.values().flat_map(|group| &group.probes);
        probes.flat_map(Probe::files)
    }

    pub(crate) fn finish(&mut self, now: Timestamp, out: &mut Output) {
        for (path, group) in &mut self.groups {
            group.report_lost(path, now, &mut out.gaps);
            group.finish(out);
        }
    }
}

/// Reports a gap if a group's pressure is disabled (since 6.1): then its files do not exist, and descriptors
/// that were open before return nothing.
fn report_pressure_off(hierarchies: &Hierarchies, path: &str, gaps: &mut Gaps) {
    let Some(folder) = hierarchies.v2.as_ref().and_then(|it| it.folder(path)) else {
        return;
    };
    let switch = std::fs::read(folder.join("cgroup.pressure"));
    if switch.is_ok_and(|state| state.trim_ascii() == b"0") {
        // No command to copy: the group's owner chose its name, so it must not reach a shell.
        let group = Part::name(EntityKind::Cgroup, path);
        let sentence = sentence!(
            "pressure of {} is switched off: write 1 into its cgroup.pressure",
            group.clone()
        );
        let reason = GapReason::Unsupported(sentence);
        gaps.report("cgroup_pressure", group, reason);
    }
}

#[cfg(test)]
mod tests;
