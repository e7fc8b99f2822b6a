//! `explain`: the answer again, from disk.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use model::{Report, Window};
use recording::Recording;

use crate::arguments::Explain;
use crate::{opened, outputs, unfinished};

pub(crate) fn explain(arguments: &Explain) -> Result<u8> {
    let _interrupts = unfinished::watch()?;
    let (_, recording) = opened::open(arguments.recording.as_deref())?;
    let report = report(&recording, arguments.from, arguments.to)?;
    let text = outputs::terminal(&report);
    match &arguments.json {
        Some(file) => {
            outputs::write_json(&report, file)?;
            outputs::say(text.trim_end());
        }
        None => outputs::show(&text).context("cannot write to standard output")?,
    }
    Ok(0)
}

/// The report of a recording over the asked-for part of it.
pub(crate) fn report(
    recording: &Recording,
    from: Option<Duration>,
    to: Option<Duration>,
) -> Result<Report> {
    let Recording { meta, timeline, .. } = recording;
    if from.is_none() && to.is_none() {
        return Ok(analysis::diagnose(timeline, meta, None));
    }
    let (origin, judged) = analysis::judged(timeline, meta);
    let at = |time: Duration| origin + i64::try_from(time.as_nanos()).unwrap_or(i64::MAX / 4);
    if let (Some(from), Some(to)) = (from, to)
        && from >= to
    {
        bail!("--from is not before --to: nothing lies between them");
    }
    let asked = Window::new(from.map_or(judged.start, at), to.map_or(judged.end, at));
    let covered = asked.intersect(timeline.window);
    let Some(window) = covered.filter(|_| !asked.is_empty()) else {
        bail!(
            "the recording holds nothing there: it covers {:.1} s to {:.1} s of the run. Choose --from and --to inside",
            timeline.window.start.seconds_since(origin).max(0.0),
            timeline.window.end.seconds_since(origin)
        );
    };
    Ok(analysis::diagnose(timeline, meta, Some(window)))
}
