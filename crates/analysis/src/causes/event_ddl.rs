//! A change of the schema or of permissions comes before the spikes.

use super::cause::{Cause, Kind};
use super::events::ADDED;
use super::family::Family;
use super::reported_events::{self, Chore};

pub(super) const CAUSE: Cause = Cause {
    name: "event.ddl",
    help: "A change of the schema or of permissions (DDL, GRANT) comes before the spikes of the target.",
    about: "the target",
    kind: Kind::Limit,
    family: Family::Summary,
    told_by: "As event.application, where a database runs GRANT, REVOKE, CREATE, ALTER, DROP, COMMENT, TRUNCATE, REINDEX or CLUSTER first before the spikes (`--postgres` for PostgreSQL 14 and later, or a log with log_statement = ddl). Such a statement locks what it changes, and makes each session drop what it had cached of the catalogue. A script that runs it starts before it, and is event.exec.",
    thresholds: &[ADDED],
    upstream: &[],
    wait: None,
    would_help: &[
        "run it only where something changes, in few statements",
        "run it when nobody waits, with a short lock_timeout and another try",
    ],
    would_not_help: Some(&["more of what requests wait for between the spikes"]),
    to_confirm: "keep it from happening for some cycles: if the spikes stay, this is wrong",
    judge: |case| reported_events::judge(case, Chore::Definition),
};
