//! Whatever the bytes are: no panic, no endless memory, and what stands before is read.
//!
//! Most of it is tried on a recording in format 2, which has no checksums: damage and lies reach what
//! lies behind them. What checksums add is tested beside the writer.

use std::fs;
use std::path::{Path, PathBuf};

use model::{GapReason, Timestamp};
use proptest::prelude::*;
use recording::{Reader, Recording};

use crate::sample::{at, meta};

const END_MARKER_BYTES: usize = 8;

/// The sample on disk in format 2, with the bytes of one of its files, to be damaged.
struct Victim {
    _home: tempfile::TempDir,
    folder: PathBuf,
    file: PathBuf,
    bytes: Vec<u8>,
}

impl Victim {
    fn new(file: &str, complete: bool) -> Self {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("a.stall");
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/format-2.stall");
        fs::create_dir(&folder).unwrap();
        for entry in fs::read_dir(fixture).unwrap().flatten() {
            let to = folder.join(entry.file_name());
            let mut bytes = fs::read(entry.path()).unwrap();
            if !complete && to.ends_with("meta.json") {
                let text = String::from_utf8(bytes).unwrap();
                let crashed = text.replace("\"complete\": true", "\"complete\": false");
                assert_ne!(crashed, text);
                bytes = crashed.into_bytes();
            } else if !complete {
                bytes.truncate(bytes.len() - END_MARKER_BYTES);
            }
            fs::write(to, bytes).unwrap();
        }
        let file = folder.join(file);
        let bytes = fs::read(&file).unwrap();
        Self {
            _home: home,
            folder,
            file,
            bytes,
        }
    }

    fn open_with(&self, bytes: &[u8]) -> Recording {
        fs::write(&self.file, bytes).unwrap();
        Reader::open(&self.folder).unwrap()
    }

    /// The offsets at which messages end: after the schema and after each batch.
    fn message_ends(&self) -> Vec<usize> {
        let mut ends = Vec::new();
        let mut at = 0;
        while let Some(frame) = self.bytes.get(at..at + 8) {
            let length = u32::from_le_bytes(frame[4..].try_into().unwrap()) as usize;
            if length == 0 {
                break;
            }
            let described = at + 8 + length;
            let message = arrow_ipc::root_as_message(&self.bytes[at + 8..described]).unwrap();
            at = described + message.bodyLength() as usize;
            ends.push(at);
        }
        ends
    }
}

fn row_count(recording: &Recording) -> usize {
    recording
        .timeline
        .table("threads")
        .map_or(0, |data| data.len())
}

#[test]
fn a_file_cut_anywhere_keeps_its_whole_batches() {
    let victim = Victim::new("threads.arrow", false);
    let ends = victim.message_ends();
    assert_eq!(ends.len(), 4, "a schema and three batches");
    for cut in 0..=victim.bytes.len() {
        let recording = victim.open_with(&victim.bytes[..cut]);
        let whole = ends.iter().filter(|end| **end <= cut).count();
        assert_eq!(
            row_count(&recording),
            [0, 0, 2, 4, 7][whole],
            "cut at {cut}"
        );
        let at_an_end = ends.contains(&cut);
        assert_eq!(recording.damage.is_empty(), at_an_end, "cut at {cut}");
        for damage in &recording.damage {
            let read = if whole == 0 { 0 } else { ends[whole - 1] };
            assert_eq!((&*damage.table, damage.offset), ("threads", read as u64));
            assert_eq!(recording.timeline.gaps.len(), meta(false).gaps.len() + 1);
        }
        assert_eq!(
            recording.timeline.entities.iter().count(),
            2,
            "other files are read"
        );
    }
}

#[test]
fn damage_is_a_gap_from_the_last_row_on() {
    let victim = Victim::new("threads.arrow", true);
    let end = victim.message_ends()[2];
    let recording = victim.open_with(&victim.bytes[..end + 20]);
    let gap = recording.timeline.gaps.last().unwrap();
    assert_eq!(
        gap.window.map(|window| (window.start, window.end)),
        Some((at(101.2), at(104.0)))
    );
    let GapReason::Malformed(text) = &gap.reason else {
        panic!("{gap:?}")
    };
    let start = format!("threads.arrow was read up to byte {end}: a message is cut short: ");
    assert!(text.to_string().starts_with(&start), "{text}");
}

