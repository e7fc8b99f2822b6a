//! The control groups of the target, in the hierarchy where something is limited.

use std::collections::BTreeSet;

use model::{EntityId, EntityKind, EntityRecord, Role, Timeline};

/// The groups that `group` reports for processes of the target, and all groups above them.
pub(crate) fn of_target(
    timeline: &Timeline,
    group: fn(&EntityRecord) -> Option<EntityId>,
) -> Vec<EntityId> {
    let own = own(timeline, group);
    let paths = own
        .iter()
        .filter_map(|id| Some(timeline.entities.get(*id)?.entity.path.as_str()));
    let above: BTreeSet<&str> = paths.flat_map(above).collect();
    let ancestors = timeline
        .entities
        .of_kind(EntityKind::Cgroup)
        .filter(|group| above.contains(group.entity.path.as_str()))
        .map(|group| group.id);
    let mut all: Vec<EntityId> = ancestors.chain(own.iter().copied()).collect();
    all.sort();
    all.dedup();
    all
}

/// The groups that `group` reports for processes of the target.
pub(crate) fn own(
    timeline: &Timeline,
    group: fn(&EntityRecord) -> Option<EntityId>,
) -> Vec<EntityId> {
    let processes = timeline.entities.of_kind(EntityKind::Process);
    let mut groups: Vec<EntityId> = processes
        .filter(|process| process.role == Role::Target)
        .filter_map(group)
        .collect();
    groups.sort();
    groups.dedup();
    groups
}

/// Whether a group is the root of its hierarchy, where everybody lives who has no group.
pub(crate) fn is_root(timeline: &Timeline, group: EntityId) -> bool {
    let record = timeline.entities.get(group);
    record.is_some_and(|record| record.entity.path == "/")
}

/// The paths of all groups that hold the group of a path.
fn above(path: &str) -> impl Iterator<Item = &str> {
    let parts = path.match_indices('/');
    parts.map(|(end, _)| &path[..end]).chain(["/"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_above_another_by_whole_parts_of_the_path() {
        let of = |path| above(path).collect::<Vec<_>>();
        assert_eq!(of("/a/bc/d"), ["", "/a", "/a/bc", "/"]);
        assert_eq!(of("/a"), ["", "/"]);
    }
}
