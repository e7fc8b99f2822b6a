//! A vacuum of a database comes before the spikes.

use super::cause::{Cause, Kind};
use super::events::ADDED;
use super::family::Family;
use super::reported_events::{self, Chore};

pub(super) const CAUSE: Cause = Cause {
    name: "event.vacuum",
    help: "A vacuum, or an analyze, comes before the spikes of the target.",
    about: "the target",
    kind: Kind::Limit,
    family: Family::Summary,
    told_by: "As event.application, where what comes first before the spikes says so by its name: a statement VACUUM or ANALYZE (`--postgres`), a line of the server's log (`--log`; PostgreSQL writes `automatic vacuum of table` with log_autovacuum_min_duration), or a counter (`--scrape`).",
    thresholds: &[ADDED],
    upstream: &[],
    wait: None,
    would_help: &[
        "let it do less at a time and more often (autovacuum_vacuum_scale_factor, vacuum_cost_delay)",
        "run it when nobody waits",
    ],
    would_not_help: Some(&["more of what requests wait for between the spikes"]),
    to_confirm: "keep it from happening for some cycles: if the spikes stay, this is wrong",
    judge: |case| reported_events::judge(case, Chore::Vacuum),
};
