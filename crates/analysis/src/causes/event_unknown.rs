//! Spikes hold requests up, and nothing is known to come before them.

use super::cause::{Cause, Kind};
use super::events::{self, ADDED_UNKNOWN};
use super::family::Family;

pub(super) const CAUSE: Cause = Cause {
    name: "event.unknown",
    help: "Spikes of the target hold requests up, and nothing that was recorded comes before them.",
    about: "the target",
    kind: Kind::Limit,
    family: Family::Summary,
    told_by: "As event.exec, where no stream of events comes before the spikes more often than chance has it, and nothing else was found that limits the target. The threshold is higher, since nothing else speaks for it. What is different in the spikes is in the table of differences; what starts them may be on another machine, or in a log that was not read.",
    thresholds: &[ADDED_UNKNOWN],
    upstream: &[],
    wait: None,
    would_help: &[
        "find what starts them: record with --log, --postgres and the like, or the machines that it calls (run --on)",
    ],
    would_not_help: Some(&["more of what requests wait for between the spikes"]),
    to_confirm: "record once more: if no spikes come, this is wrong",
    judge: events::started_by_nothing_known,
};
