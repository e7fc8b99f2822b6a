//! What an experiment showed, in words.

use model::{Capacity, Proof, ProofOutcome, WithoutTrial};

use super::elasticity::{SLOWER, change, lowered_to, slower};
use super::{Elasticity, Tried};
use crate::compare::signed;
use crate::number_format::{count, percent, rate};

/// An amount of a capacity: `1.50 CPUs`.
fn amount(capacity: Capacity, value: f64) -> String {
    match capacity {
        Capacity::Cpu => format!("{value:.2} CPUs"),
        Capacity::Disk => format!("{} requests/s", rate(value)),
        Capacity::Memory => crate::number_format::memory(value),
        Capacity::Clients => count(value.round() as u32, "process"),
    }
}

fn name(capacity: Capacity) -> &'static str {
    match capacity {
        Capacity::Cpu => "CPU time",
        Capacity::Disk => "the disk",
        Capacity::Memory => "memory",
        Capacity::Clients => "the number of clients",
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

/// `fell by 24 %`
fn moved(change: f64) -> String {
    match change {
        it if it <= -0.005 => format!("fell by {}", percent(-it)),
        it if it >= 0.005 => format!("grew by {}", percent(it)),
        _ => "stayed the same".to_owned(),
    }
}

pub(super) fn of_capacity(
    tried: &Tried,
    elasticity: Option<&Elasticity>,
    outcome: ProofOutcome,
) -> String {
    let what = name(tried.capacity);
    let (Some(lowered), Some(change)) = (lowered_to(&tried.pairs), change(&tried.pairs)) else {
        let why = tried.ended.as_deref().unwrap_or("there was no time");
        return format!("{} was not lowered: {why}.", capital(what));
    };
    // In a closed loop one says what the other does.
    let slower = slower(&tried.pairs).filter(|it| change > -0.05 && *it > SLOWER);
    let slower = slower.map_or_else(String::new, |it| {
        format!(", and operations took {it:.1} times as long")
    });
    let did = format!(
        "with {} instead of {} throughput {}{slower}",
        amount(tried.capacity, lowered),
        amount(tried.capacity, tried.available),
        moved(change)
    );
    let known = elasticity.map_or_else(String::new, |it| {
        let interval = it.estimate.interval;
        let pairs = count(u32::try_from(it.pairs).unwrap_or(u32::MAX), "pair");
        format!(
            " (elasticity {:.2}, {:.2} to {:.2}, {pairs} of blocks)",
            it.estimate.value, interval.low, interval.high
        )
    });
    match outcome {
        ProofOutcome::Proved => format!("{} limits: {did}{known}.", capital(what)),
        ProofOutcome::RuledOut => format!("{} does not limit: {did}{known}.", capital(what)),
        _ => {
            let ended = tried.ended.as_ref();
            let ended = ended.map_or_else(String::new, |why| format!(" It ended because {why}."));
            format!("It is not certain whether {what} limits: {did}{known}.{ended}")
        }
    }
}

pub(super) fn not_tried(capacity: Capacity, why: &str) -> String {
    format!("{} was not lowered: {why}.", capital(name(capacity)))
}

pub(super) fn of_without(trial: &WithoutTrial) -> String {
    let processes = count(trial.processes, "process");
    if trial.programs.is_empty() {
        return format!(
            "No process matched {} meanwhile: nothing was stopped.",
            trial.pattern
        );
    }
    let Some(throughput) = &trial.throughput else {
        return format!("Nothing can be said of {}: too few blocks.", trial.pattern);
    };
    let interval = throughput.interval;
    let latency = trial.latency.as_ref().map_or_else(String::new, |it| {
        format!(
            ", and latency {} ({} to {})",
            moved(it.value),
            signed(it.interval.low),
            signed(it.interval.high)
        )
    });
    let did = format!(
        "while {processes} {} stopped, throughput {} ({} to {}){latency}",
        match trial.processes {
            1 => "was",
            _ => "were",
        },
        moved(throughput.value),
        signed(interval.low),
        signed(interval.high)
    );
    let names = trial.programs.join(", ");
    match trial.outcome {
        ProofOutcome::Proved => format!("{} slows the target down: {did}.", capital(&names)),
        ProofOutcome::RuledOut => {
            format!("{} does not slow the target down: {did}.", capital(&names))
        }
        _ => format!("It is not certain whether {names} slows the target down: {did}."),
    }
}

/// The answer first, then what else is known.
pub(super) fn answers(proof: &Proof) -> Vec<String> {
    let mut answers = vec![of_cause(proof)];
    let others = proof.capacities.iter();
    let others = others.filter(|it| Some(it.capacity) != proof.cause_capacity);
    answers.extend(
        others
            .filter(|it| it.outcome == ProofOutcome::Proved)
            .map(|it| it.sentence.clone()),
    );
    answers.extend(proof.without.iter().map(|it| it.sentence.clone()));
    answers
}

fn of_cause(proof: &Proof) -> String {
    let cause = &proof.cause;
    let of_cause = proof.capacities.iter();
    let mut of_cause = of_cause.filter(|it| Some(it.capacity) == proof.cause_capacity);
    let Some(trial) = of_cause.next() else {
        return match (cause.as_str(), proof.cause_capacity) {
            ("healthy", _) => "No bottleneck was named before anything was changed.".to_owned(),
            ("undetermined", _) => "No cause was named before anything was changed.".to_owned(),
            (_, None) => format!(
                "{cause} ({}) was named before anything was changed, and it is no capacity that can be lowered: it is neither proved nor refuted.",
                proof.cause_of
            ),
            (_, Some(capacity)) => format!(
                "{cause} ({}) was named before anything was changed, and {} was not lowered: add --capacity {}.",
                proof.cause_of,
                name(capacity),
                capacity.word()
            ),
        };
    };
    match trial.outcome {
        ProofOutcome::Proved => format!("{cause} is proved. {}", trial.sentence),
        ProofOutcome::RuledOut => format!("{cause} is refuted. {}", trial.sentence),
        _ => format!("{cause} is neither proved nor refuted. {}", trial.sentence),
    }
}
