//! CSV and Parquet: a folder with a file per table, and what they mean.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use model::{Table, Timeline};
use recording::{FolderHandle, Recording};

use super::clock::WallClock;
use super::flat::{self, Sheet};
use super::{destination, meta_text, place, refused, size};
use crate::arguments::{Export, ExportFormat};
use crate::outputs;
use crate::temporary_output::{Entry, TemporaryOutput};

/// What `README.md` begins with.
const INTRODUCTION: &str = "\
# Tables of a Stallscope recording

Written by `stallscope export`. One file per table, one line per row.

- `time_ns`: nanoseconds on CLOCK_BOOTTIME of the recorded machine: since boot, sleep included. `time_utc`: the same instant on its wall clock, in UTC, by the table `clock`.
- `entity`: who the row is about, by its number in `entities`; its kind, name, path and role stand beside it as they were at the end.
- A *counter* is the total so far: take differences per entity. A *gauge* stands for its instant.
- **Nothing (null) means not read. It is never zero.** Rows exist only where something changed: a counter between two rows is a straight line, a gauge holds until its next row.
- `gaps` says what was not seen, and why. `meta.json` is everything that is not a row: machine, command, targets, the workload's own summary.

";

pub(super) fn export(arguments: &Export, path: &Path, recording: &Recording) -> Result<()> {
    let (ending, extension) = match arguments.format() {
        ExportFormat::Parquet => ("-parquet", "parquet"),
        _ => ("-csv", "csv"),
    };
    check_tables(&arguments.table, &recording.timeline)?;
    let folder = destination(arguments, path, ending);
    let place = place(&folder)?;
    let make = || place.folder.create_folder(&place.name).map(Arc::new);
    let made = TemporaryOutput::make(make, |held| Entry::Folder(held.clone()));
    let (temporary_output, held) = made.map_err(refused(&folder))?;
    let written = write(arguments, recording, &held, extension);
    if written.is_err() {
        // It was made here and holds half of something. What cannot be removed is no second error.
        let _ = held.remove_all();
    }
    drop(temporary_output);
    let Written {
        tables,
        rows,
        bytes,
    } = written?;
    outputs::say(&format!(
        "Saved {}: {}, {}, {}. Units and meanings: {}/README.md",
        folder.display(),
        analysis::count(tables, "table"),
        analysis::count(u32::try_from(rows).unwrap_or(u32::MAX), "row"),
        size(bytes),
        folder.display(),
    ));
    Ok(())
}

/// What is written beside the recorded tables.
const OWN: [&str; 3] = ["entities", "strings", "gaps"];

/// The name that a recorded table goes out by. Only one from elsewhere can be called like our own.
fn name_of(table: &Table) -> String {
    let name = table.name.trim_end_matches('_');
    let suffix = if OWN.contains(&name) { "_" } else { "" };
    format!("{}{suffix}", table.name)
}

fn check_tables(wanted: &[String], timeline: &Timeline) -> Result<()> {
    let recorded = timeline.tables().map(|data| name_of(&data.table));
    let own = OWN
        .into_iter()
        .filter(|it| *it != "strings" || has_strings(timeline));
    let known: Vec<String> = recorded.chain(own.map(str::to_owned)).collect();
    match wanted.iter().find(|name| !known.contains(name)) {
        Some(name) => bail!(
            "the recording has no table {name}. It has: {}",
            known.join(", ")
        ),
        None => Ok(()),
    }
}

/// Whether rows refer to texts.
fn has_strings(timeline: &Timeline) -> bool {
    timeline.strings.iter().len() > 0
}

/// What was written.
struct Written {
    tables: u32,
    rows: u64,
    bytes: u64,
}

fn write(
    arguments: &Export,
    recording: &Recording,
    folder: &FolderHandle,
    extension: &str,
) -> Result<Written> {
    let Recording { meta, timeline, .. } = recording;
    let clock = WallClock::of(&meta.identity, timeline);
    let wanted = |name: &str| {
        arguments.table.is_empty() || arguments.table.iter().any(|table| table == name)
    };
    let (mut tables, mut rows, mut bytes) = (0, 0, 0);
    for sheet in sheets(timeline, &clock).filter(|sheet| wanted(&sheet.name)) {
        let name = format!("{}.{extension}", sheet.name);
        let path = folder.path_of(&name);
        let file = folder.create_file(&name).map_err(refused(&path))?;
        rows += write_sheet(sheet, &file, arguments.format())
            .with_context(|| format!("cannot write {}", path.display()))?;
        bytes += file.metadata().map_err(refused(&path))?.len();
        tables += 1;
    }
    let described = timeline.tables().map(|data| &data.table);
    let described: Vec<&Table> = described.filter(|table| wanted(&name_of(table))).collect();
    let texts = [
        ("meta.json", meta_text(meta)?),
        ("README.md", readme(&described)),
    ];
    for (name, text) in texts {
        let written = folder
            .create_file(name)
            .and_then(|mut file| file.write_all(text.as_bytes()));
        let path = folder.path_of(name);
        written.with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(Written {
        tables,
        rows,
        bytes,
    })
}

/// Every table that goes out.
pub(super) fn sheets<'a>(
    timeline: &'a Timeline,
    clock: &'a WallClock,
) -> impl Iterator<Item = Sheet<'a>> {
    let recorded = timeline.tables().map(|data| Sheet {
        name: name_of(&data.table),
        ..flat::table(data, timeline, clock)
    });
    let strings = has_strings(timeline).then(|| flat::strings(timeline));
    recorded
        .chain([flat::entities(timeline, clock)])
        .chain(strings)
        .chain([flat::gaps(timeline, clock)])
}

fn write_sheet(sheet: Sheet<'_>, file: &File, format: ExportFormat) -> Result<u64> {
    let out = BufWriter::new(file);
    match format {
        ExportFormat::Parquet => outputs::write_parquet(out, &sheet.schema, sheet.batches),
        _ => outputs::write_csv(out, &sheet.schema, sheet.batches),
    }
}

fn readme(tables: &[&Table]) -> String {
    let sections = tables.iter().map(|table| outputs::dictionary(table, ""));
    let text = INTRODUCTION.to_owned() + &sections.collect::<String>();
    format!("{}\n", text.trim_end())
}
