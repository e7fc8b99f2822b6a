//! Many connections, or much that is sent at a time, come before the spikes.

use model::{Trigger, TriggerKind};

use super::cause::{Case, Cause, Judgement, Kind};
use super::events::{self, ADDED};
use super::family::Family;

pub(super) const CAUSE: Cause = Cause {
    name: "event.connections",
    help: "Many new connections, or a burst of messages on open ones, come before the spikes of the target.",
    about: "the target",
    kind: Kind::Limit,
    family: Family::Summary,
    told_by: "As event.exec, where bursts of new connections or of sends between processes of one name and one port come first before the spikes. What makes them is seen no earlier: it may be on another machine.",
    thresholds: &[ADDED],
    upstream: &[],
    wait: None,
    would_help: &[
        "keep connections open, or spread such calls over time",
        "record the machine that they come from",
    ],
    would_not_help: Some(&["more of what requests wait for between the spikes"]),
    to_confirm: "keep it from happening for some cycles: if the spikes stay, this is wrong",
    judge,
};

fn judge(case: &Case<'_>) -> Judgement {
    let kinds = [TriggerKind::Connections, TriggerKind::Sends];
    let is_meant = |it: &Trigger| kinds.contains(&it.kind);
    events::started_by(case, is_meant, |trigger| match trigger.kind {
        TriggerKind::Connections => format!("{} opens connections", trigger.name),
        _ => format!("{} sends far more", trigger.name),
    })
}
