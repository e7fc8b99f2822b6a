//! The causes: each answers present, absent, or cannot tell, in one full sentence with the number.
//!
//! A cause is one file here and one line in `all()`. It compares facts with thresholds and words its
//! answer; it measures nothing itself. Causes are judged in this order, and each sees what was found
//! before it, so that a symptom of an earlier one is not said again.

mod cpu_neighbour;
mod cpu_quota;
mod cpu_saturated;
mod evidence;
mod healthy;
mod load_client;
mod load_rate;
mod undetermined;

use model::Finding;

use crate::facts::Facts;
use crate::thresholds::Thresholds;

/// A cause that can be judged.
pub struct Cause {
    /// Its name: `cpu.saturated`.
    pub name: &'static str,
    /// What it means, one sentence.
    pub help: &'static str,
    judge: fn(&Facts<'_>, &Thresholds, &[Finding]) -> Judgement,
}

/// What a cause answers.
pub(crate) enum Judgement {
    /// It is there.
    Present(Box<Finding>),
    /// It is not, and why.
    Absent(String),
    /// What would tell was not seen.
    CannotTell(String),
}

/// Every cause, in the order of judging.
pub fn all() -> &'static [Cause] {
    &[
        cpu_quota::CAUSE,
        cpu_neighbour::CAUSE,
        cpu_saturated::CAUSE,
        load_client::CAUSE,
        load_rate::CAUSE,
        healthy::CAUSE,
        undetermined::CAUSE,
    ]
}

/// Judges every cause.
pub(crate) fn judge(facts: &Facts<'_>, thresholds: &Thresholds) -> Vec<(&'static str, Judgement)> {
    let mut found: Vec<Finding> = Vec::new();
    let mut judgements = Vec::new();
    for cause in all() {
        let judgement = (cause.judge)(facts, thresholds, &found);
        if let Judgement::Present(finding) = &judgement {
            found.push((**finding).clone());
        }
        judgements.push((cause.name, judgement));
    }
    judgements
}

/// What to say when nobody knows how long the target waited for a CPU.
fn wait_unseen(target: &str) -> Judgement {
    Judgement::CannotTell(format!(
        "how long {target} waited for a CPU was not recorded"
    ))
}

/// What to say when there is no target to judge.
fn no_target(facts: &Facts<'_>) -> Judgement {
    let why = facts
        .meta
        .no_target
        .clone()
        .unwrap_or_else(|| "no target was measured in this window".to_owned());
    Judgement::CannotTell(why)
}

/// The answer when a target waited for a CPU for less than `least` of its part of a request, or when
/// that was not recorded; `None` when it did wait.
fn no_long_wait(
    facts: &Facts<'_>,
    thresholds: &Thresholds,
    target: &str,
    least: f64,
) -> Option<Judgement> {
    if facts.wait_in_service() >= least {
        return None;
    }
    if facts.wait_unseen(thresholds) {
        return Some(wait_unseen(target));
    }
    let wait = facts.share(model::LedgerClass::CpuWait);
    Some(Judgement::Absent(if wait < 0.0005 {
        format!("{target} did not wait for a CPU")
    } else {
        let (wait, whole) = (crate::words::percent(wait), facts.whole());
        format!("{target} waited for a CPU for only {wait} of {whole}")
    }))
}
