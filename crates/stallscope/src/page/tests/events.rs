//! What happened at an instant, and who is named by number.

use model::{EntityId, EntityKind, MISSING, PageEventKind};

use super::data_of;
use super::decode::found;
use super::made::kept;

#[test]
fn a_process_that_was_killed_for_want_of_memory_is_an_event() {
    let recording = kept("out-of-memory");
    let page = found(&data_of(&recording).1).page;
    let events = page.events.iter();
    let kills: Vec<&str> = events
        .filter(|event| event.kind == PageEventKind::OomKill)
        .map(|event| event.text.as_str())
        .collect();
    expect_test::expect![[r#"
        [
            "the kernel killed 1 process of /stallscope-lab-31378-limited for want of memory",
            "the kernel killed 1 process of /stallscope-lab-31378-limited for want of memory",
            "the kernel killed 1 process of /stallscope-lab-31378-limited for want of memory",
        ]
    "#]]
    .assert_debug_eq(&kills);
}

#[test]
fn who_blocks_a_session_is_in_the_page_by_number() {
    let mut recording = kept("row-lock");
    let timeline = &mut recording.timeline;
    let start = timeline.window.start;
    let processes = timeline.entities.of_kind(EntityKind::Process);
    let all: Vec<EntityId> = processes.map(|process| process.id).collect();
    let [blocked, .., blocker] = all[..] else {
        panic!("there are several processes");
    };
    // The blocker has no rows anywhere.
    let tables: Vec<_> = timeline.tables().cloned().collect();
    for table in tables {
        let mut without = model::TableData::new(table.table.clone());
        for row in 0..table.len() {
            let (time, entity) = table.key(row);
            if entity != blocker {
                without.push(time, entity, &table.row(row).collect::<Vec<_>>());
            }
        }
        timeline.insert(without);
    }
    let sessions = timeline.table_mut(&sensors::postgres::SESSION);
    sessions.push(start, blocked, &[1, 3, i64::from(blocker.0), MISSING]);
    sessions.push(start + 1_000_000_000, blocked, &[1, 3, -5, MISSING]);
    let page = found(&data_of(&recording).1).page;
    let named = page.entities.iter().find(|it| it.id == Some(blocker));
    assert_eq!(named.map(|it| it.kind), Some(EntityKind::Process));
}
