//! What lowering a capacity of a running target shows: blocks as it is and blocks with less of something, in turns within
//! one recording.
//!
//! Throughput that follows a capacity is limited by it; throughput that does not care is not. By how much it follows is
//! the elasticity, of all pairs of blocks together. Nothing here changes anything: the program does, and asks here what it
//! has seen and whether that is enough. Why it is done so: `docs/decisions/proof.md`.

mod elasticity;
mod sentences;
#[cfg(test)]
mod tests;

use model::{
    Capacity, CapacityTrial, Confidence, EntityKind, Finding, Meta, PROOF_SCHEMA, Proof,
    ProofOutcome, ProofPair, Report, Role, Timeline, Window, WithoutTrial,
};

pub use self::elasticity::{Elasticity, is_decided, outcome};
use crate::request_times;
use crate::workload_metrics::{self, Source};

/// What a block showed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BlockSignal {
    /// Operations per second.
    pub throughput: f64,
    /// Mean latency, ns, where it is known.
    pub latency_ns: Option<f64>,
}

/// Throughput and latency over windows that follow one another, of a recording that is prepared (`prepare`); `None` where
/// nothing was reported in one.
pub fn signals(timeline: &Timeline, meta: &Meta, windows: &[Window]) -> Vec<Option<BlockSignal>> {
    let of = |throughput, latency_ns| BlockSignal {
        throughput,
        latency_ns,
    };
    match workload_metrics::source(timeline, meta) {
        Source::Kernel(end) => request_times::bins_over(timeline, end, windows)
            .into_iter()
            .map(|it| Some(of(it.throughput, it.latency_ns)))
            .collect(),
        _ => {
            let bins = workload_metrics::bins(timeline, meta);
            let signal = |window: &Window| {
                let mean = workload_metrics::mean(&bins, *window)?;
                Some(of(mean.throughput, mean.latency_ns))
            };
            windows.iter().map(signal).collect()
        }
    }
}

/// The end of what throughput is known for so far.
pub fn known_until(timeline: &Timeline, meta: &Meta) -> Option<model::Timestamp> {
    let bins = workload_metrics::bins(timeline, meta);
    bins.last().map(|it| it.window.end)
}

/// The capacity that a cause is about: with more of it the cause would be gone.
pub fn capacity_of(cause: &str) -> Option<Capacity> {
    match cause {
        "cpu.saturated" | "cpu.quota" | "cpu.neighbour" | "cpu.steal" | "cpu.kernel"
        | "cpu.softirq" | "cpu.hot_code" | "load.shares_cpu" => Some(Capacity::Cpu),
        "io.cap" | "io.throttled" | "io.neighbour" | "io.latency" | "io.sync" => {
            Some(Capacity::Disk)
        }
        "memory.limit" | "memory.reclaim" | "memory.refault" | "memory.swap" => {
            Some(Capacity::Memory)
        }
        "load.concurrency" | "load.client" => Some(Capacity::Clients),
        _ => None,
    }
}

/// The command that confirms a cause on a target that can be named: under the same load, on its machine. `None` for a cause
/// that is no capacity of the target's.
pub(crate) fn command(finding: &Finding, meta: &Meta) -> Option<String> {
    let capacity = capacity_of(&finding.cause).filter(|it| *it != Capacity::Clients)?;
    let culprit = &finding.entity;
    // A name is a pattern there, and stands in quotes.
    let is_plain = |name: &str| {
        let fits = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
        !name.is_empty() && name.chars().all(fits)
    };
    let is_neighbour = finding.cause.ends_with(".neighbour")
        && culprit.kind == EntityKind::Process
        && is_plain(&culprit.name);
    let options = match is_neighbour {
        true => format!("--without '^{}$'", culprit.name),
        false => format!("--capacity {}", capacity.word()),
    };
    let mut targets = meta.targets.iter().filter(|it| it.role == Role::Target);
    let (target, None) = (targets.next()?, targets.next()) else {
        return None;
    };
    let found_by = target.found_by.to_string();
    let is_spec = ["port:", "cgroup:", "unit:", "pid:", "name:"]
        .iter()
        .any(|it| found_by.starts_with(it));
    let port = found_by.strip_prefix("port ");
    let port = port.map(|it| it.trim_end_matches(|c: char| !c.is_ascii_digit()));
    let spec = match port.and_then(|it| it.parse::<u16>().ok()) {
        Some(port) => format!("port:{port}"),
        None if is_spec && !found_by.contains('\'') => format!("'{found_by}'"),
        None if is_plain(&target.name) => format!("'name:^{}$'", target.name),
        None => return None,
    };
    Some(format!(
        "under the same load: stallscope prove --target {spec} {options}"
    ))
}

