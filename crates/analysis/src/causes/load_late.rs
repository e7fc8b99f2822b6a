//! The load generator does not keep its own schedule.

use model::{Confidence, Finding, LedgerClass};

use super::evidence::{finding, share};
use super::{Cause, Judgement, Kind, limit, seen};
use crate::facts::Facts;
use crate::number_format::{duration, percent};
use crate::thresholds::Thresholds;

pub(super) const CAUSE: Cause = Cause {
    name: "load.late",
    help: "The load generator starts requests later than its own schedule says, and the target is not why.",
    about: "the generator",
    kind: Kind::Limit,
    told_by: "With an asked-for rate, the lag behind the schedule makes up most of the response time, and nothing about the target explains it: too few clients for the rate, or a generator that is late by itself. Where the target is the limit, lag is its symptom and not said.",
    judge,
};

fn judge(facts: &Facts<'_>, thresholds: &Thresholds, found: &[Finding]) -> Judgement {
    if facts.asked_rate().is_none() {
        return Judgement::Absent("no rate was asked for".to_owned());
    }
    let target = match seen(facts) {
        Ok(target) => target,
        Err(judgement) => return judgement,
    };
    let Some(generator) = &facts.generator else {
        return Judgement::CannotTell("no load generator was measured".to_owned());
    };
    let Some(lag_ns) = facts.signal.and_then(|signal| signal.lag_ns) else {
        return Judgement::CannotTell(format!("{} does not tell its lag", generator.name));
    };
    let lag = facts.share(LedgerClass::Lag);
    let least = thresholds.load_late.lag;
    if lag < least {
        return Judgement::Absent(format!("lag was {} of each request", percent(lag)));
    }
    if let Some(parent) = limit(found) {
        return Judgement::Absent(format!(
            "lag was {} of each request, by {}",
            percent(lag),
            parent.cause
        ));
    }
    if facts.effective_busy.is_none() {
        return Judgement::CannotTell(
            "CPU times were not recorded: on full CPUs lag would be a symptom".to_owned(),
        );
    }
    if facts.wait_unseen(thresholds) {
        return super::wait_unseen(&target.name);
    }
    if facts.queueing(thresholds).is_some() {
        return Judgement::Absent(format!(
            "lag was {} of each request, on full CPUs",
            percent(lag)
        ));
    }
    // A millisecond is within what timers and wake-ups of any generator cost.
    const WORTH_SAYING_NS: f64 = 1e6;
    if lag_ns < WORTH_SAYING_NS {
        return Judgement::Absent(format!(
            "requests began {} late on average",
            duration(lag_ns)
        ));
    }
    let sentence = format!(
        "The load generator is late: requests began {} after their time on average, {} of each.",
        duration(lag_ns),
        percent(lag)
    );
    Judgement::Present(Box::new(Finding {
        share: Some(lag),
        evidence: vec![share(
            facts,
            "lag behind the schedule",
            "signal.lag_mean_ns",
            &generator.entity,
            lag,
            least,
        )],
        would_not_help: vec!["a faster server".to_owned()],
        to_confirm: "run with twice the clients and threads: if the lag stays, this is wrong"
            .to_owned(),
        ..finding(
            CAUSE.name,
            &generator.entity,
            Confidence::Consistent,
            sentence,
        )
    }))
}
