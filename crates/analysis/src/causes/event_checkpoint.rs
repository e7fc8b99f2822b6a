//! A checkpoint of a database comes before the spikes.

use super::cause::{Cause, Kind};
use super::events::ADDED;
use super::family::Family;
use super::reported_events::{self, Chore};

pub(super) const CAUSE: Cause = Cause {
    name: "event.checkpoint",
    help: "A checkpoint of a database comes before the spikes of the target: it writes all pages that are dirty and waits until the disk has them.",
    about: "the target",
    kind: Kind::Limit,
    family: Family::Summary,
    told_by: "As event.application, where what comes first before the spikes says so by its name: a statement CHECKPOINT (`--postgres`), a line of the server's log (`--log`; PostgreSQL writes `checkpoint starting` and `checkpoint complete`), or a counter (`--scrape`). A script that asks for it starts before it, and is event.exec. Whether it is one by time or by the amount of write-ahead log is in that line (PostgreSQL documentation, chapter WAL Configuration).",
    thresholds: &[ADDED],
    upstream: &[],
    wait: None,
    would_help: &[
        "spread each over more time (checkpoint_completion_target near 1)",
        "let them come less often (checkpoint_timeout, max_wal_size), as far as recovery may take longer",
        "a disk of its own for the write-ahead log, so that commits do not wait behind pages",
    ],
    would_not_help: Some(&["more of what requests wait for between the spikes"]),
    to_confirm: "keep it from happening for some cycles: if the spikes stay, this is wrong",
    judge: |case| reported_events::judge(case, Chore::Checkpoint),
};
