//! A collection of garbage comes before the spikes.

use super::cause::{Cause, Kind};
use super::events::ADDED;
use super::family::Family;
use super::reported_events::{self, Chore};

pub(super) const CAUSE: Cause = Cause {
    name: "event.gc",
    help: "A collection of garbage comes before the spikes of the target.",
    about: "the target",
    kind: Kind::Limit,
    family: Family::Summary,
    told_by: "As event.application, where what comes first before the spikes says so by its name: counters of a Java virtual machine (`hsperfdata`), lines of its log (`--log` and `-Xlog:gc`), or a counter of any runtime (`--scrape`). What pauses add to requests all the time, and not in spikes, is lock.runtime.",
    thresholds: &[ADDED],
    upstream: &[],
    wait: None,
    would_help: &[
        "a larger heap, or fewer objects made for each request",
        "a collector that works beside the application (ZGC, Shenandoah; G1 with a goal for its pauses)",
    ],
    would_not_help: Some(&["more of what requests wait for between the spikes"]),
    to_confirm: "keep it from happening for some cycles: if the spikes stay, this is wrong",
    judge: |case| reported_events::judge(case, Chore::GarbageCollection),
};
