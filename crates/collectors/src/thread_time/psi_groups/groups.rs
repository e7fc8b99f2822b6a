//! Control groups for which the kernel counts no pressure: those of v1 hierarchies, and all if it counts
//! none. For a process, the group that limits its CPU time counts; without one, its memory's, else its I/O's.
//!
//! All processes of such a group are counted, background ones too.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use model::{EntityId, EntityRecord, Timestamp};

use super::places::{Kind, Places};
use crate::cgroups::Cgroups;
use crate::output::Output;
use crate::registry::Registry;
use kernel::bpf::thread_time::ThreadTime;

/// The PSI groups of a tracked process.
pub(super) struct Member {
    pub(super) entity: EntityId,
    /// Place of its service's group.
    pub(super) service: usize,
    /// The control group of these that is counted here.
    pub(super) group: Option<EntityId>,
    /// All its control groups when that was decided.
    pub(super) placed: [Option<EntityId>; 3],
}

struct Group {
    path: String,
    place: usize,
    /// Place of the nearest ancestor that has one.
    around: Option<usize>,
    /// Whether a tracked process is in it.
    is_used: bool,
}

/// Control groups with a PSI group of their own.
#[derive(Default)]
pub(super) struct Groups(HashMap<EntityId, Group>);

impl Groups {
    /// Finds the groups of processes, and which of these have no pressure from elsewhere.
    pub(super) fn follow<'a>(
        &mut self,
        now: Timestamp,
        members: impl Iterator<Item = &'a mut Member>,
        programs: &ThreadTime,
        places: &mut Places,
        cgroups: &Cgroups,
        out: &mut Output,
    ) {
        let Output { registry, gaps, .. } = &mut *out;
        self.0.values_mut().for_each(|group| group.is_used = false);
        let (before, mut changed) = (self.0.len(), false);
        for member in members {
            let Some(record) = registry.get(member.entity) else {
                continue;
            };
            let placed = [record.group, record.memory_group, record.io_group];
            if std::mem::replace(&mut member.placed, placed) != placed {
                let mut all = placed.into_iter().flatten();
                let counts = programs.counts_pressure();
                member.group = all.find(|it| counts_here(*it, counts, cgroups, registry));
            }
            let Some(entity) = member.group else { continue };
            let group = match self.0.entry(entity) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(free) => {
                    let Some(path) = registry.get(entity).map(|it| it.entity.path.clone()) else {
                        continue;
                    };
                    let Some(place) = places.take(Kind::Group, entity, programs, gaps) else {
                        continue;
                    };
                    changed = true;
                    free.insert(Group {
                        path,
                        place,
                        around: None,
                        is_used: true,
                    })
                }
            };
            group.is_used = true;
            if is_better_source(entity, &group.path, record, registry) {
                registry.change(member.entity, now, |it| it.pressure_group = Some(entity));
            }
        }
        self.0.retain(|entity, group| {
            let stays = group.is_used && out.registry.get(*entity).is_some();
            if !stays {
                places.leave(group.place, programs, out);
            }
            stays
        });
        if changed || self.0.len() != before {
            self.find_around();
        }
    }

    fn find_around(&mut self) {
        let all: Vec<_> = self
            .0
            .values()
            .map(|it| (it.path.clone(), it.place))
            .collect();
        for group in self.0.values_mut() {
            let around = all.iter().filter(|(path, _)| is_below(&group.path, path));
            let nearest = around.max_by_key(|(path, _)| path.len());
            group.around = nearest.map(|(_, place)| *place);
        }
    }

    /// Which of these groups a background process is in.
    pub(super) fn of_background(&self, process: EntityId, registry: &Registry) -> Option<EntityId> {
        let record = registry.get(process)?;
        let placed = [record.group, record.memory_group, record.io_group];
        let mut all = placed.into_iter().flatten();
        all.find(|it| self.0.contains_key(it))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Places of the PSI groups of a control group and of its nearest ancestor.
    pub(super) fn places(&self, group: Option<EntityId>) -> (Option<usize>, Option<usize>) {
        let group = group.and_then(|it| self.0.get(&it));
        (group.map(|it| it.place), group.and_then(|it| it.around))
    }
}

