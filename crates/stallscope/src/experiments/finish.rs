//! The end of `run` and `record`: the recording read back, diagnosed and shown.

use std::ops::Range;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use kernel::Interrupts;
use model::Report;
use recorder::Recorded;
use recording::{FolderHandle, Reader, Recording, Segments};

use crate::arguments::RecordingOptions;
use crate::condition::Condition;
use crate::outputs::{self, OutputFile, Screen};
use crate::page;
use crate::part::Part;

/// How often the page is looked for.
const POLL: Duration = Duration::from_millis(10);

/// So much of a recording that is written as segments is judged at its end.
const JUDGED_AT_END: Duration = Duration::from_secs(600);

/// What the user wants to learn from a recording.
pub(super) struct Wanted<'a> {
    pub(super) options: &'a RecordingOptions,
    /// Where the report goes as JSON, opened before the recording began.
    pub(super) json: Option<OutputFile>,
    pub(super) conditions: &'a [Condition],
    /// Verdicts of a recording of the whole machine.
    pub(super) top: usize,
}

/// Shows what was recorded; returns 1 when a condition holds.
pub(super) fn finish(recorded: Recorded, screen: &Screen, wanted: Wanted<'_>) -> Result<u8> {
    let told = tell(recorded, screen, wanted);
    // Everything is on disk now, whether or not somebody reads it here.
    screen.flush();
    told
}

fn tell(recorded: Recorded, screen: &Screen, wanted: Wanted<'_>) -> Result<u8> {
    let Wanted {
        options,
        json,
        conditions,
        top,
    } = wanted;
    let held = recorded.folder;
    let folder = held.path();
    // Even a recording that hit trouble is read: everything before the trouble is there.
    let read = match Segments::of(&held)? {
        Some(segments) => segments.read(last_part(&segments, &held), &held),
        None => Reader::open_in(&held),
    };
    let mut recording =
        read.with_context(|| format!("the recording {} cannot be read back", folder.display()))?;
    analysis::prepare(&mut recording.timeline);
    let (timeline, meta) = (&mut recording.timeline, &mut recording.meta);
    let report = analysis::conclude(timeline, meta, None, top);
    let interrupted = Arc::new(AtomicBool::new(false));
    let heard = interrupted.clone();
    // All that is left to wait for is the page.
    let _interrupts = Interrupts::watch(move |_| heard.store(true, Ordering::Relaxed))?;
    let detail = match options.verbose {
        true => outputs::Detail::Full,
        false => outputs::Detail::Short,
    };
    screen.say(outputs::terminal(&report, detail).trim_end());
    let bytes = recorded.closed?;
    // Before the page: what programs read does not wait for a picture.
    let written = json.map_or(Ok(()), |file| file.write(&report));
    let page = (!options.no_report).then(|| draw(&held, recording, &report, &interrupted));
    let page = page.and_then(|drawn| {
        // Everything else is there without it.
        let trouble = |error| screen.say(&format!("stallscope: {}", outputs::sentence(&error)));
        drawn.map_err(trouble).ok()
    });
    screen.say(&saved(folder, bytes, &report, page.as_deref()));
    if let Some(now) = held.moved_to() {
        screen.say(&format!(
            "stallscope: {} was moved while it was recorded. It is in {}",
            folder.display(),
            now.display()
        ));
    }
    written?;
    let violated: Vec<String> = conditions
        .iter()
        .filter_map(|condition| condition.violated(&report))
        .collect();
    violated
        .iter()
        .for_each(|sentence| screen.say(&format!("stallscope: {sentence}")));
    Ok(u8::from(!violated.is_empty()))
}

/// The segments that the answer at the end is about: a recording of days is no page.
fn last_part(segments: &Segments, folder: &FolderHandle) -> Range<usize> {
    let part = Part {
        last: Some(JUDGED_AT_END),
        ..Part::default()
    };
    let places = part.segments(segments, folder);
    if places.len() < segments.len() {
        outputs::say(&format!(
            "stallscope: of {} segments the answer is about the last {}: stallscope explain --from 14:05 --to 14:15 is about others",
            segments.len(),
            places.len()
        ));
    }
    places
}

/// Draws the page into the recording's folder, and says where it is.
fn draw(
    folder: &Arc<FolderHandle>,
    recording: Recording,
    report: &Report,
    interrupted: &AtomicBool,
) -> Result<PathBuf> {
    let place = page::Place::in_recording(folder);
    let (name, of) = (page::name(folder.path()), report.clone());
    let drawn = unless(interrupted, move || page::draw(&recording, &of, &name))?;
    let Some(drawn) = drawn else {
        bail!(
            "interrupted: the page was not made. stallscope report {} makes it",
            folder.path().display()
        );
    };
    let file = place.path();
    page::save(&drawn?, &place)
        .with_context(|| format!("the page was not made: cannot write {}", file.display()))?;
    Ok(file)
}

/// What comes of some work; `None` where an interrupt comes first: the work is then left to the end of the
/// program, and may touch no file.
fn unless<T: Send + 'static>(
    interrupted: &AtomicBool,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<Option<T>> {
    let working = thread::Builder::new().name("page".to_owned()).spawn(work)?;
    while !working.is_finished() {
        if interrupted.load(Ordering::Relaxed) {
            return Ok(None);
        }
        thread::sleep(POLL);
    }
    Ok(Some(
        working.join().unwrap_or_else(|panic| resume_unwind(panic)),
    ))
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
