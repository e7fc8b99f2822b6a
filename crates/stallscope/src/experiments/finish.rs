//! The end of every experiment: the recording closed, read back, diagnosed and shown.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use model::Report;
use recording::{Reader, Recording};

use super::session::Session;
use crate::arguments::RecordingOptions;
use crate::bar::Bar;
use crate::{outputs, page};

/// Closes and shows; returns 1 when a bar was missed.
pub(super) fn finish(
    session: Session,
    folder: &Path,
    options: &RecordingOptions,
    bars: &[Bar],
) -> Result<u8> {
    let screen = session.screen.clone();
    let told = tell(session, folder, options, bars);
    // Everything is on disk now, whether or not somebody reads it here.
    screen.flush();
    told
}

fn tell(
    mut session: Session,
    folder: &Path,
    options: &RecordingOptions,
    bars: &[Bar],
) -> Result<u8> {
    let closed = session.close();
    let screen = session.screen.clone();
    drop(session);
    // Even a recording that hit trouble is read: everything before the trouble is there.
    let recording = Reader::open(folder)
        .with_context(|| format!("the recording {} cannot be read back", folder.display()))?;
    let report = analysis::diagnose(&recording.timeline, &recording.meta, None);
    screen.say(outputs::terminal(&report).trim_end());
    let bytes = closed?;
    let page = (!options.no_report).then(|| draw(folder, &recording, &report));
    let page = page.and_then(|drawn| {
        // Everything else is there without it.
        let trouble = |error| screen.say(&format!("stallscope: {}", outputs::sentence(&error)));
        drawn.map_err(trouble).ok()
    });
    screen.say(&saved(folder, bytes, &report, page.as_deref()));
    if let Some(file) = &options.json {
        outputs::write_json(&report, file)?;
    }
    let missed: Vec<String> = bars.iter().filter_map(|bar| bar.missed(&report)).collect();
    missed
        .iter()
        .for_each(|sentence| screen.say(&format!("stallscope: {sentence}")));
    Ok(u8::from(!missed.is_empty()))
}

/// Draws the page into the recording's folder, and says where it is.
fn draw(folder: &Path, recording: &Recording, report: &Report) -> Result<PathBuf> {
    let file = page::place(folder);
    let drawn = page::draw(recording, report, &page::name(folder))?;
    page::save(&drawn, &file)
        .with_context(|| format!("the page was not made: cannot write {}", file.display()))?;
    Ok(file)
}

/// The last line: what was recorded, without the page, and what to do with it.
fn saved(folder: &Path, bytes: u64, report: &Report, page: Option<&Path>) -> String {
    let size = bytes as f64 / 1e6;
    let size = if size < 0.1 {
        format!("{:.0} kB", bytes as f64 / 1e3)
    } else {
        format!("{size:.1} MB")
    };
    let cost = analysis::percent(report.cost.cpu_share());
    let folder = folder.display();
    let next = match page {
        Some(page) => format!("open {}", page.display()),
        None => format!("stallscope explain {folder}"),
    };
    format!("Saved {folder} ({size}), own cost {cost} of a CPU. Next: {next}")
}
