//! What is on disk at any moment: killed between two writes, cut anywhere, a byte turned over.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use model::{EntityId, Rows, StringId, StringKind, Text, Timeline};

use super::*;
use crate::sample::{self, THREADS, at, meta};
use crate::{Reader, Recording};

/// Everything becomes a batch as soon as the journal holds a few records.
const IMPATIENT: Limits = Limits {
    journal_bytes: 600,
    batch_bytes: 1,
    memory_bytes: 4 << 20,
};

type Files = BTreeMap<String, Vec<u8>>;

fn files_of(folder: &Path) -> Files {
    let entries = fs::read_dir(folder).unwrap().flatten();
    entries
        .map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            (name, fs::read(entry.path()).unwrap())
        })
        .collect()
}

fn put(folder: &Path, files: &Files) {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir(folder).unwrap();
    for (name, bytes) in files {
        fs::write(folder.join(name), bytes).unwrap();
    }
}

fn rows_of(timeline: &Timeline) -> Vec<(i64, u32, Vec<i64>)> {
    let Some(data) = timeline.table("threads") else {
        return Vec::new();
    };
    let row = |index| {
        let (time, entity) = data.key(index);
        (time.as_ns(), entity.0, data.row(index).collect())
    };
    (0..data.len()).map(row).collect()
}

fn second(number: i64) -> Rows {
    let at = at(101.0 + number as f64 * 0.1);
    let mut rows = Rows::with_capacity(3, 2);
    rows.push(at, EntityId(0), &[number * 1_000_000, 83, number]);
    rows.push(at, EntityId(1), &[number * 7, 82, model::MISSING]);
    rows
}

/// A recording with `seconds` flushes, each followed by a look.
fn written(folder: &Path, seconds: i64, mut look: impl FnMut(i64)) -> Writer {
    let mut writer = Writer::with_limits(folder, &meta(false), IMPATIENT).unwrap();
    let events = [0, 1].map(|id| sample::event(id, "worker", None));
    writer.entities(&events).unwrap();
    for number in 0..seconds {
        take(&mut writer, number);
        writer.flush().unwrap();
        look(number);
    }
    writer
}

fn take(writer: &mut Writer, number: i64) {
    writer.append(&THREADS, &second(number)).unwrap();
    let renamed = sample::event(1, &format!("worker{number}"), None);
    writer.entities(&[renamed]).unwrap();
    writer.strings(&[text(number)]).unwrap();
}

fn text(number: i64) -> Text {
    Text {
        id: StringId(number as u32),
        kind: StringKind::Command,
        parent: None,
        text: format!("command {number}").into(),
    }
}

fn strings_of(recording: &Recording) -> Vec<Text> {
    recording.timeline.strings.iter().cloned().collect()
}

fn expected_strings(seconds: i64) -> Vec<Text> {
    (0..seconds).map(text).collect()
}

fn expected(seconds: i64) -> Vec<(i64, u32, Vec<i64>)> {
    (0..seconds)
        .flat_map(|number| {
            let rows = second(number);
            let rows = rows.iter();
            rows.map(|(t, e, v)| (t.as_ns(), e.0, v.to_vec()))
                .collect::<Vec<_>>()
        })
        .collect()
}

fn name_of_worker(recording: &Recording) -> String {
    let entities = &recording.timeline.entities;
    let worker = entities.get(EntityId(1));
    worker.map_or_else(String::new, |worker| worker.entity.name.clone())
}

