//! The target waits for its own memory to come back from swap.

use model::{Finding, LedgerClass};

use super::evidence::{finding, machine, number, of_memory, share, told_by};
use super::{Cause, Judgement, Kind, Waiting, explained_by, settled, waits};
use crate::bounds;
use crate::facts::Facts;
use crate::number_format::{percent, rate};
use crate::thresholds::Thresholds;

pub(super) const CAUSE: Cause = Cause {
    name: "memory.swap",
    help: "The target waits for its own memory to come back from swap.",
    about: "the machine",
    kind: Kind::Limit,
    told_by: "Pages come in from swap (`pswpin` of /proc/vmstat) while threads of the target sit in page faults. Of the time in page faults, swap is charged with its part of all bytes that were read.",
    judge,
};

const WAITS: [LedgerClass; 1] = [LedgerClass::PageFault];

fn judge(facts: &Facts<'_>, thresholds: &Thresholds, found: &[Finding]) -> Judgement {
    if let Some(judgement) = explained_by(found, &["memory.limit"]) {
        return judgement;
    }
    let Some(swapped) = facts.memory.swapped_in else {
        return Judgement::CannotTell("swapping was not recorded".to_owned());
    };
    if swapped <= 0.0 {
        return Judgement::Absent("nothing came back from swap".to_owned());
    }
    let limits = &thresholds.memory_swap;
    // A compressed swap in memory reads no disk: then all that came in, came from swap.
    let read = facts.memory.read.unwrap_or(0.0).max(swapped);
    let waiting = Waiting {
        classes: &WAITS,
        part: swapped / read,
        least: limits.cost,
        doing: "waiting for swap",
    };
    settled(waits(facts, &waiting).map(|(target, held)| {
        let sentence = format!(
            "Memory is the bottleneck: {} MB/s came back from swap, and {} of {} was {} waiting for that.",
            rate(swapped / 1e6),
            percent(held.share),
            facts.whole(),
            target.name
        );
        Judgement::Present(Box::new(Finding {
            share: Some(held.share),
            share_interval: held.interval,
            evidence: vec![
                number(facts, ("swapped in", "bytes_per_second"), "paging.swap_in", &machine(facts), swapped, 0.0),
                share(facts, "waiting for swap", &told_by(facts, &WAITS, "thread.state"), &target.entity, held.share, held.least),
            ],
            would_help: vec![bounds::without_wait(facts, held.share, "more memory, or fewer users of it".to_owned())],
            would_not_help: bounds::useless(facts, &["more clients"]),
            to_confirm: "run with swap off and less to do: if throughput stays the same, this is wrong".to_owned(),
            ..finding(CAUSE.name, &machine(facts), of_memory(facts, held.least), sentence)
        }))
    }))
}
