//! A closed loop with nothing full: the number of clients is the limit.

use model::{Confidence, Finding};

use super::evidence::{finding, share};
use super::{Cause, Judgement, Kind, found_of, healthy, limit, seen};
use crate::bounds;
use crate::facts::Facts;
use crate::number_format::{count, duration, percent, rate};
use crate::thresholds::Thresholds;

pub(super) const CAUSE: Cause = Cause {
    name: "load.concurrency",
    help: "The number of clients is the limit: each waits for its own answer, and nothing is full.",
    about: "the generator",
    kind: Kind::Intent,
    told_by: "In a closed loop N clients get X = N / (R + Z) answers per second (Little's law), whatever more the server could do. It is said when nothing holds the target back, the CPUs have room, and nearly all clients wait for an answer.",
    judge,
};

fn judge(facts: &Facts<'_>, thresholds: &Thresholds, found: &[Finding]) -> Judgement {
    let Some(clients) = facts.closed_loop() else {
        return Judgement::Absent("it is no closed loop of a known number of clients".to_owned());
    };
    let target = match seen(facts) {
        Ok(target) => target,
        Err(judgement) => return judgement,
    };
    let (Some(signal), Some(in_flight)) = (facts.signal, facts.in_flight()) else {
        return Judgement::CannotTell("the workload gave no response times".to_owned());
    };
    let Some(generator) = &facts.generator else {
        return Judgement::CannotTell("no load generator was measured".to_owned());
    };
    if let Some(finding) = limit(found).or_else(|| found_of(found, &["load.rate"])) {
        return Judgement::Absent(format!("{} was found", finding.cause));
    }
    if let Some(works) = super::load_client::never_rests(generator, thresholds) {
        return Judgement::Absent(format!(
            "{} never rested ({} of the time)",
            generator.name,
            percent(works)
        ));
    }
    let Some(busy) = facts.effective_busy else {
        return Judgement::CannotTell("CPU times were not recorded".to_owned());
    };
    if busy >= thresholds.cpu_saturated.busy {
        return Judgement::Absent(format!("the CPUs were {} busy", percent(busy)));
    }
    let waiting = in_flight / f64::from(clients.max(1));
    let least = thresholds.load_concurrency.waiting;
    if waiting < least {
        return Judgement::Absent(format!(
            "only {} of the clients waited for an answer at a time",
            percent(waiting)
        ));
    }
    if facts.wait_unseen(thresholds) {
        return super::wait_unseen(&target.name);
    }
    let waits = healthy::waits(facts);
    if waits >= thresholds.healthy.waits {
        return Judgement::Absent(format!(
            "{} waited for {} of {}",
            target.name,
            percent(waits),
            facts.whole()
        ));
    }
    let explained = healthy::explained(facts);
    if explained < thresholds.healthy.explained {
        return Judgement::CannotTell(format!(
            "only {} of {} is explained",
            percent(explained),
            facts.whole()
        ));
    }
    let option = facts
        .meta
        .workload
        .as_ref()
        .and_then(|workload| workload.load.clients_option.as_ref())
        .map_or(String::new(), |option| format!(" ({option} {clients})"));
    let sentence = format!(
        "The number of clients is the limit: {}{option}, each waiting {} for its answer, make {} {}.",
        count(clients, "client"),
        signal
            .latency_ns
            .map_or("an unknown time".to_owned(), duration),
        rate(signal.throughput),
        facts.rate_unit()
    );
    Judgement::Present(Box::new(Finding {
        evidence: vec![share(
            facts,
            "clients that wait for an answer",
            "signal.latency_mean_ns",
            &generator.entity,
            waiting,
            least,
        )],
        would_help: vec![bounds::more_clients(facts, "more clients".to_owned())],
        to_confirm: "run with twice the clients: if throughput stays the same, this is wrong"
            .to_owned(),
        ..finding(
            CAUSE.name,
            &generator.entity,
            Confidence::Consistent,
            sentence,
        )
    }))
}
