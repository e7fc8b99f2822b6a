//! What changed at the border between two phases, and how long throughput took to hold behind it.
//!
//! Each phase is measured once, in pieces (`measures`), while it is judged; two neighbours are then compared by these
//! pieces (`choice`), so that nothing is said of what varies as much within a phase. What was set, or came and went,
//! is no matter of noise and goes before (`events`). Nothing here decides a cause.

mod choice;
mod code;
mod events;
mod grown;
mod measure;
mod measures;
mod settled;

use model::{Phase, PhaseChange, PhaseDifference, PhaseKind, Window};

pub(crate) use events::limits_set;
pub(crate) use grown::Grown;
pub(crate) use measures::Side;

use events::Limited;

use crate::number_format::{duration, percent, rate};
use crate::scene::Roles;
use crate::thresholds::Thresholds;
use crate::workload_metrics::{self, Bin};

/// Differences of one border.
const MOST: usize = 3;
/// Of these, what was set, or came and went.
const MOST_EVENTS: usize = 2;

/// The function of the target that takes more CPU time for a request since the border before the phase of a window.
pub(crate) fn grown(phases: &[Phase], window: Window) -> Option<Grown<'_>> {
    let middle = window.start + window.len_ns() / 2;
    let phase = phases.iter().find(|it| it.window.contains(middle))?;
    let mut differences = phase.change.iter().flat_map(|it| &it.differences);
    differences.find_map(Grown::of)
}

/// Says of each phase that was measured what changed against the one before it. `sides` are in the order of time.
pub(crate) fn tell(
    phases: &mut [Phase],
    sides: &[Side],
    roles: &Roles<'_>,
    thresholds: &Thresholds,
) {
    let measured: Vec<usize> = sides
        .iter()
        .filter_map(|side| phases.iter().position(|it| it.window == side.window))
        .collect();
    for (at, pair) in sides.windows(2).enumerate() {
        let ([before, after], Some([first, second])) = (pair, measured.get(at..at + 2)) else {
            return;
        };
        let (first, own) = (&phases[*first], &phases[*second]);
        let followed = measured.get(at + 2).map(|next| &phases[*next]);
        let settled = settled::of(own, followed, &roles.bins, &after.rate_unit, thresholds);
        let change = PhaseChange {
            at: own.window.start,
            throughput_before: first.throughput,
            throughput_after: own.throughput,
            sentence: sentence(first, own, &after.rate_unit, thresholds.phases.effect),
            marks: events::marks(roles.timeline, own.window.start),
            differences: differences(roles, before, after),
            settled_after_ns: settled.after_ns,
            settled: settled.sentence,
        };
        phases[*second].change = Some(change);
    }
}

/// What was set, or came and went, then what was measured.
fn differences(roles: &Roles<'_>, before: &Side, after: &Side) -> Vec<PhaseDifference> {
    let windows = [before.window, after.window];
    let mut found = events::limits(roles.timeline, Limited::of(roles), windows, after.cpus);
    let is_quota = found.iter().any(|it| it.what == events::CPU_LIMIT);
    found.extend(events::processes(roles.timeline, before, after));
    found.truncate(MOST_EVENTS);
    // A quota that was lifted says why nobody is throttled any more.
    let said = |it: &PhaseDifference| is_quota && it.what == measures::THROTTLED;
    let measured = choice::differences(roles.timeline, before, after);
    found.extend(measured.into_iter().filter(|it| !said(it)));
    found.truncate(MOST);
    found
}

/// How throughput changed, or latency where throughput hardly did.
fn sentence(before: &Phase, after: &Phase, unit: &str, effect: f64) -> String {
    let known = |phase: &Phase| phase.throughput.filter(|it| it.is_finite());
    let latency = |phase: &Phase| phase.latency_ns.map(|ns| ns as f64);
    let throughput = known(before).zip(known(after));
    let of_latency = latency(before).zip(latency(after));
    let hardly = |(a, b): (f64, f64)| (b - a).abs() < effect * a.abs();
    match (throughput, of_latency) {
        (Some(pair), Some((a, b))) if hardly(pair) && !hardly((a, b)) => {
            format!(
                "Latency {} from {} to {}.",
                verb(a, b),
                duration(a),
                duration(b)
            )
        }
        (Some((a, b)), _) if hardly((a, b)) => {
            format!(
                "Throughput hardly changed: {} and {} {unit}.",
                rate(a),
                rate(b)
            )
        }
        (Some((a, b)), _) => {
            let part = match a > 0.0 {
                true => format!(
                    " ({}{})",
                    if b > a { "+" } else { "" },
                    percent(b / a - 1.0)
                ),
                false => String::new(),
            };
            format!(
                "Throughput {} from {} to {} {unit}{part}.",
                verb(a, b),
                rate(a),
                rate(b)
            )
        }
        (None, _) => "How throughput changed is not known.".to_owned(),
    }
}

fn verb(before: f64, after: f64) -> &'static str {
    match after > before {
        true => "rose",
        false => "fell",
    }
}

/// Whether a phase has no level of its own.
fn is_ramp(phase: &Phase) -> bool {
    phase.kind == PhaseKind::Ramp
}

/// The bins of a phase, in the order of time.
fn bins_of(bins: &[Bin], window: Window) -> Vec<Bin> {
    workload_metrics::inside(bins, window).copied().collect()
}

#[cfg(test)]
mod tests;
