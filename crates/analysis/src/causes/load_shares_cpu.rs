//! The load generator takes CPU that the target waits for.

use model::{Finding, LedgerClass};
use sensors::thread_time::Holder;

use super::evidence::{confidence, finding, interval, machine, share};
use super::{Cause, Judgement, Kind, found_of, seen};
use crate::bounds;
use crate::facts::Facts;
use crate::number_format::percent;
use crate::slices::Slice;
use crate::thresholds::Thresholds;

pub(super) const CAUSE: Cause = Cause {
    name: "load.shares_cpu",
    help: "The load generator runs on the target's machine and takes CPU that the target waits for.",
    about: "the generator",
    kind: Kind::Part,
    told_by: "The generator's part of all CPU time, where the CPUs are the limit; where programs in the kernel are allowed, of the time that CPUs were waited for. It adds to cpu.saturated; with the generator elsewhere the same server gives more.",
    judge,
};

fn judge(facts: &Facts<'_>, thresholds: &Thresholds, found: &[Finding]) -> Judgement {
    if let Err(judgement) = seen(facts) {
        return judgement;
    }
    let Some(generator) = &facts.generator else {
        return Judgement::CannotTell("no load generator was measured".to_owned());
    };
    if generator.ledger.wall_ns <= 0.0 {
        return Judgement::CannotTell(format!(
            "the threads of {} were not seen in this window",
            generator.name
        ));
    }
    let part = facts.cpu.part(facts.cpu.generator_ns);
    let holders = facts.own_holders();
    let held = holders.map_or(part, |holders| holders.generator_part());
    let least = thresholds.load_shares_cpu.part;
    if found_of(found, &["cpu.saturated"]).is_none() {
        return Judgement::Absent(format!(
            "{} took {} of the CPU time, and CPU is not the limit",
            generator.name,
            percent(part)
        ));
    }
    if held < least {
        return Judgement::Absent(match holders {
            Some(_) => format!(
                "{} had the CPUs for only {} of the time that they were waited for",
                generator.name,
                percent(held)
            ),
            None => format!(
                "{} took only {} of the CPU time",
                generator.name,
                percent(part)
            ),
        });
    }
    let waited = facts.share(LedgerClass::CpuWait);
    let sentence = match &facts.target {
        // A target that goes first leaves the waiting to the generator.
        Some(target) if waited < facts.floor => format!(
            "{} takes {} of the CPU time and waits for more; {} itself hardly waits for a CPU ({} of {}).",
            generator.name,
            percent(part),
            target.name,
            percent(waited),
            facts.whole()
        ),
        Some(target) if holders.is_some() => format!(
            "{} had the CPUs for {} of the time that {} waited for one.",
            generator.name,
            percent(held),
            target.name
        ),
        _ => format!(
            "{} takes {} of the CPU that the target waits for.",
            generator.name,
            percent(part)
        ),
    };
    let behind = |slice: &Slice| slice.ledger.queued_behind(Holder::Generator);
    let of_wait = |slice: &Slice| slice.ledger.get(LedgerClass::CpuWait);
    let sure = holders.filter(|_| waited >= facts.floor);
    let sure = sure.and_then(|_| interval(facts, behind, of_wait));
    Judgement::Present(Box::new(Finding {
        share: Some(waited * held),
        evidence: vec![match holders {
            Some(_) => share(
                facts,
                "of the waits for a CPU, behind the generator",
                "thread_time.queued_generator_ns",
                &generator.entity,
                held,
                least,
            ),
            None => share(
                facts,
                "CPU time of the generator",
                "thread.run_ns + process.children_ns",
                &machine(facts),
                part,
                least,
            ),
        }],
        would_help: bounds::generator_elsewhere(facts).into_iter().collect(),
        to_confirm: format!(
            "run {} on another machine: if throughput stays the same, this is wrong",
            generator.name
        ),
        ..finding(
            CAUSE.name,
            &generator.entity,
            confidence(sure, least, &[]),
            sentence,
        )
    }))
}
