//! The causes: each answers present, absent, or cannot tell, in one full sentence with the number.
//!
//! A cause is one file here and one line in `all()`. It compares facts with thresholds and words its
//! answer; it measures nothing itself. Causes are judged in this order, and each sees what was found
//! before it, so that a symptom of an earlier one is not said again.

mod cache_cold;
mod cpu_imbalance;
mod cpu_kernel;
mod cpu_neighbour;
mod cpu_quota;
mod cpu_saturated;
mod cpu_single_thread;
mod cpu_softirq;
mod cpu_steal;
mod evidence;
mod healthy;
mod io_cap;
mod io_full_disk;
mod io_latency;
mod io_neighbour;
mod io_sync;
mod io_throttled;
mod limit_connections;
mod load_client;
mod load_concurrency;
mod load_late;
mod load_rate;
mod load_shares_cpu;
mod lock_database;
mod lock_futex;
mod memory_limit;
mod memory_oom;
mod memory_reclaim;
mod memory_refault;
mod memory_swap;
mod net_backlog;
mod net_loss;
mod net_rtt;
mod open;
mod undetermined;

use model::{Finding, Interval, LedgerClass};

use self::evidence::Held;
use crate::facts::Facts;
use crate::subject::Subject;
use crate::thresholds::Thresholds;

/// A cause that can be judged.
pub struct Cause {
    /// Its name: `cpu.saturated`.
    pub name: &'static str,
    /// What it means, one sentence.
    pub help: &'static str,
    /// Whom a finding is about.
    pub about: &'static str,
    /// How it stands to the other causes.
    pub kind: Kind,
    /// How it is told, and from what it is told apart; paragraphs.
    pub told_by: &'static str,
    judge: fn(&Facts<'_>, &Thresholds, &[Finding]) -> Judgement,
}

/// How a cause stands to the others: which goes before which, whatever their shares.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// What the findings amount to: healthy, undetermined.
    State,
    /// Something broke: it leads whatever it cost.
    Failure,
    /// It holds the target back.
    Limit,
    /// It adds to a limit.
    Part,
    /// The load asks for no more.
    Intent,
}

/// How a cause of that name stands to the others.
pub(crate) fn kind(name: &str) -> Kind {
    let cause = all().iter().find(|cause| cause.name == name);
    cause.map_or(Kind::Limit, |cause| cause.kind)
}

/// Who was killed for want of memory, where it was nobody of the target's.
pub(crate) fn killed_elsewhere(facts: &Facts<'_>) -> Option<String> {
    memory_oom::elsewhere(facts)
}

/// The first finding that holds the target back, of those found so far.
fn limit(found: &[Finding]) -> Option<&Finding> {
    let holds_back =
        |finding: &&Finding| matches!(kind(&finding.cause), Kind::Failure | Kind::Limit);
    found.iter().find(holds_back)
}

/// The finding of one of these causes, if it was found.
fn found_of<'a>(found: &'a [Finding], causes: &[&str]) -> Option<&'a Finding> {
    let mut found = found.iter();
    found.find(|finding| causes.contains(&finding.cause.as_str()))
}

/// The target with its account, or why nothing can be said of it.
fn seen<'a>(facts: &'a Facts<'_>) -> Result<&'a Subject, Judgement> {
    let Some(target) = &facts.target else {
        return Err(no_target(facts));
    };
    if facts.account.is_none() {
        return Err(Judgement::CannotTell(format!(
            "the threads of {} were not seen in this window",
            target.name
        )));
    }
    Ok(target)
}

/// A wait that must hold a part of the response time.
struct Waiting {
    classes: &'static [LedgerClass],
    /// Part of the classes' time that counts.
    part: f64,
    /// Least part of the response time, lag aside.
    least: f64,
    /// What the target was doing, to follow its name and "was".
    doing: &'static str,
}

