//! Throughput is what was asked for: the rate is the limit, by intent.

use model::{Confidence, Finding};

use super::evidence::{finding, share};
use super::{Cause, Judgement, Kind};
use crate::facts::Facts;
use crate::number_format::{percent, rate};
use crate::thresholds::Thresholds;

pub(super) const CAUSE: Cause = Cause {
    name: "load.rate",
    help: "Throughput is the rate that was asked for: the limit is the load's own.",
    about: "the generator",
    kind: Kind::Intent,
    told_by: "A generator that draws its arrivals at random misses its own rate by chance, so two standard deviations of a Poisson count are allowed. A rate that is met on full CPUs only by letting requests queue is no healthy one.",
    judge,
};

/// The part of an asked-for rate that must be reached. A generator that draws its arrivals at random
/// (Poisson) misses its own rate by chance: two standard deviations of a count are twice its square
/// root.
pub(super) fn least(facts: &Facts<'_>, thresholds: &Thresholds, asked: f64) -> f64 {
    let chance = (2.0 / (asked * facts.window.seconds()).max(1.0).sqrt()).min(0.1);
    thresholds.load_rate.achieved - chance
}

fn judge(facts: &Facts<'_>, thresholds: &Thresholds, _found: &[Finding]) -> Judgement {
    let Some(asked) = facts.asked_rate().filter(|asked| *asked > 0.0) else {
        return Judgement::Absent("no rate was asked for".to_owned());
    };
    let Some(signal) = facts.signal else {
        return Judgement::CannotTell(
            "the workload gave no throughput over this window".to_owned(),
        );
    };
    let achieved = signal.throughput / asked;
    let unit = facts.rate_unit();
    let least = least(facts, thresholds, asked);
    if achieved < least {
        return Judgement::Absent(format!(
            "{} of the {} {unit} asked for were reached",
            percent(achieved),
            rate(asked)
        ));
    }
    if let Some(lag) = facts.queueing(thresholds) {
        return Judgement::Absent(format!(
            "the rate was reached on full CPUs only by queueing: {} of each request was lag behind the schedule",
            percent(lag)
        ));
    }
    let (Some(generator), Some(workload)) = (&facts.generator, &facts.meta.workload) else {
        return Judgement::CannotTell("no load generator was measured".to_owned());
    };
    let option = workload
        .load
        .rate_option
        .as_deref()
        .map_or(String::new(), |option| format!(" ({option} {asked})"));
    let sentence = format!(
        "The rate is the limit: {} asked for {} {unit}{option} and got {}.",
        generator.name,
        rate(asked),
        rate(signal.throughput)
    );
    Judgement::Present(Box::new(Finding {
        evidence: vec![share(
            facts,
            "rate achieved",
            "signal.throughput_milli",
            &generator.entity,
            achieved,
            least,
        )],
        to_confirm: match &workload.load.rate_option {
            Some(option) => format!(
                "run with {option} {}: if throughput stays the same, this is wrong",
                asked * 2.0
            ),
            None => {
                "ask for twice the rate: if throughput stays the same, this is wrong".to_owned()
            }
        },
        ..finding(
            CAUSE.name,
            &generator.entity,
            Confidence::Measured,
            sentence,
        )
    }))
}
