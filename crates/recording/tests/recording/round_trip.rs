//! What is written is what is read.

use std::borrow::Cow;

use model::{
    Column, ColumnKind, EntityId, EntityKind, MISSING, Rows, Table, Timeline, Timestamp, Unit,
};
use proptest::prelude::*;
use recording::{Reader, Writer};

use crate::sample::{self, THREADS, at, event, meta, rows};

type Row = (i64, u32, Vec<i64>);

fn rows_of(timeline: &Timeline, table: &str) -> Vec<Row> {
    let Some(data) = timeline.table(table) else {
        return Vec::new();
    };
    let row = |index| {
        let (time, entity) = data.key(index);
        (time.as_ns(), entity.0, data.row(index).collect())
    };
    (0..data.len()).map(row).collect()
}

#[test]
fn the_sample_comes_back() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("a.stall");
    let bytes = sample::write_open(&folder).close(&meta(true)).unwrap();
    let on_disk =
        |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().metadata().unwrap().len();
    assert_eq!(
        bytes,
        std::fs::read_dir(&folder)
            .unwrap()
            .map(on_disk)
            .sum::<u64>()
    );

    let recording = Reader::open(&folder).unwrap();
    assert_eq!(recording.meta, meta(true));
    assert_eq!(recording.damage, []);
    assert!(recording.timeline.closed);
    assert_eq!(recording.timeline.window, meta(true).window);
    assert_eq!(recording.timeline.gaps, meta(true).gaps);
    assert_eq!(recording.timeline.table("threads").unwrap().table, THREADS);
    let written = sample::batches();
    let written = written.iter().flat_map(Rows::iter);
    let written: Vec<Row> = written
        .map(|(t, e, v)| (t.as_ns(), e.0, v.to_vec()))
        .collect();
    assert_eq!(rows_of(&recording.timeline, "threads"), written);
    let entities: Vec<_> = recording.timeline.entities.iter().cloned().collect();
    let newest = [
        event(0, "leader", None).record,
        event(1, "worker2", Some(103.6)).record,
    ];
    assert_eq!(entities, newest);
    let strings: Vec<_> = recording.timeline.strings.iter().cloned().collect();
    assert_eq!(strings, sample::strings());
}

#[test]
fn what_was_flushed_outlives_the_writer() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("a.stall");
    let writer = sample::write_open(&folder);
    let while_open = Reader::open(&folder).unwrap();
    // As `kill -9` would: no destructor runs.
    std::mem::forget(writer);
    for recording in [while_open, Reader::open(&folder).unwrap()] {
        assert!(!recording.meta.complete);
        assert!(!recording.timeline.closed);
        assert_eq!(recording.damage, []);
        assert_eq!(rows_of(&recording.timeline, "threads").len(), 7);
        assert_eq!(recording.timeline.window.start, at(100.0));
        assert_eq!(
            recording.timeline.window.end,
            at(103.5),
            "the newest row's time"
        );
    }
}

#[test]
fn a_recording_without_rows_is_one() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("a.stall");
    let mut writer = Writer::create(&folder, &meta(false)).unwrap();
    writer.append(&THREADS, &rows(&[])).unwrap();
    writer.entities(&[]).unwrap();
    writer.flush().unwrap();
    assert_eq!(writer.folder().path(), folder);
    drop(writer);
    let recording = Reader::open(&folder).unwrap();
    assert_eq!(recording.damage, []);
    assert!(recording.timeline.window.is_empty());
    assert_eq!(recording.timeline.tables().count(), 0, "no rows, no file");
}

#[test]
fn meta_is_written_anew_and_whole() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("a.stall");
    let mut writer = Writer::create(&folder, &meta(false)).unwrap();
    let mut later = meta(true);
    later.cpus = 64;
    writer.meta(&later).unwrap();
    assert_eq!(Reader::open(&folder).unwrap().meta, later);
    assert!(folder.join("meta.json.new").exists(), "room for the next");
    writer.close(&later).unwrap();
    assert!(!folder.join("meta.json.new").exists());
}

#[test]
fn very_many_rows_become_several_batches() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("a.stall");
    let count = 1_800_000;
    let mut many = Rows::with_capacity(3, count);
    for n in 0..count as i64 {
        many.push(
            Timestamp::from_ns(n),
            EntityId(n as u32 % 7),
            &[n * 3, n % 5, MISSING],
        );
    }
    let mut writer = Writer::create(&folder, &meta(false)).unwrap();
    writer.append(&THREADS, &many).unwrap();
    writer.close(&meta(true)).unwrap();
    let recording = Reader::open(&folder).unwrap();
    assert_eq!(recording.damage, []);
    let data = recording.timeline.table("threads").unwrap();
    assert_eq!(data.len(), count);
    assert_eq!(
        data.row(count - 1).collect::<Vec<_>>(),
        [(count as i64 - 1) * 3, (count as i64 - 1) % 5, MISSING]
    );
}

fn table(kinds: &[bool]) -> Table {
    let column = |(index, counter): (usize, &bool)| Column {
        name: Cow::Owned(format!("c{index}")),
        kind: if *counter {
            ColumnKind::Counter
        } else {
            ColumnKind::Gauge
        },
        ..Column::counter("", Unit::Count, "", "")
    };
    let columns = kinds.iter().enumerate().map(column).collect();
    Table {
        columns,
        ..Table::new("made_up", EntityKind::Disk, "Anything.", &[])
    }
}

fn value() -> impl Strategy<Value = i64> {
    prop_oneof![4 => 0i64..1_000_000, 1 => any::<i64>(), 1 => Just(MISSING), 1 => Just(i64::MAX)]
}

fn anything() -> impl Strategy<Value = (Vec<bool>, Vec<Vec<Row>>)> {
    prop::collection::vec(any::<bool>(), 0..5).prop_flat_map(|kinds| {
        let entity = prop_oneof![4 => 0u32..5, 1 => any::<u32>()];
        let values = prop::collection::vec(value(), kinds.len());
        let row = (0i64..1 << 61, entity, values);
        let batches = prop::collection::vec(prop::collection::vec(row, 0..30), 0..5);
        (Just(kinds), batches)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn any_rows_come_back((kinds, batches) in anything()) {
        let table = table(&kinds);
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("a.stall");
        let mut writer = Writer::create(&folder, &meta(false)).unwrap();
        for batch in &batches {
            let mut rows = Rows::with_capacity(kinds.len(), batch.len());
            for (time, entity, values) in batch {
                rows.push(Timestamp::from_ns(*time), EntityId(*entity), values);
            }
            writer.append(&table, &rows).unwrap();
            writer.flush().unwrap();
        }
        let crashed = Reader::open(&folder).unwrap();
        prop_assert_eq!(crashed.damage, vec![]);
        prop_assert_eq!(rows_of(&crashed.timeline, "made_up"), batches.concat());
        writer.close(&meta(true)).unwrap();
        let recording = Reader::open(&folder).unwrap();
        prop_assert_eq!(recording.damage, vec![]);
        prop_assert_eq!(rows_of(&recording.timeline, "made_up"), batches.concat());
    }
}
