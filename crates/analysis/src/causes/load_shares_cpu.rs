//! The load generator takes CPU that the target waits for.

use model::{Evidence, Finding, LedgerClass, Role};
use sensors::thread_time::Holder;

use super::cause::{Case, Cause, Judgement, Kind, absent, cannot_tell};
use super::cpu_formulas;
use super::evidence::{confidence, interval, machine, share};
use super::family::Family;
use crate::bounds;
use crate::facts::Facts;
use crate::formula;
use crate::holders::Holders;
use crate::number_format::percent;
use crate::slices::Slice;
use crate::subject::Subject;
use crate::thresholds::Threshold;

const PART: Threshold = Threshold::share(
    "part",
    0.15,
    "Part of the CPU time that the generator used on a full machine",
);

const USED: Threshold = Threshold::share(
    "used",
    0.05,
    "Part of all CPU time below which a generator elsewhere would change nothing",
);

pub(super) const CAUSE: Cause = Cause {
    name: "load.shares_cpu",
    help: "The load generator runs on the target's machine and takes CPU that the target waits for.",
    about: "the generator",
    kind: Kind::Part,
    family: Family::Outside,
    told_by: "The generator's part of all CPU time, where the CPUs are the limit; where programs in the kernel are allowed, of the time that CPUs were waited for. It adds to cpu.saturated; with the generator elsewhere the same server gives more.",
    thresholds: &[PART, USED],
    upstream: &[],
    wait: None,
    would_help: &[],
    would_not_help: None,
    to_confirm: "",
    judge,
};

fn judge(case: &Case<'_>) -> Judgement {
    let facts = case.facts;
    case.seen()?;
    let Some(generator) = &facts.generator else {
        return cannot_tell("no load generator was measured");
    };
    let name = &generator.name;
    if generator.ledger.wall_ns <= 0.0 {
        return cannot_tell(format!(
            "the threads of {name} were not seen in this window"
        ));
    }
    let part = percent(used(facts));
    // Of hardly any CPU time, moving it elsewhere gives nothing back.
    if used(facts) < USED.value() {
        return absent(format!("{name} took only {part} of the CPU time"));
    }
    if case.found(&["cpu.saturated"]).is_none() {
        return absent(format!(
            "{name} took {part} of the CPU time, and CPU is not the limit"
        ));
    }
    let holders = facts.own_holders();
    let held = held(facts, holders);
    if held < PART.value() {
        return absent(match holders {
            Some(_) => format!(
                "{name} had the CPUs for only {} of the time that they were waited for",
                percent(held)
            ),
            None => format!("{name} took only {part} of the CPU time"),
        });
    }
    Ok(present(case, generator, holders))
}

/// The generator's part of all CPU time.
fn used(facts: &Facts<'_>) -> f64 {
    facts.cpu.part(facts.cpu.generator_ns)
}

/// The part of the CPUs that the generator had: while they were waited for, where that was told, else of
/// all CPU time.
fn held(facts: &Facts<'_>, holders: Option<Holders>) -> f64 {
    holders.map_or_else(|| used(facts), |holders| holders.generator_part())
}

fn present(case: &Case<'_>, generator: &Subject, holders: Option<Holders>) -> Finding {
    let facts = case.facts;
    let held = held(facts, holders);
    let waited = facts.share(LedgerClass::CpuWait);
    let behind = |slice: &Slice| slice.ledger.queued_behind(Holder::Generator);
    let of_wait = |slice: &Slice| slice.ledger.get(LedgerClass::CpuWait);
    let sure = holders.filter(|_| waited >= facts.floor);
    let sure = sure.and_then(|_| interval(facts, behind, of_wait));
    let confidence = confidence(sure, PART.value(), &[]);
    let sentence = sentence(facts, generator, holders);
    Finding {
        share: Some(waited * held),
        evidence: vec![evidence_of(facts, generator, holders)],
        would_help: bounds::generator_elsewhere(facts).into_iter().collect(),
        to_confirm: format!(
            "run {} on another machine: if throughput stays the same, this is wrong",
            generator.name
        ),
        ..case.finding(&generator.entity, confidence, sentence)
    }
}

fn sentence(facts: &Facts<'_>, generator: &Subject, holders: Option<Holders>) -> String {
    let name = &generator.name;
    let part = percent(used(facts));
    let waited = facts.share(LedgerClass::CpuWait);
    match &facts.target {
        // A target that goes first leaves the waiting to the generator.
        Some(target) if waited < facts.floor => format!(
            "{name} takes {part} of the CPU time and waits for more; {} itself hardly waits for a CPU ({} of {}).",
            target.name,
            percent(waited),
            facts.whole()
        ),
        Some(target) if holders.is_some() => format!(
            "{name} had the CPUs for {} of the time that {} waited for one.",
            percent(held(facts, holders)),
            target.name
        ),
        _ => format!("{name} takes {part} of the CPU that the target waits for."),
    }
}

fn evidence_of(facts: &Facts<'_>, generator: &Subject, holders: Option<Holders>) -> Evidence {
    match holders {
        Some(holders) => share(
            facts,
            "of the waits for a CPU, behind the generator",
            "thread_time.queued_generator_ns",
            &generator.entity,
            holders.generator_part(),
            PART.value(),
        )
        .by(cpu_formulas::queued(
            facts,
            0.0,
            &[Holder::Generator],
            &Holder::ALL,
        )),
        None => share(
            facts,
            "CPU time of the generator",
            "thread.run_ns + process.children_ns",
            &machine(facts),
            used(facts),
            PART.value(),
        )
        .by(formula::part(
            cpu_formulas::used(Role::Generator),
            cpu_formulas::all_used(facts),
        )),
    }
}
