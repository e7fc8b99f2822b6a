//! What a bundle holds, for the person who is about to send it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::LazyLock;

use model::EntityKind;
use recording::Recording;
use recording::bundle::Manifest;
use regex::Regex;
use serde_json::Value;

use super::redact::{Class, Redacted};
use super::{flat, size};
use crate::arguments::Names;
use crate::outputs;

/// What was done to names, in sentences: in the bundle's manifest and on the screen.
pub(super) fn redaction(redacted: &Redacted, names: Names) -> Vec<String> {
    if names == Names::All {
        return vec![
            "All names and texts are as they were recorded (--names all); only what looked like a secret was taken out.".to_owned(),
        ];
    }
    let kept = match names {
        Names::None => {
            "Devices, kernel and hardware, options and numbers of command lines, process numbers and times of day stay."
        }
        _ => {
            "Names of programs and threads, devices, kernel and hardware, options and numbers of command lines, process numbers and times of day stay."
        }
    };
    let counted = |(class, count): (&Class, &usize)| {
        let (one, several) = noun(*class);
        let noun = if *count == 1 { one } else { several };
        format!("{count} {noun} ({}-N)", class.stem())
    };
    let counts: Vec<String> = redacted.counts.iter().map(counted).collect();
    let replaced = if counts.is_empty() {
        "No name had to be replaced.".to_owned()
    } else {
        format!(
            "Replaced, the same word always by the same: {}.",
            counts.join(", ")
        )
    };
    vec![
        kept.to_owned(),
        replaced,
        format!(
            "Withheld ([withheld]): {}, as lines quoted from the workload's output, patterns of --metric, marks, errors in words of others, facts of the environment that this version does not know. Machine and boot id are left out.",
            analysis::count(u32::try_from(redacted.withheld).unwrap_or(u32::MAX), "text")
        ),
    ]
}

/// One word of the class, and several.
fn noun(class: Class) -> (&'static str, &'static str) {
    match class {
        Class::Host => ("host name", "host names"),
        Class::Address => ("IP address", "IP addresses"),
        Class::User => ("user", "users"),
        Class::Database => ("database", "databases"),
        Class::Group => ("part of group paths", "parts of group paths"),
        Class::Folder => ("part of file paths", "parts of file paths"),
        Class::Interface => ("interface", "interfaces"),
        Class::Device => ("device", "devices"),
        Class::Program => ("program", "programs"),
        Class::Function => ("function", "functions"),
        Class::Series => ("series", "series"),
        Class::Word => ("word of commands", "words of commands"),
    }
}

/// What is in the bundle: files, sizes, and what was redacted how.
pub(super) fn overview(
    out: &Path,
    manifest: &Manifest,
    recording: &Recording,
    redacted: &Redacted,
) -> String {
    let mut text = format!("{} holds:\n", out.display());
    let rows: BTreeMap<String, usize> = recording
        .timeline
        .tables()
        .map(|data| (format!("{}.arrow", data.table.name), data.len()))
        .collect();
    let everyone = population(recording);
    for file in &manifest.files {
        let what = match (file.name.as_str(), rows.get(&file.name)) {
            ("meta.json", _) => {
                "machine, command, targets, the workload's summary, gaps".to_owned()
            }
            ("marks.jsonl", _) => analysis::count(
                u32::try_from(redacted.marks.len()).unwrap_or(u32::MAX),
                "mark",
            ),
            ("strings.arrow", _) => analysis::count(
                u32::try_from(redacted.strings.len()).unwrap_or(u32::MAX),
                "name of code",
            ),
            (_, Some(rows)) => format!("{} rows of numbers", analysis::integer(*rows as f64)),
            _ => everyone.clone(),
        };
        text += &format!("  {:24} {:>8}  {what}\n", file.name, size(file.bytes));
    }
    for sentence in &manifest.redaction {
        text += &wrapped(sentence);
    }
    if let Some(workload) = &redacted.meta.workload {
        text += &wrapped(&format!("Command: {}", workload.command.join(" ")));
    }
    outputs::harmless(&text)
}

fn population(recording: &Recording) -> String {
    let counts = flat::population(&recording.timeline);
    let words = counts.into_iter().map(|(kind, count)| {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        match kind {
            EntityKind::GroupDisk => analysis::count(count, "disk of a group"),
            EntityKind::WaitEvent => analysis::count(count, "wait event"),
            EntityKind::Cpu => analysis::count(count, "CPU"),
            EntityKind::Series => format!("{} series", analysis::integer(f64::from(count))),
            kind => analysis::count(count, kind.word()),
        }
    });
    words.collect::<Vec<_>>().join(", ")
}

/// Every distinct text in the bundle that is not this program's own, by where it stands.
pub(super) fn texts(redacted: &Redacted) -> String {
    let mut places: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut note = |place: String, text: &str| {
        if !text.is_empty() {
            places.entry(place).or_default().insert(text.to_owned());
        }
    };
    let meta = serde_json::to_value(&redacted.meta).unwrap_or_default();
    walk(&meta, "", &mut note);
    for record in &redacted.entities {
        let kind = record.entity.kind.word();
        note(format!("{kind}: name"), &shape(&record.entity.name));
        note(format!("{kind}: path"), &shape(&record.entity.path));
    }
    for mark in &redacted.marks {
        note("mark".to_owned(), &mark.text);
    }
    let mut text = "\nEvery text in it (N: a number of a process, a port, a device):\n".to_owned();
    for (place, texts) in places {
        text += &format!("  {place}\n");
        for one in texts {
            text += &format!("    {}\n", one.escape_debug());
        }
    }
    outputs::harmless(&text)
}

/// Hundreds of numbers of processes and ports would hide what is to be read: of those only the form
/// is shown, `pid:N@N`.
fn shape(text: &str) -> String {
    static NUMBER: LazyLock<Regex> =
        LazyLock::new(|| Regex::new("([:@])[0-9]+").expect("the pattern is a constant"));
    NUMBER.replace_all(text, "${1}N").into_owned()
}

/// Strings of a JSON value with the path to each; members of a list share one.
fn walk(value: &Value, path: &str, note: &mut impl FnMut(String, &str)) {
    match value {
        Value::String(text) => note(path.to_owned(), text),
        Value::Array(values) => values.iter().for_each(|value| walk(value, path, note)),
        Value::Object(members) => {
            for (name, value) in members {
                let below = if path.is_empty() {
                    name.clone()
                } else {
                    format!("{path}.{name}")
                };
                walk(value, &below, note);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The list that stays with the sender: what stands for what.
pub(super) fn replaced(redacted: &Redacted) -> String {
    if redacted.replaced.is_empty() {
        return String::new();
    }
    let mut pairs: Vec<(&String, &String)> = redacted
        .replaced
        .iter()
        .map(|(word, pseudonym)| (pseudonym, word))
        .collect();
    let key = |pseudonym: &str| {
        let (stem, number) = pseudonym.rsplit_once('-').unwrap_or((pseudonym, ""));
        (stem.to_owned(), number.parse::<u64>().unwrap_or(0))
    };
    pairs.sort_by_key(|(pseudonym, _)| key(pseudonym));
    let mut text = "\nNot in it, for you: what stands for what\n".to_owned();
    for (pseudonym, word) in pairs {
        text += &format!("  {pseudonym:12} {}\n", word.escape_debug());
    }
    outputs::harmless(&text)
}

fn wrapped(sentence: &str) -> String {
    let mut text = String::new();
    for line in outputs::wrap(sentence) {
        text += &format!("  {line}\n");
    }
    text
}
