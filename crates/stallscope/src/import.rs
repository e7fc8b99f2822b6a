//! `import`: what other tools measured becomes a recording.
//!
//! It reads files, asks `sadf` and `atop` for what is in their binary ones, and writes. What the bytes mean is known to `imports`.

mod converter;

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use imports::{Imported, Snapshot};
use model::{
    Cost, EntityEvent, EntityRecord, FORMAT_VERSION, Gap, GapReason, Identity, Meta, Part, Plan,
    Sentence, Timeline, Window, sentence,
};
use recording::Writer;

use converter::Converter;

use crate::arguments::Import;
use crate::duration::nanoseconds;
use crate::{outputs, temporary_output};

/// The largest file that is read, and the most that `sadf` or `atop` may print.
const MOST_BYTES: u64 = 256 << 20;
/// Files of a folder of snapshots.
const MOST_FILES: usize = 100_000;
pub(crate) fn import(arguments: &Import) -> Result<u8> {
    let _interrupts = temporary_output::watch()?;
    let period = arguments.period.map(nanoseconds);
    let files: Result<Vec<Imported>> = arguments
        .files
        .iter()
        .map(|path| read(path, period))
        .collect();
    let imported = imports::merged(files?).context("cannot import these files together")?;
    let Some(first) = arguments.files.first() else {
        bail!("name a file to import");
    };
    let folder = arguments.output.clone().unwrap_or_else(|| folder(first));
    into(&imported, &shown(&arguments.files), &folder)?;
    Ok(0)
}

/// Writes a recording, and says what it holds.
pub(crate) fn into(imported: &Imported, what: &str, folder: &Path) -> Result<()> {
    write(imported, folder)?;
    let seconds = imported.window.seconds();
    outputs::say(&format!(
        "stallscope: imported {what} of {}, {seconds:.0} s with a row every {:.0} s, into {}",
        imported.tool,
        imported.resolution_ns as f64 / 1e9,
        folder.display()
    ));
    for (_, note) in &imported.notes {
        outputs::say(&format!("stallscope: {note}"));
    }
    Ok(())
}

fn shown(files: &[PathBuf]) -> String {
    let shown: Vec<String> = files.iter().map(|it| it.display().to_string()).collect();
    shown.join(", ")
}

/// Beside nobody, here, named after the file.
fn folder(path: &Path) -> PathBuf {
    let mut name = path.file_stem().unwrap_or(path.as_os_str()).to_owned();
    name.push(".stall");
    PathBuf::from(name)
}

fn read(path: &Path, period_ns: Option<i64>) -> Result<Imported> {
    let shown = path.display();
    let kind = fs::metadata(path).with_context(|| format!("cannot read {shown}"))?;
    if kind.is_dir() {
        let mut files = Vec::new();
        gather(path, "", 0, &mut files)?;
        return imports::snapshots(&files).with_context(|| format!("cannot import {shown}"));
    }
    let mut bytes = contents(path)?;
    if let Some(converter) = Converter::of(&bytes) {
        bytes = converter.text(path)?;
    }
    imports::text(&bytes, period_ns).with_context(|| format!("cannot import {shown}"))
}

fn contents(path: &Path) -> Result<Vec<u8>> {
    let shown = path.display();
    let cannot = || format!("cannot read {shown}");
    let mut bytes = Vec::new();
    let file = File::open(path).with_context(cannot)?;
    file.take(MOST_BYTES + 1)
        .read_to_end(&mut bytes)
        .with_context(cannot)?;
    if bytes.len() as u64 > MOST_BYTES {
        bail!(
            "{shown} is larger than {} MiB: import a part of it",
            MOST_BYTES >> 20
        );
    }
    Ok(bytes)
}

/// The files of a folder, two folders deep; links are not followed.
fn gather(folder: &Path, below: &str, depth: usize, files: &mut Vec<Snapshot>) -> Result<()> {
    let shown = folder.display();
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {shown}"))?;
    for entry in entries {
        let entry = entry.with_context(|| format!("cannot read {shown}"))?;
        let kind = entry
            .file_type()
            .with_context(|| format!("cannot read {shown}"))?;
        let path = format!("{below}{}", entry.file_name().to_string_lossy());
        if kind.is_dir() && depth < 2 {
            gather(&entry.path(), &format!("{path}/"), depth + 1, files)?;
        } else if kind.is_file() {
            if files.len() == MOST_FILES {
                bail!("{shown} has more than {MOST_FILES} files: import a part of it");
            }
            let mut bytes = Vec::new();
            // A file of /proc/pressure has two lines.
            File::open(entry.path())?
                .take(4096)
                .read_to_end(&mut bytes)?;
            files.push(Snapshot { path, bytes });
        }
    }
    Ok(())
}

