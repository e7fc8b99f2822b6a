//! Interrupts take a good part of a CPU.

use model::{Confidence, Finding, LedgerClass};

use super::evidence::{finding, share};
use super::{Cause, Judgement, Kind, found_of, seen};
use crate::facts::Facts;
use crate::number_format::percent;
use crate::thresholds::Thresholds;

pub(super) const CAUSE: Cause = Cause {
    name: "cpu.softirq",
    help: "Interrupts take a good part of a CPU that the target needs.",
    about: "the CPU",
    kind: Kind::Part,
    told_by: "Hard and soft interrupt time of /proc/stat, of one CPU, while something about the CPUs limits the target. Kernels without interrupt accounting count it by ticks.",
    judge,
};

/// What interrupts can add to: a quota is not used up by them.
const LIMITS: [&str; 4] = [
    "cpu.neighbour",
    "cpu.saturated",
    "cpu.imbalance",
    "cpu.single_thread",
];

fn judge(facts: &Facts<'_>, thresholds: &Thresholds, found: &[Finding]) -> Judgement {
    if let Err(judgement) = seen(facts) {
        return judgement;
    }
    let Some(core) = facts
        .cores
        .iter()
        .max_by(|a, b| a.interrupts.total_cmp(&b.interrupts))
    else {
        return Judgement::CannotTell("CPU times were not recorded".to_owned());
    };
    let least = thresholds.cpu_softirq.interrupts;
    if core.interrupts < least {
        return Judgement::Absent(format!(
            "{} spent {} in interrupts",
            core.entity.name,
            percent(core.interrupts)
        ));
    }
    let Some(parent) = found_of(found, &LIMITS) else {
        return Judgement::Absent(format!(
            "{} spent {} in interrupts, and no CPU limits the target",
            core.entity.name,
            percent(core.interrupts)
        ));
    };
    let sentence = format!(
        "Interrupts take {} of {}, which adds to {}.",
        percent(core.interrupts),
        core.entity.name,
        parent.cause
    );
    Judgement::Present(Box::new(Finding {
        share: Some(facts.share(LedgerClass::CpuWait) * core.interrupts),
        evidence: vec![share(
            facts,
            "time in interrupts",
            "cpu.softirq_ns + irq_ns",
            &core.entity,
            core.interrupts,
            least,
        )],
        to_confirm: "watch which: watch -d cat /proc/softirqs".to_owned(),
        ..finding(CAUSE.name, &core.entity, Confidence::Consistent, sentence)
    }))
}