/// Whether a group's pressure is to be counted here. The root group is the machine, which has its own.
fn counts_here(
    group: EntityId,
    kernel_counts: bool,
    cgroups: &Cgroups,
    registry: &Registry,
) -> bool {
    let group = registry.get(group).map(|it| it.entity.path.as_str());
    group.is_some_and(|path| path != "/" && !(kernel_counts && cgroups.is_v2(path)))
}

/// Whether a group describes a process better than the one that supplies its pressure so far: the v2 group
/// may contain many containers, while a v1 group is the container's own.
fn is_better_source(
    group: EntityId,
    path: &str,
    process: &EntityRecord,
    registry: &Registry,
) -> bool {
    let so_far = process.pressure_group.filter(|it| *it != group);
    let so_far = so_far.and_then(|it| registry.get(it));
    match so_far {
        Some(so_far) => !is_below(&so_far.entity.path, path),
        None => process.pressure_group.is_none(),
    }
}

fn is_below(path: &str, above: &str) -> bool {
    let below = path.strip_prefix(above);
    below.is_some_and(|it| it.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use model::{Entity, EntityKind};

    use super::*;
    use kernel::hierarchies::{Hierarchies, Mount};

    fn at(ns: i64) -> Timestamp {
        Timestamp::from_ns(ns)
    }

    fn group(registry: &mut Registry, path: &str) -> EntityId {
        registry.add(Entity::new(EntityKind::Cgroup, "g", path), None, at(0))
    }

    #[test]
    fn the_enclosing_group_is_the_nearest_ancestor() {
        let (mut registry, mut groups) = (Registry::default(), Groups::default());
        let paths = ["/a", "/a/b", "/a/b/c/d", "/ab", "/a/x"];
        for (place, path) in paths.into_iter().enumerate() {
            let of = Group {
                path: path.to_owned(),
                place,
                around: None,
                is_used: true,
            };
            groups.0.insert(group(&mut registry, path), of);
        }
        groups.find_around();
        let mut around: Vec<_> = groups.0.values().map(|it| (it.place, it.around)).collect();
        around.sort_unstable();
        let nearest = [None, Some(0), Some(1), None, Some(0)];
        assert_eq!(around, (0..).zip(nearest).collect::<Vec<_>>());
    }

    #[test]
    fn groups_that_the_kernel_counts_and_the_root_are_not_counted_here() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        std::fs::create_dir(folder.path().join("both")).expect("made");
        let v2 = Mount {
            point: folder.path().to_owned(),
            root: "/".to_owned(),
        };
        let hierarchies = Hierarchies {
            v2: Some(v2),
            ..Hierarchies::default()
        };
        let mut out = Output::default();
        let mut cgroups = Cgroups::new(hierarchies, Vec::new());
        let mut ensure = |path: &str| cgroups.ensure(path, at(0), &mut out);
        let all = ["/", "/both", "/v1"].map(&mut ensure);
        let counted_here = |counts| all.map(|it| counts_here(it, counts, &cgroups, &out.registry));
        assert_eq!(counted_here(true), [false, false, true]);
        assert_eq!(
            counted_here(false),
            [false, true, true],
            "it counts none at all"
        );
    }

    #[test]
    fn only_a_deeper_v2_group_supplies_pressure_instead_of_a_v1_group() {
        let mut registry = Registry::default();
        let process = Entity::new(EntityKind::Process, "p", "pid:1@1");
        let process = registry.add(process, None, at(0));
        let own = group(&mut registry, "/docker/x");
        for (so_far, expected) in [
            ("/", true),
            ("/system.slice/docker.service", true),
            ("/docker", true),
            ("/docker/x/service", false),
        ] {
            let so_far = group(&mut registry, so_far);
            registry.change(process, at(1), |it| it.pressure_group = Some(so_far));
            let record = registry.get(process).expect("it is there");
            assert_eq!(
                is_better_source(own, "/docker/x", record, &registry),
                expected
            );
        }
        registry.change(process, at(1), |it| it.pressure_group = Some(own));
        let record = registry.get(process).expect("it is there");
        assert!(
            !is_better_source(own, "/docker/x", record, &registry),
            "it is"
        );
    }
}
