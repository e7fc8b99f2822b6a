//! `export`: a recording for other programs, or for other people.

mod bundle;
mod clock;
mod cut;
mod flat;
mod fuzz_targets;
mod preview;
mod redact;
mod stacks;
mod tables;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use recording::{Blocked, FolderHandle};

use crate::arguments::{Export, ExportFormat};
use crate::open_recording::{self, Opened};
use crate::part::Part;
use crate::temporary_output;

pub(crate) use clock::WallClock;
pub(crate) use cut::save_again;
pub(crate) use fuzz_targets::everything;

pub(crate) fn export(arguments: &Export) -> Result<u8> {
    check(arguments)?;
    let _interrupts = temporary_output::watch()?;
    let part = Part::between(arguments.from, arguments.to);
    let Opened {
        path, recording, ..
    } = open_recording::open(arguments.recording.as_deref(), &part)?;
    match arguments.format() {
        ExportFormat::Bundle => bundle::export(arguments, &path, &recording)?,
        ExportFormat::Recording => {
            let window = part.stretch(&recording)?;
            cut::export(arguments, &path, &recording, window)?;
        }
        ExportFormat::Csv | ExportFormat::Parquet => {
            tables::export(arguments, &path, &recording)?;
        }
        ExportFormat::Folded
        | ExportFormat::Pprof
        | ExportFormat::Speedscope
        | ExportFormat::Perfetto => {
            let window = part.window(&recording)?;
            stacks::export(arguments, &path, &recording, window)?;
        }
    }
    Ok(0)
}

/// Options that the format has no use for are a misunderstanding, better said than passed over.
pub(crate) fn check(arguments: &Export) -> Result<()> {
    let bundle = arguments.format() == ExportFormat::Bundle;
    let recording = arguments.format() == ExportFormat::Recording;
    let stacks = arguments.format().is_of_stacks();
    if !recording && !stacks && (arguments.from.is_some() || arguments.to.is_some()) {
        bail!(
            "--from and --to cut a recording out: leave --format out, and export what was cut out in the other format"
        );
    }
    if stacks && !arguments.table.is_empty() {
        bail!("this format holds call stacks and no other table: leave --table out");
    }
    if arguments.waits && (!stacks || arguments.format() == ExportFormat::Perfetto) {
        bail!("--waits is for call stacks by their time: add --format folded, pprof or speedscope");
    }
    if recording && !arguments.table.is_empty() {
        bail!("a recording is cut out with every table: leave --table out");
    }
    if bundle && !arguments.table.is_empty() {
        bail!("a bundle holds every table, so that its verdict is the same: leave --table out");
    }
    if !bundle && (arguments.names.is_some() || arguments.preview) {
        bail!(
            "--names and --preview are for --format bundle: other formats hold everything as it was recorded"
        );
    }
    Ok(())
}

/// Where the export goes: where the user says, or beside nobody, here, named after the recording.
fn destination(arguments: &Export, recording: &Path, ending: &str) -> PathBuf {
    let default = || {
        let stem = recording.file_stem().unwrap_or(recording.as_os_str());
        let mut name = stem.to_owned();
        name.push(ending);
        PathBuf::from(name)
    };
    arguments.output.clone().unwrap_or_else(default)
}

/// An error about a destination that cannot be made.
fn refused(path: &Path) -> impl FnOnce(std::io::Error) -> anyhow::Error + '_ {
    move |error| {
        let path = path.display();
        if error.kind() == std::io::ErrorKind::AlreadyExists {
            anyhow::anyhow!(
                "{path} exists, and nothing is overwritten. Choose another with -o PATH"
            )
        } else {
            anyhow::anyhow!("cannot write {path}: {error}. Choose another place with -o PATH")
        }
    }
}

/// Where a destination is to be made: its folder, held open, and its name there.
struct Place {
    folder: Arc<FolderHandle>,
    name: OsString,
}

fn place(path: &Path) -> Result<Place> {
    match recording::for_new_file(path) {
        Ok((folder, name)) => Ok(Place {
            folder: Arc::new(folder),
            name,
        }),
        Err(Blocked::Io(error)) => Err(refused(path)(error)),
        Err(Blocked::Exposed(exposed)) => bail!(
            "cannot write {} as root: {exposed}. Choose a place where only root may write, or a sticky one as /var/tmp: -o {}",
            path.display(),
            recording::elsewhere(path).display()
        ),
    }
}

/// `1.2 MB`, `310 kB`.
fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.0} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

/// What of a recording is no row, as it stands in `meta.json`.
fn meta_text(meta: &model::Meta) -> Result<String> {
    let text = serde_json::to_string_pretty(meta).context("cannot write meta.json")?;
    Ok(text + "\n")
}
