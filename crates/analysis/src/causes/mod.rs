//! The causes: each answers present, absent, or cannot tell, in one full sentence with the number.
//!
//! A cause is one file here and one line in `all()`. It declares what is known of it beforehand
//! (`cause.rs`), compares facts with its thresholds and words its answer; it measures nothing itself.
//! Causes are judged in this order, and each sees what was found before it (`case.rs`), so that a
//! symptom of an earlier one is not said again.

mod cache_cold;
mod case;
mod cause;
mod cpu_formulas;
mod cpu_hot_code;
mod cpu_imbalance;
mod cpu_kernel;
mod cpu_neighbour;
mod cpu_quota;
mod cpu_saturated;
mod cpu_single_thread;
mod cpu_softirq;
mod cpu_steal;
mod cpu_wait;
mod event_application;
mod event_checkpoint;
mod event_connections;
mod event_ddl;
mod event_exec;
mod event_gc;
mod event_unknown;
mod event_vacuum;
pub(crate) mod events;
mod evidence;
mod family;
mod formulas;
mod healthy;
mod imported;
mod io_cap;
mod io_full_disk;
mod io_latency;
mod io_neighbour;
mod io_sync;
mod io_throttled;
mod limit_connections;
mod limit_pool;
mod load_client;
mod load_concurrency;
mod load_late;
mod load_rate;
mod load_shares_cpu;
mod lock_database;
mod lock_futex;
mod lock_runtime;
mod lock_spin;
mod memory_limit;
mod memory_oom;
mod memory_reclaim;
mod memory_refault;
mod memory_swap;
mod net_backlog;
mod net_loss;
mod net_remote;
mod net_rtt;
mod open;
mod reported_events;
mod undetermined;

use model::{Confidence, Finding, Interval};

pub(crate) use self::cause::{Case, Judgement, NoFinding};
pub use self::cause::{Cause, Kind, Upstream, Wait};
pub(crate) use self::events::is_event;
pub use self::family::Family;
pub(crate) use self::memory_oom::elsewhere as killed_elsewhere;
use crate::evaluator;
use crate::facts::Facts;

/// Every cause, in the order of judging.
pub fn all() -> &'static [Cause] {
    &[
        limit_connections::CAUSE,
        memory_oom::CAUSE,
        io_full_disk::CAUSE,
        cpu_quota::CAUSE,
        io_throttled::CAUSE,
        cpu_steal::CAUSE,
        memory_limit::CAUSE,
        memory_swap::CAUSE,
        memory_refault::CAUSE,
        memory_reclaim::CAUSE,
        io_neighbour::CAUSE,
        cache_cold::CAUSE,
        io_sync::CAUSE,
        io_cap::CAUSE,
        io_latency::CAUSE,
        lock_database::CAUSE,
        lock_runtime::CAUSE,
        lock_futex::CAUSE,
        lock_spin::CAUSE,
        limit_pool::CAUSE,
        cpu_neighbour::CAUSE,
        cpu_saturated::CAUSE,
        cpu_imbalance::CAUSE,
        cpu_single_thread::CAUSE,
        net_remote::CAUSE,
        net_loss::CAUSE,
        net_backlog::CAUSE,
        net_rtt::CAUSE,
        event_exec::CAUSE,
        event_connections::CAUSE,
        event_checkpoint::CAUSE,
        event_vacuum::CAUSE,
        event_ddl::CAUSE,
        event_gc::CAUSE,
        event_application::CAUSE,
        event_unknown::CAUSE,
        load_client::CAUSE,
        cpu_softirq::CAUSE,
        cpu_kernel::CAUSE,
        cpu_hot_code::CAUSE,
        load_shares_cpu::CAUSE,
        load_rate::CAUSE,
        load_late::CAUSE,
        load_concurrency::CAUSE,
        healthy::CAUSE,
        undetermined::CAUSE,
    ]
}

/// Judges every cause, and those whose wait was too short for a bottleneck once more where there is one.
pub(crate) fn judge(facts: &Facts<'_>) -> Vec<(&'static Cause, Judgement)> {
    let mut judged: Vec<(&'static Cause, Judgement)> = Vec::new();
    for cause in all() {
        let judgement = answer(cause, facts, &judged, 1.0);
        judged.push((cause, judgement));
    }
    let limits = |kind| matches!(kind, Kind::Failure | Kind::Limit);
    if judged
        .iter()
        .any(|(cause, it)| limits(cause.kind) && it.is_ok())
    {
        judge_further(&mut judged, facts);
    }
    judged
}

/// What else the target waits for, beside what was found: half of what makes a bottleneck is worth saying there, since it
/// no longer decides whether there is one.
fn judge_further(judged: &mut Vec<(&'static Cause, Judgement)>, facts: &Facts<'_>) {
    const ENOUGH: f64 = 0.5;
    for at in 0..judged.len() {
        let (cause, before) = judged.remove(at);
        let is_wait = cause.kind == Kind::Limit && cause.wait.is_some();
        let judgement = match before {
            Err(_) if is_wait => answer(cause, facts, judged, ENOUGH),
            before => before,
        };
        judged.insert(at, (cause, judgement));
    }
}

/// What one cause answers after those `before` it.
fn answer(
    cause: &'static Cause,
    facts: &Facts<'_>,
    before: &[(&'static Cause, Judgement)],
    enough: f64,
) -> Judgement {
    let case = Case {
        cause,
        facts,
        before,
        enough,
    };
    let judgement = case.judge().map(bounded);
    let judgement = judgement.map(|it| as_sure_as_the_accounts(it, cause.kind, facts));
    debug_assert_eq!(
        unlike_its_formula(&judgement, facts),
        None,
        "{}: a number is not what its formula gives",
        cause.name
    );
    judgement
}

/// A number of the evidence that is not what its formula gives: what it is of, what is said, and what the formula gives.
fn unlike_its_formula(
    judgement: &Judgement,
    facts: &Facts<'_>,
) -> Option<(String, f64, Option<f64>)> {
    let mut evidence = judgement.iter().flat_map(|it| &it.evidence);
    let wrong = evidence.find(|it| !evaluator::holds(it, facts))?;
    Some((
        wrong.what.clone(),
        wrong.value,
        evaluator::value(wrong, facts),
    ))
}

/// Nothing is measured where what threads did and what requests took are too far apart: whose time the rest was is not
/// known. What broke was counted by itself.
fn as_sure_as_the_accounts(finding: Finding, kind: Kind, facts: &Facts<'_>) -> Finding {
    let is_measured = finding.confidence == Confidence::Measured;
    if !(is_measured && kind != Kind::Failure && facts.accounts_disagree()) {
        return finding;
    }
    Finding {
        confidence: Confidence::Consistent,
        ..finding
    }
}

/// Keeps shares between 0 and 1, whatever a damaged recording holds.
fn bounded(mut finding: Finding) -> Finding {
    finding.share = finding.share.filter(|share| share.is_finite());
    finding.share = finding.share.map(|share| share.clamp(0.0, 1.0));
    let finite = |interval: &Interval| interval.low.is_finite() && interval.high.is_finite();
    finding.share_interval = finding.share_interval.filter(finite);
    finding.share_interval = finding.share_interval.map(|interval| Interval {
        low: interval.low.clamp(0.0, 1.0),
        high: interval.high.clamp(0.0, 1.0),
    });
    finding
}
