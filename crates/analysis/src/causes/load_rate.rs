//! Throughput is what was asked for: the rate is the limit, by intent.

use model::{Amount, Confidence, Finding};

use super::cause::{Case, Cause, Judgement, Kind, absent, cannot_tell};
use super::evidence::share;
use super::family::Family;
use crate::facts::Facts;
use crate::formula;
use crate::number_format::{percent, rate};
use crate::thresholds::{QUEUEING_LAG, Threshold};

const ACHIEVED: Threshold = Threshold::share(
    "achieved",
    0.98,
    "Part of the asked-for rate that was achieved",
);

pub(super) const CAUSE: Cause = Cause {
    name: "load.rate",
    help: "Throughput is the rate that was asked for: the limit is the load's own.",
    about: "the generator",
    kind: Kind::Intent,
    family: Family::Outside,
    told_by: "A generator that draws its arrivals at random misses its own rate by chance, so two standard deviations of a Poisson count are allowed. A rate that is met on full CPUs only by letting requests queue is no healthy one.",
    thresholds: &[ACHIEVED, QUEUEING_LAG],
    upstream: &[],
    wait: None,
    would_help: &[],
    would_not_help: None,
    to_confirm: "ask for twice the rate: if throughput stays the same, this is wrong",
    judge,
};

/// The part of an asked-for rate that must be reached. A generator that draws its arrivals at random
/// (Poisson) misses its own rate by chance: two standard deviations of a count are twice its square
/// root.
pub(super) fn least(facts: &Facts<'_>, asked: f64) -> f64 {
    let chance = (2.0 / (asked * facts.window.seconds()).max(1.0).sqrt()).min(0.1);
    ACHIEVED.value() - chance
}

fn judge(case: &Case<'_>) -> Judgement {
    let facts = case.facts;
    let Some(asked) = facts.asked_rate().filter(|asked| *asked > 0.0) else {
        return absent("no rate was asked for");
    };
    let Some(signal) = facts.signal else {
        return cannot_tell("the workload gave no throughput over this window");
    };
    let achieved = signal.throughput / asked;
    let unit = facts.rate_unit();
    let least = least(facts, asked);
    if achieved < least {
        return absent(format!(
            "{} of the {} {unit} asked for were reached",
            percent(achieved),
            rate(asked)
        ));
    }
    if let Some(lag) = facts.queueing() {
        return absent(format!(
            "the rate was reached on full CPUs only by queueing: {} of each request was lag behind the schedule",
            percent(lag)
        ));
    }
    let (Some(generator), Some(workload)) = (&facts.generator, &facts.meta.workload) else {
        return cannot_tell("no load generator was measured");
    };
    let option = workload.load.rate_option.as_deref();
    let sentence = format!(
        "The rate is the limit: {} asked for {} {unit}{} and got {}.",
        generator.name,
        rate(asked),
        option.map_or(String::new(), |option| format!(" ({option} {asked})")),
        rate(signal.throughput)
    );
    let (what, column) = ("rate achieved", "signal.throughput_milli");
    let evidence = share(facts, what, column, &generator.entity, achieved, least);
    let asked_for = formula::product([formula::number(asked / 1e9), Amount::Reported]);
    let finding = case.finding(&generator.entity, Confidence::Measured, sentence);
    let twice = option.map(|option| {
        format!(
            "run with {option} {}: if throughput stays the same, this is wrong",
            asked * 2.0
        )
    });
    Ok(Finding {
        evidence: vec![evidence.by(formula::part(Amount::Completed, asked_for))],
        to_confirm: twice.unwrap_or(finding.to_confirm),
        ..finding
    })
}
