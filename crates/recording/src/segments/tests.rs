use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use model::{
    Column, Entity, EntityEvent, EntityId, EntityKind, EntityRecord, MISSING, Meta, RowKind, Rows,
    StringId, StringKind, Table, TableData, Text, Timestamp, Unit, Window,
};
use proptest::prelude::*;

use super::*;
use crate::sample;
use crate::{FolderHandle, Reader, Recording, Writer};

static READINGS: Table = Table::new("readings", EntityKind::Thread, "", READING_COLUMNS);
static READING_COLUMNS: &[Column] = &[
    Column::counter("n_ns", Unit::Nanoseconds, "", ""),
    Column::gauge("state", Unit::Code, "", ""),
    Column::gauge("command", Unit::String, "", ""),
];
static SAMPLES: Table =
    Table::new("samples", EntityKind::Thread, "", SAMPLE_COLUMNS).rows(RowKind::Events);
static SAMPLE_COLUMNS: &[Column] = &[Column::gauge("stack", Unit::Stack, "", "")];
static STACK: Table =
    Table::new("stack", EntityKind::Machine, "", STACK_COLUMNS).rows(RowKind::Definitions);
static STACK_COLUMNS: &[Column] = &[
    Column::gauge("number", Unit::Count, "", ""),
    Column::gauge("caller", Unit::Stack, "", ""),
    Column::gauge("module", Unit::String, "", ""),
];

/// Something that a recorder writes.
#[derive(Clone, Debug)]
enum Step {
    /// A reading of an entity: how much its counter grew, its state, and which text it refers to.
    Reading(u32, i64, i64, usize),
    /// A sample of an entity with one of the stacks so far.
    Sample(u32, usize),
    /// A text, and a stack in it with one of the stacks so far as its caller.
    Stack(usize),
    Rename(u32),
    Vanish(u32),
    Flush,
    Roll,
}

fn step() -> impl Strategy<Value = Step> {
    let entity = 0u32..6;
    prop_oneof![
        6 => (entity.clone(), 0i64..1_000, 0i64..3, 0usize..8)
            .prop_map(|(entity, grown, state, text)| Step::Reading(entity, grown, state, text)),
        2 => (entity.clone(), 0usize..8).prop_map(|(entity, stack)| Step::Sample(entity, stack)),
        1 => (0usize..8).prop_map(Step::Stack),
        1 => entity.clone().prop_map(Step::Rename),
        1 => entity.prop_map(Step::Vanish),
        1 => Just(Step::Flush),
        2 => Just(Step::Roll),
    ]
}

/// The same recording, whole and as segments.
struct Both {
    whole: Writer,
    segments: SegmentedWriter,
    now: i64,
    counters: [i64; 6],
    /// The entity that has each of the names now: one that has ended is followed by another.
    ids: [u32; 6],
    next: u32,
    texts: u32,
    /// When each text came.
    came: Vec<Timestamp>,
    rolls: usize,
}

impl Both {
    fn new(home: &Path) -> Self {
        let meta = sample::meta(false);
        let whole = Writer::create(&home.join("whole.stall"), &meta).expect("a folder");
        let segments = home.join("segments.stall");
        let segments = SegmentedWriter::create(&segments, &meta, Keep::default());
        let mut both = Self {
            whole,
            segments: segments.expect("a folder"),
            now: sample::at(100.0).as_ns(),
            counters: [0; 6],
            ids: [0, 1, 2, 3, 4, 5],
            next: 6,
            texts: 0,
            came: Vec::new(),
            rolls: 0,
        };
        (0..6).for_each(|place| both.entity(place, "first", None));
        both
    }

    fn time(&self) -> Timestamp {
        Timestamp::from_ns(self.now)
    }

    fn entity(&mut self, place: u32, name: &str, vanished: Option<Timestamp>) {
        let id = self.ids[place as usize];
        let entity = Entity::new(EntityKind::Thread, name, format!("tid:{id}@1"));
        let record = EntityRecord {
            vanished,
            ..EntityRecord::new(EntityId(id), entity, sample::at(100.0))
        };
        let events = [EntityEvent {
            time: self.time(),
            record,
        }];
        self.whole.entities(&events).expect("they fit");
        self.segments.entities(&events).expect("they fit");
    }

    fn rows(&mut self, table: &Table, entity: u32, values: &[i64]) {
        let mut rows = Rows::with_capacity(values.len(), 1);
        rows.push(self.time(), EntityId(entity), values);
        self.whole.append(table, &rows).expect("they fit");
        self.segments.append(table, &rows).expect("they fit");
    }