#[test]
fn a_cut_entity_list_keeps_its_whole_batches() {
    let victim = Victim::new("entities.arrow", true);
    for cut in 0..=victim.bytes.len() {
        let recording = victim.open_with(&victim.bytes[..cut]);
        assert_eq!(row_count(&recording), 7);
        assert!(
            recording
                .damage
                .iter()
                .all(|damage| damage.table == "entities")
        );
    }
    fs::remove_file(&victim.file).unwrap();
    assert_eq!(Reader::open(&victim.folder).unwrap().damage.len(), 1);
}

#[test]
fn hostile_lengths_ask_for_no_memory() {
    let victim = Victim::new("threads.arrow", true);
    let ends = victim.message_ends();
    for wild in [u32::MAX, i32::MAX as u32, 1 << 30] {
        for start in [0, ends[0], ends[1]] {
            let mut bytes = victim.bytes.clone();
            bytes[start + 4..start + 8].copy_from_slice(&wild.to_le_bytes());
            assert_eq!(victim.open_with(&bytes).damage[0].offset, start as u64);
        }
    }
    // Every 8 bytes of the first batch in turn: body length, row count, buffer offsets and lengths,
    // lengths after decompression are among them.
    for place in (ends[0] + 8..ends[1] - 7).step_by(4) {
        for wild in [i64::MAX, i64::MIN, -1, 1 << 40, 300 << 20] {
            let mut bytes = victim.bytes.clone();
            bytes[place..place + 8].copy_from_slice(&wild.to_le_bytes());
            survives(&victim, &bytes);
        }
    }
}

#[test]
fn a_bomb_is_refused() {
    // A buffer that claims 1 GiB after decompression.
    let victim = Victim::new("threads.arrow", true);
    let ends = victim.message_ends();
    let mut found = 0;
    for place in ends[0]..ends[1] - 8 {
        // The prefix of a stored or compressed buffer of two 64-bit values.
        let prefix = i64::from_le_bytes(victim.bytes[place..place + 8].try_into().unwrap());
        if prefix == -1 || prefix == 16 {
            let mut bytes = victim.bytes.clone();
            bytes[place..place + 8].copy_from_slice(&(1i64 << 30).to_le_bytes());
            let recording = victim.open_with(&bytes);
            found += recording
                .damage
                .iter()
                .filter(|d| d.what.contains("claims"))
                .count();
        }
    }
    assert!(found > 0, "the test found no length to falsify");
}

#[test]
fn a_description_that_says_one_thing_thousands_of_times_is_refused() {
    let victim = Victim::new("threads.arrow", true);
    let description = repeated_field(20_000, 1 << 16);
    assert!(description.len() < 200_000);
    let mut bytes = vec![0xff; 4];
    bytes.extend((description.len() as u32).to_le_bytes());
    bytes.extend(description);
    let damage = victim.open_with(&bytes).damage;
    assert!(
        damage[0].what.contains("is damaged, or larger than"),
        "{damage:?}"
    );
}

/// A schema whose columns are all the same one: little in the file, gigabytes in memory.
fn repeated_field(times: usize, name_bytes: usize) -> Vec<u8> {
    use arrow_ipc::{Field, FieldArgs, Int, IntArgs, Message, MessageArgs, Schema, SchemaArgs};
    let mut file = flatbuffers::FlatBufferBuilder::new();
    let name = file.create_string(&"n".repeat(name_bytes));
    let number = Int::create(
        &mut file,
        &IntArgs {
            bitWidth: 64,
            is_signed: true,
        },
    );
    let children = file.create_vector::<flatbuffers::WIPOffset<Field>>(&[]);
    let field = FieldArgs {
        name: Some(name),
        nullable: true,
        type_type: arrow_ipc::Type::Int,
        type_: Some(number.as_union_value()),
        children: Some(children),
        ..FieldArgs::default()
    };
    let field = Field::create(&mut file, &field);
    let fields = file.create_vector(&vec![field; times]);
    let fields = Some(fields);
    let schema = Schema::create(
        &mut file,
        &SchemaArgs {
            fields,
            ..SchemaArgs::default()
        },
    );
    let message = MessageArgs {
        version: arrow_ipc::MetadataVersion::V5,
        header_type: arrow_ipc::MessageHeader::Schema,
        header: Some(schema.as_union_value()),
        ..MessageArgs::default()
    };
    let message = Message::create(&mut file, &message);
    file.finish(message, None);
    file.finished_data().to_vec()
}

#[test]
fn bytes_after_the_end_marker_are_said() {
    let victim = Victim::new("threads.arrow", true);
    let recording = victim.open_with(&[&victim.bytes[..], b"more"].concat());
    assert_eq!(row_count(&recording), 7);
    assert_eq!(recording.damage[0].what, "4 bytes follow the end marker");
}

