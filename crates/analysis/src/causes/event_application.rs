//! What an application reports of itself comes before the spikes.

use super::cause::{Cause, Kind};
use super::events::ADDED;
use super::family::Family;
use super::reported_events::{self, Chore};

pub(super) const CAUSE: Cause = Cause {
    name: "event.application",
    help: "What an application counts or logs of itself, and does rarely, comes before the spikes of the target.",
    about: "the target",
    kind: Kind::Limit,
    family: Family::Summary,
    told_by: "As event.exec, where a counter of an application's own (a database, a JVM, an endpoint in Prometheus's format), which hardly ever grows, grows first before the spikes, or where lines of a template, or calls, come in its log (`--log`), or where a database runs a statement of a rare kind (LOCK, REFRESH MATERIALIZED VIEW; PostgreSQL 14 and later). Where its name says what it is, it is event.checkpoint, event.vacuum, event.ddl or event.gc.",
    thresholds: &[ADDED],
    upstream: &[],
    wait: None,
    would_help: &["spread that work over time, or do it less often"],
    would_not_help: Some(&["more of what requests wait for between the spikes"]),
    to_confirm: "keep it from happening for some cycles: if the spikes stay, this is wrong",
    judge: |case| reported_events::judge(case, Chore::Other),
};