    fn take(&mut self, step: &Step) {
        self.now += 7;
        let known = |number: usize, texts: u32| match number < texts as usize {
            true => number as i64,
            false => MISSING,
        };
        match *step {
            Step::Reading(place, grown, state, text) => {
                let counter = &mut self.counters[place as usize];
                *counter += grown;
                let values = [*counter, state, known(text, self.texts)];
                self.rows(&READINGS, self.ids[place as usize], &values);
            }
            Step::Sample(place, stack) => {
                let stack = known(stack, self.texts);
                self.rows(&SAMPLES, self.ids[place as usize], &[stack]);
            }
            Step::Stack(caller) => {
                let number = self.texts;
                let texts = [Text {
                    id: StringId(number),
                    kind: match number % 3 {
                        2 => StringKind::BuildId,
                        _ => StringKind::Module,
                    },
                    parent: number.checked_sub(1).map(StringId),
                    text: format!("/lib/{number}").into(),
                }];
                self.whole.strings(&texts).expect("they fit");
                self.segments.strings(&texts).expect("they fit");
                let caller = known(caller, number);
                self.texts += 1;
                self.came.push(self.time());
                self.rows(&STACK, 0, &[number.into(), caller, number.into()]);
            }
            Step::Rename(place) => self.entity(place, &format!("named at {}", self.now), None),
            Step::Vanish(place) => {
                self.entity(place, "ended", Some(self.time()));
                self.ids[place as usize] = self.next;
                self.next += 1;
                self.counters[place as usize] = 0;
                self.entity(place, "next", None);
            }
            Step::Flush => {
                self.whole.flush().expect("there is room");
                self.segments.flush().expect("there is room");
            }
            Step::Roll => {
                let meta = self.meta(false);
                self.segments.roll(&meta, &meta).expect("there is room");
                self.rolls += 1;
            }
        }
    }

    fn meta(&self, complete: bool) -> Meta {
        Meta {
            window: Window::new(sample::at(100.0), self.time()),
            ..sample::meta(complete)
        }
    }

    fn close(self) {
        let meta = self.meta(true);
        self.whole.close(&meta).expect("there is room");
        self.segments.close(&meta).expect("there is room");
    }
}

type Row = (i64, u32, Vec<i64>);

fn row(data: &TableData, row: usize) -> Row {
    let (time, entity) = data.key(row);
    (time.as_ns(), entity.0, data.row(row).collect())
}

/// All rows of a table, those of an entity in their order.
fn rows_of(recording: &Recording, table: &str) -> Vec<Row> {
    let Some(data) = recording.timeline.table(table) else {
        return Vec::new();
    };
    let rows = data.entities().filter_map(|entity| data.rows_of(entity));
    rows.flatten().map(|it| row(data, *it as usize)).collect()
}

fn assert_same(whole: &Recording, joined: &Recording) {
    assert_eq!((&whole.damage, &joined.damage), (&vec![], &vec![]));
    for table in ["readings", "samples"] {
        assert_eq!(rows_of(whole, table), rows_of(joined, table), "{table}");
    }
    let defined = |it: &Recording| rows_of(it, "stack").into_iter().collect::<BTreeSet<Row>>();
    assert_eq!(defined(whole), defined(joined));
    assert_eq!(whole.timeline.entities, joined.timeline.entities);
    assert_eq!(whole.timeline.strings, joined.timeline.strings);
    assert_eq!(whole.timeline.gaps, joined.timeline.gaps);
    assert_eq!(whole.timeline.window, joined.timeline.window);
    assert_eq!(whole.timeline.closed, joined.timeline.closed);
    assert_eq!(whole.meta, joined.meta);
}

