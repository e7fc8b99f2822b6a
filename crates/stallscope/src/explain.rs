//! `explain`: the answer again, from disk.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use model::{Report, Window};
use recording::Recording;

use crate::arguments::Explain;
use crate::open_recording::{self, Opened};
use crate::outputs::{self, OutputFile};
use crate::part::{self, Part};
use crate::stack_rate::WHY_NO_STACKS;
use crate::temporary_output;

pub(crate) fn explain(arguments: &Explain) -> Result<u8> {
    if arguments.output.is_some() {
        bail!(
            "-o writes the page of several nodes; of one recording: stallscope report REC -o FILE"
        );
    }
    let _interrupts = temporary_output::watch()?;
    let json = arguments
        .json
        .as_deref()
        .map(|it| OutputFile::open(it, "--json"))
        .transpose()?;
    let part = Part {
        last: arguments.last,
        ..Part::between(arguments.from, arguments.to)
    };
    let Opened {
        mut recording,
        proof,
        ..
    } = open_recording::to_judge(arguments.recordings.first().map(PathBuf::as_path), &part)?;
    if !arguments.slo.is_empty() {
        recording.meta.plan.goals.clone_from(&arguments.slo);
    }
    for table in &arguments.without {
        if !recording.timeline.remove(table) {
            outputs::say(&format!("stallscope: the recording has no table {table}"));
        }
    }
    // What an experiment changed is not what the target is.
    let as_it_is = proof.as_ref().map(|it| it.as_it_is);
    let window = part.window(&recording)?.or(as_it_is);
    let mut report = report(&mut recording, window, arguments.top);
    if let Some(proof) = &proof {
        analysis::proof::apply(&mut report, proof);
    }
    if arguments.stacks {
        report.stacks = analysis::stacks::report(&recording.timeline, report.window);
        if report.stacks.is_none() {
            outputs::say(&format!(
                "stallscope: the recording has no call stacks of that time: {WHY_NO_STACKS}"
            ));
        }
    }
    let mut text = outputs::terminal(&report, outputs::Detail::Full);
    if let Some(proof) = &proof {
        text.push_str(&outputs::proof_lines(proof));
    }
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

/// The report of the part between bounds in ns after the recording's origin; before it as well.
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
    let at = |ns: i64| origin + ns;
    let bounds = (from_ns.map(at), to_ns.map(at));
    part::between(recording, origin, judged, bounds).map(Some)
}
