//! Nothing holds the target back: it answers what it is asked, and waits for nothing worth naming.

use model::{Confidence, Evidence, Finding, Formula, LedgerClass};

use super::cause::{Case, Cause, Judgement, Kind, NoFinding, absent, cannot_tell};
use super::events;
use super::evidence::number;
use super::family::Family;
use super::formulas;
use super::load_rate;
use super::open::{self, OPEN, Question};
use crate::account;
use crate::facts::Facts;
use crate::formula;
use crate::goals;
use crate::number_format::{count, duration, percent, rate};
use crate::pools::Pool;
use crate::subject::Subject;
use crate::thresholds::{AT_ONCE, AT_WORK, IDLE, POOL_FULL, Threshold, WAKE_UP};

const WAITS: Threshold = Threshold::share(
    "waits",
    0.15,
    "Waits of the target below this part of the response time need no cause",
);
pub(super) const EXPLAINED: Threshold = Threshold::share(
    "explained",
    0.50,
    "Response time that must be explained for anything but `undetermined`",
);

const IN_LINE: Threshold = Threshold::share(
    "in_line",
    0.50,
    "Response time in line for threads that hardly ever rest, with which more is asked of a target than it does",
);

pub(super) const CAUSE: Cause = Cause {
    name: "healthy",
    help: "Nothing holds the target back: it answers what it is asked, and waits for nothing worth naming.",
    about: "the target",
    kind: Kind::State,
    family: Family::Summary,
    told_by: "The target's waits, its input aside, are below the threshold, and at least half of the response time is explained. Where the user gave goals (`--slo`), these count instead: they are met. A target whose threads hardly ever rest, while most of each request is in line for them, is not. What broke goes before it, and so does a cause that cannot be told while the time that is not accounted for could hold it. With a rate that is met, or a closed loop whose clients all wait for their own answers, the load asks for no more. The headroom is a lower bound: CPU per request usually falls under load.",
    thresholds: &[
        WAITS, EXPLAINED, IN_LINE, POOL_FULL, OPEN, IDLE, AT_WORK, WAKE_UP, AT_ONCE,
    ],
    upstream: &[],
    wait: None,
    would_help: &[],
    would_not_help: None,
    to_confirm: "",
    judge,
};

fn judge(case: &Case<'_>) -> Judgement {
    let finding = nothing_holds_back(case)?;
    match open::question(case).filter(|_| !is_goal_met_at_clients(case.facts)) {
        // A cause that cannot be told could hold a part of the time that matters.
        Some(question) => absent(format!(
            "{} cannot be told, and could hold up to {} of {}",
            question.cause,
            percent(question.share),
            Question::whole(case.facts)
        )),
        None => Ok(finding),
    }
}

/// The open question that alone keeps the target from being healthy.
pub(super) fn open_question(case: &Case<'_>) -> Option<Question> {
    nothing_holds_back(case).ok()?;
    open::question(case).filter(|_| !is_goal_met_at_clients(case.facts))
}

/// Whether clients themselves see that the goals are met: then no open question could hold time that matters.
fn is_goal_met_at_clients(facts: &Facts<'_>) -> bool {
    !facts.goals.is_empty() && !facts.at_sockets && goals::unmet(&facts.goals).is_none()
}

fn nothing_holds_back(case: &Case<'_>) -> Judgement {
    let facts = case.facts;
    let target = case.target()?;
    let is_slow = facts.signal.is_some() && goals::unmet(&facts.goals).is_some();
    if facts.is_idle() && !is_slow && case.findings().next().is_none() {
        return Ok(present(case, target));
    }
    if facts.account.is_none() {
        return cannot_tell(format!(
            "the threads of {} did nothing in this window",
            target.name
        ));
    }
    if let Some(broken) = case.found_kind(Kind::Failure) {
        return absent(format!("{} was found", broken.cause));
    }
    if let Some(why) = goals::unmet(&facts.goals) {
        return absent(why);
    }
    // Whatever the load asks for, it does not ask to be let wait now and then.
    if let Some(event) = case
        .found(&events::NAMES)
        .filter(|_| facts.goals.is_empty())
    {
        return absent(format!("{} was found", event.cause));
    }
    if case.found_kind(Kind::Intent).is_some() {
        return Ok(present(case, target));
    }
    answers_what_is_asked(facts)?;
    // A goal that is met says what no part of the response time can: that it is fast enough.
    if facts.goals.is_empty() {
        if let Some(first) = case.limit() {
            return absent(format!("{} was found", first.cause));
        }
        waits_for_little(facts, target)?;
        shares_cpus_with_nobody_unknown(case)?;
        has_time_left(facts, target)?;
        case.cpu_wait_known()?;
        enough_is_explained(facts)?;
    }
    Ok(present(case, target))
}

/// Why the load is not answered as it was asked, where it is not.
fn answers_what_is_asked(facts: &Facts<'_>) -> Result<(), NoFinding> {
    if let Some(lag) = facts.queueing() {
        let lag = percent(lag);
        return absent(format!("{lag} of each request was lag, on full CPUs"));
    }
    match facts.asked_rate().zip(facts.signal) {
        Some((asked, signal)) if signal.throughput < asked * load_rate::least(facts, asked) => {
            absent(format!(
                "{} of the {} {} asked for were reached",
                percent(signal.throughput / asked),
                rate(asked),
                facts.rate_unit()
            ))
        }
        _ => Ok(()),
    }
}

