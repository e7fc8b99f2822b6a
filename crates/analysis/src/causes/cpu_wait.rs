//! Waits for a CPU, which several causes are judged by: how long, who waited, and who took the CPU.

use model::{Formula, Interval, LedgerClass};

use super::cause::{Case, NoFinding, absent};
use super::evidence;
use super::formulas;
use crate::facts::Facts;
use crate::number_format::{duration, percent};
use crate::slices::Slice;
use crate::subject::Subject;
use crate::thresholds::HELD_BY_OTHERS;

/// The part of the response time that waits for a CPU took, and its interval: the target's own, or
/// with the generator's where the target's alone is less than `least`.
pub(super) fn cpu_wait(facts: &Facts<'_>, least: f64) -> (f64, Option<Interval>) {
    let own = facts.share(LedgerClass::CpuWait);
    if own < least {
        return (own + facts.generator_wait(), None);
    }
    let of = |slice: &Slice| slice.ledger.get(LedgerClass::CpuWait);
    (own, evidence::interval(facts, of, |slice| slice.total_ns))
}

/// The interval of the target's own waits alone, which are counted: what stood in line behind them is estimated, and
/// makes nothing *measured*. `None` where they do not reach `least`.
pub(super) fn counted_wait(facts: &Facts<'_>, least: f64) -> Option<Interval> {
    let of = |slice: &Slice| slice.own_ns(&[LedgerClass::CpuWait]);
    let reaches = facts.share(LedgerClass::CpuWait) >= least;
    reaches.then(|| evidence::interval(facts, of, |slice| slice.total_ns))?
}

/// How that part is worked out.
pub(super) fn cpu_wait_formula(facts: &Facts<'_>, least: f64) -> Formula {
    formulas::cpu_wait(facts, facts.share(LedgerClass::CpuWait) < least)
}

/// What is evidence against any wait for a CPU being somebody's doing here: the hypervisor's.
pub(super) fn stolen(facts: &Facts<'_>) -> Option<String> {
    let steal = facts.machine.map_or(0.0, |machine| machine.steal);
    (steal >= facts.thresholds.ruled_out.steal).then(|| {
        format!(
            "the hypervisor took {} of the CPUs away: part of the wait is its doing",
            percent(steal)
        )
    })
}

/// Who waited for a CPU, to follow "and": the target, and the generator where the target goes first.
pub(super) fn who_waited(facts: &Facts<'_>, target: &Subject) -> String {
    let (own, other) = (facts.share(LedgerClass::CpuWait), facts.generator_wait());
    let (own, whole) = (percent(own), facts.whole());
    match &facts.generator {
        Some(generator) if other > facts.share(LedgerClass::CpuWait) * 2.0 => format!(
            "{} of {whole} was {} waiting for one ({own} was {})",
            percent(other),
            generator.name,
            target.name
        ),
        _ => format!("{own} of {whole} was {} waiting for one", target.name),
    }
}

/// Whether others had the CPUs for most of the time that they were waited for: then the wait is their doing, however short
/// it is.
fn behind_others(facts: &Facts<'_>, least: f64) -> bool {
    let holders = facts.holders(least);
    holders.is_some_and(|it| it.others_part() >= HELD_BY_OTHERS.value())
}

/// Waits for a CPU that wake-ups take as well, in words.
fn only_wake_ups(facts: &Facts<'_>) -> String {
    let is_own = facts.share(LedgerClass::CpuWait) >= facts.generator_wait();
    let who = match is_own {
        true => facts.target.as_ref(),
        false => facts.generator.as_ref(),
    };
    let (name, each_ns) = who.map_or(("nobody", 0.0), |it| {
        (it.name.as_str(), it.cpu_waits.each_ns.unwrap_or(0.0))
    });
    let each = duration(each_ns);
    format!("{name} waited for a CPU for {each} at a time, about as long as a wake-up takes")
}

/// Why a target did not wait for a CPU for `least` of its part of a request, where it did not, or where
/// that was not recorded.
pub(super) fn long_enough(case: &Case<'_>, target: &str, least: f64) -> Result<(), NoFinding> {
    let facts = case.facts;
    let wait = facts.share(LedgerClass::CpuWait);
    let lasted = facts.at_a_time(wait);
    let idle = facts.signal.is_none() && lasted < facts.floor;
    let in_service = facts.wait_in_service();
    let beyond = match behind_others(facts, least) {
        true => in_service,
        false => facts.wait_beyond_wake_ups(),
    };
    if beyond >= least && !idle {
        return Ok(());
    }
    case.cpu_wait_known()?;
    absent(if in_service >= least && beyond < least {
        only_wake_ups(facts)
    } else if wait < 0.0005 {
        format!("{target} did not wait for a CPU")
    } else if idle {
        let lasted = percent(lasted);
        format!("{target} waited for a CPU for only {lasted} of the time")
    } else {
        let (wait, whole) = (percent(wait), facts.whole());
        format!("{target} waited for a CPU for only {wait} of {whole}")
    })
}