/// The target and how steadily it waited, or why that is no cause.
fn waits<'a>(facts: &'a Facts<'_>, waiting: &Waiting) -> Result<(&'a Subject, Held), Judgement> {
    let target = seen(facts)?;
    // A queue before the target must not hide why it is slow: lag is no part of what it must hold.
    let least = waiting.least * facts.service_part();
    let held = evidence::held(facts, waiting.classes, waiting.part, least);
    if let Some(judgement) = blind(facts, target, held.share, least) {
        return Err(judgement);
    }
    if let Some(judgement) = too_little_to_matter(facts, target, waiting) {
        return Err(judgement);
    }
    if held.is_on() {
        return Ok((target, held));
    }
    Err(Judgement::Absent(if held.share >= least {
        evidence::only_at_times(facts, &held)
    } else if held.share < 0.0005 {
        format!("{} was not seen {}", target.name, waiting.doing)
    } else {
        format!(
            "{} was {} for only {} of {}",
            target.name,
            waiting.doing,
            crate::number_format::percent(held.share),
            facts.whole()
        )
    }))
}

/// Without a signal shares are of the time that was not idle: of an idle server's few milliseconds
/// everything is a large part. There a wait must last for a part of the time that is worth saying.
fn too_little_to_matter(
    facts: &Facts<'_>,
    target: &Subject,
    waiting: &Waiting,
) -> Option<Judgement> {
    let share = facts.share_of(waiting.classes) * waiting.part;
    let lasted = facts.at_a_time(share);
    (facts.signal.is_none() && lasted > 0.0 && lasted < facts.floor).then(|| {
        if !sees(target) {
            return unseen(target);
        }
        Judgement::Absent(format!(
            "{} was {} for only {} of the time",
            target.name,
            waiting.doing,
            crate::number_format::percent(lasted)
        ))
    })
}

/// The answer where an earlier finding explains the same time.
fn explained_by(found: &[Finding], causes: &[&str]) -> Option<Judgement> {
    let upstream = found_of(found, causes)?;
    Some(Judgement::Absent(format!(
        "{} explains it: {}",
        upstream.cause, upstream.entity.name
    )))
}

/// The same, where the earlier finding explains most of the share.
fn mostly_explained_by(found: &[Finding], causes: &[&str], share: f64) -> Option<Judgement> {
    /// A symptom is dropped when what stands above it explains this part of its time.
    const MOST: f64 = 0.7;
    let explains = |finding: &&Finding| {
        finding
            .share
            .is_some_and(|upstream| upstream >= share * MOST)
    };
    let upstream: Vec<&str> = causes
        .iter()
        .copied()
        .filter(|cause| found_of(found, &[cause]).filter(explains).is_some())
        .collect();
    explained_by(found, &upstream)
}

/// The judgement, whichever way it was reached.
fn settled(judgement: Result<Judgement, Judgement>) -> Judgement {
    judgement.unwrap_or_else(|judgement| judgement)
}

/// Why a wait of the target cannot be told: too much of its blocked time is not explained.
fn blind(facts: &Facts<'_>, target: &Subject, share: f64, least: f64) -> Option<Judgement> {
    let unknown = target.serving_ledger.get(LedgerClass::Unknown);
    let whole = facts
        .account
        .as_ref()
        .map_or(0.0, |account| account.total_ns as f64);
    // What was not seen may be this or idleness: only enough of it to change the answer matters.
    (whole > 0.0 && share < least && share + unknown / whole >= least && !sees(target))
        .then(|| unseen(target))
}

fn unseen(target: &Subject) -> Judgement {
    Judgement::CannotTell(format!(
        "what {} was blocked in was not seen: run as root, or as the user who owns it",
        target.name
    ))
}

/// Whether most of the blocked time of the target's serving threads was explained.
fn sees(target: &Subject) -> bool {
    target.serving_ledger.part(LedgerClass::Unknown) < 0.10
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
        lock_futex::CAUSE,
        cpu_neighbour::CAUSE,
        cpu_saturated::CAUSE,
        cpu_imbalance::CAUSE,
        cpu_single_thread::CAUSE,
        net_loss::CAUSE,
        net_backlog::CAUSE,
        net_rtt::CAUSE,
        load_client::CAUSE,
        cpu_softirq::CAUSE,
        cpu_kernel::CAUSE,
        load_shares_cpu::CAUSE,
        load_rate::CAUSE,
        load_late::CAUSE,
        load_concurrency::CAUSE,
        healthy::CAUSE,
        undetermined::CAUSE,
    ]
}

