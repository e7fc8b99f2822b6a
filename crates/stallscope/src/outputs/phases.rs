//! The phases of a run that changed, one line each: when, how much, and what it waited for; between two of them what
//! changed there, and how long it took until throughput held.

use analysis::{duration, percent, rate};
use model::{Phase, PhaseChange, PhaseKind, PhaseVerdict, Report};

use super::disks;
use super::layout::{seconds, with_note, wrap};
use super::throughput::rate_unit;

/// Phases that are shown; of more the rest is counted.
const MOST_SHOWN: usize = 8;

/// So many are shown wherever there is little room: the sentences between them give way first.
const LEAST_SHOWN: usize = 3;
/// How far the lines between phases are set in.
const INDENT: usize = 6;
/// With no more sentences than this there is room for little.
const BRIEF: usize = 2;

/// The block, or nothing for a run of one phase. With `most` items of each list there are as many phases, and of each
/// border as many sentences.
pub(super) fn lines(report: &Report, width: usize, most: usize) -> String {
    let sentences = most;
    let most = most.clamp(LEAST_SHOWN, MOST_SHOWN);
    let phases: Vec<&Phase> = report.phases.iter().filter(|it| is_shown(it)).collect();
    if phases.len() < 2 {
        return String::new();
    }
    let unit = rate_unit(report);
    // A window that was asked for is no phase.
    let judged = phases.iter().position(|it| it.window == report.window);
    let shown = shown(phases.len(), judged, most);
    let cells: Vec<[String; 4]> = shown
        .iter()
        .map(|at| cells(phases[*at], report, unit))
        .collect();
    let widest = |column: usize| {
        let widths = cells.iter().map(|row| row[column].chars().count());
        widths.max().unwrap_or(0)
    };
    let [when, kind, throughput, latency] = [0, 1, 2, 3].map(widest);
    let mut text = match judged.is_some() {
        true => "  Phases (the verdict is about the one marked *)\n".to_owned(),
        false => "  Phases\n".to_owned(),
    };
    let mut next = 0;
    for (row, at) in cells.iter().zip(shown) {
        text.push_str(&left_out(at - next, most));
        next = at + 1;
        let phase = phases[at];
        let mark = if judged == Some(at) { '*' } else { ' ' };
        let [a, b, c, d] = row;
        let start = format!("  {mark} {a:<when$}  {b:<kind$}  {c:>throughput$}  {d:>latency$}");
        let verdict = phase.verdict.as_ref().map_or(String::new(), verdict_words);
        if let Some(change) = &phase.change {
            text.push_str(&border(change, report, sentences, width));
        }
        text.push_str(&with_note(start.trim_end(), &verdict, width));
        if sentences > BRIEF && !phase.disks.is_empty() {
            let said = format!("On disk: {}.", disks::in_short(&phase.disks));
            text.push_str(&set_in(&said, width));
        }
    }
    text + &left_out(phases.len() - next, most)
}

/// Which of so many phases are shown: the first ones, and that which is judged.
fn shown(all: usize, judged: Option<usize>, most: usize) -> Vec<usize> {
    let mut shown: Vec<usize> = (0..all.min(most)).collect();
    if let (Some(judged), Some(last)) = (judged, shown.last_mut()) {
        *last = (*last).max(judged);
    }
    shown
}

/// How many phases are left out here, and where they are.
fn left_out(count: usize, most: usize) -> String {
    match (count, most < MOST_SHOWN) {
        (0, _) => String::new(),
        (_, true) => format!("    and {count} more (-v)\n"),
        (_, false) => format!("    and {count} more: see the report as JSON\n"),
    }
}

fn is_shown(phase: &Phase) -> bool {
    !matches!(phase.kind, PhaseKind::WarmUp | PhaseKind::End)
}

fn cells(phase: &Phase, report: &Report, unit: &str) -> [String; 4] {
    let at = |time: model::Timestamp| seconds(time.seconds_since(report.origin));
    let kind = match phase.kind {
        PhaseKind::WarmUp => "warm-up",
        PhaseKind::Steady => "steady",
        PhaseKind::Ramp => "ramp",
        PhaseKind::Congested => "congested",
        PhaseKind::End => "end",
    };
    let throughput = phase
        .throughput
        .map_or(String::new(), |value| format!("{} {unit}", rate(value)));
    let latency = phase
        .latency_ns
        .map_or(String::new(), |ns| duration(ns as f64));
    [
        format!("{} to {}", at(phase.window.start), at(phase.window.end)),
        kind.to_owned(),
        throughput,
        latency,
    ]
}

/// What changed where a phase begins. Where there is room for one or two sentences it is the first of what differs: how
/// throughput changed stands in the lines of both phases.
fn border(change: &PhaseChange, report: &Report, most: usize, width: usize) -> String {
    let at = |time: model::Timestamp| seconds(time.seconds_since(report.origin));
    let marks = change.marks.iter();
    let marks = marks.map(|mark| format!("Marked at {}: {}.", at(mark.at), mark.text));
    let differences = change.differences.iter().map(|it| it.sentence.clone());
    let begins = std::iter::once(change.sentence.clone());
    let said: Vec<String> = match most <= BRIEF {
        true => differences.chain(begins).take(1).collect(),
        false => {
            let all = begins.chain(marks).chain(differences).take(most);
            all.chain([change.settled.clone()]).collect()
        }
    };
    let said = [format!("At {}:", at(change.at)), said.join(" ")];
    set_in(&said.join(" "), width)
}

fn set_in(said: &str, width: usize) -> String {
    let lines = wrap(said, width.saturating_sub(INDENT));
    let lines = lines.iter();
    lines
        .map(|line| format!("{:INDENT$}{line}\n", ""))
        .collect()
}

/// The cause, its share and whom it is about; the full sentence does not fit beside the numbers and
/// is in the JSON.
fn verdict_words(verdict: &PhaseVerdict) -> String {
    let who = &verdict.entity.name;
    let share = verdict.share.map_or(String::new(), |share| {
        format!(" {}", percent(share.min(1.0)))
    });
    format!(
        "{}{share} ({who}, {})",
        verdict.cause,
        verdict.confidence.word()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_phase_that_is_judged_is_always_shown() {
        assert_eq!(shown(2, Some(1), 3), [0, 1]);
        assert_eq!(shown(6, Some(1), 3), [0, 1, 2]);
        assert_eq!(shown(6, Some(5), 3), [0, 1, 5]);
        assert_eq!(shown(6, None, 3), [0, 1, 2]);
    }

    #[test]
    fn what_is_left_out_says_where_it_is() {
        assert_eq!(left_out(0, 3), "");
        assert_eq!(left_out(3, 3), "    and 3 more (-v)\n");
        assert_eq!(
            left_out(3, MOST_SHOWN),
            "    and 3 more: see the report as JSON\n"
        );
    }
}
