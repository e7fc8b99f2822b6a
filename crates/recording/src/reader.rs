//! A recording opened for reading: all tables into a timeline, damage said and survived.

use std::fmt;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use model::{
    Entities, FORMAT_VERSION, Gap, GapReason, Meta, TableData, Timeline, Timestamp, Window,
};

use crate::entity_file::{self, EntityRows};
use crate::frames::Frames;
use crate::table_file::TableRows;
use crate::{Error, META_FILE, Result, TABLE_EXTENSION, plausible, schema};

/// Far above any `meta.json`, and little enough to be read into memory.
const MAX_META_BYTES: u64 = 64 << 20;

/// Opens recordings.
pub struct Reader;

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

/// The part of one table that could not be read: everything from an offset on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Damage {
    /// The table, or `entities`.
    pub table: String,
    /// Bytes of its file that were read and are in the timeline.
    pub offset: u64,
    /// What was found there.
    pub what: String,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            table,
            offset,
            what,
        } = self;
        write!(
            f,
            "{table}.{TABLE_EXTENSION} was read up to byte {offset}: {what}"
        )
    }
}

impl Reader {
    /// Reads the recording in `folder`.
    ///
    /// Only a recording without a readable `meta.json` is an error. A damaged table loses what
    /// follows the damage, which becomes a [`Damage`] and a gap.
    pub fn open(folder: &Path) -> Result<Recording> {
        let (path, text) = read_meta(folder)?;
        let unclear = |what: String| Error::Meta {
            path: path.clone(),
            what,
        };
        // Of a newer version nothing else may be relied on.
        let version: Version =
            serde_json::from_slice(&text).map_err(|error| unclear(error.to_string()))?;
        match version.format_version {
            1..=FORMAT_VERSION => {
                let meta: Meta =
                    serde_json::from_slice(&text).map_err(|error| unclear(error.to_string()))?;
                check_times(&meta).map_err(unclear)?;
                open_known(folder, meta)
            }
            found if found > FORMAT_VERSION => Err(Error::Newer {
                folder: folder.to_owned(),
                found,
            }),
            found => Err(unclear(format!("there is no format {found}"))),
        }
    }
}

#[derive(serde::Deserialize)]
struct Version {
    format_version: u32,
}

/// Format 2 added kinds of entities and two columns to the entity list; what format 1 lacks is not known.
fn open_known(folder: &Path, meta: Meta) -> Result<Recording> {
    let mut damage = Vec::new();
    let mut tables = Vec::new();
    let (entities, lost) = read_entities(folder);
    damage.extend(lost);
    for (name, path) in table_paths(folder)? {
        let (data, lost) = read_table(&name, &path);
        damage.extend(lost);
        tables.extend(data);
    }
    let mut window = meta.window;
    if !meta.complete {
        // What `meta.json` tells of the end was written before the crash.
        window.end = tables
            .iter()
            .filter_map(newest_time)
            .max()
            .unwrap_or(window.start);
    }
    let mut timeline = Timeline::new(window);
    timeline.closed = meta.complete;
    timeline.entities = entities;
    timeline.gaps.clone_from(&meta.gaps);
    for lost in &damage {
        let table = tables.iter().find(|data| data.table.name == lost.table);
        timeline.gaps.push(gap_of(lost, table, window));
    }
    for data in tables {
        timeline.insert(data);
    }
    Ok(Recording {
        meta,
        timeline,
        damage,
    })
}

fn read_meta(folder: &Path) -> Result<(PathBuf, Vec<u8>)> {
    let about = fs::metadata(folder).map_err(|source| match source.kind() {
        ErrorKind::NotFound => Error::Absent {
            folder: folder.to_owned(),
        },
        _ => Error::read(folder)(source),
    })?;
    if !about.is_dir() {
        return Err(Error::NotAFolder {
            path: folder.to_owned(),
        });
    }
    let path = folder.join(META_FILE);
    let about = fs::metadata(&path).map_err(|source| match source.kind() {
        ErrorKind::NotFound => Error::NoMeta {
            folder: folder.to_owned(),
        },
        _ => Error::read(&path)(source),
    })?;
    if !about.is_file() || about.len() > MAX_META_BYTES {
        let what = format!("it is not a file of at most {MAX_META_BYTES} bytes");
        return Err(Error::Meta { path, what });
    }
    let text = fs::read(&path).map_err(Error::read(&path))?;
    Ok((path, text))
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

/// Every table's name and file, in the order of names.
fn table_paths(folder: &Path) -> Result<Vec<(String, PathBuf)>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(Error::read(folder))? {
        let path = entry.map_err(Error::read(folder))?.path();
        let name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let is_table = path
            .extension()
            .is_some_and(|extension| extension == TABLE_EXTENSION);
        if is_table && name != entity_file::NAME {
            paths.push((name, path));
        }
    }
    paths.sort();
    Ok(paths)
}

fn read_entities(folder: &Path) -> (Entities, Option<Damage>) {
    let lost = |offset, what| {
        Some(Damage {
            table: entity_file::NAME.to_owned(),
            offset,
            what,
        })
    };
    let open = || {
        let frames = Frames::open(&entity_file::path_of(folder))?;
        entity_file::check_schema(frames.schema())?;
        Ok(frames)
    };
    let mut rows = EntityRows::default();
    let frames = match open() {
        Ok(frames) => frames,
        Err(what) => return (rows.entities, lost(0, what)),
    };
    let damage = read_batches(frames, |batch| rows.take(batch));
    (
        rows.entities,
        damage.and_then(|(offset, what)| lost(offset, what)),
    )
}

fn read_table(name: &str, path: &Path) -> (Option<TableData>, Option<Damage>) {
    let lost = |offset, what| {
        Some(Damage {
            table: name.to_owned(),
            offset,
            what,
        })
    };
    let open = || {
        let frames = Frames::open(path)?;
        let table = schema::to_table(frames.schema())?;
        if table.name != name {
            return Err(format!("it holds the table {:?}", table.name));
        }
        Ok((frames, table))
    };
    let (frames, table) = match open() {
        Ok(opened) => opened,
        Err(what) => return (None, lost(0, what)),
    };
    let mut rows = TableRows::new(table);
    let damage = read_batches(frames, |batch| rows.take(batch));
    (
        Some(rows.data),
        damage.and_then(|(offset, what)| lost(offset, what)),
    )
}

/// Reads to the end, or up to what cannot be read: (its offset, what is wrong).
fn read_batches(
    mut frames: Frames,
    mut take: impl FnMut(&RecordBatch) -> std::result::Result<(), String>,
) -> Option<(u64, String)> {
    loop {
        let offset = frames.position();
        match frames
            .next_batch()
            .and_then(|batch| batch.map(|batch| take(&batch)).transpose())
        {
            Ok(Some(())) => {}
            Ok(None) => return None,
            Err(what) => return Some((offset, what)),
        }
    }
}

fn newest_time(data: &TableData) -> Option<Timestamp> {
    (0..data.len()).map(|row| data.key(row).0).max()
}

/// The gap that damage makes: from the last row that was read, or the whole recording.
fn gap_of(damage: &Damage, table: Option<&TableData>, window: Window) -> Gap {
    let read_until = table.and_then(newest_time);
    Gap {
        table: damage.table.clone(),
        what: String::new(),
        window: read_until.map(|start| Window::new(start, window.end.max(start))),
        reason: GapReason::Malformed(damage.to_string()),
    }
}
