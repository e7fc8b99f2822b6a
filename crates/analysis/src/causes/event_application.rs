//! What an application reports of itself comes before the spikes.

use model::TriggerKind;

use super::cause::{Case, Cause, Judgement, Kind};
use super::events::{self, ADDED};
use super::family::Family;

pub(super) const CAUSE: Cause = Cause {
    name: "event.application",
    help: "What an application counts or logs of itself, and does rarely, comes before the spikes of the target: a checkpoint, a collection of garbage.",
    about: "the target",
    kind: Kind::Limit,
    family: Family::Summary,
    told_by: "As event.exec, where a counter of an application's own (a database, a JVM, an endpoint in Prometheus's format), which hardly ever grows, grows first before the spikes, or where lines of a template, or calls, come in its log (`--log`), or where a database runs a statement of a rare kind (GRANT, DDL, CHECKPOINT; PostgreSQL 14 and later).",
    thresholds: &[ADDED],
    upstream: &[],
    wait: None,
    would_help: &["spread that work over time, or do it less often"],
    would_not_help: Some(&["more of what requests wait for between the spikes"]),
    to_confirm: "keep it from happening for some cycles: if the spikes stay, this is wrong",
    judge,
};

fn judge(case: &Case<'_>) -> Judgement {
    let kinds = [
        TriggerKind::Counter,
        TriggerKind::Log,
        TriggerKind::Calls,
        TriggerKind::Statement,
    ];
    events::started_by(case, &kinds, |trigger| match trigger.kind {
        TriggerKind::Log => format!("`{}` is logged", trigger.name),
        TriggerKind::Calls => format!("{} is called far more", trigger.name),
        TriggerKind::Statement => format!("`{}` runs", trigger.name),
        _ => format!("{} grows", trigger.name),
    })
}