#[test]
fn a_table_that_does_not_match_its_description_is_lost_alone() {
    let victim = Victim::new("threads.arrow", true);
    let other = victim.folder.join("other.arrow");
    fs::copy(&victim.file, &other).unwrap();
    fs::create_dir(victim.folder.join("folder.arrow")).unwrap();
    let text = String::from_utf8_lossy(&victim.bytes).into_owned();
    assert!(text.contains("run_ns"));
    // The same name in the description and, unlike it, in the column.
    let place = victim
        .bytes
        .windows(8)
        .rposition(|bytes| bytes == b"switches")
        .unwrap();
    let mut bytes = victim.bytes.clone();
    bytes[place] = b'S';
    let recording = victim.open_with(&bytes);
    let damage: Vec<String> = recording.damage.iter().map(ToString::to_string).collect();
    expect_test::expect![[r#"
        folder.arrow was read up to byte 0: it is not a regular file
        other.arrow was read up to byte 0: it holds the table "threads"
        threads.arrow was read up to byte 0: it has a column Switches (nullable Int64) where its stallscope.table reports switches (nullable Int64)"#]].assert_eq(&damage.join("\n"));
}

#[test]
fn no_link_leads_out_of_a_recording() {
    let victim = Victim::new("threads.arrow", true);
    let elsewhere = tempfile::tempdir().unwrap();
    for name in ["threads.arrow", "meta.json"] {
        let (inside, outside) = (victim.folder.join(name), elsewhere.path().join(name));
        fs::rename(&inside, &outside).unwrap();
        std::os::unix::fs::symlink(&outside, &inside).unwrap();
    }
    std::os::unix::fs::symlink(elsewhere.path(), victim.folder.join("journal")).unwrap();
    let recording = Reader::open(&victim.folder).unwrap();
    assert!(recording.timeline.table("threads").is_none());
    let damage: Vec<String> = recording.damage.iter().map(ToString::to_string).collect();
    expect_test::expect![[r#"
        meta.json: it cannot be understood: it is a symbolic link, and none is followed out of a recording. Put the file itself in its place. The tables tell who was measured; the workload's command and outcome, the machine's facts and the gaps are lacking
        journal was read up to byte 0: it is a symbolic link, and none is followed out of a recording. Put the file itself in its place
        threads.arrow was read up to byte 0: it is a symbolic link, and none is followed out of a recording. Put the file itself in its place"#]].assert_eq(&damage.join("\n"));

    // With no table of its own there is nothing to be told.
    fs::remove_file(victim.folder.join("entities.arrow")).unwrap();
    let refused = Reader::open(&victim.folder).unwrap_err().to_string();
    let refused = refused.replace(victim.folder.to_str().unwrap(), "FOLDER");
    expect_test::expect!["cannot understand FOLDER/meta.json: it is a symbolic link, and none is followed out of a recording. Put the file itself in its place. No table is beside it"].assert_eq(&refused);
}

/// Opens a damaged recording and takes from it what an analysis would.
fn survives(victim: &Victim, bytes: &[u8]) {
    let recording = victim.open_with(bytes);
    let Some(data) = recording.timeline.table("threads") else {
        return;
    };
    for index in 0..data.len() {
        assert!(data.key(index).0 >= Timestamp::from_ns(0));
        assert_eq!(data.row(index).count(), data.table.columns.len());
    }
}

fn flips() -> impl Strategy<Value = Vec<(prop::sample::Index, u8)>> {
    prop::collection::vec((any::<prop::sample::Index>(), 1u8..), 1..4)
}

fn flipped(bytes: &[u8], flips: &[(prop::sample::Index, u8)]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for (index, bits) in flips {
        let place = index.index(bytes.len());
        bytes[place] ^= bits;
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]
    #[test]
    fn flipped_bytes_never_panic(flips in flips(), entities in any::<bool>()) {
        thread_local! {
            static VICTIMS: [Victim; 2] =
                ["threads.arrow", "entities.arrow"].map(|file| Victim::new(file, true));
        }
        VICTIMS.with(|victims| {
            let victim = &victims[usize::from(entities)];
            survives(victim, &flipped(&victim.bytes, &flips));
        });
    }
}

#[test]
fn noise_is_no_table() {
    let victim = Victim::new("threads.arrow", true);
    for noise in [
        &b""[..],
        b"x",
        &[0; 8],
        &[0xFF; 64],
        b"\xFF\xFF\xFF\xFF\0\0\0\0",
    ] {
        assert_eq!(victim.open_with(noise).damage[0].offset, 0);
    }
    assert!(Path::new(&victim.file).exists());
}
