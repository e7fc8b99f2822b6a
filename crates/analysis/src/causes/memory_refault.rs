//! The machine has too little memory for what the target works on: it reads again what was evicted.

use model::{Evidence, Finding, LedgerClass, Resource, StallKind, Whose};

use super::cause::{Case, Cause, Judgement, Kind, NoFinding, Upstream, Wait, absent, cannot_tell};
use super::evidence::{Held, machine, of_memory, share, told_by, waited};
use super::family::Family;
use crate::facts::Facts;
use crate::formula;
use crate::memory;
use crate::number_format::percent;
use crate::thresholds::Threshold;

const REFAULTED: Threshold = Threshold::share(
    "refaulted",
    0.30,
    "Part of the disk reads that brought back evicted pages",
);
const COST: Threshold = Threshold::share("cost", 0.10, "Part of the response time that it cost");

pub(super) const CAUSE: Cause = Cause {
    name: "memory.refault",
    help: "Memory is too small for what is worked on: the target reads again what had just been evicted.",
    about: "the machine",
    kind: Kind::Limit,
    family: Family::Storage,
    told_by: "A refault is a page that is read back soon after it was evicted (`workingset_refault_*` of /proc/vmstat). When such pages make up a good part of all disk reads, and the target waits for reads, it is memory that is short and not the disk. Where the target's own group was seen to do little of that, it is others who lack memory. A group's own limit goes before it as memory.limit.",
    thresholds: &[REFAULTED, COST],
    upstream: &[
        Upstream::All("io.throttled"),
        Upstream::All("memory.limit"),
        Upstream::All("memory.swap"),
    ],
    wait: Some(Wait {
        classes: &WAITS,
        least: COST,
        doing: "reading again evicted pages",
    }),
    would_help: &["more memory, or less to keep in it"],
    would_not_help: Some(&["more clients"]),
    to_confirm: "work on half of the data: if throughput stays the same, this is wrong",
    judge,
};

const WAITS: [LedgerClass; 3] = [
    LedgerClass::Reclaim,
    LedgerClass::PageFault,
    LedgerClass::ReadWrite,
];

/// Who did less than this part of all reading again does not lack memory.
const OWN: f64 = 0.1;

/// The part that the target's own groups had in all that was read again.
fn own_part(facts: &Facts<'_>) -> Option<f64> {
    let all = facts.memory.refaulted.filter(|all| *all > 0.0)?;
    Some((facts.memory.own_refaulted? / all).min(1.0))
}

fn judge(case: &Case<'_>) -> Judgement {
    let facts = case.facts;
    let again = refaulted(facts)?;
    let (target, held) = case.waited_for(again)?;
    let sentence = format!(
        "Memory is the bottleneck: {} of the disk reads brought back what had just been evicted, and {} of {} was {} waiting for them.",
        percent(again),
        percent(held.share),
        facts.whole(),
        target.name
    );
    let confidence = of_memory(facts, held.least);
    Ok(Finding {
        evidence: evidence_of(facts, again, &held),
        ..case.finding_of_wait(&held, &machine(facts), confidence, sentence)
    })
}

/// The part of the disk reads that brought back evicted pages, where it is large and the target's own.
fn refaulted(facts: &Facts<'_>) -> Result<f64, NoFinding> {
    let Some(again) = facts.refaulted_part() else {
        return match (facts.memory.refaulted, facts.memory.read) {
            (None, _) => cannot_tell("refaults were not recorded"),
            (_, None) => cannot_tell("what was read from disk was not recorded"),
            _ => absent("nothing was read from disk"),
        };
    };
    if again < REFAULTED.value() {
        let again = percent(again);
        return absent(format!(
            "{again} of the disk reads brought back evicted pages"
        ));
    }
    match own_part(facts) {
        Some(own) if own < OWN => absent(format!(
            "the target's group read again {} of all that was read again: it is others who lack memory",
            percent(own)
        )),
        _ => Ok(again),
    }
}

fn evidence_of(facts: &Facts<'_>, again: f64, held: &Held) -> Vec<Evidence> {
    let machine = machine(facts);
    let mut evidence = vec![
        share(
            facts,
            "reads that bring back what was evicted",
            "paging.refault_file",
            &machine,
            again,
            REFAULTED.value(),
        )
        .by(memory::refaulted_part()),
        waited(
            facts,
            "waiting for memory or its reads",
            &told_by(facts, &WAITS, "thread.state"),
            held,
        ),
    ];
    let pressure = facts.machine_pressure(Resource::Memory, StallKind::Some);
    // Through mmap only little of it shows as memory pressure: told, and not asked for.
    evidence.extend(pressure.map(|pressure| {
        let (what, column) = ("memory pressure (some)", "pressure.memory_some_ns");
        let stalled = formula::of_time("pressure", &["memory_some_ns"], Whose::All);
        share(facts, what, column, &machine, pressure, 0.0).by(stalled)
    }));
    evidence
}
