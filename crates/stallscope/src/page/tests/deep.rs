//! Recordings from anybody, whose entities lie in each other without end.

use std::collections::BTreeSet;

use model::{
    Entity, EntityEvent, EntityId, EntityKind, EntityRecord, Role, Timeline, Timestamp, Window,
};

use crate::page::entities::{MOST_ABOVE, Places};
use crate::page::entity_selection::EntitySelection;

fn timeline(records: impl Iterator<Item = EntityRecord>) -> Timeline {
    let time = Timestamp::from_seconds(1.0);
    let mut timeline = Timeline::new(Window::new(time, time + 1_000_000_000));
    for record in records {
        timeline.entities.apply(EntityEvent { time, record });
    }
    timeline
}

fn record(kind: EntityKind, id: u32, path: String) -> EntityRecord {
    EntityRecord {
        role: Role::Target,
        ..EntityRecord::new(
            EntityId(id),
            Entity::new(kind, String::new(), path),
            Timestamp::from_seconds(1.0),
        )
    }
}

#[test]
fn parents_without_end_are_followed_so_far() {
    const PARENTS: u32 = 200_000;
    let child = |id: u32| EntityRecord {
        parent: id.checked_sub(1).map(EntityId),
        ..record(EntityKind::Process, id, id.to_string())
    };
    let timeline = timeline((0..PARENTS).map(child));
    let nobody = BTreeSet::new();
    let mut places = Places::new(&timeline, &nobody);
    assert_eq!(places.of(EntityId(PARENTS - 1)), Some(0));
    assert_eq!(places.of(EntityId(3)), Some(1 + MOST_ABOVE as u32));
    let list = places.list();
    assert_eq!(list.len(), 1 + MOST_ABOVE + 4);
    assert_eq!(list[0].parent, Some(1));
    assert_eq!(list[MOST_ABOVE].parent, None);
}

#[test]
fn a_path_without_end_is_followed_so_far() {
    let endless = "/".repeat(4_000_000);
    let groups = [endless, "/a".to_owned(), "/a/b/c".to_owned()];
    let groups = groups.into_iter().zip(0..);
    let timeline = timeline(groups.map(|(path, id)| record(EntityKind::Cgroup, id, path)));
    let nobody = BTreeSet::new();
    let mut places = Places::new(&timeline, &nobody);
    assert_eq!(places.of(EntityId(0)), Some(0));
    assert_eq!(places.of(EntityId(2)), Some(1));
    let list = places.list();
    assert_eq!(list[0].parent, None);
    assert_eq!(list[1].parent, Some(2), "the group between was never read");
}

#[test]
fn each_of_many_groups_is_looked_up_and_not_compared_with_all() {
    // Half of them hold processes of the target; that of the other half holds nobody.
    const GROUPS: u32 = 100_000;
    let of = |id: u32| match id % 2 {
        0 => EntityRecord {
            group: Some(EntityId(id + 1)),
            ..record(EntityKind::Process, id, id.to_string())
        },
        _ => record(EntityKind::Cgroup, id, format!("/a/g{id}")),
    };
    let apart = [
        (GROUPS, "/a"),
        (GROUPS + 1, "/"),
        (GROUPS + 2, "/b"),
        (GROUPS + 3, "/a/g"),
    ];
    let apart = apart.map(|(id, path)| record(EntityKind::Cgroup, id, path.to_owned()));
    let lone =
        (GROUPS + 4..2 * GROUPS).map(|id| record(EntityKind::Cgroup, id, format!("/other/g{id}")));
    let timeline = timeline((0..GROUPS).map(of).chain(apart).chain(lone));
    let selection = EntitySelection::of(&timeline, 1);
    let near = |id| selection.is_near(EntityId(id));
    assert!(near(1) && near(GROUPS) && near(GROUPS + 1));
    assert!(!near(GROUPS + 2) && !near(GROUPS + 3) && !near(2 * GROUPS - 1));
}
