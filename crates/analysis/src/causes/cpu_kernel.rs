//! The target spends its CPU time in the kernel.

use model::{Confidence, Finding, LedgerClass};

use super::evidence::{finding, share};
use super::{Cause, Judgement, Kind, found_of, seen};
use crate::facts::Facts;
use crate::number_format::percent;
use crate::thresholds::Thresholds;

pub(super) const CAUSE: Cause = Cause {
    name: "cpu.kernel",
    help: "The target spends most of its CPU time in the kernel.",
    about: "the target",
    kind: Kind::Part,
    told_by: "System time of the target's threads, of all their CPU time, where CPU limits it. The kernel accounts it by ticks, so it is an estimate.",
    judge,
};

fn judge(facts: &Facts<'_>, thresholds: &Thresholds, found: &[Finding]) -> Judgement {
    let target = match seen(facts) {
        Ok(target) => target,
        Err(judgement) => return judgement,
    };
    let Some(system) = facts.kernel_part else {
        return Judgement::CannotTell(format!(
            "how {} divides its CPU time was not recorded",
            target.name
        ));
    };
    let least = thresholds.cpu_kernel.system;
    if system < least {
        return Judgement::Absent(format!(
            "{} spent {} of its CPU time in the kernel",
            target.name,
            percent(system)
        ));
    }
    let Some(parent) = found_of(found, &["cpu.saturated", "cpu.single_thread", "cpu.quota"]) else {
        return Judgement::Absent(format!(
            "{} spent {} of its CPU time in the kernel, and CPU does not limit it",
            target.name,
            percent(system)
        ));
    };
    let sentence = format!(
        "{} spent {} of its CPU time in the kernel, which adds to {}.",
        target.name,
        percent(system),
        parent.cause
    );
    Judgement::Present(Box::new(Finding {
        share: Some(facts.share(LedgerClass::OnCpu) * system),
        evidence: vec![share(
            facts,
            "CPU time in the kernel",
            "thread.system_ns",
            &target.entity,
            system,
            least,
        )],
        to_confirm: "see what it does there: perf top -g, or strace -c -f -p PID".to_owned(),
        ..finding(CAUSE.name, &target.entity, Confidence::Consistent, sentence)
    }))
}
