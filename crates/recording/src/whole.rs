//! A recording in one folder opened for reading: all tables into a timeline, damage said and survived.

use std::io::{ErrorKind, Read as _};
use std::path::Path;

use model::{
    Entities, EntityEvent, FORMAT_VERSION, Gap, GapReason, Meta, Sentence, TableData, Timeline,
    Timestamp, Window,
};

use crate::damage::Damage;
use crate::meta_file::{self, Seal};
use crate::tables::Tables;
use crate::{
    Error, FolderHandle, META_FILE, Refused, Result, TABLE_EXTENSION, journal,
    list_file::Item as _, marks_file, plausible, recovery, schema, upgrade,
};

/// Far above any `meta.json`, and little enough to be read into memory.
const MAX_META_BYTES: u64 = 64 << 20;

/// A recording in memory.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The content of `meta.json`, as it is on disk.
    pub meta: Meta,
    /// The tables, the entities and the gaps, those made by damage included.
    pub timeline: Timeline,
    /// What could not be read.
    pub damage: Vec<Damage>,
}

/// Reads a recording that is not written as segments, or one of its segments.
pub(crate) fn open(folder: &FolderHandle) -> Result<Recording> {
    // Of a recording that still grows nothing may be missed: it says "complete" when all else is
    // there, and what leaves the journal goes to the tables.
    let meta = read_meta(folder);
    let (journal, torn) = journal::read(folder);
    let names = table_names(folder)?;
    let listed = names.iter().any(|name| name == EntityEvent::NAME);
    let (meta, doubt) = match meta {
        Ok((meta, doubt)) => (Some(meta), doubt),
        Err(Error::Meta { what, .. }) if listed => (
            None,
            Some(format!("it cannot be understood: {what}. {LACKING}")),
        ),
        Err(Error::NoMeta { .. }) if listed => (None, Some(format!("it is missing. {LACKING}"))),
        Err(error) => return Err(error),
    };
    let mut damage = Vec::new();
    damage.extend(doubt.map(|what| Damage::of_all(META_FILE, 0, what)));
    damage.extend(torn.map(|(offset, what)| Damage::of_all(journal::NAME, offset, what)));
    let complete = meta.as_ref().is_some_and(|meta| meta.complete);
    let mut tables = Tables::new(complete);
    for name in &names {
        tables.read(folder, name);
    }
    if !listed {
        // That it is missing is said by the attempt.
        tables.read(folder, EntityEvent::NAME);
    }
    journal.iter().for_each(|record| tables.add(record));
    damage.extend(tables.damage.into_values());
    let mut data: Vec<TableData> = tables.rows.into_values().map(|rows| rows.data).collect();
    let format = tables.format.unwrap_or(FORMAT_VERSION);
    let mut meta = meta.unwrap_or_else(|| recovery::meta(&tables.entities.entities, &data));
    let format = format.min(meta.format_version);
    upgrade::names(format, &mut data, &mut meta.gaps, &mut damage);
    let mut recording = assemble(meta, tables.entities.entities, data, damage);
    let (marks, unread) = marks_file::read(folder);
    recording.timeline.marks = marks;
    recording.timeline.strings = tables.strings.strings;
    // No row is missing for it.
    recording.damage.extend(unread);
    Ok(recording)
}

/// What is not known without `meta.json`.
const LACKING: &str = "The tables tell who was measured; the workload's command and outcome, the machine's facts and the gaps are lacking";

fn assemble(
    meta: Meta,
    entities: Entities,
    tables: Vec<TableData>,
    damage: Vec<Damage>,
) -> Recording {
    let mut window = meta.window;
    if !meta.complete {
        // What `meta.json` reports the end was written before the crash.
        window.end = tables
            .iter()
            .filter_map(newest_time)
            .max()
            .unwrap_or(window.start);
    }
    let mut timeline = Timeline::new(window);
    timeline.closed = meta.complete && !meta.segment.is_some_and(|segment| segment.continues);
    timeline.entities = entities;
    timeline.gaps.clone_from(&meta.gaps);
    for lost in &damage {
        let read_until = match &*lost.file {
            // What it lacks is newer than all that is there.
            journal::NAME => tables.iter().filter_map(newest_time).max(),
            _ => {
                let table = tables.iter().find(|data| data.table.name == lost.table);
                table.and_then(newest_time)
            }
        };
        timeline.gaps.push(gap_of(lost, read_until, window));
    }
    for data in tables {
        timeline.insert(data);
    }
    Recording {
        meta,
        timeline,
        damage,
    }
}

