//! The property: what is not declared public does not leave, whatever it is and wherever it stands.

use std::collections::BTreeSet;
use std::path::Path;

use model::Meta;
use proptest::prelude::*;
use recording::{Reader, Recording};
use serde_json::Value;

use super::super::{Redactor, fields, redact};
use super::full;
use crate::arguments::Names;
use crate::export::clock::WallClock;
use crate::export::{bundle, tables};
use crate::outputs;

/// The fields of a description by their place, as the list names them.
fn places(value: &Value, place: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                let listed = fields::path_of_member(place, name);
                let below = listed.unwrap_or_else(|| match place {
                    "" => name.clone(),
                    _ => format!("{place}.{name}"),
                });
                places(value, &below, found);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| places(value, place, found)),
        _ => {
            found.insert(place.to_owned());
        }
    }
}

#[test]
fn of_every_field_it_is_declared_whether_it_leaves() {
    let whole = serde_json::to_value(full::meta()).expect("it is JSON");
    let mut all = BTreeSet::new();
    places(&whole, "", &mut all);
    let listed: BTreeSet<String> = fields::all().collect();
    let private: Vec<&str> = all.difference(&listed).map(String::as_str).collect();
    assert_eq!(
        private,
        [
            "environment.kernel.version",
            "environment.redis.run_id",
            "workload.outcome.summary.version"
        ],
        "a field that is new belongs on the list of public ones, or here"
    );
    let gone = listed.difference(&all).map(String::as_str);
    let gone: Vec<&str> = gone
        .filter(|path| !path.starts_with("environment."))
        .collect();
    assert_eq!(
        gone,
        ["workload.outcome.exit.signal"],
        "the list names what is there"
    );
}

/// Puts a member into every object.
fn add_everywhere(value: &mut Value, name: &str, member: &Value) {
    match value {
        Value::Object(members) => {
            for below in members.values_mut() {
                add_everywhere(below, name, member);
            }
            members.insert(name.to_owned(), member.clone());
        }
        Value::Array(values) => values
            .iter_mut()
            .for_each(|it| add_everywhere(it, name, member)),
        _ => {}
    }
}

#[test]
fn a_field_of_tomorrow_is_private_until_it_is_declared() {
    let members = serde_json::json!([
        "acme", 7, true, ["acme"], {"name": "acme", "number": 7}, [{"window": {"start": 7}}]
    ]);
    for member in members.as_array().expect("it is a list") {
        let whole = serde_json::to_value(full::meta()).expect("it is JSON");
        let mut more = whole.clone();
        add_everywhere(&mut more, "tomorrow", member);
        let public = |whole| Redactor::new(Names::Programs).public("", whole);
        assert_eq!(public(more), public(whole), "{member}");
    }
}

/// Everything that can be read in a bundle: its bytes, all tables as they are exported from it both ways, and
/// what is said of it.
fn readable(recording: &Recording, names: Names) -> Vec<u8> {
    let room = tempfile::tempdir().expect("there is a folder for temporary files");
    let folder = room.path().join("redacted.stall");
    let (_, manifest) = bundle::make(&folder, recording, names).expect("it can be written");
    let mut all = serde_json::to_vec(&manifest).expect("it is JSON");
    for file in std::fs::read_dir(&folder).expect("it was made") {
        let file = file.expect("it is a file");
        all.extend(file.file_name().as_encoded_bytes());
        all.extend(std::fs::read(file.path()).expect("it can be read"));
    }
    all.extend(exported(&folder));
    all
}

fn exported(folder: &Path) -> Vec<u8> {
    let Recording {
        meta,
        timeline,
        damage,
    } = Reader::open(folder).expect("it is a recording");
    assert!(damage.is_empty(), "{damage:?}");
    let clock = WallClock::of(&meta.identity, &timeline);
    let mut all = Vec::new();
    for sheet in tables::sheets(&timeline, &clock) {
        outputs::write_csv(&mut all, &sheet.schema, sheet.batches).expect("a table is CSV");
    }
    for sheet in tables::sheets(&timeline, &clock) {
        outputs::write_parquet(&mut all, &sheet.schema, sheet.batches).expect("it is Parquet");
    }
    let report = analysis::diagnose(&timeline, &meta, None);
    all.extend(serde_json::to_vec(&report).expect("it is JSON"));
    all
}

fn holds(bytes: &[u8], word: &str) -> bool {
    bytes
        .windows(word.len())
        .any(|found| found == word.as_bytes())
}

/// Where the first such word stands, for whoever looks at a failure.
fn around(bytes: &[u8], word: &str) -> String {
    let at = bytes
        .windows(word.len())
        .position(|found| found == word.as_bytes());
    let at = at.unwrap_or_default();
    let range = at.saturating_sub(80)..(at + word.len() + 40).min(bytes.len());
    String::from_utf8_lossy(&bytes[range]).into_owned()
}

const WORDS: [&str; 7] = [
    "acme",
    "acme-db7",
    "10.7.8.9",
    "db7.eu.acme.com",
    "Jürgen",
    "/srv/acme",
    "enx001122334455",
];

#[test]
fn no_word_of_a_recording_is_in_a_bundle() {
    for word in WORDS {
        for (names, program) in [(Names::Programs, "postgres"), (Names::None, word)] {
            let left = readable(&full::telling(word, program), names);
            assert!(!holds(&left, word), "{word} in {}", around(&left, word));
        }
    }
    let kept = readable(&full::telling("acme", "acme"), Names::All);
    assert!(holds(&kept, "acme"), "with --names all everything leaves");
}

#[test]
fn what_is_said_of_a_bundle_is_made_of_what_is_in_it() {
    let mut recording = full::telling("acme", "acme");
    let meta: Meta = full::meta();
    recording.meta.no_target = meta.no_target;
    let redacted = redact(&recording, Names::None).expect("every field that it needs is public");
    assert_eq!(
        redacted.meta.no_target.map(|it| it.to_string()).as_deref(),
        Some("told by [withheld]")
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn no_name_leaves(word in "[A-Za-z][a-z]{3,12}[0-9]{0,3}") {
        let word = format!("zq{word}");
        let recording = full::telling(&word, &word);
        let redacted = redact(&recording, Names::None).expect("every field that it needs is public");
        let left = format!("{:?} {:?}", redacted.meta, redacted.entities);
        prop_assert!(!left.contains(&word), "{left}");
    }
}
