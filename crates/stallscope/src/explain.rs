//! `explain`: the answer again, from disk.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use model::{Report, Window};
use recording::Recording;

use crate::arguments::Explain;
use crate::duration::nanoseconds;
use crate::open_recording::{self, Opened};
use crate::outputs::{self, OutputFile};
use crate::stack_rate::WHY_NO_STACKS;
use crate::temporary_output;

pub(crate) fn explain(arguments: &Explain) -> Result<u8> {
    let _interrupts = temporary_output::watch()?;
    let json = arguments
        .json
        .as_deref()
        .map(|it| OutputFile::open(it, "--json"))
        .transpose()?;
    let Opened { mut recording, .. } = open_recording::to_judge(arguments.recording.as_deref())?;
    if !arguments.slo.is_empty() {
        recording.meta.plan.goals.clone_from(&arguments.slo);
    }
    for table in &arguments.without {
        if !recording.timeline.remove(table) {
            outputs::say(&format!("stallscope: the recording has no table {table}"));
        }
    }
    let window = asked(&recording, arguments.from, arguments.to)?;
    let mut report = report(&mut recording, window, arguments.top);
    if arguments.stacks {
        report.stacks = analysis::stacks::report(&recording.timeline, report.window);
        if report.stacks.is_none() {
            outputs::say(&format!(
                "stallscope: the recording has no call stacks of that time: {WHY_NO_STACKS}"
            ));
        }
    }
    let text = outputs::terminal(&report, outputs::Detail::Full);
    // Standard output may be the JSON's.
    let for_people = !json.as_ref().is_some_and(OutputFile::is_stdout);
    json.map_or(Ok(()), |file| file.write(&report))?;
    if for_people {
        outputs::show(&text).context("cannot write to standard output")?;
    } else {
        outputs::say(text.trim_end());
    }
    Ok(0)
}

/// The report of a recording over a part of it; with so many verdicts, where it is of
/// the whole machine. It is then, from here on, a recording of the first of those.
pub(crate) fn report(recording: &mut Recording, window: Option<Window>, top: usize) -> Report {
    let Recording { meta, timeline, .. } = recording;
    analysis::conclude(timeline, meta, window, top)
}

/// The part of a recording that an option each names; `None` without any.
pub(crate) fn asked(
    recording: &Recording,
    from: Option<Duration>,
    to: Option<Duration>,
) -> Result<Option<Window>> {
    window(recording, from.map(nanoseconds), to.map(nanoseconds))
}

/// The same, in ns after the recording's origin; before it as well.
pub(crate) fn over(
    recording: &Recording,
    from_ns: Option<i64>,
    to_ns: Option<i64>,
) -> Result<Report> {
    let window = window(recording, from_ns, to_ns)?;
    let Recording { meta, timeline, .. } = recording;
    Ok(analysis::answer(timeline, meta, window))
}

/// The part of a recording that these bounds mean, in ns after its origin; `None` without any.
fn window(
    recording: &Recording,
    from_ns: Option<i64>,
    to_ns: Option<i64>,
) -> Result<Option<Window>> {
    let Recording { meta, timeline, .. } = recording;
    if from_ns.is_none() && to_ns.is_none() {
        return Ok(None);
    }
    let (origin, judged) = analysis::judged(timeline, meta);
    if let (Some(from), Some(to)) = (from_ns, to_ns)
        && from >= to
    {
        bail!("the start is not before the end: nothing lies between them");
    }
    let start = from_ns.map_or(judged.start, |ns| origin + ns);
    let end = to_ns.map_or(judged.end, |ns| origin + ns);
    let asked = Window::new(start, end);
    let covered = asked.intersect(timeline.window);
    let Some(window) = covered.filter(|_| !asked.is_empty()) else {
        bail!(
            "the recording holds nothing there: it covers {:.1} s to {:.1} s of the run. Choose a start and an end inside",
            timeline.window.start.seconds_since(origin).max(0.0),
            timeline.window.end.seconds_since(origin)
        );
    };
    Ok(Some(window))
}