#[derive(serde::Deserialize)]
struct Version {
    format_version: u32,
}

/// The content of `meta.json`, and what makes it doubtful.
pub(crate) fn read_meta(folder: &FolderHandle) -> Result<(Meta, Option<String>)> {
    let path = folder.path_of(META_FILE);
    let text = meta_text(folder)?;
    let seal = meta_file::seal_of(&text);
    let unclear = |what: String| Error::Meta {
        path: path.clone(),
        what,
    };
    // Of a newer version nothing else may be relied on.
    let version: Version =
        serde_json::from_slice(&text).map_err(|error| unclear(error.to_string()))?;
    match version.format_version {
        1..=FORMAT_VERSION => {}
        // A number that only damage made is no reason to send anyone for a newer program.
        found if found > FORMAT_VERSION && seal != Seal::Broken => {
            return Err(Error::Newer {
                folder: folder.path().to_owned(),
                found,
            });
        }
        found => return Err(unclear(format!("there is no format {found}"))),
    }
    let mut meta: Meta =
        serde_json::from_slice(&text).map_err(|error| unclear(error.to_string()))?;
    meta_file::take_apart(&mut meta, &text);
    check_times(&meta).map_err(unclear)?;
    let sealed = meta.format_version >= schema::SINCE_CHECKSUMS || seal == Seal::Broken;
    let doubt = (sealed && seal != Seal::Whole).then(|| {
        "its checksum does not fit: something in it was changed after it was written. It is used as it is now".to_owned()
    });
    Ok((meta, doubt))
}

fn meta_text(folder: &FolderHandle) -> Result<Vec<u8>> {
    let path = folder.path_of(META_FILE);
    let (file, length) = match folder.read(META_FILE) {
        Ok(opened) => opened,
        Err(Refused::Kind(what)) => {
            let what = what.to_owned();
            return Err(Error::Meta { path, what });
        }
        Err(Refused::Read(error)) if error.kind() == ErrorKind::NotFound => {
            return Err(Error::NoMeta {
                folder: folder.path().to_owned(),
            });
        }
        Err(Refused::Read(error)) => return Err(Error::read(&path)(error)),
    };
    if length > MAX_META_BYTES {
        let what = format!("it is longer than {MAX_META_BYTES} bytes");
        return Err(Error::Meta { path, what });
    }
    let mut text = Vec::new();
    let read = file.take(MAX_META_BYTES).read_to_end(&mut text);
    read.map_err(Error::read(&path))?;
    Ok(text)
}

/// Refuses times that no boot clock shows, as everywhere in a recording.
fn check_times(meta: &Meta) -> std::result::Result<(), String> {
    let both = |window: Window| [window.start, window.end];
    let mut times = vec![meta.identity.anchor_boottime];
    times.extend(both(meta.window));
    times.extend(meta.gaps.iter().filter_map(|gap| gap.window).flat_map(both));
    times.extend(meta.targets.iter().map(|target| target.found_at));
    if let Some(workload) = &meta.workload {
        times.push(workload.started);
        times.extend(workload.outcome.iter().map(|outcome| outcome.ended));
    }
    match times.into_iter().find(|time| !plausible(*time)) {
        Some(time) => Err(format!("{} ns is no time since boot", time.as_ns())),
        None => Ok(()),
    }
}

/// Every table's name, the entity list's too, in order.
fn table_names(folder: &FolderHandle) -> Result<Vec<String>> {
    let files = folder.names().map_err(Error::read(folder.path()))?;
    let tables = files.iter().map(Path::new).filter(|file| {
        let extension = file.extension();
        extension.is_some_and(|extension| extension == TABLE_EXTENSION)
    });
    let stem = |file: &Path| file.file_stem().unwrap_or_default().to_owned();
    let mut names: Vec<String> = tables
        .map(|file| stem(file).to_string_lossy().into_owned())
        .collect();
    names.sort();
    Ok(names)
}

fn newest_time(data: &TableData) -> Option<Timestamp> {
    (0..data.len()).map(|row| data.key(row).0).max()
}

/// The gap that damage makes: from the last row that was read, or the whole recording.
fn gap_of(damage: &Damage, read_until: Option<Timestamp>, window: Window) -> Gap {
    Gap {
        table: damage.table.clone(),
        what: Sentence::default(),
        window: read_until.map(|start| Window::new(start, window.end.max(start))),
        reason: GapReason::Malformed(damage.to_string().into()),
    }
}
