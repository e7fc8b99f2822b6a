//! A CPU quota, of the target's group or of one above it, withholds CPU while the machine may be idle.

use model::{Finding, LedgerClass};

use super::cause::{Case, Cause, Judgement, Kind, NoFinding, absent, cannot_tell};
use super::evidence::{self, confidence, interval, share};
use super::family::Family;
use super::formulas;
use super::imported::{self, limits};
use crate::bounds;
use crate::facts::Facts;
use crate::formula;
use crate::number_format::percent;
use crate::quota::Quota;
use crate::subject::Subject;
use crate::thresholds::{THROTTLED_TIME, Threshold};

const THROTTLED_PERIODS: Threshold = Threshold::share(
    "throttled_periods",
    0.10,
    "Quota periods in which the group ran out",
);

pub(super) const CAUSE: Cause = Cause {
    name: "cpu.quota",
    help: "A CPU quota of the target's control group, or of one above it, withholds CPU.",
    about: "the control group with the limit",
    kind: Kind::Limit,
    family: Family::Cpu,
    told_by: "The kernel counts the periods in which a group ran out of its quota and the time for which each CPU's queue was held back. Run-queue delay contains that time, so it is taken out of the wait for a CPU. Where programs in the kernel are allowed (Linux 6.18), each thread's own time under the quota is counted, and contention inside of the group is told apart; elsewhere its division among threads is an estimate. In what sar or atop measured it is seen where somebody waited for a CPU for longer than CPUs were busy.",
    thresholds: &[THROTTLED_PERIODS, THROTTLED_TIME, limits::WAITED],
    upstream: &[],
    wait: None,
    would_help: &[],
    would_not_help: Some(&["more clients", "a larger machine with the same quota"]),
    to_confirm: "",
    judge,
};

/// A limit that comes with the last second of a phase is of the next one; one that runs out now and then is a
/// limit all the same.
const SECONDS: f64 = 0.25;

fn judge(case: &Case<'_>) -> Judgement {
    let facts = case.facts;
    if imported::is_imported(facts) {
        return limits::cpu_quota(case);
    }
    let target = case.target()?;
    let quota = ran_out(facts, target)?;
    let held = facts.share(LedgerClass::Throttled);
    if facts.account.is_none() || (held < facts.floor && facts.wait_unseen()) {
        return cannot_tell(format!(
            "{} was throttled, but what that cost {} was not recorded",
            quota.group.name, target.name
        ));
    }
    if held < facts.floor {
        let (held, whole) = (percent(held), facts.whole());
        return absent(format!(
            "{} was throttled, but it cost {} only {held} of {whole}",
            quota.group.name, target.name
        ));
    }
    let steady = evidence::held(facts, &[LedgerClass::Throttled], 1.0, facts.floor);
    if steady.seconds < SECONDS {
        return absent(evidence::only_at_times(facts, &steady));
    }
    Ok(present(case, target, quota))
}

/// The quota that ran out for long enough.
fn ran_out<'a>(facts: &'a Facts<'_>, target: &Subject) -> Result<&'a Quota, NoFinding> {
    if !facts.quota_seen {
        return cannot_tell(format!(
            "of no control group of {} was the CPU account recorded",
            target.name
        ));
    }
    let Some(quota) = &facts.quota else {
        return absent(format!("no control group of {} was throttled", target.name));
    };
    if quota.throttled_periods < THROTTLED_PERIODS.value()
        && quota.throttled_time < THROTTLED_TIME.value()
    {
        return absent(format!(
            "{} ran out in {} of its quota periods, held back for {} of the time",
            quota.group.name,
            percent(quota.throttled_periods),
            percent(quota.throttled_time)
        ));
    }
    Ok(quota)
}

fn present(case: &Case<'_>, target: &Subject, quota: &Quota) -> Finding {
    let facts = case.facts;
    // The kernel's own account of the group is exact; what was not counted is its division among threads.
    let held_back = interval(facts, |slice| slice.held_back_ns, |slice| slice.cpu_time_ns);
    let suffices = sufficient(facts, quota);
    let change = suffices.map_or("a higher quota".to_owned(), |cpus| {
        format!("a quota of {}", plain(cpus))
    });
    Finding {
        share: Some(facts.share(LedgerClass::Throttled)),
        share_interval: interval(
            facts,
            |slice| slice.ledger.get(LedgerClass::Throttled),
            |slice| slice.total_ns,
        ),
        evidence: evidence_of(facts, target, quota),
        would_help: vec![bounds::without_quota(facts, change)],
        to_confirm: suffices.map_or(String::new(), |cpus| {
            format!(
                "raise the quota of {} to {}: if throughput stays the same, this is wrong",
                quota.group.path,
                plain(cpus)
            )
        }),
        ..case.finding(
            &quota.group,
            confidence(held_back, THROTTLED_TIME.value(), &[]),
            sentence(facts, target, quota),
        )
    }
}

fn sentence(facts: &Facts<'_>, target: &Subject, quota: &Quota) -> String {
    let allowed = quota
        .cpus
        .map_or(String::new(), |cpus| format!(" of {}", plain(cpus)));
    let idle = facts.machine.map_or(String::new(), |machine| {
        match percent(machine.idle + machine.iowait).as_str() {
            "0" => ", while no CPU was idle".to_owned(),
            idle => format!(", while the machine was {idle} idle"),
        }
    });
    format!(
        "A CPU quota is the bottleneck: {} ran out of its limit{allowed} in {} of the periods, and {} of {} was {} held back by it{idle}.",
        quota.group.path,
        percent(quota.throttled_periods),
        percent(facts.share(LedgerClass::Throttled)),
        facts.whole(),
        target.name
    )
}

fn evidence_of(facts: &Facts<'_>, target: &Subject, quota: &Quota) -> Vec<model::Evidence> {
    let counted = target.serving_ledger.is_counted(LedgerClass::Throttled);
    let of_group = |column| formula::rate("cgroup_cpu", &[column], formula::one(quota.id));
    vec![
        share(
            facts,
            "quota periods that ran out",
            "cgroup_cpu.throttled_periods",
            &quota.group,
            quota.throttled_periods,
            THROTTLED_PERIODS.value(),
        )
        .by(formula::part(
            of_group("throttled_periods"),
            of_group("periods"),
        )),
        share(
            facts,
            "time held back",
            "cgroup_cpu.throttled_ns",
            &quota.group,
            quota.throttled_time,
            THROTTLED_TIME.value(),
        )
        .by(formula::part(
            of_group("throttled_ns"),
            formula::number(1e9 * f64::from(facts.effective_cpus.max(1))),
        )),
        share(
            facts,
            "held back by a CPU quota",
            match counted {
                true => "thread_time.throttled_ns",
                false => "thread.wait_ns",
            },
            &target.entity,
            facts.share(LedgerClass::Throttled),
            facts.floor,
        )
        .by(formulas::share_of(facts, &[LedgerClass::Throttled], 1.0)),
    ]
}

/// The quota that this load would use up: what the group used, were its requests not held back.
fn sufficient(facts: &Facts<'_>, quota: &Quota) -> Option<f64> {
    let wanted = bounds::cpus_without_quota(facts, quota.used_cpus?);
    Some((wanted.min(f64::from(facts.meta.cpus)) * 10.0).ceil() / 10.0)
}

/// `1 CPU`, `0.4 CPUs`.
fn plain(cpus: f64) -> String {
    let text = format!("{cpus:.2}");
    let number = text.trim_end_matches('0').trim_end_matches('.');
    if number == "1" {
        "1 CPU".to_owned()
    } else {
        format!("{number} CPUs")
    }
}
