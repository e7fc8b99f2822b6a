//! A CPU quota, of the target's group or of one above it, withholds CPU while the machine may be idle.

use model::{Confidence, Finding, LedgerClass};

use super::evidence::{self, confidence, finding, interval, share};
use super::{Cause, Judgement, Kind, no_target};
use crate::bounds;
use crate::facts::Facts;
use crate::number_format::percent;
use crate::quota::Quota;
use crate::subject::Subject;
use crate::thresholds::Thresholds;

pub(super) const CAUSE: Cause = Cause {
    name: "cpu.quota",
    help: "A CPU quota of the target's control group, or of one above it, withholds CPU.",
    about: "the control group with the limit",
    kind: Kind::Limit,
    told_by: "The kernel counts the periods in which a group ran out of its quota and the time for which each CPU's queue was held back. Run-queue delay contains that time, so it is taken out of the wait for a CPU. Where programs in the kernel are allowed (Linux 6.18), each thread's own time under the quota is counted, and contention inside of the group is told apart; elsewhere its division among threads is an estimate.",
    judge,
};

/// A limit that comes with the last second of a phase is of the next one; one that runs out now and then is a
/// limit all the same.
const SECONDS: f64 = 0.25;

fn judge(facts: &Facts<'_>, thresholds: &Thresholds, _found: &[Finding]) -> Judgement {
    let Some(target) = &facts.target else {
        return no_target(facts);
    };
    if !facts.quota_seen {
        return Judgement::CannotTell(format!(
            "of no control group of {} was the CPU account recorded",
            target.name
        ));
    }
    let Some(quota) = &facts.quota else {
        return Judgement::Absent(format!("no control group of {} was throttled", target.name));
    };
    let limits = &thresholds.cpu_quota;
    if quota.throttled_periods < limits.throttled_periods
        && quota.throttled_time < limits.throttled_time
    {
        let (periods, time) = (
            percent(quota.throttled_periods),
            percent(quota.throttled_time),
        );
        return Judgement::Absent(format!(
            "{} ran out in {periods} of its quota periods, held back for {time} of the time",
            quota.group.name
        ));
    }
    let held = facts.share(LedgerClass::Throttled);
    if facts.account.is_none() || (held < thresholds.floors.share && facts.wait_unseen(thresholds))
    {
        return Judgement::CannotTell(format!(
            "{} was throttled, but what that cost {} was not recorded",
            quota.group.name, target.name
        ));
    }
    if held < thresholds.floors.share {
        let (held, whole) = (percent(held), facts.whole());
        return Judgement::Absent(format!(
            "{} was throttled, but it cost {} only {held} of {whole}",
            quota.group.name, target.name
        ));
    }
    let steady = evidence::held(
        facts,
        &[LedgerClass::Throttled],
        1.0,
        thresholds.floors.share,
    );
    if steady.seconds < SECONDS {
        return Judgement::Absent(evidence::only_at_times(facts, &steady));
    }
    Judgement::Present(Box::new(present(facts, thresholds, target, quota)))
}

fn present(facts: &Facts<'_>, thresholds: &Thresholds, target: &Subject, quota: &Quota) -> Finding {
    let limits = &thresholds.cpu_quota;
    let held = facts.share(LedgerClass::Throttled);
    let allowed = quota
        .cpus
        .map_or(String::new(), |cpus| format!(" of {}", plain(cpus)));
    let idle = facts.machine.map_or(String::new(), |machine| {
        format!(
            ", while the machine was {} idle",
            percent(machine.idle + machine.iowait)
        )
    });
    let sentence = format!(
        "A CPU quota is the bottleneck: {} ran out of its limit{allowed} in {} of the periods, and {} of {} was {} held back by it{idle}.",
        quota.group.path,
        percent(quota.throttled_periods),
        percent(held),
        facts.whole(),
        target.name
    );
    let share_interval = interval(
        facts,
        |slice| slice.ledger.get(LedgerClass::Throttled),
        |slice| slice.total_ns,
    );
    let counted = target.serving_ledger.is_counted(LedgerClass::Throttled);
    // The kernel's own account of the group is exact; what was not counted is its division among threads.
    let held_back = interval(facts, |slice| slice.held_back_ns, |slice| slice.cpu_time_ns);
    let suffices = sufficient(facts, quota);
    let change = suffices.map_or("a higher quota".to_owned(), |cpus| {
        format!("a quota of {}", plain(cpus))
    });
    Finding {
        share: Some(held),
        share_interval,
        evidence: vec![
            share(
                facts,
                "quota periods that ran out",
                "cgroup_cpu.throttled_periods",
                &quota.group,
                quota.throttled_periods,
                limits.throttled_periods,
            ),
            share(
                facts,
                "time held back",
                "cgroup_cpu.throttled_ns",
                &quota.group,
                quota.throttled_time,
                limits.throttled_time,
            ),
            share(
                facts,
                "held back by a CPU quota",
                if counted {
                    "thread_time.throttled_ns"
                } else {
                    "thread.wait_ns"
                },
                &target.entity,
                held,
                thresholds.floors.share,
            ),
        ],
        would_help: vec![bounds::without_quota(facts, change)],
        would_not_help: bounds::useless(
            facts,
            &["more clients", "a larger machine with the same quota"],
        ),
        to_confirm: suffices.map_or(String::new(), |cpus| {
            format!(
                "raise the quota of {} to {}: if throughput stays the same, this is wrong",
                quota.group.path,
                plain(cpus)
            )
        }),
        ..finding(
            CAUSE.name,
            &quota.group,
            measured(held_back, limits.throttled_time),
            sentence,
        )
    }
}

fn measured(interval: Option<model::Interval>, threshold: f64) -> Confidence {
    confidence(interval, threshold, &[])
}

/// The quota that this load would use up: what the group used, were its requests not held back.
fn sufficient(facts: &Facts<'_>, quota: &Quota) -> Option<f64> {
    let wanted = quota.used_cpus? * bounds::factor_without_quota(facts);
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