#[test]
fn killed_between_any_two_writes_nothing_is_lost_or_doubled() {
    const SECONDS: i64 = 12;
    let home = tempfile::tempdir().unwrap();
    let (folder, copy) = (home.path().join("a.stall"), home.path().join("b.stall"));
    let mut states: Vec<Files> = Vec::new();
    let writer = written(&folder, SECONDS, |_| states.push(files_of(&folder)));
    drop(writer);
    let mut tried = 0;
    for (number, after) in (0..).zip(&states) {
        let check = |files: &Files, what: &str| {
            put(&copy, files);
            let recording = Reader::open(&copy).unwrap();
            assert_eq!(recording.damage, [], "{what}");
            assert_eq!(rows_of(&recording.timeline), expected(number + 1), "{what}");
            assert_eq!(name_of_worker(&recording), format!("worker{number}"));
            assert_eq!(
                strings_of(&recording),
                expected_strings(number + 1),
                "{what}"
            );
        };
        check(after, "after the flush");
        let Some(before) = states.get((number - 1) as usize) else {
            continue;
        };
        if before["threads.arrow"] == after["threads.arrow"] {
            continue;
        }
        // The flush wrote a record, then batches, then a new journal.
        let old_journal = journal_before_batches(number);
        let grown = |name: &str, bytes: usize| after[name][..bytes].to_vec();
        for (tables, partly) in [
            (vec![], "entities.arrow"),
            (vec!["entities.arrow"], "strings.arrow"),
            (vec!["entities.arrow", "strings.arrow"], "threads.arrow"),
        ] {
            for bytes in before[partly].len()..=after[partly].len() {
                let mut files = before.clone();
                files.insert("journal".to_owned(), old_journal.clone());
                for name in &tables {
                    files.insert(name.to_string(), after[*name].clone());
                }
                files.insert(partly.to_owned(), grown(partly, bytes));
                check(&files, &format!("{partly} at {bytes}"));
                tried += 1;
            }
        }
        let mut files = after.clone();
        files.insert("journal".to_owned(), old_journal);
        files.insert("journal.new".to_owned(), b"half".to_vec());
        check(&files, "before the new journal takes the old one's place");
    }
    assert!(tried > 1000, "batches were written several times: {tried}");
}

/// The journal after the first write of a second's flush: what one that writes no batches leaves.
fn journal_before_batches(number: i64) -> Vec<u8> {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("a.stall");
    let mut writer = written(&folder, number, |_| {});
    take(&mut writer, number);
    writer.tables_due = u64::MAX;
    writer.flush().unwrap();
    files_of(&folder)["journal"].clone()
}

/// A small recording, closed or as a crash leaves it, and what comes out of it undamaged.
struct Victim {
    files: Files,
    rows: Vec<(i64, u32, Vec<i64>)>,
    name: String,
    strings: Vec<Text>,
    home: tempfile::TempDir,
}

impl Victim {
    fn new(close: bool) -> Self {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("a.stall");
        let seconds = if close { 4 } else { 7 };
        let writer = written(&folder, seconds, |_| {});
        if close {
            writer.close(&meta(true)).unwrap();
        }
        let mut files = files_of(&folder);
        files.remove("meta.json.new");
        Self {
            files,
            rows: expected(seconds),
            name: format!("worker{}", seconds - 1),
            strings: expected_strings(seconds),
            home,
        }
    }

    /// Opens the recording with one file damaged from an offset on.
    fn open(&self, name: &str, bytes: Vec<u8>) -> Recording {
        let folder = self.home.path().join("b.stall");
        if !folder.exists() {
            put(&folder, &self.files);
        }
        fs::write(folder.join(name), bytes).unwrap();
        let recording = Reader::open(&folder);
        fs::write(folder.join(name), &self.files[name]).unwrap();
        recording.unwrap()
    }

    /// Either nothing is lost, or the damage is named, at or before its place, and all before is read.
    fn check(&self, name: &str, place: usize, bytes: Vec<u8>) -> Recording {
        let recording = self.open(name, bytes);
        let what = format!("{name} at {place}: {:?}", recording.damage);
        let rows = rows_of(&recording.timeline);
        assert!(self.rows.starts_with(&rows), "{what}");
        let strings = strings_of(&recording);
        assert!(self.strings.starts_with(&strings), "{what}");
        let is_whole = rows == self.rows && strings == self.strings;
        if !is_whole || name_of_worker(&recording) != self.name {
            assert!(!recording.damage.is_empty(), "{what}");
        }
        for damage in &recording.damage {
            assert!(
                damage.file == name && damage.offset <= place as u64,
                "{what}"
            );
        }
        let gaps = meta(true).gaps.len().min(recording.meta.gaps.len()) + recording.damage.len();
        assert_eq!(recording.timeline.gaps.len(), gaps, "each is a gap: {what}");
        recording
    }
}

