//! What the causes `event.*` have in common: spikes that add much to the time of requests, and what comes before them.

use model::{Confidence, Finding, Report, Schedule, SpikeReport, Trigger, TriggerKind};

use super::cause::{Case, Judgement, absent};
use super::evidence::share;
use crate::bounds;
use crate::number_format::{duration, integer, percent};
use crate::thresholds::Threshold;

/// The causes.
pub(super) const NAMES: [&str; 3] = ["event.exec", "event.connections", "event.application"];

pub(crate) const ADDED: Threshold = Threshold::share(
    "added",
    0.05,
    "Part of all the time of requests that spikes add to what requests usually take",
);

const UNKNOWN_GAIN: &str = "how much of it can be spared is not recorded";
/// Fewer spikes have nothing in common that is no chance.
const LEAST_SPIKES: usize = 5;

/// Whether a report's headline is one of these.
pub(crate) fn is_event(report: &Report) -> bool {
    let headline = report.verdict.findings.first();
    headline.is_some_and(|it| NAMES.contains(&&*it.cause))
}

/// The finding where what comes first before the spikes is of one of these kinds.
pub(super) fn started_by(
    case: &Case<'_>,
    kinds: &[TriggerKind],
    does: fn(&Trigger) -> String,
) -> Judgement {
    let target = case.seen()?;
    let Some(spikes) = case.facts.of_run.spikes else {
        return absent("no spikes stand out");
    };
    let trigger = spikes.triggers.first();
    let Some(trigger) = trigger.filter(|_| spikes.spikes.len() >= LEAST_SPIKES) else {
        return absent("nothing is known to come before the spikes");
    };
    if !kinds.contains(&trigger.kind) {
        return absent("what comes before the spikes first is of another kind");
    }
    let added = spikes.added.unwrap_or(0.0);
    if added < ADDED.value() {
        let added = percent(added);
        return absent(format!("spikes add {added} to the time of requests"));
    }
    let sentence = format!(
        "Spikes are the bottleneck: {} add {} of the time of requests; {} just before {} of them.",
        these(spikes),
        percent(added),
        does(trigger),
        integer((trigger.recall * spikes.spikes.len() as f64).round()),
    );
    let would_help = case.cause.would_help.iter();
    let would_help = would_help.map(|it| bounds::not_known((*it).to_owned(), UNKNOWN_GAIN));
    Ok(Finding {
        share: Some(added),
        evidence: vec![share(
            case.facts,
            "added by spikes",
            "requests.timed_ns",
            &target.entity,
            added,
            ADDED.value(),
        )],
        would_help: would_help.collect(),
        ..case.finding(
            &target.entity,
            trigger.confidence.min(Confidence::Consistent),
            sentence,
        )
    })
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
