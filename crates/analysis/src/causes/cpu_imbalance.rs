//! One CPU is full while another that the target may use is empty.

use model::{Confidence, Finding, LedgerClass};

use super::evidence::{finding, share};
use super::{Cause, Judgement, Kind, Waiting, explained_by, settled, waits};
use crate::bounds;
use crate::facts::Facts;
use crate::number_format::percent;
use crate::thresholds::Thresholds;

pub(super) const CAUSE: Cause = Cause {
    name: "cpu.imbalance",
    help: "One CPU is full while another that the target may use is empty, and the target waits.",
    about: "the full CPU",
    kind: Kind::Limit,
    told_by: "Over the whole window one CPU had hardly an idle moment and another was idle for most of it, while threads of the target waited for a CPU: threads, interrupts or queues are pinned. A target that may use only some of the CPUs is judged by those (cpu.saturated).",
    judge,
};

const WAITS: [LedgerClass; 1] = [LedgerClass::CpuWait];

fn judge(facts: &Facts<'_>, thresholds: &Thresholds, found: &[Finding]) -> Judgement {
    if let Some(judgement) = explained_by(found, &["cpu.quota", "cpu.neighbour", "cpu.saturated"]) {
        return judgement;
    }
    let limits = &thresholds.cpu_imbalance;
    if facts.cores.is_empty() {
        return Judgement::CannotTell("CPU times were not recorded".to_owned());
    }
    if facts.is_pinned() {
        return Judgement::CannotTell(
            "the target may use some of the CPUs only, and which is not recorded".to_owned(),
        );
    }
    let by_busy = |a: &&crate::cpus::Core, b: &&crate::cpus::Core| a.busy.total_cmp(&b.busy);
    let (Some(full), Some(empty)) = (
        facts.cores.iter().max_by(by_busy),
        facts.cores.iter().min_by(by_busy),
    ) else {
        return Judgement::CannotTell("CPU times were not recorded".to_owned());
    };
    if full.busy < limits.full || empty.busy > limits.empty {
        return Judgement::Absent(format!(
            "the fullest CPU was {} busy, the emptiest {}",
            percent(full.busy),
            percent(empty.busy)
        ));
    }
    if facts.wait_unseen(thresholds)
        && let Some(target) = &facts.target
    {
        return super::wait_unseen(&target.name);
    }
    let waiting = Waiting {
        classes: &WAITS,
        part: 1.0,
        least: limits.wait,
        doing: "waiting for a CPU",
    };
    settled(waits(facts, &waiting).map(|(target, held)| {
        let sentence = format!(
            "The CPUs are used unevenly: {} was {} busy while {} was {} busy, and {} of {} was {} waiting for a CPU.",
            full.entity.name,
            percent(full.busy),
            empty.entity.name,
            percent(empty.busy),
            percent(held.share),
            facts.whole(),
            target.name
        );
        Judgement::Present(Box::new(Finding {
            share: Some(held.share),
            share_interval: held.interval,
            evidence: vec![
                share(facts, "fullest CPU busy", "cpu", &full.entity, full.busy, limits.full),
                model::Evidence {
                    passed: true,
                    ..share(facts, "emptiest CPU busy", "cpu", &empty.entity, empty.busy, limits.empty)
                },
                share(facts, "waiting for a CPU", "thread.wait_ns", &target.entity, held.share, held.least),
            ],
            would_help: vec![bounds::without_wait(facts, held.share, format!("threads and interrupts of {} spread over all CPUs", full.entity.name))],
            would_not_help: bounds::useless(facts, &["more clients", "a machine with more CPUs"]),
            to_confirm: "look where its threads may run: taskset -acp PID; cat /proc/interrupts".to_owned(),
            ..finding(CAUSE.name, &full.entity, Confidence::Consistent, sentence)
        }))
    }))
}
