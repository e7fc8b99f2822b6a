//! A bundle: the recording written again from what was read of it, its words redacted, in one file.
//!
//! Nothing is copied byte by byte. What this program does not read, it does not send.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result};
use model::{EntityEvent, Rows, Table, TableData};
use recording::bundle::{self, Manifest};
use recording::{Recording, Writer};
use tempfile::TempDir;

use super::redact::{PublicTable, Redacted, redact};
use super::{Place, place, preview, refused};
use crate::arguments::{Export, Names};
use crate::outputs;
use crate::temporary_output::{Entry, TemporaryOutput};

/// Rows that are held at a time.
const BATCH_ROWS: usize = 1 << 16;

pub(super) fn export(arguments: &Export, path: &Path, recording: &Recording) -> Result<()> {
    let names = arguments.names.unwrap_or(Names::Programs);
    let out = match &arguments.output {
        Some(out) => out.clone(),
        None => bundle::name_for(path),
    };
    let destination = match arguments.preview {
        true => None,
        false => Some(place(&out)?),
    };
    if let Some(place) = &destination
        && place.folder.has(&place.name)
    {
        return Err(refused(&out)(std::io::ErrorKind::AlreadyExists.into()));
    }
    let entry = |room: &TempDir| Entry::Temporary(room.path().to_owned());
    let (_unfinished, room) = TemporaryOutput::make(bundle::private_folder, entry).context(
        "cannot write in the folder for temporary files. Name another with TMPDIR=FOLDER",
    )?;
    let folder = room.path().join("redacted.stall");
    let (redacted, manifest) = make(&folder, recording, names)?;
    let mut text = preview::overview(&out, &manifest, recording, &redacted);
    if arguments.preview {
        text += &preview::texts(&redacted);
        text += &preview::replaced(&redacted);
    }
    outputs::show(&text).context("cannot write to standard output")?;
    let Some(destination) = destination else {
        return Ok(());
    };
    let bytes = save(&out, destination, &folder, &manifest)?;
    outputs::say(&format!(
        "Saved {} ({}). Every text in it: add --preview. Whoever gets it: stallscope explain {}",
        out.display(),
        super::size(bytes),
        out.display()
    ));
    Ok(())
}

/// Makes the bundle's recording in `folder`, and says what it will list.
pub(super) fn make(
    folder: &Path,
    recording: &Recording,
    names: Names,
) -> Result<(Redacted, Manifest)> {
    let redacted = redact(recording, names)?;
    write_again(folder, recording, &redacted)?;
    let manifest = Manifest::of(folder, preview::redaction(&redacted, names))?;
    Ok((redacted, manifest))
}

/// Packs the folder; a bundle that could not be finished does not stay.
fn save(out: &Path, destination: Place, folder: &Path, manifest: &Manifest) -> Result<u64> {
    let Place { folder: home, name } = destination;
    let entry = |_: &File| Entry::File(home.clone(), name.clone());
    let made = TemporaryOutput::make(|| home.create_file(&name), entry);
    let (_unfinished, file) = made.map_err(refused(out))?;
    let mut buffered = BufWriter::new(&file);
    let packed = bundle::pack(folder, manifest, &mut buffered).and_then(|()| buffered.flush());
    if packed.is_err() {
        let _ = home.remove(&name);
    }
    packed.with_context(|| format!("cannot write {}", out.display()))?;
    Ok(file.metadata().map_err(refused(out))?.len())
}

/// The recording with its redacted words, made anew in `folder`.
fn write_again(folder: &Path, recording: &Recording, redacted: &Redacted) -> Result<()> {
    let meta = &redacted.meta;
    let mut writer = Writer::create(folder, meta)?;
    let events = redacted.entities.iter().map(|record| EntityEvent {
        time: record.vanished.unwrap_or(record.first_seen),
        record: record.clone(),
    });
    writer.entities(&events.collect::<Vec<_>>())?;
    writer.strings(&redacted.strings)?;
    for PublicTable { table, columns } in &redacted.tables {
        if let Some(data) = recording.timeline.table(&table.name) {
            append(&mut writer, table, Columns { data, columns })?;
        }
    }
    for mark in &redacted.marks {
        recording::add_mark(writer.folder(), mark)?;
    }
    writer.close(meta)?;
    Ok(())
}

/// The columns of a table that leave.
struct Columns<'a> {
    data: &'a TableData,
    columns: &'a [usize],
}

fn append(writer: &mut Writer, table: &Table, public: Columns<'_>) -> Result<()> {
    let Columns { data, columns } = public;
    let width = table.columns.len();
    let mut rows = Rows::with_capacity(width, data.len().min(BATCH_ROWS));
    let mut values = Vec::with_capacity(width);
    for row in 0..data.len() {
        let (time, entity) = data.key(row);
        values.clear();
        let recorded: Vec<i64> = data.row(row).collect();
        values.extend(columns.iter().map(|column| recorded[*column]));
        rows.push(time, entity, &values);
        if rows.len() == BATCH_ROWS {
            writer.append(table, &rows)?;
            rows.clear();
        }
    }
    writer.append(table, &rows)?;
    Ok(())
}
