//! Threads of the target spend CPU time in loops that wait.

use model::{Confidence, Finding, LedgerClass};
use sensors::stack::CPU_SAMPLE;

use super::cause::{Case, Cause, Judgement, Kind, NoFinding, absent, cannot_tell};
use super::evidence::share;
use super::family::Family;
use crate::bounds;
use crate::facts::Facts;
use crate::number_format::{integer, percent};
use crate::stacks::{self, Hot};
use crate::subject::Subject;
use crate::thresholds::Threshold;

const COST: Threshold = Threshold::share(
    "cost",
    0.20,
    "Part of the response time in which threads of the target spun, or waited for CPUs that others of them spun on",
);

pub(super) const CAUSE: Cause = Cause {
    name: "lock.spin",
    help: "Threads of the target spend CPU time in loops that wait, for a spin lock as a rule.",
    about: "the target",
    kind: Kind::Limit,
    family: Family::Cpu,
    told_by: "A thread that spins has a CPU and does nothing with it, so that by every account of CPU time it works, and more CPUs seem to help. Loops that wait have an instruction that tells the CPU so: PAUSE, YIELD or ISB (Intel's and Arm's manuals; T. Anderson, The performance of spin lock alternatives for shared-memory multiprocessors, IEEE Transactions on Parallel and Distributed Systems 1, 1990). Where samples of what ran stand beside one, in the bytes of the file that was executed, they spun. No name decides. Not seen are loops without such an instruction, code that a runtime makes, and spinning in the kernel (which cpu.kernel counts).\n\nMore CPUs do not help, and may harm: each that spins takes the lock's cache line from the one who has it. Where there are fewer CPUs than threads that spin, the one who has the lock may itself wait for a CPU, and everybody spins for as long.",
    thresholds: &[COST],
    upstream: &[],
    wait: None,
    would_help: &[],
    would_not_help: Some(&["more CPUs", "more clients", "more threads"]),
    to_confirm: "run with half of the threads: if throughput falls as much, this is wrong",
    judge,
};

fn judge(case: &Case<'_>) -> Judgement {
    let facts = case.facts;
    let target = case.seen()?;
    let on_cpu = on_cpu(facts);
    if on_cpu < COST.value() {
        return absent(format!(
            "{} was on CPUs, or waited for its own threads to leave one, for only {} of {}",
            target.name,
            percent(on_cpu),
            facts.whole()
        ));
    }
    if facts.timeline.table(&CPU_SAMPLE.name).is_none() {
        return cannot_tell(format!("what {} executed was not recorded", target.name));
    }
    let spinning = stacks::spinning(facts.timeline, facts.window);
    let part = spinning.as_ref().map_or(0.0, |it| it.part);
    let Some(spinning) = spinning.filter(|it| on_cpu * it.part >= COST.value()) else {
        return absent(match part > 0.0 {
            true => format!(
                "{} was seen spinning for only {} of its CPU time",
                target.name,
                percent(part)
            ),
            false => format!("{} was not seen spinning", target.name),
        });
    };
    looks_for_no_work(facts, target)?;
    Ok(present(case, target, &spinning, on_cpu * spinning.part))
}

/// The part of the response time on CPUs, or behind other threads of the target that were on them.
fn on_cpu(facts: &Facts<'_>) -> f64 {
    let behind_own = match facts.holders(0.0) {
        Some(holders) => holders.target,
        None => facts.share(LedgerClass::CpuWait) * facts.own_part(),
    };
    facts.share(LedgerClass::OnCpu) + behind_own
}

/// A thread that looks for work spins too.
fn looks_for_no_work(facts: &Facts<'_>, target: &Subject) -> Result<(), NoFinding> {
    let name = &target.name;
    if target.active_threads <= 1 {
        return absent(format!(
            "one thread of {name} works, and has nobody to spin for: it looks for work by spinning"
        ));
    }
    if facts.share(LedgerClass::OnCpu) > 1.0 + facts.thresholds.gates.excess {
        return cannot_tell(format!(
            "the threads of {name} were on CPUs for longer than requests took: they may look for work by spinning"
        ));
    }
    Ok(())
}

fn present(case: &Case<'_>, target: &Subject, spinning: &Hot, cost: f64) -> Finding {
    let (facts, entity) = (case.facts, &target.entity);
    let sentence = format!(
        "A spin lock is the bottleneck: {} of the CPU time of {} was spinning in {}; with the waits for the CPUs that spun \
         this is {} of {}.",
        percent(spinning.part),
        target.name,
        spinning.path,
        percent(cost),
        facts.whole(),
    );
    let part = |what: &str, value, threshold| {
        share(facts, what, "cpu_sample.spins", entity, value, threshold)
    };
    let samples = integer(spinning.samples as f64);
    Finding {
        share: Some(cost),
        evidence: vec![
            part("spinning, or waiting for who spins", cost, COST.value()),
            part(
                &format!("spinning, by {samples} samples"),
                spinning.part,
                0.0,
            ),
        ],
        would_help: vec![bounds::not_known(
            "less time under the lock, several locks instead of one, or a lock that sleeps"
                .to_owned(),
            "",
        )],
        ..case.finding(entity, Confidence::Consistent, sentence)
    }
}