#[test]
fn a_byte_turned_over_anywhere_is_named_or_without_effect() {
    let (closed, crashed) = (Victim::new(true), Victim::new(false));
    let journal = ("journal".to_owned(), &crashed.files["journal"]);
    let files = closed.files.iter().map(|(name, it)| (name.clone(), it));
    for (name, whole) in files.chain([journal]) {
        let victim = if name == "journal" { &crashed } else { &closed };
        for place in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[place] ^= 1 << (place % 8);
            let recording = victim.check(&name, place, bytes);
            if !name.ends_with(".arrow") {
                assert_eq!(recording.damage.len(), 1, "{name} at {place}");
            }
        }
    }
}

#[test]
fn a_closed_file_cut_anywhere_is_named_and_loses_only_what_follows() {
    let victim = Victim::new(true);
    for (name, whole) in &victim.files {
        for place in 0..whole.len() {
            let recording = victim.check(name, place, whole[..place].to_vec());
            assert_eq!(recording.damage.len(), 1, "{name} at {place}");
        }
    }
}

#[test]
fn a_journal_cut_anywhere_keeps_its_whole_records() {
    let victim = Victim::new(false);
    let whole = &victim.files["journal"];
    let mut ends = vec![0];
    while let Some(length) = whole
        .get(ends[ends.len() - 1]..)
        .and_then(|rest| rest.first_chunk())
    {
        ends.push(ends[ends.len() - 1] + 8 + u32::from_le_bytes(*length) as usize);
    }
    assert!(ends.len() > 2, "several records: {ends:?}");
    let in_tables = victim.rows.len() - 2 * (ends.len() - 1);
    for place in 0..whole.len() {
        let recording = victim.open("journal", whole[..place].to_vec());
        let records = ends
            .iter()
            .filter(|end| **end > 0 && **end <= place)
            .count();
        assert_eq!(
            rows_of(&recording.timeline),
            victim.rows[..in_tables + 2 * records]
        );
        let named: Vec<u64> = recording
            .damage
            .iter()
            .map(|damage| damage.offset)
            .collect();
        let gaps = recording
            .timeline
            .gaps
            .iter()
            .skip(recording.meta.gaps.len());
        for gap in gaps {
            let newest = rows_of(&recording.timeline).iter().map(|row| row.0).max();
            let start = gap.window.map(|window| window.start.as_ns());
            assert_eq!(start, newest, "what precedes it was seen");
        }
        // At the end of a record it is what an earlier crash would have left.
        let expected = (!ends.contains(&place)).then(|| ends[records] as u64);
        assert_eq!(named, Vec::from_iter(expected), "{place}");
    }
}

#[test]
fn without_meta_the_tables_tell_who_was_measured() {
    let victim = Victim::new(true);
    let recording = victim.open("meta.json", b"{".to_vec());
    assert_eq!(rows_of(&recording.timeline), victim.rows);
    expect_test::expect!["meta.json: it cannot be understood: EOF while parsing an object at line 1 column 1. The tables tell who was measured; the workload's command and outcome, the machine's facts and the gaps are lacking"].assert_eq(&recording.damage[0].to_string());
    let window = recording.meta.window;
    assert_eq!((window.start, window.end), (at(101.0), at(101.3)));
    assert!(!recording.meta.complete);
    let folder = victim.home.path().join("b.stall");
    fs::remove_file(folder.join("meta.json")).unwrap();
    let recording = Reader::open(&folder).unwrap();
    assert_eq!(rows_of(&recording.timeline), victim.rows);
}

