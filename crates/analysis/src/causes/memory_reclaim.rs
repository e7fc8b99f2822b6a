//! The target must reclaim memory before it gets some.

use model::{Finding, LedgerClass, Resource, StallKind, Whose};

use super::cause::{Case, Cause, Judgement, Kind, NoFinding, Upstream, Wait, cannot_tell};
use super::evidence::{machine, number, of_memory, told_by, waited};
use super::family::Family;
use crate::facts::Facts;
use crate::formula;
use crate::number_format::percent;
use crate::thresholds::Threshold;

const COST: Threshold = Threshold::share(
    "cost",
    0.10,
    "Part of the response time that freeing memory cost",
);

pub(super) const CAUSE: Cause = Cause {
    name: "memory.reclaim",
    help: "The target must reclaim memory before it gets some (direct reclaim).",
    about: "the machine",
    kind: Kind::Limit,
    family: Family::Storage,
    told_by: "Threads of the target are met in the kernel's reclaim (by the function that they wait in, which root may see; where programs in the kernel are allowed, all of that time is counted), and allocations stall (`allocstall_*` of /proc/vmstat). Where that function may not be seen, this cannot be told, unless there was no memory pressure at all.",
    thresholds: &[COST],
    upstream: &[
        Upstream::All("memory.limit"),
        Upstream::All("memory.refault"),
        Upstream::All("memory.swap"),
    ],
    wait: Some(Wait {
        classes: &WAITS,
        least: COST,
        doing: "direct reclaim",
    }),
    would_help: &["more memory, or fewer users of it"],
    would_not_help: Some(&["more clients"]),
    to_confirm: "free a tenth of the memory: if throughput stays the same, this is wrong",
    judge,
};

const WAITS: [LedgerClass; 1] = [LedgerClass::Reclaim];

fn judge(case: &Case<'_>) -> Judgement {
    let facts = case.facts;
    let (target, held) = case.waited().or_else(|why| {
        may_hide(facts)?;
        Err(why)
    })?;
    let sentence = format!(
        "Memory is the bottleneck: {} of {} was {} direct reclaim before it got some.",
        percent(held.share),
        facts.whole(),
        target.name
    );
    let machine = machine(facts);
    let mut evidence = vec![waited(
        facts,
        "direct reclaim",
        &told_by(facts, &WAITS, "thread.wait_channel"),
        &held,
    )];
    evidence.extend(facts.memory.stalls.map(|stalls| {
        let what = ("allocations that stalled", "per_second");
        let column = "paging.allocation_stalls";
        let stalled = formula::rate("paging", &["allocation_stalls"], Whose::All);
        number(facts, what, column, &machine, stalls, 0.0).by(formula::alone(stalled))
    }));
    Ok(Finding {
        evidence,
        ..case.finding_of_wait(&held, &machine, of_memory(facts, held.least), sentence)
    })
}

/// Why it cannot be told: threads were blocked in the kernel for long enough, nobody could see in
/// which function, and somebody on this machine did wait for memory.
fn may_hide(facts: &Facts<'_>) -> Result<(), NoFinding> {
    /// Who reclaims memory counts as memory pressure: without any, nobody did.
    const SOME_PRESSURE: f64 = 0.001;
    let target = facts.target.as_ref();
    // Thread-time accounting knows of it without.
    let Some(target) = target.filter(|it| !it.serving_ledger.is_booked()) else {
        return Ok(());
    };
    let pressure = facts.machine_pressure(Resource::Memory, StallKind::Some);
    let may_hide = facts.share_of(&LedgerClass::DISK) >= COST.value()
        && pressure.is_none_or(|pressure| pressure >= SOME_PRESSURE);
    if !may_hide || target.waits_named.channels {
        return Ok(());
    }
    cannot_tell(format!(
        "which function of the kernel {} waits in was not seen: run as root",
        target.name
    ))
}