fn write(imported: &Imported, folder: &Path) -> Result<()> {
    let meta = meta(imported)?;
    let mut writer = Writer::create(
        folder,
        &Meta {
            complete: false,
            ..meta.clone()
        },
    )?;
    let events: Vec<EntityEvent> = imported.entities.iter().map(event).collect();
    writer.entities(&events)?;
    for (table, rows) in &imported.tables {
        writer.append(table, rows)?;
    }
    writer.flush()?;
    writer.close(&meta)?;
    Ok(())
}

fn event(record: &EntityRecord) -> EntityEvent {
    EntityEvent {
        time: record.first_seen,
        record: record.clone(),
    }
}

/// What was imported as a recording that was opened, without one on disk.
pub(crate) fn timeline(imported: &Imported) -> Timeline {
    let mut timeline = Timeline::new(imported.window);
    for record in &imported.entities {
        timeline.entities.apply(event(record));
    }
    for (table, rows) in &imported.tables {
        let data = timeline.table_mut(table);
        for (time, entity, values) in rows.iter() {
            data.push(time, entity, values);
        }
    }
    timeline.gaps = gaps(imported);
    timeline
}

/// The description of what was imported.
pub(crate) fn meta(imported: &Imported) -> Result<Meta> {
    Ok(Meta {
        format_version: FORMAT_VERSION,
        identity: Identity {
            recording_id: uuid::Uuid::new_v4().to_string(),
            machine_id: String::new(),
            boot_id: String::new(),
            node: imported.node.clone().unwrap_or_default(),
            stallscope: env!("CARGO_PKG_VERSION").to_owned(),
            anchor_realtime_ns: imported.start_realtime_ns,
            anchor_boottime: imported.window.start,
        },
        plan: Plan {
            command: "import".to_owned(),
            ..Plan::default()
        },
        window: imported.window,
        complete: true,
        cpus: imported.cpus.unwrap_or(0),
        environment: environment(imported),
        targets: Vec::new(),
        no_target: Some(no_target(imported)),
        workload: None,
        gaps: gaps(imported),
        cost: Cost::default(),
        segment: None,
        firings: Vec::new(),
    })
}

fn environment(imported: &Imported) -> std::collections::BTreeMap<String, String> {
    let facts = [
        ("import.tool", Some(imported.tool.to_string())),
        ("import.version", imported.version.clone()),
        (
            "import.resolution_ns",
            Some(imported.resolution_ns.to_string()),
        ),
        ("kernel.release", imported.kernel.clone()),
    ];
    let known = facts
        .into_iter()
        .filter_map(|(name, fact)| Some((name.to_owned(), fact?)));
    known.collect()
}

/// Why nothing more than the machine's state can be said, and which columns would say more.
fn no_target(imported: &Imported) -> Sentence {
    let lacking = imported.notes.iter().map(|(_, note)| note);
    let lacking = lacking.filter(|note| note.to_string().contains("not in the file"));
    let has = |name: &str| imported.tables.iter().any(|(table, _)| table.name == name);
    let is_of_machine = ["cpu", "load", "pressure", "memory", "disk"]
        .into_iter()
        .any(has);
    let says = match (is_of_machine, has("process")) {
        (true, true) => "how busy the machine was and what each process used",
        (false, true) => "what each process used",
        _ if !has("pressure") => "how busy the machine was",
        _ => "how busy the machine was and what was waited for",
    };
    let own = match has("thread") {
        true => sentence!(
            "{} says when threads ran and were in line for a CPU, not who serves the load: thread_time and the processes of threads are not in it",
            tool(imported)
        ),
        false => sentence!(
            "{} says {}, not who waited: thread.run_ns, thread.wait_ns and thread_time are not in it",
            tool(imported),
            says
        ),
    };
    lacking
        .fold(own, |all, note| all.and("; ").and(note))
        .and(".")
}

fn tool(imported: &Imported) -> Part {
    Part::Own(imported.tool.clone())
}

