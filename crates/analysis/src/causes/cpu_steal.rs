//! The hypervisor gives the CPUs to others.

use model::{Confidence, Finding, LedgerClass};

use super::evidence::{finding, machine, share};
use super::{Cause, Judgement, Kind, seen};
use crate::bounds;
use crate::facts::Facts;
use crate::number_format::percent;
use crate::thresholds::Thresholds;

pub(super) const CAUSE: Cause = Cause {
    name: "cpu.steal",
    help: "The hypervisor gives CPU time of this machine to others.",
    about: "the machine",
    kind: Kind::Limit,
    told_by: "Steal of /proc/stat, on CPUs that had work to do, while the target waited for a CPU. Steal cannot be forced on the machines on which this is tested, so the cause is not scored. Some hypervisors do not report it.",
    judge,
};

fn judge(facts: &Facts<'_>, thresholds: &Thresholds, _found: &[Finding]) -> Judgement {
    let target = match seen(facts) {
        Ok(target) => target,
        Err(judgement) => return judgement,
    };
    let Some(cpus) = facts.machine else {
        return Judgement::CannotTell("CPU times were not recorded".to_owned());
    };
    let limits = &thresholds.cpu_steal;
    if cpus.steal < limits.steal {
        return Judgement::Absent(format!("steal was {}", percent(cpus.steal)));
    }
    if cpus.busy + cpus.steal < limits.busy {
        return Judgement::Absent(format!(
            "the CPUs were busy or stolen for {} of the time: there was room beside it",
            percent(cpus.busy + cpus.steal)
        ));
    }
    if facts.wait_unseen(thresholds) {
        return super::wait_unseen(&target.name);
    }
    // A CPU that is taken away while a thread is on it looks busy to that thread: its part of all
    // time that was used or taken.
    let taken = cpus.steal / (cpus.busy + cpus.steal);
    let cost = taken * facts.share_of(&[LedgerClass::CpuWait, LedgerClass::OnCpu]);
    if cost < thresholds.floors.share {
        return Judgement::Absent(format!(
            "the hypervisor took {}, which cost {} only {} of {}",
            percent(cpus.steal),
            target.name,
            percent(cost),
            facts.whole()
        ));
    }
    let sentence = format!(
        "The hypervisor takes the CPU away: {} of the CPUs was stolen while they were {} busy, and that is about {} of {}.",
        percent(cpus.steal),
        percent(cpus.busy),
        percent(cost),
        facts.whole()
    );
    Judgement::Present(Box::new(Finding {
        share: Some(cost),
        evidence: vec![
            share(facts, "steal", "cpu.steal_ns", &machine(facts), cpus.steal, limits.steal),
            share(facts, "CPUs busy or stolen", "cpu", &machine(facts), cpus.busy + cpus.steal, limits.busy),
        ],
        would_help: vec![bounds::without_wait(facts, cost, "a machine with CPUs of its own".to_owned())],
        would_not_help: bounds::useless(facts, &["more clients"]),
        to_confirm: "run again at another hour, or on a dedicated machine: if throughput stays the same, this is wrong".to_owned(),
        ..finding(CAUSE.name, &machine(facts), Confidence::Consistent, sentence)
    }))
}
