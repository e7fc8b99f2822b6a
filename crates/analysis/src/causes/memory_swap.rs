//! The target waits for its own memory to come back from swap.

use model::{Finding, LedgerClass};

use super::cause::{Case, Cause, Judgement, Kind, Upstream, Wait, absent, cannot_tell};
use super::evidence::{machine, number, of_memory, told_by, waited};
use super::family::Family;
use crate::formula;
use crate::memory;
use crate::number_format::{percent, rate};
use crate::thresholds::Threshold;

const COST: Threshold = Threshold::share(
    "cost",
    0.05,
    "Part of the response time that swapping in cost",
);

pub(super) const CAUSE: Cause = Cause {
    name: "memory.swap",
    help: "The target waits for its own memory to come back from swap.",
    about: "the machine",
    kind: Kind::Limit,
    family: Family::Storage,
    told_by: "Pages come in from swap (`pswpin` of /proc/vmstat) while threads of the target sit in page faults. Of the time in page faults, swap is charged with its part of all bytes that were read.",
    thresholds: &[COST],
    upstream: &[Upstream::All("memory.limit")],
    wait: Some(Wait {
        classes: &WAITS,
        least: COST,
        doing: "waiting for swap",
    }),
    would_help: &["more memory, or fewer users of it"],
    would_not_help: Some(&["more clients"]),
    to_confirm: "run with swap off and less to do: if throughput stays the same, this is wrong",
    judge,
};

const WAITS: [LedgerClass; 1] = [LedgerClass::PageFault];

fn judge(case: &Case<'_>) -> Judgement {
    let facts = case.facts;
    let Some(swapped) = facts.memory.swapped_in else {
        return cannot_tell("swapping was not recorded");
    };
    if swapped <= 0.0 {
        return absent("nothing came back from swap");
    }
    // A compressed swap in memory reads no disk: then all that came in, came from swap.
    let read = facts.memory.read.unwrap_or(0.0).max(swapped);
    let (target, held) = case.waited_for(swapped / read)?;
    let sentence = format!(
        "Memory is the bottleneck: {} MB/s came back from swap, and {} of {} was {} waiting for that.",
        rate(swapped / 1e6),
        percent(held.share),
        facts.whole(),
        target.name
    );
    let machine = machine(facts);
    Ok(Finding {
        evidence: vec![
            number(
                facts,
                ("swapped in", "bytes_per_second"),
                "paging.swap_in",
                &machine,
                swapped,
                0.0,
            )
            .by(formula::alone(memory::swapped_in())),
            waited(
                facts,
                "waiting for swap",
                &told_by(facts, &WAITS, "thread.state"),
                &held,
            ),
        ],
        ..case.finding_of_wait(&held, &machine, of_memory(facts, held.least), sentence)
    })
}