/// Why the target waited for something that needs a cause, where it did.
pub(super) fn waits_for_little(facts: &Facts<'_>, target: &Subject) -> Result<(), NoFinding> {
    let waits = waits(facts);
    if waits < WAITS.value() {
        return Ok(());
    }
    absent(format!(
        "{} waited for {} of {}",
        target.name,
        percent(waits),
        facts.whole()
    ))
}

/// Why it matters who had the CPUs that target and generator waited for, where nobody could be named.
fn shares_cpus_with_nobody_unknown(case: &Case<'_>) -> Result<(), NoFinding> {
    let facts = case.facts;
    let wait = facts.wait_in_service();
    let mut judged = case.before.iter();
    let is_open = judged.any(|(cause, judgement)| {
        cause.name == "cpu.neighbour" && matches!(judgement, Err(NoFinding::CannotTell(_)))
    });
    match is_open && facts.holders(WAITS.value()).is_some() && wait >= WAITS.value() {
        true => cannot_tell(format!(
            "whose doing it was that CPUs were waited for, {} of {}",
            percent(wait),
            facts.whole()
        )),
        false => Ok(()),
    }
}

/// Why the target has no time left for what is asked of it, where most of a request's time is in line for its threads and
/// these hardly ever rest.
fn has_time_left(facts: &Facts<'_>, target: &Subject) -> Result<(), NoFinding> {
    let line = facts.line.share;
    match Pool::of_full_threads(facts) {
        Some(pool) if line >= IN_LINE.value() => absent(format!(
            "{} of {} was in line for {}, which hardly ever rested",
            percent(line),
            facts.whole(),
            pool.in_words(&target.name)
        )),
        _ => Ok(()),
    }
}

/// Why too little is known of where the time went, where it is.
pub(super) fn enough_is_explained(facts: &Facts<'_>) -> Result<(), NoFinding> {
    let explained = facts.explained();
    if explained >= EXPLAINED.value() {
        return Ok(());
    }
    cannot_tell(format!(
        "only {} of {} is explained",
        percent(explained),
        facts.whole()
    ))
}

fn present(case: &Case<'_>, target: &Subject) -> Finding {
    let facts = case.facts;
    let Little {
        what,
        column,
        value,
        least,
        formula,
    } = little(facts);
    let is_little = value < least && !facts.wait_unseen();
    let sure = facts.window.seconds() >= facts.thresholds.gates.steady_seconds
        && (is_little || !facts.goals.is_empty());
    let confidence = match sure {
        true => Confidence::Measured,
        false => Confidence::Consistent,
    };
    let evidence = number(facts, what, column, &target.entity, value, least).by(formula);
    Finding {
        share: Some(1.0 - value),
        // Here staying below the threshold is what counts.
        evidence: vec![Evidence {
            passed: value < least,
            ..evidence
        }],
        to_confirm: to_confirm(facts),
        ..case.finding(&target.entity, confidence, sentence(facts, target))
    }
}

/// What is little of a target that nothing holds back.
struct Little {
    /// In words, and its unit.
    what: (&'static str, &'static str),
    column: &'static str,
    value: f64,
    least: f64,
    /// How it is to be redone.
    formula: Formula,
}

fn little(facts: &Facts<'_>) -> Little {
    let waits = account::waits();
    match (facts.hardly_asked(), waiting_at_a_time(facts)) {
        (Some(value), _) => Little {
            what: ("requests in progress, at a time", "count"),
            column: "requests.timed_ns",
            value,
            least: IDLE.value(),
            formula: formula::in_progress(1.0),
        },
        (None, Some(value)) => Little {
            what: ("threads of the target that waited, at a time", "count"),
            column: "thread.wait_ns",
            value,
            least: facts.floor,
            formula: formulas::at_a_time(facts, &waits),
        },
        (None, None) => Little {
            what: ("waits of the target", "share"),
            column: "thread.wait_ns",
            value: share_of_waits(facts),
            least: WAITS.value(),
            formula: formulas::waits(facts, &waits),
        },
    }
}

fn sentence(facts: &Facts<'_>, target: &Subject) -> String {
    if !facts.goals.is_empty() {
        let met: Vec<String> = facts.goals.iter().map(goals::in_words).collect();
        return format!("{} is fast enough: {}.", target.name, met.join(", "));
    }
    let on_cpu = percent(facts.share(LedgerClass::OnCpu));
    let Some(signal) = facts.signal else {
        return without_signal(facts, target);
    };
    let each = signal
        .latency_ns
        .map_or(String::new(), |ns| format!(", {} each", duration(ns)));
    let unit = facts.rate_unit();
    if let Some(requests) = facts.hardly_asked() {
        return format!(
            "No bottleneck: {} was idle: it did {} {unit}{each}, so requests were in progress for {} of the time.",
            target.name,
            rate(signal.throughput),
            percent(requests)
        );
    }
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

fn without_signal(facts: &Facts<'_>, target: &Subject) -> String {
    let name = &target.name;
    if let Some(worked) = target.worked().filter(|_| facts.is_idle()) {
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
fn waits(facts: &Facts<'_>) -> f64 {
    waiting_at_a_time(facts).unwrap_or_else(|| share_of_waits(facts))
}

/// The waits that need a cause: for a CPU only as far as they are longer than being woken takes.
fn share_of_waits(facts: &Facts<'_>) -> f64 {
    let woken = facts.share(LedgerClass::CpuWait) * (1.0 - facts.needs_cause());
    facts.share_of(&account::waits()) - woken + facts.share(LedgerClass::Remote)
}
