//! The machine has too little memory for what the target works on: it reads again what was evicted.

use model::{Finding, LedgerClass, Resource, StallKind};

use super::evidence::{finding, machine, of_memory, share, told_by};
use super::{Cause, Judgement, Kind, Waiting, explained_by, settled, waits};
use crate::bounds;
use crate::facts::Facts;
use crate::number_format::percent;
use crate::thresholds::Thresholds;

pub(super) const CAUSE: Cause = Cause {
    name: "memory.refault",
    help: "Memory is too small for what is worked on: the target reads again what had just been evicted.",
    about: "the machine",
    kind: Kind::Limit,
    told_by: "A refault is a page that is read back soon after it was evicted (`workingset_refault_*` of /proc/vmstat). When such pages make up a good part of all disk reads, and the target waits for reads, it is memory that is short and not the disk. Where the target's own group was seen to do little of that, it is others who lack memory. A group's own limit goes before it as memory.limit.",
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

fn judge(facts: &Facts<'_>, thresholds: &Thresholds, found: &[Finding]) -> Judgement {
    if let Some(judgement) = explained_by(found, &["io.throttled", "memory.limit", "memory.swap"]) {
        return judgement;
    }
    let limits = &thresholds.memory_refault;
    let Some(again) = facts.refaulted_part() else {
        return match (facts.memory.refaulted, facts.memory.read) {
            (None, _) => Judgement::CannotTell("refaults were not recorded".to_owned()),
            (_, None) => {
                Judgement::CannotTell("what was read from disk was not recorded".to_owned())
            }
            _ => Judgement::Absent("nothing was read from disk".to_owned()),
        };
    };
    if again < limits.refaulted {
        let again = percent(again);
        return Judgement::Absent(format!(
            "{again} of the disk reads brought back evicted pages"
        ));
    }
    if let Some(own) = own_part(facts).filter(|own| *own < OWN) {
        return Judgement::Absent(format!(
            "the target's group read again {} of all that was read again: it is others who lack memory",
            percent(own)
        ));
    }
    let waiting = Waiting {
        classes: &WAITS,
        part: again,
        least: limits.cost,
        doing: "reading again evicted pages",
    };
    settled(waits(facts, &waiting).map(|(target, held)| {
        let sentence = format!(
            "Memory is the bottleneck: {} of the disk reads brought back what had just been evicted, and {} of {} was {} waiting for them.",
            percent(again),
            percent(held.share),
            facts.whole(),
            target.name
        );
        let pressure = facts.machine_pressure(Resource::Memory, StallKind::Some);
        let mut evidence = vec![
            share(facts, "reads that bring back what was evicted", "paging.refault_file", &machine(facts), again, limits.refaulted),
            share(facts, "waiting for memory or its reads", &told_by(facts, &WAITS, "thread.state"), &target.entity, held.share, held.least),
        ];
        // Through mmap only little of it shows as memory pressure: told, and not asked for.
        evidence.extend(pressure.map(|pressure| share(facts, "memory pressure (some)", "pressure.memory_some_ns", &machine(facts), pressure, 0.0)));
        Judgement::Present(Box::new(Finding {
            share: Some(held.share),
            share_interval: held.interval,
            evidence,
            would_help: vec![bounds::without_wait(facts, held.share, "more memory, or less to keep in it".to_owned())],
            would_not_help: bounds::useless(facts, &["more clients"]),
            to_confirm: "work on half of the data: if throughput stays the same, this is wrong".to_owned(),
            ..finding(CAUSE.name, &machine(facts), of_memory(facts, held.least), sentence)
        }))
    }))
}