/// Judges every cause.
pub(crate) fn judge(facts: &Facts<'_>, thresholds: &Thresholds) -> Vec<(&'static str, Judgement)> {
    let mut found: Vec<Finding> = Vec::new();
    let mut judgements = Vec::new();
    let mut open = None;
    for cause in all() {
        let mut judgement = (cause.judge)(facts, thresholds, &found);
        if cause.name == healthy::CAUSE.name && matches!(judgement, Judgement::Present(_)) {
            open = open::question(facts, thresholds, &judgements);
            if let Some(question) = &open {
                judgement = healthy::unless(facts, question);
            }
        }
        if let (Some(question), true) = (&open, cause.name == undetermined::CAUSE.name) {
            judgement = undetermined::left_open(facts, question);
        }
        if let Judgement::Present(finding) = &mut judgement {
            bound(finding);
            found.push((**finding).clone());
        }
        judgements.push((cause.name, judgement));
    }
    judgements
}

/// Keeps shares between 0 and 1, whatever a damaged recording holds.
fn bound(finding: &mut Finding) {
    finding.share = finding.share.filter(|share| share.is_finite());
    finding.share = finding.share.map(|share| share.clamp(0.0, 1.0));
    let finite = |interval: &Interval| interval.low.is_finite() && interval.high.is_finite();
    finding.share_interval = finding.share_interval.filter(finite);
    finding.share_interval = finding.share_interval.map(|interval| Interval {
        low: interval.low.clamp(0.0, 1.0),
        high: interval.high.clamp(0.0, 1.0),
    });
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

/// The part of the response time that waits for a CPU took, and its interval: the target's own, or
/// with the generator's where the target's alone is less than `least`.
fn cpu_wait(facts: &Facts<'_>, least: f64) -> (f64, Option<model::Interval>) {
    let own = facts.share(LedgerClass::CpuWait);
    if own < least {
        return (own + facts.generator_wait(), None);
    }
    let of = |slice: &crate::slices::Slice| slice.ledger.get(LedgerClass::CpuWait);
    (own, evidence::interval(facts, of, |slice| slice.total_ns))
}

/// What is evidence against any wait for a CPU being somebody's doing here: the hypervisor's.
fn stolen(facts: &Facts<'_>, thresholds: &Thresholds) -> Option<String> {
    let steal = facts.machine.map_or(0.0, |machine| machine.steal);
    (steal >= thresholds.ruled_out.steal).then(|| {
        format!(
            "the hypervisor took {} of the CPUs away: part of the wait is its doing",
            crate::number_format::percent(steal)
        )
    })
}

/// Who waited for a CPU, to follow "and": the target, and the generator where the target goes first.
fn who_waited(facts: &Facts<'_>, target: &Subject) -> String {
    let (own, other) = (facts.share(LedgerClass::CpuWait), facts.generator_wait());
    let (own, whole) = (crate::number_format::percent(own), facts.whole());
    match &facts.generator {
        Some(generator) if other > facts.share(LedgerClass::CpuWait) * 2.0 => format!(
            "{} of {whole} was {} waiting for one ({own} was {})",
            crate::number_format::percent(other),
            generator.name,
            target.name
        ),
        _ => format!("{own} of {whole} was {} waiting for one", target.name),
    }
}

/// The answer when a target waited for a CPU for less than `least` of its part of a request, or when
/// that was not recorded; `None` when it did wait.
fn no_long_wait(
    facts: &Facts<'_>,
    thresholds: &Thresholds,
    target: &str,
    least: f64,
) -> Option<Judgement> {
    let lasted = facts.at_a_time(facts.share(LedgerClass::CpuWait));
    let idle = facts.signal.is_none() && lasted < facts.floor;
    if facts.wait_in_service() >= least && !idle {
        return None;
    }
    if facts.wait_unseen(thresholds) {
        return Some(wait_unseen(target));
    }
    let wait = facts.share(LedgerClass::CpuWait);
    Some(Judgement::Absent(if wait < 0.0005 {
        format!("{target} did not wait for a CPU")
    } else if idle {
        let lasted = crate::number_format::percent(lasted);
        format!("{target} waited for a CPU for only {lasted} of the time")
    } else {
        let (wait, whole) = (crate::number_format::percent(wait), facts.whole());
        format!("{target} waited for a CPU for only {wait} of {whole}")
    }))
}
