//! What an application reports of itself comes before the spikes.

use model::TriggerKind;

use super::cause::{Case, Cause, Judgement, Kind};
use super::events::{self, ADDED};
use super::family::Family;

pub(super) const CAUSE: Cause = Cause {
    name: "event.application",
    help: "What an application counts of itself and does rarely comes before the spikes of the target: a checkpoint, a collection of garbage.",
    about: "the target",
    kind: Kind::Limit,
    family: Family::Summary,
    told_by: "As event.exec, where a counter of an application's own (a database, a JVM, an endpoint in Prometheus's format), which hardly ever grows, grows first before the spikes.",
    thresholds: &[ADDED],
    upstream: &[],
    wait: None,
    would_help: &["spread that work over time, or do it less often"],
    would_not_help: Some(&["more of what requests wait for between the spikes"]),
    to_confirm: "keep it from happening for some cycles: if the spikes stay, this is wrong",
    judge,
};

fn judge(case: &Case<'_>) -> Judgement {
    events::started_by(case, &[TriggerKind::Counter], |trigger| {
        format!("{} grows", trigger.name)
    })
}