/// What a segment's rows refer to is in it.
fn assert_whole_by_itself(part: &Recording, is_known: impl Fn(u32) -> bool) {
    assert_eq!(part.damage, []);
    let stacks: BTreeSet<i64> = rows_of(part, "stack").iter().map(|it| it.2[0]).collect();
    let texts = |number: i64| number == MISSING || part.timeline.strings.of_value(number).is_some();
    for (_, entity, values) in rows_of(part, "readings") {
        assert!(part.timeline.entities.get(EntityId(entity)).is_some());
        assert!(texts(values[2]), "{values:?}");
    }
    for (_, _, values) in rows_of(part, "samples") {
        assert!(values[0] == MISSING || stacks.contains(&values[0]));
    }
    for (_, _, values) in rows_of(part, "stack") {
        assert!(values[1] == MISSING || stacks.contains(&values[1]));
        assert!(texts(values[2]), "{values:?}");
    }
    for text in part.timeline.strings.iter() {
        if text.kind == StringKind::Module && text.id.0 % 3 == 1 && is_known(text.id.0 + 1) {
            let build_id = part.timeline.strings.get(StringId(text.id.0 + 1));
            assert!(build_id.is_some(), "of {text:?}");
        }
        assert!(
            text.parent
                .is_none_or(|it| part.timeline.strings.get(it).is_some())
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn segments_read_as_one_are_the_recording_that_was_not_cut(
        steps in prop::collection::vec(step(), 1..80),
        is_killed: bool,
    ) {
        let home = tempfile::tempdir().unwrap();
        let mut both = Both::new(home.path());
        steps.iter().for_each(|step| both.take(step));
        let (rolls, came) = (both.rolls, both.came.clone());
        if is_killed {
            both.take(&Step::Flush);
            drop(both);
        } else {
            both.close();
        }
        let whole = Reader::open(&home.path().join("whole.stall")).unwrap();
        let mut joined = Reader::open(&home.path().join("segments.stall")).unwrap();
        if is_killed {
            // It goes to the newest row of what was read, and each says so of its own files.
            joined.meta.window = whole.meta.window;
            joined.timeline.window = whole.timeline.window;
        }
        assert_same(&whole, &joined);
        for number in 1..=rolls as u32 + 1 {
            let path = home.path().join("segments.stall").join(name_of(number));
            let part = Reader::open(&path).unwrap();
            // Of a text that came in a later segment this one knows nothing.
            let last = part.timeline.window.end;
            assert_whole_by_itself(&part, |id| came.get(id as usize).is_some_and(|at| *at < last));
        }
    }

    #[test]
    fn a_name_is_a_segments_or_it_is_not(name in "[0-9]{0,8}(\\.stall)?|\\PC*", number: u32) {
        prop_assert_eq!(number_of(&name_of(number)), Some(number));
        if let Some(number) = number_of(&name) {
            prop_assert_eq!(name_of(number), name);
        }
    }
}

/// Segments of 10 s with a row each second, of which so much is kept.
fn recorded(home: &Path, seconds: i64, keep: Keep) -> SegmentedWriter {
    let meta = sample::meta(false);
    let mut writer = SegmentedWriter::create(&home.join("a.stall"), &meta, keep).unwrap();
    writer
        .entities(&[sample::event(0, "leader", None)])
        .unwrap();
    for second in 1..=seconds {
        let row = (100.0 + second as f64, 0, [second, 82, second]);
        writer
            .append(&sample::THREADS, &sample::rows(&[row]))
            .unwrap();
        writer.flush().unwrap();
        if second % 10 == 0 {
            writer.roll(&meta, &meta).unwrap();
        }
    }
    writer
}

fn names(home: &Path) -> Vec<String> {
    let folder = FolderHandle::open(&home.join("a.stall")).unwrap();
    let names = folder.names().unwrap().into_iter();
    let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn the_oldest_segments_are_removed_and_never_the_one_that_is_written() {
    let home = tempfile::tempdir().unwrap();
    let keep = Keep {
        age: Some(Duration::from_secs(25)),
        bytes: None,
    };
    // At 95 s those that ended at 70 s are 25 s old, and those that ended at 60 s are too old.
    let writer = recorded(home.path(), 95, keep);
    let expected: Vec<String> = (7..=10).map(name_of).collect();
    assert_eq!(names(home.path()), expected);
    drop(writer);
    let read = Reader::open(&home.path().join("a.stall")).unwrap();
    let rows = rows_of(&read, "threads");
    assert_eq!(rows.first().map(|it| it.2[0]), Some(60), "the value before");
    assert_eq!(rows.len(), 1 + 35);
    let all_but_none = Keep {
        age: Some(Duration::ZERO),
        bytes: Some(0),
    };
    let home = tempfile::tempdir().unwrap();
    drop(recorded(home.path(), 40, all_but_none));
    assert_eq!(names(home.path()), [name_of(5)]);
}

#[test]
fn what_is_kept_is_at_most_so_large() {
    let home = tempfile::tempdir().unwrap();
    let keep = Keep {
        age: None,
        bytes: Some(40_000),
    };
    let writer = recorded(home.path(), 200, keep);
    let closed: u64 = writer.closed().map(|it| it.bytes).sum();
    assert!(closed <= 40_000, "{closed}");
    assert!(
        closed >= 20_000,
        "no more is removed than must be: {closed}"
    );
    let on_disk: u64 = writer
        .closed()
        .flat_map(|it| fs::read_dir(home.path().join("a.stall").join(name_of(it.number))).unwrap())
        .map(|file| file.unwrap().metadata().unwrap().len())
        .sum();
    assert_eq!(on_disk, closed, "sizes are what the files have");
}

#[test]
fn a_stretch_of_time_reads_only_the_segments_that_it_needs() {
    let home = tempfile::tempdir().unwrap();
    drop(recorded(home.path(), 95, Keep::default()));
    let path = home.path().join("a.stall");
    // Whoever reads more of them than the descriptions meets damage.
    for number in [1, 2, 3, 6, 7, 8, 9, 10] {
        for file in ["threads.arrow", "entities.arrow", "journal"] {
            let _ = fs::write(path.join(name_of(number)).join(file), "damaged");
        }
    }
    let folder = Reader::folder(&path).unwrap();
    let segments = Segments::of(&folder).unwrap().unwrap();
    let window = (
        std::ops::Bound::Included(sample::at(135.0)),
        std::ops::Bound::Excluded(sample::at(149.0)),
    );
    let places = segments.within(&folder, window);
    assert_eq!(places, 3..5);
    let read = segments.read(places, &folder).unwrap();
    assert_eq!(read.damage, []);
    assert_eq!(rows_of(&read, "threads").len(), 1 + 20);
    assert!(!Reader::open(&path).unwrap().damage.is_empty());
    // By the clock on the wall, which the sample's description sets at 100 s.
    let at = segments.at_wall_clock(&folder, sample::meta(true).identity.anchor_realtime_ns + 1);
    assert_eq!(at, Some(sample::at(100.0) + 1));
}

#[test]
fn a_segment_that_is_missing_is_a_gap() {
    let home = tempfile::tempdir().unwrap();
    drop(recorded(home.path(), 40, Keep::default()));
    let path = home.path().join("a.stall");
    fs::remove_dir_all(path.join(name_of(2))).unwrap();
    fs::remove_dir_all(path.join(name_of(3))).unwrap();
    let read = Reader::open(&path).unwrap();
    let gap = read.timeline.gaps.last().unwrap();
    assert_eq!(
        gap.reason.to_string(),
        "not understood: 2 segments are missing, or cannot be read"
    );
    let window = gap.window.unwrap();
    assert_eq!(
        (window.start, window.end),
        (sample::at(110.0) + 1, sample::at(130.0) + 1)
    );
    // A folder of segments of which none can be read is no recording.
    for number in [1, 4, 5] {
        let folder = path.join(name_of(number));
        fs::remove_dir_all(&folder).unwrap();
        fs::create_dir(&folder).unwrap();
    }
    assert!(Reader::open(&path).is_err());
}

#[test]
fn segments_that_are_moved_are_a_recording() {
    let home = tempfile::tempdir().unwrap();
    let mut writer = recorded(home.path(), 45, Keep::default());
    let saved = FolderHandle::create(&home.path().join("saved.stall")).unwrap();
    let moved = writer.move_to(&[2, 3, 9], &saved).unwrap();
    assert_eq!(moved.iter().map(|it| it.number).collect::<Vec<_>>(), [2, 3]);
    assert_eq!(
        writer.closed().map(|it| it.number).collect::<Vec<_>>(),
        [1, 4]
    );
    let read = Reader::open(&home.path().join("saved.stall")).unwrap();
    assert_eq!(rows_of(&read, "threads").len(), 1 + 20);
    assert_eq!(
        read.timeline.window,
        Window::new(sample::at(110.0) + 1, sample::at(130.0) + 1)
    );
    assert!(!read.timeline.closed, "its series go on to its end");
}

#[test]
fn a_disk_that_refuses_a_new_segment_goes_on_with_the_old_one() {
    let home = tempfile::tempdir().unwrap();
    let mut writer = recorded(home.path(), 5, Keep::default());
    let taken = home.path().join("a.stall").join(name_of(2));
    fs::create_dir(&taken).unwrap();
    let meta = sample::meta(false);
    assert!(writer.roll(&meta, &meta).is_err());
    let late = sample::rows(&[(106.0, 0, [6, 82, 6])]);
    writer.append(&sample::THREADS, &late).unwrap();
    writer.flush().unwrap();
    fs::remove_dir(&taken).unwrap();
    writer.roll(&meta, &meta).unwrap();
    drop(writer);
    let read = Reader::open(&home.path().join("a.stall")).unwrap();
    assert_eq!(rows_of(&read, "threads").len(), 6);
}
