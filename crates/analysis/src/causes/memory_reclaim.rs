//! The target must reclaim memory before it gets some.

use model::{Finding, LedgerClass, Resource, StallKind};

use super::evidence::{finding, machine, number, of_memory, share, told_by};
use super::{Cause, Judgement, Kind, Waiting, explained_by, settled, waits};
use crate::bounds;
use crate::facts::Facts;
use crate::number_format::percent;
use crate::subject::Subject;
use crate::thresholds::Thresholds;

pub(super) const CAUSE: Cause = Cause {
    name: "memory.reclaim",
    help: "The target must reclaim memory before it gets some (direct reclaim).",
    about: "the machine",
    kind: Kind::Limit,
    told_by: "Threads of the target are met in the kernel's reclaim (by the function that they wait in, which root may see; where programs in the kernel are allowed, all of that time is counted), and allocations stall (`allocstall_*` of /proc/vmstat). Where that function may not be seen, this cannot be told, unless there was no memory pressure at all.",
    judge,
};

const WAITS: [LedgerClass; 1] = [LedgerClass::Reclaim];

/// Why it cannot be told: threads were blocked in the kernel for long enough, nobody could see in
/// which function, and somebody on this machine did wait for memory.
fn unseen(facts: &Facts<'_>, least: f64) -> Option<Judgement> {
    /// Who reclaims memory counts as memory pressure: without any, nobody did.
    const SOME_PRESSURE: f64 = 0.001;
    // Books know of it without.
    let unbooked = |target: &&Subject| !target.serving_ledger.is_booked();
    let target = facts.target.as_ref().filter(unbooked)?;
    let pressure = facts.machine_pressure(Resource::Memory, StallKind::Some);
    let may_hide = facts.share_of(&LedgerClass::DISK) >= least
        && pressure.is_none_or(|pressure| pressure >= SOME_PRESSURE);
    (may_hide && !target.waits_named.channels).then(|| {
        Judgement::CannotTell(format!(
            "which function of the kernel {} waits in was not seen: run as root",
            target.name
        ))
    })
}

fn judge(facts: &Facts<'_>, thresholds: &Thresholds, found: &[Finding]) -> Judgement {
    if let Some(judgement) = explained_by(found, &["memory.limit", "memory.refault", "memory.swap"])
    {
        return judgement;
    }
    let limits = &thresholds.memory_reclaim;
    let waiting = Waiting {
        classes: &WAITS,
        part: 1.0,
        least: limits.cost,
        doing: "direct reclaim",
    };
    let judged = waits(facts, &waiting);
    if judged.is_err()
        && let Some(judgement) = unseen(facts, limits.cost)
    {
        return judgement;
    }
    settled(judged.map(|(target, held)| {
        let sentence = format!(
            "Memory is the bottleneck: {} of {} was {} direct reclaim before it got some.",
            percent(held.share),
            facts.whole(),
            target.name
        );
        let mut evidence = vec![share(
            facts,
            "direct reclaim",
            &told_by(facts, &WAITS, "thread.wait_channel"),
            &target.entity,
            held.share,
            held.least,
        )];
        evidence.extend(facts.memory.stalls.map(|stalls| {
            number(
                facts,
                ("allocations that stalled", "per_second"),
                "paging.allocation_stalls",
                &machine(facts),
                stalls,
                0.0,
            )
        }));
        Judgement::Present(Box::new(Finding {
            share: Some(held.share),
            share_interval: held.interval,
            evidence,
            would_help: vec![bounds::without_wait(
                facts,
                held.share,
                "more memory, or fewer users of it".to_owned(),
            )],
            would_not_help: bounds::useless(facts, &["more clients"]),
            to_confirm: "free a tenth of the memory: if throughput stays the same, this is wrong"
                .to_owned(),
            ..finding(
                CAUSE.name,
                &machine(facts),
                of_memory(facts, held.least),
                sentence,
            )
        }))
    }))
}
