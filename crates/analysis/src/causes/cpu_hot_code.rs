//! One function of the target has most of its CPU time, or takes more of it than before.

use model::{Confidence, Evidence, Finding, LedgerClass};
use sensors::stack::CPU_SAMPLE;

use super::cause::{Case, Cause, Judgement, Kind, absent, cannot_tell};
use super::evidence::share;
use super::family::Family;
use crate::borders::Grown;
use crate::facts::Facts;
use crate::number_format::{duration, integer, percent};
use crate::stacks::{self, Hot};
use crate::subject::Subject;
use crate::thresholds::Threshold;

const ONE: Threshold = Threshold::share(
    "one",
    0.40,
    "Part of the target's CPU time in one function, what it calls left out",
);

pub(super) const CAUSE: Cause = Cause {
    name: "cpu.hot_code",
    help: "One function of the target has most of its CPU time, or takes more of it for a request than before.",
    about: "the target",
    kind: Kind::Part,
    family: Family::Cpu,
    told_by: "Samples of what ran by the clock, of the target's threads, by the innermost function, where CPU limits the target. Interpreters have one function that runs everything: it is named too, and says little. A function that was inlined is named as if it had been called, where the file says so. Code that waits in a loop is lock.spin.\n\nA function grew where it plainly takes more CPU time for a request than in the phase before: of all pairs of a piece of one phase and a piece of the other at least nine in ten go the same way (Cliff's delta), and the difference is a tenth of the response time or more. Which function grew between two recordings, stallscope compare says.",
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
    let hot = hot.filter(|it| it.part >= ONE.value());
    let grown = facts.of_run.grown;
    if hot.is_none() && grown.is_none() {
        return absent(format!(
            "no function has more than {} of the CPU time of {}, and none is known to have grown",
            percent(part.max(ONE.value())),
            target.name
        ));
    }
    let evidence = hot
        .iter()
        .map(|it| evidence_of(it, facts, target))
        .chain(grown.map(|it| evidence_of_growth(it, facts, target)));
    let said = said(hot.as_ref(), grown.as_ref(), &target.name, &parent.cause);
    let on_cpu = facts.share(LedgerClass::OnCpu);
    let share = match &hot {
        Some(hot) => Some(on_cpu * hot.part),
        None => grown.and_then(|it| part_of_response(it, facts)),
    };
    Ok(Finding {
        share,
        evidence: evidence.collect(),
        ..case.finding(&target.entity, Confidence::Consistent, said)
    })
}

fn evidence_of(hot: &Hot, facts: &Facts<'_>, target: &Subject) -> Evidence {
    let samples = integer(hot.samples as f64);
    share(
        facts,
        &format!("in that function, by {samples} samples"),
        "cpu_sample.stack",
        &target.entity,
        hot.part,
        ONE.value(),
    )
}

/// One sentence or two; at least one of both is there.
fn said(hot: Option<&Hot>, grown: Option<&Grown<'_>>, target: &str, limit: &str) -> String {
    let of_hot = hot.map(|it| {
        format!(
            "{} of the CPU time of {target} is in {}, which adds to {limit}.",
            percent(it.part),
            it.path
        )
    });
    let of_growth = grown.map(|it| match hot {
        Some(_) => format!("{}{}.", it.function, takes(it)),
        None => format!(
            "{} of {target}{}, which adds to {limit}.",
            it.function,
            takes(it)
        ),
    });
    let both: Vec<String> = of_hot.into_iter().chain(of_growth).collect();
    both.join(" ")
}

/// ` takes 0.8 ms of CPU time per request instead of 0.1 ms in the phase before`.
fn takes(grown: &Grown<'_>) -> String {
    format!(
        " takes {} of CPU time per request instead of {} in the phase before",
        duration(grown.after),
        duration(grown.before)
    )
}

/// What a grown function takes of a request's time, where no function has most of the CPU time.
fn part_of_response(grown: Grown<'_>, facts: &Facts<'_>) -> Option<f64> {
    let latency = facts.signal.and_then(|it| it.latency_ns)?;
    (latency > 0.0).then(|| (grown.after / latency).min(1.0))
}

fn evidence_of_growth(grown: Grown<'_>, facts: &Facts<'_>, target: &Subject) -> Evidence {
    Evidence {
        what: format!("CPU time in {} per request", grown.function),
        column: "cpu_sample.cpu_ns".to_owned(),
        entity: target.entity.clone(),
        window: facts.window,
        value: grown.after,
        unit: "ns".to_owned(),
        threshold: Some(grown.before),
        passed: true,
        formula: None,
    }
}
