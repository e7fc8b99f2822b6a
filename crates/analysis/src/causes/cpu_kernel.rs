//! The target spends its CPU time in the kernel.

use model::{Confidence, Finding, LedgerClass, Role};

use super::cause::{Case, Cause, Judgement, Kind, absent, cannot_tell};
use super::evidence::share;
use super::family::Family;
use crate::formula;
use crate::number_format::percent;
use crate::thresholds::Threshold;

const SYSTEM: Threshold = Threshold::share(
    "system",
    0.65,
    "Part of the target's CPU time spent in the kernel. Small requests over sockets take about 0.5 on a healthy machine, so the threshold lies above",
);

pub(super) const CAUSE: Cause = Cause {
    name: "cpu.kernel",
    help: "The target spends most of its CPU time in the kernel.",
    about: "the target",
    kind: Kind::Part,
    family: Family::Cpu,
    told_by: "System time of the target's threads, of all their CPU time, where CPU limits it. The kernel accounts it by ticks, so it is an estimate.",
    thresholds: &[SYSTEM],
    upstream: &[],
    wait: None,
    would_help: &[],
    would_not_help: None,
    to_confirm: "see what it does there: perf top -g, or strace -c -f -p PID",
    judge,
};

fn judge(case: &Case<'_>) -> Judgement {
    let facts = case.facts;
    let target = case.seen()?;
    let name = &target.name;
    let Some(system) = facts.kernel_part else {
        return cannot_tell(format!("how {name} divides its CPU time was not recorded"));
    };
    let spent = format!(
        "{name} spent {} of its CPU time in the kernel",
        percent(system)
    );
    if system < SYSTEM.value() {
        return absent(spent);
    }
    let Some(parent) = case.found(&["cpu.saturated", "cpu.single_thread", "cpu.quota"]) else {
        return absent(format!("{spent}, and CPU does not limit it"));
    };
    let sentence = format!("{spent}, which adds to {}.", parent.cause);
    let (what, column) = ("CPU time in the kernel", "thread.system_ns");
    let evidence = share(facts, what, column, &target.entity, system, SYSTEM.value());
    let of_target = |columns| formula::growth("thread", columns, formula::role(Role::Target));
    Ok(Finding {
        share: Some(facts.share(LedgerClass::OnCpu) * system),
        evidence: vec![evidence.by(formula::part(
            of_target(&["system_ns"]),
            of_target(&["user_ns", "system_ns"]),
        ))],
        ..case.finding(&target.entity, Confidence::Consistent, sentence)
    })
}
