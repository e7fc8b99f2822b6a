//! A closed loop with nothing full: the number of clients is the limit.

use model::{Confidence, Finding};

use super::cause::{Case, Cause, Judgement, Kind, NoFinding, absent, cannot_tell};
use super::evidence::share;
use super::family::Family;
use super::{healthy, load_client};
use crate::bounds;
use crate::facts::Facts;
use crate::formula;
use crate::number_format::{count, duration, percent, rate};
use crate::subject::Subject;
use crate::thresholds::{CPUS_BUSY, Threshold};
use crate::workload_metrics::Mean;

const WAITING: Threshold = Threshold::share(
    "waiting",
    0.80,
    "Clients that were waiting for an answer, of all",
);

pub(super) const CAUSE: Cause = Cause {
    name: "load.concurrency",
    help: "The number of clients is the limit: each waits for its own answer, and nothing is full.",
    about: "the generator",
    kind: Kind::Intent,
    family: Family::Outside,
    told_by: "In a closed loop N clients get X = N / (R + Z) answers per second (Little's law), whatever more the server could do. It is said when nothing holds the target back, the CPUs have room, and nearly all clients wait for an answer.",
    thresholds: &[WAITING],
    upstream: &[],
    wait: None,
    would_help: &[],
    would_not_help: None,
    to_confirm: "run with twice the clients: if throughput stays the same, this is wrong",
    judge,
};

fn judge(case: &Case<'_>) -> Judgement {
    let facts = case.facts;
    let Some(clients) = facts.closed_loop() else {
        return absent("it is no closed loop of a known number of clients");
    };
    let target = case.seen()?;
    let (Some(signal), Some(in_flight)) = (facts.signal, facts.in_flight()) else {
        return cannot_tell("the workload gave no response times");
    };
    let Some(generator) = &facts.generator else {
        return cannot_tell("no load generator was measured");
    };
    nothing_is_full(case, generator)?;
    let waiting = in_flight / f64::from(clients.max(1));
    // Who thinks waits for nobody.
    let asking = waiting * (1.0 - facts.thought());
    if asking < WAITING.value() {
        return absent(format!(
            "only {} of the clients waited for an answer at a time",
            percent(asking)
        ));
    }
    case.cpu_wait_known()?;
    healthy::waits_for_little(facts, target)?;
    healthy::enough_is_explained(facts)?;
    let (what, column) = ("clients that wait for an answer", "signal.latency_mean_ns");
    let who = &generator.entity;
    let of_clients = formula::in_progress(f64::from(clients.max(1)));
    Ok(Finding {
        evidence: vec![share(facts, what, column, who, waiting, WAITING.value()).by(of_clients)],
        would_help: vec![bounds::more_clients(facts, "more clients".to_owned())],
        ..case.finding(
            who,
            Confidence::Consistent,
            sentence(facts, clients, &signal),
        )
    })
}

/// Why the number of clients is not the limit: something else is.
fn nothing_is_full(case: &Case<'_>, generator: &Subject) -> Result<(), NoFinding> {
    if let Some(finding) = case.limit().or_else(|| case.found(&["load.rate"])) {
        return absent(format!("{} was found", finding.cause));
    }
    if let Some(works) = load_client::never_rests(generator) {
        return absent(format!(
            "{} never rested ({} of the time)",
            generator.name,
            percent(works)
        ));
    }
    match case.facts.effective_busy {
        None => cannot_tell("CPU times were not recorded"),
        Some(busy) if busy >= CPUS_BUSY.value() => {
            absent(format!("the CPUs were {} busy", percent(busy)))
        }
        Some(_) => Ok(()),
    }
}

fn sentence(facts: &Facts<'_>, clients: u32, signal: &Mean) -> String {
    let load = facts.meta.workload.as_ref().map(|workload| &workload.load);
    let option = load.and_then(|load| load.clients_option.as_ref());
    let option = option.map_or(String::new(), |option| format!(" ({option} {clients})"));
    let each = signal.latency_ns;
    format!(
        "The number of clients is the limit: {}{option}, each waiting {} for its answer, make {} {}.",
        count(clients, "client"),
        each.map_or("an unknown time".to_owned(), duration),
        rate(signal.throughput),
        facts.rate_unit()
    )
}
