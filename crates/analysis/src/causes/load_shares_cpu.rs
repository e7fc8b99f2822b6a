//! The load generator takes CPU that the target waits for.

use model::{Confidence, Finding, LedgerClass};

use super::evidence::{finding, machine, share};
use super::{Cause, Judgement, Kind, found_of, seen};
use crate::bounds;
use crate::facts::Facts;
use crate::thresholds::Thresholds;
use crate::words::percent;

pub(super) const CAUSE: Cause = Cause {
    name: "load.shares_cpu",
    help: "The load generator runs on the target's machine and takes CPU that the target waits for.",
    about: "the generator",
    kind: Kind::Part,
    told_by: "The generator's part of all CPU time, where the CPUs are the limit. It adds to cpu.saturated; with the generator elsewhere the same server gives more.",
    judge,
};

fn judge(facts: &Facts<'_>, thresholds: &Thresholds, found: &[Finding]) -> Judgement {
    if let Err(judgement) = seen(facts) {
        return judgement;
    }
    let Some(generator) = &facts.generator else {
        return Judgement::CannotTell("no load generator was measured".to_owned());
    };
    if generator.ledger.wall_ns <= 0.0 {
        return Judgement::CannotTell(format!(
            "the threads of {} were not seen in this window",
            generator.name
        ));
    }
    let part = facts.cpu.part(facts.cpu.generator_ns);
    let least = thresholds.load_shares_cpu.part;
    if found_of(found, &["cpu.saturated"]).is_none() {
        return Judgement::Absent(format!(
            "{} took {} of the CPU time, and CPU is not the limit",
            generator.name,
            percent(part)
        ));
    }
    if part < least {
        return Judgement::Absent(format!(
            "{} took only {} of the CPU time",
            generator.name,
            percent(part)
        ));
    }
    let waited = facts.share(LedgerClass::CpuWait);
    let sentence = match &facts.target {
        // A target that goes first leaves the waiting to the generator.
        Some(target) if waited < facts.floor => format!(
            "{} takes {} of the CPU time and waits for more; {} itself hardly waits for a CPU ({} of {}).",
            generator.name,
            percent(part),
            target.name,
            percent(waited),
            facts.whole()
        ),
        _ => format!(
            "{} takes {} of the CPU that the target waits for.",
            generator.name,
            percent(part)
        ),
    };
    Judgement::Present(Box::new(Finding {
        share: Some(waited * part),
        evidence: vec![share(
            facts,
            "CPU time of the generator",
            "thread.run_ns + process.children_ns",
            &machine(facts),
            part,
            least,
        )],
        would_help: bounds::generator_elsewhere(facts).into_iter().collect(),
        prove_wrong: format!(
            "run {} on another machine: if throughput stays the same, this is wrong",
            generator.name
        ),
        ..finding(
            CAUSE.name,
            &generator.entity,
            Confidence::Consistent,
            sentence,
        )
    }))
}
