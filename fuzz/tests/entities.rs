//! A list of entities takes memory by what it holds, whatever their numbers are. A process of its own,
//! since it looks at the whole process's.

use std::fs;

use model::{Entities, Entity, EntityEvent, EntityId, EntityKind, EntityRecord, Timestamp};

/// What this process has resident, KiB.
fn resident_kb() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("our own");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number
        .and_then(|it| it.parse().ok())
        .expect("a number of KiB")
}

fn event(id: u32) -> EntityEvent {
    let time = Timestamp::from_ns(0);
    EntityEvent {
        time,
        record: EntityRecord::new(EntityId(id), Entity::new(EntityKind::Cpu, "", ""), time),
    }
}

/// A file of 1.6 MB once took 2 GB: readers let each event raise the highest number by 16.
#[test]
fn numbers_far_apart_take_little() {
    let mut entities = Entities::default();
    let before = resident_kb();
    for number in 0..100_000 {
        assert!(entities.apply(event(16 * number + 15)));
    }
    let grown = resident_kb() - before;
    assert!(grown < 64 << 10, "{grown} KiB for 100,000 entities");
    assert_eq!(entities.iter().count(), 100_000);
    assert_eq!(
        entities.get(EntityId(15)).map(|it| it.id),
        Some(EntityId(15))
    );
    assert_eq!(entities.get(EntityId(16)), None);
}