/// A capacity that was lowered, as far as it was tried.
#[derive(Clone, PartialEq, Debug)]
pub struct Tried {
    /// Which.
    pub capacity: Capacity,
    /// Whose.
    pub of: String,
    /// What the target used of it as it is.
    pub used: f64,
    /// What it could have had.
    pub available: f64,
    /// In the order of time.
    pub pairs: Vec<ProofPair>,
    /// Why there are no more, where that is not because it is decided; a clause.
    pub ended: Option<String>,
}

/// What that says.
pub fn trial(tried: Tried) -> CapacityTrial {
    let elasticity = Elasticity::of(&tried.pairs);
    let is_slower = elasticity::slower(&tried.pairs).is_some_and(|it| it > elasticity::SLOWER);
    let outcome = match outcome(elasticity.as_ref()) {
        // A load that asks for the same amount is answered late before it is answered less.
        ProofOutcome::RuledOut if is_slower => ProofOutcome::Inconclusive,
        other => other,
    };
    let available = elasticity::available(&tried.pairs).unwrap_or(tried.available);
    let tried = Tried { available, ..tried };
    CapacityTrial {
        sentence: sentences::of_capacity(&tried, elasticity.as_ref(), outcome),
        capacity: tried.capacity,
        of: tried.of,
        used: Some(tried.used),
        available: Some(tried.available),
        lowered_to: elasticity::lowered_to(&tried.pairs),
        change: elasticity::change(&tried.pairs),
        elasticity: elasticity.map(|it| it.estimate),
        outcome,
        pairs: tried.pairs,
    }
}

/// A capacity that could not be tried, and why: a clause.
pub fn not_tried(capacity: Capacity, why: &str) -> CapacityTrial {
    CapacityTrial {
        capacity,
        of: String::new(),
        used: None,
        available: None,
        lowered_to: None,
        pairs: Vec::new(),
        change: None,
        elasticity: None,
        outcome: ProofOutcome::NotTried,
        sentence: sentences::not_tried(capacity, why),
    }
}

/// What stopping processes says.
pub fn without(
    pattern: &str,
    programs: Vec<String>,
    processes: u32,
    pairs: Vec<ProofPair>,
) -> WithoutTrial {
    let throughput = elasticity::effect(&pairs, |it| Some((it.throughput, it.throughput_changed)));
    let latency = elasticity::effect(&pairs, |it| it.latency_ns.zip(it.latency_changed_ns));
    let outcome = elasticity::outcome_without(throughput.as_ref(), latency.as_ref());
    let mut trial = WithoutTrial {
        pattern: pattern.to_owned(),
        programs,
        processes,
        pairs,
        throughput,
        latency,
        outcome,
        sentence: String::new(),
    };
    trial.sentence = sentences::of_without(&trial);
    trial
}

/// All that was seen, with what becomes of the cause that the report names.
pub fn proof(
    report: &Report,
    at_most: f64,
    capacities: Vec<CapacityTrial>,
    without: Option<WithoutTrial>,
    caveats: Vec<String>,
) -> Proof {
    let headline = report.verdict.findings.first();
    let cause = headline.map_or("undetermined", |it| it.cause.as_str());
    let cause_capacity = capacity_of(cause);
    let of_cause = capacities
        .iter()
        .find(|it| Some(it.capacity) == cause_capacity);
    let target = report.subjects.iter().find(|it| it.role == Role::Target);
    let mut proof = Proof {
        schema: PROOF_SCHEMA.to_owned(),
        target: target.map_or_else(String::new, |it| it.entity.name.clone()),
        recording: String::new(),
        as_it_is: report.window,
        at_most,
        cause: cause.to_owned(),
        cause_of: headline.map_or_else(String::new, |it| it.entity.name.clone()),
        cause_capacity,
        outcome: of_cause.map_or(ProofOutcome::NotTried, |it| it.outcome),
        answers: Vec::new(),
        capacities,
        without,
        caveats,
    };
    proof.answers = sentences::answers(&proof);
    proof
}

/// Gives the causes of a report the words that an experiment has earned them, and takes away those that it refuted.
pub fn apply(report: &mut Report, proof: &Proof) {
    report.proof = Some(proof.clone());
    let outcome = |cause: &str| {
        let capacity = capacity_of(cause)?;
        let trial = proof.capacities.iter().find(|it| it.capacity == capacity)?;
        Some(trial.outcome)
    };
    for finding in &mut report.verdict.findings {
        if outcome(&finding.cause) == Some(ProofOutcome::Proved) {
            finding.confidence = Confidence::Proved;
        }
    }
    let is_left = |cause: &str| outcome(cause) != Some(ProofOutcome::RuledOut);
    if report.verdict.findings.iter().any(|it| is_left(&it.cause)) {
        report.verdict.findings.retain(|it| is_left(&it.cause));
    }
}
