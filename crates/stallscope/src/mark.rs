//! `mark`: says in a recording that something happened, now or at a time in it.

use anyhow::{Context, Result, bail};
use model::{Mark, Timestamp};
use recording::{Reader, Segments, bundle};

use crate::arguments::Mark as Arguments;
use crate::duration::nanoseconds;
use crate::outputs;

/// The newest rows of a recording that goes on are at most so old, s.
const STILL_S: f64 = 10.0;

pub(crate) fn mark(arguments: &Arguments) -> Result<u8> {
    // Before anything else that takes time.
    let now = kernel::boottime();
    let path = match &arguments.recording {
        Some(path) => path.clone(),
        None => recording::newest(std::path::Path::new("."))?,
    };
    let shown = path.display();
    if bundle::is_bundle(&path) {
        bail!(
            "{shown} is a bundle, which is not written in. Mark the recording that it was made of"
        );
    }
    let folder = Reader::folder(&path)?;
    let segments = Segments::of(&folder)?;
    let opened = match arguments.at {
        Some(_) => Reader::open_in(&folder)?,
        None => Reader::open_end(&folder)?,
    };
    let (timeline, meta) = (&opened.timeline, &opened.meta);
    let (origin, _) = analysis::judged(timeline, meta);
    let after = |time: Timestamp| time.seconds_since(origin);
    let at = match arguments.at {
        Some(time) => {
            let at = origin + nanoseconds(time);
            if !timeline.window.contains(at) {
                bail!(
                    "{shown} does not cover {:.1} s: it ends {:.1} s after the workload's start",
                    after(at),
                    after(timeline.window.end)
                );
            }
            at
        }
        None if meta.complete || now.seconds_since(timeline.window.end).abs() > STILL_S => bail!(
            "{shown} is no longer recorded. Say when it was, counted from the workload's start: --at {:.0}s",
            after(timeline.window.end).max(0.0) / 2.0
        ),
        None => now,
    };
    let Some(mark) = Mark::new(at, &arguments.text) else {
        bail!("the mark has no text: stallscope mark 'index built'");
    };
    let folder = match segments {
        Some(segments) => segments.covering(&folder, at)?,
        None => folder,
    };
    recording::add_mark(&folder, &mark).with_context(|| {
        format!("cannot write in {shown}; whoever recorded it can, and root with sudo")
    })?;
    outputs::say(&format!(
        "Marked {:.1} s of {shown}: {}",
        after(at),
        mark.text
    ));
    Ok(0)
}
