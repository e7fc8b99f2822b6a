//! What the causes `event.*` have in common: spikes that add much to the time of requests, and what comes before them.

use model::{Confidence, Finding, Report, Schedule, SpikeReport, Trigger};

use super::cause::{Case, Judgement, NoFinding, absent};
use super::evidence::share;
use crate::bounds;
use crate::number_format::{duration, integer, percent};
use crate::subject::Subject;
use crate::thresholds::Threshold;

/// The causes.
pub(super) const NAMES: [&str; 8] = [
    "event.exec",
    "event.connections",
    "event.checkpoint",
    "event.vacuum",
    "event.ddl",
    "event.gc",
    "event.application",
    "event.unknown",
];

pub(crate) const ADDED: Threshold = Threshold::share(
    "added",
    0.05,
    "Part of all the time of requests that spikes add to what requests usually take",
);

pub(crate) const ADDED_UNKNOWN: Threshold = Threshold::share(
    "added_unknown",
    0.25,
    "The same where nothing is known to come before them",
);

const UNKNOWN_GAIN: &str = "how much of it can be spared is not recorded";
/// Fewer spikes have nothing in common that is no chance.
const LEAST_SPIKES: usize = 5;

/// Whether a report's headline is one of these.
pub(crate) fn is_event(report: &Report) -> bool {
    let headline = report.verdict.findings.first();
    headline.is_some_and(|it| is_one(&it.cause))
}

/// Whether a cause is one of these.
pub(crate) fn is_one(cause: &str) -> bool {
    NAMES.contains(&cause)
}

/// The finding where what comes first before the spikes is what is meant.
pub(super) fn started_by(
    case: &Case<'_>,
    is_meant: impl Fn(&Trigger) -> bool,
    does: fn(&Trigger) -> String,
) -> Judgement {
    let (target, spikes) = spiking(case)?;
    let Some(trigger) = known_trigger(spikes) else {
        return absent("nothing is known to come before the spikes");
    };
    if !is_meant(trigger) {
        return absent("what comes before the spikes first is of another kind");
    }
    let added = added(spikes, ADDED)?;
    let before = format!(
        "{} just before {} of them",
        does(trigger),
        integer((trigger.recall * spikes.spikes.len() as f64).round()),
    );
    let confidence = trigger.confidence.min(Confidence::Consistent);
    let finding = case.finding(&target.entity, confidence, sentence(spikes, added, &before));
    Ok(with_share(case, finding, added, ADDED))
}

/// The finding where nothing is known to come before the spikes, and nothing else limits the target.
pub(super) fn started_by_nothing_known(case: &Case<'_>) -> Judgement {
    let (target, spikes) = spiking(case)?;
    if let Some(trigger) = known_trigger(spikes) {
        return absent(format!("{} comes before the spikes", trigger.name));
    }
    if spikes.spikes.len() < LEAST_SPIKES {
        return absent(format!("fewer than {LEAST_SPIKES} spikes stand out"));
    }
    let added = added(spikes, ADDED_UNKNOWN)?;
    if let Some(limit) = case.limit() {
        return absent(format!(
            "{} was found, which spikes may come from",
            limit.cause
        ));
    }
    let sentence = sentence(spikes, added, "what starts them is not known");
    let finding = case.finding(&target.entity, Confidence::Consistent, sentence);
    Ok(with_share(case, finding, added, ADDED_UNKNOWN))
}

/// The target, and the spikes of its requests.
fn spiking<'a>(case: &Case<'a>) -> Result<(&'a Subject, &'a SpikeReport), NoFinding> {
    let target = case.seen()?;
    match case.facts.of_run.spikes {
        Some(spikes) => Ok((target, spikes)),
        None => absent("no spikes stand out"),
    }
}

/// What comes first before the spikes, where they are enough to tell.
fn known_trigger(spikes: &SpikeReport) -> Option<&Trigger> {
    let trigger = spikes.triggers.first();
    trigger.filter(|_| spikes.spikes.len() >= LEAST_SPIKES)
}

/// What spikes add to the time of requests, where it is that much.
fn added(spikes: &SpikeReport, least: Threshold) -> Result<f64, NoFinding> {
    let added = spikes.added.unwrap_or(0.0);
    match added < least.value() {
        true => absent(format!(
            "spikes add {} to the time of requests",
            percent(added)
        )),
        false => Ok(added),
    }
}

fn sentence(spikes: &SpikeReport, added: f64, before: &str) -> String {
    format!(
        "Spikes are the bottleneck: {} add {} of the time of requests; {before}.",
        these(spikes),
        percent(added),
    )
}

fn with_share(case: &Case<'_>, finding: Finding, added: f64, least: Threshold) -> Finding {
    let would_help = case.cause.would_help.iter();
    let would_help = would_help.map(|it| bounds::not_known((*it).to_owned(), UNKNOWN_GAIN));
    Finding {
        share: Some(added),
        evidence: vec![share(
            case.facts,
            "added by spikes",
            "requests.timed_ns",
            &finding.entity,
            added,
            least.value(),
        )],
        would_help: would_help.collect(),
        ..finding
    }
}

/// `12 of 798 ms, every 15.00 s by the clock,`
fn these(spikes: &SpikeReport) -> String {
    let mut lengths: Vec<i64> = spikes.spikes.iter().map(|it| it.window.len_ns()).collect();
    lengths.sort_unstable();
    let middle = lengths.get(lengths.len() / 2).copied().unwrap_or(0);
    let each = format!("{} of {}", spikes.spikes.len(), duration(middle as f64));
    match spikes.trains.first() {
        Some(train) => {
            let by = match train.schedule {
                Schedule::Clock { .. } => " by the clock",
                Schedule::Loop | Schedule::Unknown => "",
            };
            format!("{each}, every {:.2} s{by},", train.period_ns / 1e9)
        }
        None => each,
    }
}
