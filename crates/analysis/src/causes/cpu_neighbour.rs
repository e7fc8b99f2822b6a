//! Somebody else holds the CPUs that the target waits for.
//!
//! Where the scheduler's events were counted they say who held a CPU while a thread waited. Elsewhere who
//! used the CPUs of a saturated machine stands for it, and this is *consistent* at most.

use model::{Confidence, EntityKind, Evidence, Finding, Interval};
use sensors::thread_time::Holder;

use super::evidence::{confidence, finding, interval, machine, share};
use super::{Cause, Judgement, Kind, no_long_wait, no_target};
use crate::bounds;
use crate::facts::Facts;
use crate::holders::Holders;
use crate::neighbours::Culprit;
use crate::number_format::percent;
use crate::slices::Slice;
use crate::subject::Subject;
use crate::thresholds::Thresholds;

pub(super) const CAUSE: Cause = Cause {
    name: "cpu.neighbour",
    help: "Somebody else holds the CPUs that the target waits for.",
    about: "the culprit: a control group, or a process with its children",
    kind: Kind::Limit,
    told_by: "Where programs in the kernel are allowed, each wait for a CPU is told with who had that CPU meanwhile (table `thread_time`), and each process with what it held up of the target's waits (`process_time`): the culprit is named by that, and measured. Elsewhere nobody says who held a CPU while a thread waited: who used the CPUs of a full machine stands for it, and the answer is *consistent* at most. The load generator is never the neighbour: where it is not known, `--target generator=name:X` names it.\n\nA quota of the target's own group goes before it: a throttled target waits on an idle machine.",
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
    let holders = facts.holders(limits.wait);
    let others = match holders {
        Some(holders) => holders.others_part(),
        None if facts.is_pinned() => 1.0 - facts.own_part(),
        None => facts.cpu.part(facts.cpu.rest_ns),
    };
    if let Some(judgement) = no_long_wait(facts, thresholds, &target.name, limits.wait) {
        return judgement;
    }
    let what_others_did = match holders {
        Some(_) => format!(
            "{} of the time that CPUs were waited for, others had them",
            percent(others)
        ),
        None => format!("others used {} of the CPU time", percent(others)),
    };
    if others < limits.held_by_others {
        return Judgement::Absent(match holders {
            Some(_) => format!("for only {what_others_did}"),
            None => what_others_did.replacen("used", "used only", 1),
        });
    }
    let busy = facts.effective_busy.unwrap_or(0.0);
    if busy < thresholds.cpu_saturated.busy {
        return Judgement::Absent(format!(
            "the CPUs were {} busy: there was room beside the others",
            percent(busy)
        ));
    }
    if facts.is_pinned() && holders.is_none() {
        return Judgement::CannotTell(format!(
            "others used {} of the CPUs that {} may use, and who they were on those is not seen",
            percent(others),
            target.name
        ));
    }
    match (&facts.culprit, holders) {
        (Some(culprit), Some(holders)) if culprit.part >= limits.culprit => Judgement::Present(
            Box::new(measured(facts, thresholds, target, (culprit, holders))),
        ),
        (Some(culprit), None) if culprit.part >= limits.culprit => {
            Judgement::Present(Box::new(likely(facts, thresholds, target, culprit)))
        }
        (Some(culprit), Some(_)) => Judgement::CannotTell(format!(
            "for {what_others_did}, but none stands out: {} had {} of that",
            culprit.entity.name,
            percent(culprit.part)
        )),
        (Some(culprit), None) => Judgement::CannotTell(format!(
            "{what_others_did}, but none stands out: {}, the busiest that was seen, used {}",
            culprit.entity.name,
            percent(facts.cpu.part(culprit.cpu_ns))
        )),
        (None, _) => Judgement::CannotTell(
            "others hold the CPU, but no process was seen using it".to_owned(),
        ),
    }
}

/// `cgroup /batch`, `process other1`.
fn called(culprit: &Culprit) -> String {
    let who = &culprit.entity;
    let name = match who.kind {
        EntityKind::Cgroup => &who.path,
        _ => &who.name,
    };
    format!("{} {name}", who.kind)
}