fn gaps(imported: &Imported) -> Vec<Gap> {
    let gap = |table: &str, why: Sentence| Gap {
        table: table.to_owned(),
        what: "import".into(),
        window: None,
        reason: GapReason::Unsupported(why),
    };
    let notes = imported
        .notes
        .iter()
        .map(|(table, note)| gap(table, note.clone()));
    let has_threads = imported.tables.iter().any(|(it, _)| it.name == "thread");
    let threads = gap(
        "thread",
        sentence!("{} has no times of threads", tool(imported)),
    );
    let groups = gap(
        "cgroup_pressure",
        sentence!("{} has no control groups", tool(imported)),
    );
    let lacks = (!has_threads)
        .then_some(threads)
        .into_iter()
        .chain([groups]);
    let hole = |window: &Window| Gap {
        table: "*".to_owned(),
        what: "import".into(),
        window: Some(*window),
        reason: GapReason::Unsupported(sentence!("{} did not measure then", tool(imported))),
    };
    let holes = imported.holes.iter().map(hole);
    notes.chain(lacks).chain(holes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::open_recording;
    use crate::part::Part;

    const SAR: &str = include_str!("../../imports/fixtures/sar/load.json");

    fn recorded(text: &str) -> (tempfile::TempDir, PathBuf) {
        let home = tempfile::tempdir().expect("a folder");
        let imported = imports::text(text.as_bytes(), None).expect("it is known");
        let folder = home.path().join("a.stall");
        write(&imported, &folder).expect("a disk");
        (home, folder)
    }

    #[test]
    fn the_answer_says_what_was_seen_and_what_is_missing() {
        let (_home, folder) = recorded(SAR);
        let opened =
            open_recording::to_judge(Some(&folder), &Part::default()).expect("a recording");
        let mut recording = opened.recording;
        assert!(recording.damage.is_empty());
        let report = analysis::conclude(&mut recording.timeline, &mut recording.meta, None, 5);
        let [only] = &*report.verdict.findings else {
            panic!("{:?}", report.verdict.findings)
        };
        assert_eq!((&*only.cause, only.share), ("undetermined", None));
        assert_eq!(only.confidence, model::Confidence::Suspected);
        let said = &only.sentence;
        assert!(
            said.starts_with("Undetermined: somebody waited for a CPU "),
            "{said}"
        );
        for missing in ["thread.run_ns", "disk.read_ns"] {
            assert!(said.contains(missing), "{said}");
        }
        assert_eq!(report.environment["import.tool"], "sar");
    }

    /// The cause of a load that sar, atop and a monitor's script measured at the same time (`imports/fixtures/loads`).
    fn cause_of(load: &str, file: &str) -> (String, model::Confidence, String) {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../imports/fixtures/loads");
        let text = fs::read_to_string(fixtures.join(load).join(file)).expect("a fixture");
        let (_home, folder) = recorded(&text);
        let opened =
            open_recording::to_judge(Some(&folder), &Part::default()).expect("a recording");
        let mut recording = opened.recording;
        let report = analysis::conclude(&mut recording.timeline, &mut recording.meta, None, 5);
        let first = &report.verdict.findings[0];
        (
            first.cause.clone(),
            first.confidence,
            first.sentence.clone(),
        )
    }

    #[test]
    fn a_limit_is_named_where_somebody_waited_and_nothing_was_busy() {
        for (load, cause) in [
            ("cpu-quota", "cpu.quota"),
            ("io-slow-reads", "io.throttled"),
            ("memory-thrash", "memory.limit"),
            ("io-sync", "io.sync"),
        ] {
            for file in ["sar.json", "atop.txt"] {
                let (said, confidence, sentence) = cause_of(load, file);
                assert_eq!(said, cause, "{load} {file}: {sentence}");
                assert_eq!(confidence, model::Confidence::Consistent, "{load} {file}");
            }
        }
    }

    #[test]
    fn what_may_be_the_loads_own_or_a_neighbours_is_left_open() {
        for load in ["cpu-saturated", "cpu-neighbour", "row-lock"] {
            for file in ["sar.json", "atop.txt", "monitor.csv"] {
                let (said, _, sentence) = cause_of(load, file);
                assert_eq!(said, "undetermined", "{load} {file}: {sentence}");
                assert!(sentence.contains("not in it"), "{load} {file}: {sentence}");
            }
        }
        for load in ["cpu-quota", "io-slow-reads", "memory-thrash", "io-sync"] {
            let (said, _, sentence) = cause_of(load, "monitor.csv");
            assert_eq!(said, "undetermined", "{load}: {sentence}");
        }
    }

    #[test]
    fn what_is_imported_can_be_sent() {
        let (home, folder) = recorded(SAR);
        let opened = open_recording::open(Some(&folder), &Part::default()).expect("a recording");
        let texts = crate::export::everything(&opened.recording, home.path());
        // Overview, texts and replacements: a refusal is one sentence.
        assert_eq!(texts.len(), 3, "{texts:?}");
    }
}
