//! Nothing holds the target back: it answers what it is asked, and waits for nothing worth naming.

use model::{Confidence, Finding, LedgerClass};

use super::evidence::{finding, number};
use super::open::Question;
use super::{Cause, Judgement, Kind, kind, limit, no_target, wait_unseen};
use crate::facts::Facts;
use crate::number_format::{count, duration, percent, rate};
use crate::subject::Subject;
use crate::thresholds::Thresholds;

pub(super) const CAUSE: Cause = Cause {
    name: "healthy",
    help: "Nothing holds the target back: it answers what it is asked, and waits for nothing worth naming.",
    about: "the target",
    kind: Kind::State,
    told_by: "The target's waits, its input aside, are below the threshold, and at least half of the response time is explained. What broke goes before it, and so does a cause that cannot be told while the time that is not accounted for could hold it. With a rate that is met, or a closed loop whose clients all wait for their own answers, the load asks for no more. The headroom is a lower bound: CPU per request usually falls under load.",
    judge,
};

fn judge(facts: &Facts<'_>, thresholds: &Thresholds, found: &[Finding]) -> Judgement {
    let Some(target) = &facts.target else {
        return no_target(facts);
    };
    if facts.signal.is_none()
        && found.is_empty()
        && worked(target).is_some_and(|worked| worked < IDLE)
    {
        return present(facts, thresholds, target);
    }
    if facts.account.is_none() {
        return Judgement::CannotTell(format!(
            "the threads of {} did nothing in this window",
            target.name
        ));
    }
    let any = |of: Kind| found.iter().find(|finding| kind(&finding.cause) == of);
    if let Some(broken) = any(Kind::Failure) {
        return Judgement::Absent(format!("{} was found", broken.cause));
    }
    if any(Kind::Intent).is_some() {
        return present(facts, thresholds, target);
    }
    if let Some(first) = limit(found) {
        return Judgement::Absent(format!("{} was found", first.cause));
    }
    if let Some(lag) = facts.queueing(thresholds) {
        let lag = percent(lag);
        return Judgement::Absent(format!("{lag} of each request was lag, on full CPUs"));
    }
    if let Some((asked, signal)) = facts.asked_rate().zip(facts.signal)
        && signal.throughput < asked * super::load_rate::least(facts, thresholds, asked)
    {
        return Judgement::Absent(format!(
            "{} of the {} {} asked for were reached",
            percent(signal.throughput / asked),
            rate(asked),
            facts.rate_unit()
        ));
    }
    let waits = waits(facts);
    if waits >= thresholds.healthy.waits {
        return Judgement::Absent(format!(
            "{} waited for {} of {}",
            target.name,
            percent(waits),
            facts.whole()
        ));
    }
    if facts.wait_unseen(thresholds) {
        return wait_unseen(&target.name);
    }
    if explained(facts) < thresholds.healthy.explained {
        return Judgement::CannotTell(format!(
            "only {} of {} is explained",
            percent(explained(facts)),
            facts.whole()
        ));
    }
    present(facts, thresholds, target)
}

/// The answer while a cause that cannot be told could hold a part of the time that matters.
pub(super) fn unless(facts: &Facts<'_>, question: &Question) -> Judgement {
    Judgement::Absent(format!(
        "{} cannot be told, and could hold up to {} of {}",
        question.cause,
        percent(question.share),
        Question::whole(facts)
    ))
}

/// Whether the target had so little to do that nothing it waits for matters, as far as is known.
pub(super) fn is_idle(facts: &Facts<'_>) -> bool {
    let worked = facts.target.as_ref().and_then(worked);
    facts.signal.is_none() && worked.is_some_and(|worked| worked < IDLE)
}

fn present(facts: &Facts<'_>, thresholds: &Thresholds, target: &Subject) -> Judgement {
    let waits = waits(facts);
    let sure = facts.window.seconds() >= thresholds.gates.steady_seconds
        && waits < thresholds.healthy.waits
        && !facts.wait_unseen(thresholds);
    // Which of the two the threshold is held against decides how it is to be redone.
    let (what, unit, least) = match waiting_at_a_time(facts) {
        Some(_) => (
            "threads of the target that waited, at a time",
            "count",
            facts.floor,
        ),
        None => ("waits of the target", "share", thresholds.healthy.waits),
    };
    let evidence = number(
        facts,
        (what, unit),
        "thread.wait_ns",
        &target.entity,
        waits,
        least,
    );
    Judgement::Present(Box::new(Finding {
        share: Some(1.0 - waits),
        // Here staying below the threshold is what counts.
        evidence: vec![model::Evidence {
            passed: waits < least,
            ..evidence
        }],
        would_not_help: Vec::new(),
        to_confirm: to_confirm(facts),
        ..finding(
            CAUSE.name,
            &target.entity,
            if sure {
                Confidence::Measured
            } else {
                Confidence::Consistent
            },
            sentence(facts, target),
        )
    }))
}