#[test]
fn an_edited_meta_is_used_and_doubted() {
    let victim = Victim::new(true);
    let text = String::from_utf8(victim.files["meta.json"].clone()).unwrap();
    let recording = victim.open(
        "meta.json",
        text.replace("\"cpus\": 2", "\"cpus\": 9").into(),
    );
    assert_eq!(recording.meta.cpus, 9);
    expect_test::expect!["meta.json: its checksum does not fit: something in it was changed after it was written. It is used as it is now"].assert_eq(&recording.damage[0].to_string());
    assert_eq!(recording.timeline.gaps.len(), meta(true).gaps.len() + 1);
}

#[test]
fn processes_that_come_and_go_are_read_back_and_not_remembered() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("a.stall");
    let mut writer = Writer::create(&folder, &meta(false)).unwrap();
    let mut expected = Vec::new();
    for number in 0..500u32 {
        let seconds = 101.0 + f64::from(number);
        let (time, end) = (at(seconds), (number % 2 == 0).then_some(seconds));
        let mut event = sample::event(number, "worker", end);
        event.time = time;
        writer.entities(&[event]).unwrap();
        let mut rows = Rows::with_capacity(3, 2);
        for value in [number.into(), 2_000] {
            rows.push(time, EntityId(number), &[value, 82, 1]);
            expected.push((time.as_ns(), number, vec![value, 82, 1]));
        }
        writer.append(&THREADS, &rows).unwrap();
        writer.flush().unwrap();
    }
    let mut late = Rows::with_capacity(3, 1);
    late.push(at(601.0), EntityId(0), &[1, 1, 1]);
    assert!(matches!(
        writer.append(&THREADS, &late),
        Err(Error::Unfit { .. })
    ));
    late.clear();
    late.push(at(601.0), EntityId(498), &[2_001, 1, 1]);
    expected.push((at(601.0).as_ns(), 498, vec![2_001, 1, 1]));
    writer.append(&THREADS, &late).unwrap();
    let remembered = writer.tables["threads"].remembered();
    assert!((350..420).contains(&remembered), "{remembered}");
    writer.close(&meta(true)).unwrap();
    let recording = Reader::open(&folder).unwrap();
    assert_eq!(rows_of(&recording.timeline), expected);
}

#[test]
fn rows_without_end_become_batches_on_the_way() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("a.stall");
    let mut writer = Writer::create(&folder, &meta(false)).unwrap();
    for number in 0..70_000 {
        writer.append(&THREADS, &second(number)).unwrap();
    }
    assert!(fs::metadata(folder.join("threads.arrow")).unwrap().len() > 0);
    let waiting: usize = writer.tables.values().map(TableFile::waiting_bytes).sum();
    assert!(waiting <= Limits::USUAL.memory_bytes, "{waiting}");
    writer.close(&meta(true)).unwrap();
    assert_eq!(
        rows_of(&Reader::open(&folder).unwrap().timeline),
        expected(70_000)
    );
}

#[test]
fn a_link_in_the_place_of_any_file_leads_nowhere() {
    let names = [
        "meta.json",
        "meta.json.new",
        "journal",
        "journal.new",
        "entities.arrow",
        "threads.arrow",
    ];
    for name in names {
        let home = tempfile::tempdir().unwrap();
        let (folder, victim) = (home.path().join("a.stall"), home.path().join("victim"));
        fs::write(&victim, "theirs").unwrap();
        let mut writer = written(&folder, 3, |_| {});
        let _ = fs::remove_file(folder.join(name));
        std::os::unix::fs::symlink(&victim, folder.join(name)).unwrap();
        writer.entities(&[sample::event(7, "late", None)]).unwrap();
        for number in 4..9 {
            writer.append(&THREADS, &second(number)).unwrap();
            let _ = writer.flush();
            let _ = writer.meta(&meta(false));
        }
        let _ = writer.close(&meta(true));
        assert_eq!(fs::read(&victim).unwrap(), b"theirs", "{name}");
    }
}

#[test]
fn a_recording_that_never_began_is_taken_away_wherever_it_is() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("a.stall");
    Writer::create(&folder, &meta(false))
        .unwrap()
        .abandon()
        .unwrap();
    assert!(!folder.exists());
}