/// By who had the CPUs that were waited for.
fn measured(
    facts: &Facts<'_>,
    thresholds: &Thresholds,
    target: &Subject,
    (culprit, holders): (&Culprit, Holders),
) -> Finding {
    let limits = &thresholds.cpu_neighbour;
    let (wait, waited) = super::cpu_wait(facts, limits.wait);
    let who = &culprit.entity;
    let held = holders.background / holders.all() * culprit.part;
    let foremost = culprit.foremost.as_ref();
    let foremost = foremost.map_or(String::new(), |process| {
        format!(" (above all its process {})", process.name)
    });
    let sentence = format!(
        "A neighbour holds the CPU: {}{foremost} had it for {} of the time that one was waited for, and {}.",
        called(culprit),
        percent(held),
        super::who_waited(facts, target)
    );
    let behind = |slice: &Slice| slice.ledger.queued_behind(Holder::Background);
    // Where the generator waits instead of the target, seconds of the target say nothing.
    let share_interval = waited.and_then(|_| interval(facts, behind, |slice| slice.total_ns));
    let of_others = waited.and_then(|_| interval(facts, behind, behind_somebody));
    let mut evidence_against = perhaps_the_client(facts, &who.name);
    evidence_against.extend(super::stolen(facts, thresholds));
    let confidence = confidence(waited, limits.wait, &evidence_against).min(confidence(
        of_others,
        limits.held_by_others,
        &[],
    ));
    let evidence = vec![
        share(
            facts,
            "of the waits for a CPU, behind others",
            "thread_time.queued_rest_ns",
            &target.entity,
            holders.others_part(),
            limits.held_by_others,
        ),
        share(
            facts,
            "of these, behind this neighbour",
            "process_time.delay_caused_ns",
            who,
            culprit.part,
            limits.culprit,
        ),
        waiting(
            facts,
            target,
            wait,
            limits.wait,
            "thread_time.queued_rest_ns",
        ),
    ];
    let share = (holders.background, share_interval);
    present(
        facts,
        culprit,
        (share, sentence, evidence),
        (confidence, evidence_against),
    )
}

/// Waits for CPUs that somebody had.
fn behind_somebody(slice: &Slice) -> f64 {
    let holders = [Holder::Background, Holder::Target, Holder::Generator];
    holders
        .map(|holder| slice.ledger.queued_behind(holder))
        .iter()
        .sum()
}

/// By who used the CPUs.
fn likely(
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
        "A neighbour holds the CPU: {} used {} of the CPU time, and {}.",
        called(culprit),
        percent(held),
        super::who_waited(facts, target)
    );
    let evidence = vec![
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
        waiting(facts, target, wait, limits.wait, "thread.wait_ns"),
    ];
    // Of the wait, the part that the others' use of the CPU stands for.
    let interval = interval.map(|interval| Interval {
        low: interval.low * others,
        high: interval.high * others,
    });
    let evidence_against = perhaps_the_client(facts, &who.name);
    present(
        facts,
        culprit,
        ((wait * others, interval), sentence, evidence),
        (Confidence::Consistent, evidence_against),
    )
}

fn waiting(facts: &Facts<'_>, target: &Subject, wait: f64, least: f64, column: &str) -> Evidence {
    share(
        facts,
        "waiting for a CPU",
        column,
        &target.entity,
        wait,
        least,
    )
}

fn present(
    facts: &Facts<'_>,
    culprit: &Culprit,
    ((share, share_interval), sentence, evidence): ((f64, Option<Interval>), String, Vec<Evidence>),
    (confidence, evidence_against): (Confidence, Vec<String>),
) -> Finding {
    let who = &culprit.entity;
    Finding {
        share: Some(share),
        share_interval,
        evidence,
        would_help: vec![bounds::without_neighbour(
            facts,
            culprit,
            format!("{} elsewhere, or with less weight", who.name),
        )],
        would_not_help: bounds::useless(facts, &["more clients"]),
        evidence_against,
        to_confirm: format!(
            "stop {} for 10 s: if throughput stays the same, this is wrong",
            who.name
        ),
        ..finding(CAUSE.name, who, confidence, sentence)
    }
}

/// Without a known generator the culprit may be the one that asks for the work.
fn perhaps_the_client(facts: &Facts<'_>, who: &str) -> Vec<String> {
    let unknown = facts.generator.is_none();
    let doubt =
        || format!("if {who} is the target's own client, say so: --target generator=name:{who}");
    unknown.then(doubt).into_iter().collect()
}
