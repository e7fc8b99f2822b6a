//! What must hold of every report, whatever was done while it was recorded.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use model::{GapReason, Report, ReportSubject, Role};

use super::Round;
use super::recorder::Recorder;
use crate::outcome;

/// Between two looks of the recorder at a target, ns.
const TICK_NS: i64 = 100_000_000;

/// The report that the program wrote to a file.
pub(super) fn report(file: &Path) -> Result<Report> {
    outcome::read_json(file)?.with_context(|| format!("it wrote no {}", file.display()))
}

/// The recorder kept its deadlines, or says by how much it did not: what neither its wake-ups nor the
/// gaps that it names account for is shorter than what counts as a gap, once for each late wake-up.
pub(super) fn deadlines_are_kept_or_told(report: &Report) -> Result<()> {
    let cost = &report.cost;
    let served = i64::try_from(cost.ticks).unwrap_or(i64::MAX / TICK_NS) * TICK_NS;
    let overruns = report
        .gaps
        .iter()
        .filter(|gap| gap.reason == GapReason::Overrun)
        .filter_map(|gap| gap.window);
    let named: i64 = overruns.map(|window| window.len_ns()).sum();
    let late = i64::try_from(cost.late_ticks).unwrap_or(i64::MAX / TICK_NS);
    let unsaid = cost.wall_ns - served - named;
    // Up to three periods pass before a delay is a gap; the first and the last tick are shorter.
    let allowed = late * 3 * TICK_NS + 3 * TICK_NS;
    if unsaid > allowed {
        bail!(
            "of {} ms recorded {} ms are neither in its {} wake-ups nor named as gaps ({} late)",
            cost.wall_ns / 1_000_000,
            unsaid / 1_000_000,
            cost.ticks,
            cost.late_ticks
        );
    }
    if cost.lateness_max_ns > 3 * TICK_NS + TICK_NS && named == 0 {
        bail!(
            "it woke {} ms late and names no gap",
            cost.lateness_max_ns / 1_000_000
        );
    }
    Ok(())
}

/// Parts of the threads' time add up to it, and none is negative.
pub(super) fn sums_are_right(report: &Report) -> Result<()> {
    for subject in &report.subjects {
        let Some(threads) = &subject.threads else {
            continue;
        };
        let sum: i64 = threads.items.iter().map(|item| item.ns).sum();
        if (sum - threads.wall_ns).abs() > threads.wall_ns / 100 {
            bail!(
                "the parts of the time of {} are {sum} of {} ns",
                subject.entity.name,
                threads.wall_ns
            );
        }
        if let Some(item) = threads.items.iter().find(|item| item.ns < 0) {
            bail!("a part of the time of {} is {item:?}", subject.entity.name);
        }
    }
    Ok(())
}

/// The target.
pub(super) fn target(report: &Report) -> Result<&ReportSubject> {
    let mut subjects = report.subjects.iter();
    subjects
        .find(|subject| subject.role == Role::Target)
        .context("the report has no target")
}

/// No byte that a terminal would obey: only text and line ends.
pub(super) fn harmless(what: &str, bytes: &[u8]) -> Result<()> {
    let text = std::str::from_utf8(bytes).with_context(|| format!("{what} is not UTF-8"))?;
    let obeyed = |c: &char| c.is_control() && *c != '\n';
    if let Some(letter) = text.chars().find(obeyed) {
        let mut lines = text.lines();
        let line = lines.find(|line| line.contains(letter)).unwrap_or_default();
        bail!("{what} holds {letter:?}: {line:?}");
    }
    Ok(())
}

/// Where `recording_of` records.
pub(super) const RECORDING: &str = "trial.stall";
/// The file that `recording_of` has the report written to.
const REPORT: &str = "report.json";
/// More than a recorder needs, whatever it sees: the pages of its program among it, which are half of it, and
/// which a build for debugging has more of (89 MB after the start, 54 MB of a release).
pub(super) const MOST_MEMORY: u64 = if cfg!(debug_assertions) { 150 } else { 100 } << 20;

/// The words of a recording of one process: `record`, for a time.
pub(super) fn recording_of(pid: u32, length: Duration) -> Vec<String> {
    let length = format!("--for={}s", length.as_secs_f64());
    let target = format!("--target=pid:{pid}");
    let words = ["record", "-o", RECORDING, "--json", REPORT];
    let words = words.into_iter().map(str::to_owned);
    words.chain([target, length]).collect()
}

/// Waits for the end of such a recording; its report, in which what must always hold does.
pub(super) fn sound(round: &Round<'_>, recorder: Recorder) -> Result<Report> {
    let ended = recorder.end()?;
    ended.expect(0)?.within(MOST_MEMORY)?;
    harmless("what it said", &ended.stderr)?;
    let report = report(&round.folder.join(REPORT))?;
    deadlines_are_kept_or_told(&report)?;
    sums_are_right(&report)?;
    Ok(report)
}
