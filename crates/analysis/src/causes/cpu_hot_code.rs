//! One function of the target has most of its CPU time.

use model::{Confidence, Finding, LedgerClass};
use sensors::stack::CPU_SAMPLE;

use super::cause::{Case, Cause, Judgement, Kind, absent, cannot_tell};
use super::evidence::share;
use super::family::Family;
use crate::number_format::{integer, percent};
use crate::stacks;
use crate::thresholds::Threshold;

const ONE: Threshold = Threshold::share(
    "one",
    0.40,
    "Part of the target's CPU time in one function, what it calls left out",
);

pub(super) const CAUSE: Cause = Cause {
    name: "cpu.hot_code",
    help: "One function of the target has most of its CPU time.",
    about: "the target",
    kind: Kind::Part,
    family: Family::Cpu,
    told_by: "Samples of what ran by the clock, of the target's threads, by the innermost function, where CPU limits the target. Interpreters have one function that runs everything: it is named too, and says little. A function that was inlined is named as if it had been called, where the file says so. Code that waits in a loop is lock.spin. Compare two recordings to see which function grew.",
    thresholds: &[ONE],
    upstream: &[],
    wait: None,
    would_help: &[],
    would_not_help: None,
    to_confirm: "see its callers: stallscope explain --stacks, or the flame graph of the report",
    judge,
};

/// Of these the target's own code is a part.
const LIMITED_BY_CODE: [&str; 5] = [
    "cpu.saturated",
    "cpu.single_thread",
    "cpu.quota",
    "lock.spin",
    "lock.futex",
];

fn judge(case: &Case<'_>) -> Judgement {
    let facts = case.facts;
    let target = case.seen()?;
    let Some(parent) = case.found(&LIMITED_BY_CODE) else {
        return absent(format!("the code of {} limits nothing", target.name));
    };
    if case.found(&["lock.spin"]).is_some() {
        return absent(format!("{} spins, see lock.spin", target.name));
    }
    if facts.timeline.table(&CPU_SAMPLE.name).is_none() {
        return cannot_tell(format!("what {} executed was not recorded", target.name));
    }
    let hot = stacks::hot(facts.timeline, facts.window);
    let part = hot.as_ref().map_or(0.0, |it| it.part);
    let Some(hot) = hot.filter(|it| it.part >= ONE.value()) else {
        return absent(format!(
            "no function has more than {} of the CPU time of {}",
            percent(part.max(ONE.value())),
            target.name
        ));
    };
    let sentence = format!(
        "{} of the CPU time of {} is in {}, which adds to {}.",
        percent(hot.part),
        target.name,
        hot.path,
        parent.cause
    );
    let samples = format!(
        "in that function, by {} samples",
        integer(hot.samples as f64)
    );
    Ok(Finding {
        share: Some(facts.share(LedgerClass::OnCpu) * hot.part),
        evidence: vec![share(
            facts,
            &samples,
            "cpu_sample.stack",
            &target.entity,
            hot.part,
            ONE.value(),
        )],
        ..case.finding(&target.entity, Confidence::Consistent, sentence)
    })
}
