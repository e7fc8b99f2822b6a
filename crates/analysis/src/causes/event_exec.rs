//! A program that is started, or a process that begins to work, comes before the spikes.

use model::{Trigger, TriggerKind};

use super::cause::{Case, Cause, Judgement, Kind};
use super::events::{self, ADDED};
use super::family::Family;
use crate::program_runs::short;

pub(super) const CAUSE: Cause = Cause {
    name: "event.exec",
    help: "A program that is started, or a process that begins to work, comes before the spikes of the target.",
    about: "the target",
    kind: Kind::Limit,
    family: Family::Summary,
    told_by: "Requests take much longer now and then (docs/spikes.md has the rules), these spikes add at least the threshold to the time of all requests, and of all streams of events the starts of one program, or bursts of CPU time of one process, come before them first and nearest: nearer than the same events shifted in a circle do. A program with the very same period that happens to start just before passes that too: the finding is consistent only where both vary together, or cycles without it have no spike. What the spikes then wait for is in the table of differences.",
    thresholds: &[ADDED],
    upstream: &[],
    wait: None,
    would_help: &[
        "run it when nobody waits, less often, or in smaller parts",
        "see what it makes others do (In spikes), and whether it has to",
    ],
    would_not_help: Some(&["more of what requests wait for between the spikes"]),
    to_confirm: "keep it from happening for some cycles: if the spikes stay, this is wrong",
    judge,
};

fn judge(case: &Case<'_>) -> Judgement {
    let kinds = [TriggerKind::Program, TriggerKind::CpuBurst];
    let is_meant = |it: &Trigger| kinds.contains(&it.kind);
    events::started_by(case, is_meant, |trigger| {
        let name = short(&trigger.name);
        match trigger.kind {
            TriggerKind::Program => format!("`{name}` starts"),
            _ => format!("{name} begins to work"),
        }
    })
}
