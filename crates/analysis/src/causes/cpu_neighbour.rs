//! Somebody else holds the CPUs that the target waits for.
//!
//! Without BPF nobody says who held a CPU while a thread waited; who used the CPUs of a saturated
//! machine stands for it, so this is *consistent* at most.

use model::{Confidence, Finding};

use super::evidence::{finding, machine, share};
use super::{Cause, Judgement, Kind, no_long_wait, no_target};
use crate::bounds;
use crate::facts::Facts;
use crate::neighbours::Culprit;
use crate::subject::Subject;
use crate::thresholds::Thresholds;
use crate::words::percent;

pub(super) const CAUSE: Cause = Cause {
    name: "cpu.neighbour",
    help: "Somebody else holds the CPUs that the target waits for.",
    about: "the culprit: a control group, or a process with its children",
    kind: Kind::Limit,
    told_by: "Without BPF nobody says who held a CPU while a thread waited. Who used the CPUs of a full machine stands for it, so the answer is *consistent* at most. The load generator is never the neighbour: where it is not known, `--target generator=name:X` names it.\n\nA quota of the target's own group goes before it: a throttled target waits on an idle machine.",
    judge,
};

fn judge(facts: &Facts<'_>, thresholds: &Thresholds, found: &[Finding]) -> Judgement {
    let Some(target) = &facts.target else {
        return no_target(facts);
    };
    if facts.account.is_none() || facts.machine.is_none() {
        return Judgement::CannotTell(
            "the CPUs, or the target's threads, were not seen in this window".to_owned(),
        );
    }
    if let Some(quota) = found.iter().find(|finding| finding.cause == "cpu.quota") {
        return Judgement::Absent(format!(
            "the CPU is withheld by the quota of {}",
            quota.entity.name
        ));
    }
    let limits = &thresholds.cpu_neighbour;
    let others = if facts.is_pinned() {
        1.0 - facts.own_part()
    } else {
        facts.cpu.part(facts.cpu.rest_ns)
    };
    if let Some(judgement) = no_long_wait(facts, thresholds, &target.name, limits.wait) {
        return judgement;
    }
    if others < limits.held_by_others {
        return Judgement::Absent(format!(
            "others used only {} of the CPU time",
            percent(others)
        ));
    }
    let busy = facts.effective_busy.unwrap_or(0.0);
    if busy < thresholds.cpu_saturated.busy {
        return Judgement::Absent(format!(
            "the CPUs were {} busy: there was room beside the others",
            percent(busy)
        ));
    }
    if facts.is_pinned() {
        return Judgement::CannotTell(format!(
            "others used {} of the CPUs that {} may use, and who they were on those is not seen",
            percent(others),
            target.name
        ));
    }
    let enough = limits.culprit * facts.cpu.rest_ns;
    match &facts.culprit {
        Some(culprit) if culprit.cpu_ns >= enough => {
            Judgement::Present(Box::new(present(facts, thresholds, target, culprit)))
        }
        Some(culprit) => Judgement::CannotTell(format!(
            "others used {} of the CPU time, but none stands out: {}, the busiest that was seen, used {}",
            percent(others),
            culprit.entity.name,
            percent(facts.cpu.part(culprit.cpu_ns))
        )),
        None => Judgement::CannotTell(
            "others hold the CPU, but no process was seen using it".to_owned(),
        ),
    }
}

fn present(
    facts: &Facts<'_>,
    thresholds: &Thresholds,
    target: &Subject,
    culprit: &Culprit,
) -> Finding {
    let limits = &thresholds.cpu_neighbour;
    let (wait, interval) = super::cpu_wait(facts, limits.wait);
    let others = facts.cpu.part(facts.cpu.rest_ns);
    let held = facts.cpu.part(culprit.cpu_ns);
    let who = &culprit.entity;
    let sentence = format!(
        "A neighbour holds the CPU: {} {} used {} of the CPU time, and {}.",
        who.kind,
        if who.kind == model::EntityKind::Cgroup {
            &who.path
        } else {
            &who.name
        },
        percent(held),
        super::who_waited(facts, target)
    );
    Finding {
        // Of the wait, the part that the others' use of the CPU stands for.
        share: Some(wait * others),
        share_interval: interval.map(|interval| model::Interval {
            low: interval.low * others,
            high: interval.high * others,
        }),
        evidence: vec![
            share(
                facts,
                "CPU time used by others",
                "process",
                &machine(facts),
                others,
                limits.held_by_others,
            ),
            share(
                facts,
                "CPU time used by this neighbour",
                "process.user_ns + system_ns",
                who,
                held,
                limits.held_by_others * limits.culprit,
            ),
            share(
                facts,
                "waiting for a CPU",
                "thread.wait_ns",
                &target.entity,
                wait,
                limits.wait,
            ),
        ],
        would_help: vec![bounds::without_neighbour(
            facts,
            culprit,
            format!("{} elsewhere, or with less weight", who.name),
        )],
        would_not_help: bounds::useless(facts, &["more clients"]),
        contradictions: perhaps_the_client(facts, &who.name),
        prove_wrong: format!(
            "stop {} for 10 s: if throughput stays the same, this is wrong",
            who.name
        ),
        ..finding(CAUSE.name, who, Confidence::Consistent, sentence)
    }
}

/// Without a known generator the culprit may be the one that asks for the work.
fn perhaps_the_client(facts: &Facts<'_>, who: &str) -> Vec<String> {
    let unknown = facts.generator.is_none();
    let doubt =
        || format!("if {who} is the target's own client, say so: --target generator=name:{who}");
    unknown.then(doubt).into_iter().collect()
}