fn sentence(facts: &Facts<'_>, target: &Subject) -> String {
    let on_cpu = percent(facts.share(LedgerClass::OnCpu));
    let Some(signal) = facts.signal else {
        return without_signal(facts, target);
    };
    let each = signal
        .latency_ns
        .map_or(String::new(), |ns| format!(", {} each", duration(ns)));
    let unit = facts.rate_unit();
    let load = facts.meta.workload.as_ref().map(|workload| &workload.load);
    match (facts.asked_rate(), load) {
        (Some(asked), Some(load)) => {
            let option = load
                .rate_option
                .as_deref()
                .map_or(String::new(), |option| format!(" ({option} {asked})"));
            let achieved = signal.throughput / asked;
            let part = if achieved >= 0.995 {
                "all".to_owned()
            } else {
                percent(achieved)
            };
            format!(
                "No bottleneck: {} answered {part} of the {} {unit} that were asked for{option}{each}.",
                target.name,
                rate(asked)
            )
        }
        _ => {
            let clients = load
                .and_then(|load| load.clients)
                .map_or("this load".to_owned(), |clients| count(clients, "client"));
            format!(
                "No bottleneck: with {clients} {} did {} {unit}{each}, and waited for nothing worth naming; {on_cpu} of each request it \
                 was on a CPU.",
                target.name,
                rate(signal.throughput)
            )
        }
    }
}

/// Threads that had work for less of their lives than this were idle.
const IDLE: f64 = 0.01;

/// Part of their lives that the target's threads had work; `None` when that was not seen.
fn worked(target: &Subject) -> Option<f64> {
    let ledger = &target.serving_ledger;
    let seen = ledger.wall_ns > 0.0 && ledger.part(LedgerClass::Unknown) < 0.5;
    seen.then(|| ledger.busy_ns() / ledger.wall_ns)
}

fn without_signal(facts: &Facts<'_>, target: &Subject) -> String {
    let name = &target.name;
    if let Some(worked) = worked(target).filter(|worked| *worked < IDLE) {
        let worked = if worked < 0.0005 {
            "no work".to_owned()
        } else {
            format!("work for {} of the time", percent(worked))
        };
        return format!("No bottleneck: {name} was idle; its threads had {worked}.");
    }
    let on_cpu = percent(facts.share(LedgerClass::OnCpu));
    format!(
        "No bottleneck: {name} waited for nothing worth naming; {on_cpu} of its non-idle time it was on a CPU."
    )
}

/// How to find the limit.
fn to_confirm(facts: &Facts<'_>) -> String {
    let Some(load) = facts.meta.workload.as_ref().map(|workload| &workload.load) else {
        return "give it more work: what it then waits for is its limit".to_owned();
    };
    if facts.generator.is_none() {
        return "only faster CPUs, more threads or less to do would make it quicker".to_owned();
    }
    match (
        load.rate,
        &load.rate_option,
        load.clients,
        &load.clients_option,
    ) {
        (Some(asked), Some(option), _, _) => format!(
            "to find the limit, run with {option} {}, and without {option}",
            asked * 4.0
        ),
        (_, _, Some(clients), Some(option)) => {
            format!(
                "to find the limit, run with {option} {}",
                clients.saturating_mul(4)
            )
        }
        _ => "to find the limit, raise the load".to_owned(),
    }
}

/// How many threads of the target waited at a time, where that is so few that parts of what they did say
/// nothing: of the few milliseconds of an idle server everything is a large part.
fn waiting_at_a_time(facts: &Facts<'_>) -> Option<f64> {
    let lasted = facts.at_a_time(share_of_waits(facts));
    (facts.signal.is_none() && lasted < facts.floor).then_some(lasted)
}

/// Part of the response time that the target waited for anything, its input aside; of an idle server how
/// many threads did at a time.
pub(super) fn waits(facts: &Facts<'_>) -> f64 {
    waiting_at_a_time(facts).unwrap_or_else(|| share_of_waits(facts))
}

fn share_of_waits(facts: &Facts<'_>) -> f64 {
    let items = facts.account.iter().flat_map(|account| &account.items);
    let waits = items.filter(|item| {
        !matches!(
            item.class,
            LedgerClass::OnCpu | LedgerClass::Outside | LedgerClass::Lag
        )
    });
    waits.map(|item| item.share).sum()
}

/// Part of the response time that is accounted for: the target's own, the schedule's, and as much of
/// what is outside as the generator's threads were busy or waiting for a CPU.
pub(super) fn explained(facts: &Facts<'_>) -> f64 {
    1.0 - facts.unexplained()
}
