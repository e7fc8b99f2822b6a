//! One CPU is full while another that the target may use is empty.

use model::{Confidence, Evidence, LedgerClass};

use super::cause::{Case, Cause, Judgement, Kind, NoFinding, Upstream, Wait, absent, cannot_tell};
use super::evidence::{share, waited};
use super::family::Family;
use crate::bounds;
use crate::cpus::Core;
use crate::number_format::percent;
use crate::thresholds::Threshold;

const FULL: Threshold = Threshold::share("full", 0.95, "Busy part of the fullest CPU");
const EMPTY: Threshold = Threshold::share(
    "empty",
    0.50,
    "Busy part of the emptiest CPU that the target may use",
);
const WAIT: Threshold = Threshold::share(
    "wait",
    0.15,
    "CPU wait of the target as part of the response time",
);

pub(super) const CAUSE: Cause = Cause {
    name: "cpu.imbalance",
    help: "One CPU is full while another that the target may use is empty, and the target waits.",
    about: "the full CPU",
    kind: Kind::Limit,
    family: Family::Cpu,
    told_by: "Over the whole window one CPU had hardly an idle moment and another was idle for most of it, while threads of the target waited for a CPU: threads, interrupts or queues are pinned. A target that may use only some of the CPUs is judged by those (cpu.saturated).",
    thresholds: &[FULL, EMPTY, WAIT],
    upstream: &[
        Upstream::All("cpu.quota"),
        Upstream::All("cpu.neighbour"),
        Upstream::All("cpu.saturated"),
    ],
    wait: Some(Wait {
        classes: &[LedgerClass::CpuWait],
        least: WAIT,
        doing: "waiting for a CPU",
    }),
    would_help: &[],
    would_not_help: Some(&["more clients", "a machine with more CPUs"]),
    to_confirm: "look where its threads may run: taskset -acp PID; cat /proc/interrupts",
    judge,
};

fn judge(case: &Case<'_>) -> Judgement {
    let facts = case.facts;
    let (full, empty) = uneven(case)?;
    case.cpu_wait_known()?;
    let (target, held) = case.waited()?;
    let (full_at, empty_at) = (percent(full.busy), percent(empty.busy));
    let (full, empty) = ((&full.entity, full.busy), (&empty.entity, empty.busy));
    let sentence = format!(
        "The CPUs are used unevenly: {} was {full_at} busy while {} was {empty_at} busy, and {} of {} was {} waiting for a CPU.",
        full.0.name,
        empty.0.name,
        percent(held.share),
        facts.whole(),
        target.name
    );
    let evidence = vec![
        share(facts, "fullest CPU busy", "cpu", full.0, full.1, FULL.value),
        Evidence {
            passed: true,
            ..share(
                facts,
                "emptiest CPU busy",
                "cpu",
                empty.0,
                empty.1,
                EMPTY.value,
            )
        },
        waited(facts, "waiting for a CPU", "thread.wait_ns", &held),
    ];
    let change = format!(
        "threads and interrupts of {} spread over all CPUs",
        full.0.name
    );
    Ok(model::Finding {
        evidence,
        would_help: vec![bounds::without_wait(facts, held.share, change)],
        ..case.finding_of_wait(&held, full.0, Confidence::Consistent, sentence)
    })
}

/// The fullest and the emptiest CPU, where they are far enough apart.
fn uneven<'a>(case: &Case<'a>) -> Result<(&'a Core, &'a Core), NoFinding> {
    let facts = case.facts;
    let by_busy = |a: &&Core, b: &&Core| a.busy.total_cmp(&b.busy);
    let (Some(full), Some(empty)) = (
        facts.cores.iter().max_by(by_busy),
        facts.cores.iter().min_by(by_busy),
    ) else {
        return cannot_tell("CPU times were not recorded");
    };
    if facts.is_pinned() {
        return cannot_tell("the target may use some of the CPUs only, and which is not recorded");
    }
    if full.busy < FULL.value || empty.busy > EMPTY.value {
        return absent(format!(
            "the fullest CPU was {} busy, the emptiest {}",
            percent(full.busy),
            percent(empty.busy)
        ));
    }
    Ok((full, empty))
}
