//! The control groups of the target, in the hierarchy where something is limited.

use std::collections::BTreeSet;

use model::{EntityId, EntityKind, Timeline};

/// The target's groups in one hierarchy.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Groups {
    /// Those that hold processes of the target.
    pub(crate) own: Vec<EntityId>,
    /// The same, and all groups above them.
    pub(crate) all: Vec<EntityId>,
}

impl Groups {
    /// The groups of the target's processes.
    pub(crate) fn of(timeline: &Timeline, groups: impl Iterator<Item = EntityId>) -> Self {
        let sorted = |mut groups: Vec<EntityId>| {
            groups.sort();
            groups.dedup();
            groups
        };
        let own = sorted(groups.collect());
        let paths = own
            .iter()
            .filter_map(|id| Some(timeline.entities.get(*id)?.entity.path.as_str()));
        let above: BTreeSet<&str> = paths.flat_map(above).collect();
        let ancestors = timeline
            .entities
            .of_kind(EntityKind::Cgroup)
            .filter(|group| above.contains(group.entity.path.as_str()))
            .map(|group| group.id);
        let all = sorted(ancestors.chain(own.iter().copied()).collect());
        Self { own, all }
    }
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
