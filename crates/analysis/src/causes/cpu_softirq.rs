//! Interrupts take a good part of a CPU.

use model::{Confidence, Finding, LedgerClass};

use super::cause::{Case, Cause, Judgement, Kind, absent, cannot_tell};
use super::cpu_formulas;
use super::evidence::share;
use super::family::Family;
use crate::formula;
use crate::number_format::percent;
use crate::thresholds::Threshold;

const INTERRUPTS: Threshold =
    Threshold::share("interrupts", 0.20, "Time of one CPU spent in interrupts");

pub(super) const CAUSE: Cause = Cause {
    name: "cpu.softirq",
    help: "Interrupts take a good part of a CPU that the target needs.",
    about: "the CPU",
    kind: Kind::Part,
    family: Family::Cpu,
    told_by: "Hard and soft interrupt time of /proc/stat, of one CPU, while something about the CPUs limits the target. Kernels without interrupt accounting count it by ticks.",
    thresholds: &[INTERRUPTS],
    upstream: &[],
    wait: None,
    would_help: &[],
    would_not_help: None,
    to_confirm: "watch which: watch -d cat /proc/softirqs",
    judge,
};

/// What interrupts can add to: a quota is not used up by them.
const LIMITS: [&str; 4] = [
    "cpu.neighbour",
    "cpu.saturated",
    "cpu.imbalance",
    "cpu.single_thread",
];

fn judge(case: &Case<'_>) -> Judgement {
    let facts = case.facts;
    case.seen()?;
    let by_interrupts = facts.cores.iter();
    let most = by_interrupts.max_by(|a, b| a.interrupts.total_cmp(&b.interrupts));
    let Some(core) = most else {
        return cannot_tell("CPU times were not recorded");
    };
    let (cpu, taken) = (&core.entity, percent(core.interrupts));
    let spent = format!("{} spent {taken} in interrupts", cpu.name);
    if core.interrupts < INTERRUPTS.value() {
        return absent(spent);
    }
    let Some(parent) = case.found(&LIMITS) else {
        return absent(format!("{spent}, and no CPU limits the target"));
    };
    let sentence = format!(
        "Interrupts take {taken} of {}, which adds to {}.",
        cpu.name, parent.cause
    );
    let (what, column) = ("time in interrupts", "cpu.softirq_ns + irq_ns");
    let evidence = share(
        facts,
        what,
        column,
        cpu,
        core.interrupts,
        INTERRUPTS.value(),
    );
    let whose = formula::one(core.id);
    Ok(Finding {
        share: Some(facts.share(LedgerClass::CpuWait) * core.interrupts),
        evidence: vec![evidence.by(formula::part(
            formula::growth("cpu", &["irq_ns", "softirq_ns"], whose),
            cpu_formulas::any_state(whose),
        ))],
        ..case.finding(cpu, Confidence::Consistent, sentence)
    })
}
