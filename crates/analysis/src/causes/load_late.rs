//! The load generator does not keep its own schedule.

use model::{Amount, Confidence, Finding, LedgerClass};

use super::cause::{Case, Cause, Judgement, Kind, NoFinding, absent, cannot_tell};
use super::evidence::share;
use super::family::Family;
use crate::formula;
use crate::number_format::{duration, percent};
use crate::thresholds::Threshold;

const LAG: Threshold = Threshold::share(
    "lag",
    0.50,
    "Lag behind the schedule as part of the response time",
);

pub(super) const CAUSE: Cause = Cause {
    name: "load.late",
    help: "The load generator starts requests later than its own schedule says, and the target is not why.",
    about: "the generator",
    kind: Kind::Limit,
    family: Family::Outside,
    told_by: "With an asked-for rate, the lag behind the schedule makes up most of the response time, and nothing about the target explains it: too few clients for the rate, or a generator that is late by itself. Where the target is the limit, lag is its symptom and not said.",
    thresholds: &[LAG],
    upstream: &[],
    wait: None,
    would_help: &[],
    would_not_help: None,
    to_confirm: "run with twice the clients and threads: if the lag stays, this is wrong",
    judge,
};

/// A millisecond is within what timers and wake-ups of any generator cost.
const WORTH_SAYING_NS: f64 = 1e6;

fn judge(case: &Case<'_>) -> Judgement {
    let facts = case.facts;
    if facts.asked_rate().is_none() {
        return absent("no rate was asked for");
    }
    case.seen()?;
    let Some(generator) = &facts.generator else {
        return cannot_tell("no load generator was measured");
    };
    let Some(lag_ns) = facts.signal.and_then(|signal| signal.lag_ns) else {
        return cannot_tell(format!("{} does not tell its lag", generator.name));
    };
    let lag = facts.share(LedgerClass::Lag);
    late_by_itself(case, lag)?;
    if lag_ns < WORTH_SAYING_NS {
        return absent(format!(
            "requests began {} late on average",
            duration(lag_ns)
        ));
    }
    let sentence = format!(
        "The load generator is late: requests began {} after their time on average, {} of each.",
        duration(lag_ns),
        percent(lag)
    );
    let (what, column) = ("lag behind the schedule", "signal.lag_mean_ns");
    let who = &generator.entity;
    let evidence = share(facts, what, column, who, lag, LAG.value());
    Ok(Finding {
        share: Some(lag),
        evidence: vec![evidence.by(formula::part(Amount::Lag, Amount::Account))],
        would_not_help: vec!["a faster server".to_owned()],
        ..case.finding(who, Confidence::Consistent, sentence)
    })
}

/// Why lag is little, or a symptom of the target's limit.
fn late_by_itself(case: &Case<'_>, lag: f64) -> Result<(), NoFinding> {
    let was = format!("lag was {} of each request", percent(lag));
    if lag < LAG.value() {
        return absent(was);
    }
    if let Some(parent) = case.limit() {
        return absent(format!("{was}, by {}", parent.cause));
    }
    if case.facts.effective_busy.is_none() {
        return cannot_tell("CPU times were not recorded: on full CPUs lag would be a symptom");
    }
    case.cpu_wait_known()?;
    match case.facts.queueing() {
        Some(_) => absent(format!("{was}, on full CPUs")),
        None => Ok(()),
    }
}
