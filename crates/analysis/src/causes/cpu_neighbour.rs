//! Somebody else holds the CPUs that the target waits for.
//!
//! Where the scheduler's events were counted they say who held a CPU while a thread waited. Elsewhere who
//! used the CPUs of a saturated machine stands for it, and this is *consistent* at most.

use model::{Confidence, Entity, EntityKind, Evidence, Finding, Interval, Role, Whose};
use sensors::thread_time::Holder;

use super::cause::{Case, Cause, Judgement, Kind, NoFinding, Upstream, absent, cannot_tell};
use super::cpu_formulas;
use super::cpu_wait::{counted_wait, cpu_wait, cpu_wait_formula, long_enough, stolen, who_waited};
use super::evidence::{confidence, interval, machine, share};
use super::family::Family;
use crate::bounds;
use crate::facts::Facts;
use crate::formula;
use crate::holders::{Holders, SOMEBODY};
use crate::neighbours::Culprit;
use crate::number_format::percent;
use crate::slices::Slice;
use crate::subject::Subject;
use crate::thresholds::{AT_ONCE, CPUS_BUSY, CULPRIT, HELD_BY_OTHERS, Threshold, WAKE_UP};

pub(super) const WAIT: Threshold = Threshold::share(
    "wait",
    0.10,
    "CPU wait of the target as part of the response time",
);

pub(super) const CAUSE: Cause = Cause {
    name: "cpu.neighbour",
    help: "Somebody else holds the CPUs that the target waits for.",
    about: "the culprit: a control group, or a process with its children",
    kind: Kind::Limit,
    family: Family::Cpu,
    told_by: "Where programs in the kernel are allowed, each wait for a CPU is told with who had that CPU meanwhile (table `thread_time`), and each process with what it held up of the target's waits (`process_time`): the culprit is named by that, and measured, however busy the CPUs are on average: bursts leave them idle in between. On full CPUs a wait behind a thread of one's own is others' doing as well, had these another CPU meanwhile: there the part of the CPU time that they used counts, unless they give way, as work of little weight does (under a tenth of the waits are behind it). A wait no longer than a wake-up takes, on CPUs that have room, needs no cause. Elsewhere nobody says who held a CPU while a thread waited: who used the CPUs of a full machine stands for it, and the answer is *consistent* at most. The load generator is never the neighbour: where it is not known, `--target generator=name:X` names it.\n\nA quota of the target's own group goes before it: a throttled target waits on an idle machine.",
    thresholds: &[HELD_BY_OTHERS, WAIT, CULPRIT, GIVES_WAY, WAKE_UP, AT_ONCE],
    upstream: &[Upstream::Worded("cpu.quota", |quota| {
        format!("the CPU is withheld by the quota of {}", quota.entity.name)
    })],
    wait: None,
    would_help: &[],
    would_not_help: Some(&["more clients"]),
    to_confirm: "",
    judge,
};

fn judge(case: &Case<'_>) -> Judgement {
    let facts = case.facts;
    let target = case.target()?;
    if facts.account.is_none() || facts.machine.is_none() {
        return cannot_tell("the CPUs, or the target's threads, were not seen in this window");
    }
    let holders = facts.holders(WAIT.value());
    long_enough(case, &target.name, WAIT.value())?;
    let others = others_part(facts, holders);
    enough_by_others(case, holders, others)?;
    let did = what_others_did(facts, holders);
    match (&facts.culprit, holders) {
        (Some(culprit), Some(holders)) if culprit.part >= CULPRIT.value() => {
            Ok(measured(case, target, culprit, holders))
        }
        (Some(culprit), None) if culprit.part >= CULPRIT.value() => {
            Ok(likely(case, target, culprit))
        }
        (Some(culprit), Some(_)) => cannot_tell(format!(
            "for {did}, but none stands out: {} had {} of that",
            culprit.entity.name,
            percent(culprit.part)
        )),
        (Some(culprit), None) => cannot_tell(format!(
            "{did}, but none stands out: {}, the busiest that was seen, used {}",
            culprit.entity.name,
            percent(facts.cpu.part(culprit.cpu_ns))
        )),
        (None, _) => cannot_tell("others hold the CPU, but no process was seen using it"),
    }
}

/// The part of the CPUs that others had: while they were waited for, where that was told, else of all that
/// was used.
fn others_part(facts: &Facts<'_>, holders: Option<Holders>) -> f64 {
    match holders {
        Some(holders) => others_doing(facts, holders),
        None if facts.is_pinned() => 1.0 - facts.own_part(),
        None => facts.cpu.part(facts.cpu.rest_ns),
    }
}

const GIVES_WAY: Threshold = Threshold::share(
    "gives_way",
    0.10,
    "Part of the waits for a CPU behind others, below which they give way",
);

/// The part of the waits for a CPU that is others' doing. Who waits behind a thread of its own would not, were the other CPUs
/// not others' meanwhile: on full CPUs it is the part of the CPU time that these used, unless they give way: whoever has
/// little weight, or fills what is left, is hardly ever waited for.
pub(super) fn others_doing(facts: &Facts<'_>, holders: Holders) -> f64 {
    let behind = holders.others_part();
    let is_full = facts.effective_busy.unwrap_or(0.0) >= CPUS_BUSY.value();
    let may_move = is_full && facts.effective_cpus > 1 && !facts.is_pinned();
    let culprit = facts.culprit.as_ref();
    match culprit.is_some_and(|it| it.part >= CULPRIT.value()) && may_move {
        true => {
            behind.max(facts.cpu.part(facts.cpu.rest_ns) * (behind / GIVES_WAY.value()).min(1.0))
        }
        false => behind,
    }
}

/// Whether others had less of the waits than makes these their doing, and it is by the CPU time they used.
fn is_by_use(holders: &Holders) -> bool {
    holders.others_part() < HELD_BY_OTHERS.value()
}

fn what_others_did(facts: &Facts<'_>, holders: Option<Holders>) -> String {
    match holders {
        Some(holders) => format!(
            "{} of the time that CPUs were waited for, others had them",
            percent(holders.others_part())
        ),
        None => format!(
            "others used {} of the CPU time",
            percent(others_part(facts, None))
        ),
    }
}

/// Why others did not have enough of full CPUs, where they did not.
fn enough_by_others(
    case: &Case<'_>,
    holders: Option<Holders>,
    others: f64,
) -> Result<(), NoFinding> {
    let facts = case.facts;
    if others < HELD_BY_OTHERS.value() {
        let did = what_others_did(facts, holders);
        return absent(match holders {
            Some(_) => format!("for only {did}"),
            None => did.replacen("used", "used only", 1),
        });
    }
    let busy = facts.effective_busy.unwrap_or(0.0);
    // Where it was told who had the CPUs that were waited for, it does not matter how full they were at other times.
    if holders.is_none() && busy < CPUS_BUSY.value() {
        return absent(format!(
            "the CPUs were {} busy: there was room beside the others",
            percent(busy)
        ));
    }
    if facts.is_pinned() && holders.is_none() {
        return cannot_tell(format!(
            "others used {} of the CPUs that {} may use, and who they were on those is not seen",
            percent(others),
            case.target()?.name
        ));
    }
    Ok(())
}

/// `cgroup /batch`, `process other1`.
fn called(who: &Entity) -> String {
    let name = match who.kind {
        EntityKind::Cgroup => &who.path,
        _ => &who.name,
    };
    format!("{} {name}", who.kind)
}

/// By who had the CPUs that were waited for.
fn measured(case: &Case<'_>, target: &Subject, culprit: &Culprit, holders: Holders) -> Finding {
    let facts = case.facts;
    let (_, waited) = cpu_wait(facts, WAIT.value());
    let who = &culprit.entity;
    let foremost = culprit.foremost.as_ref();
    let foremost = foremost.map_or(String::new(), |process| {
        format!(" (above all its process {})", process.name)
    });
    let by_use = is_by_use(&holders);
    let used = match by_use {
        true => format!(
            " used {} of the CPU time,",
            percent(facts.cpu.part(culprit.cpu_ns))
        ),
        false => String::new(),
    };
    let sentence = format!(
        "A neighbour holds the CPU: {}{foremost}{used} had it for {}{} of the time that one was waited for, and {}.",
        called(who),
        if culprit.is_by_delay { "" } else { "about " },
        percent(holders.background / holders.all() * culprit.part),
        who_waited(facts, target)
    );
    let behind = |slice: &Slice| slice.ledger.queued_behind(Holder::Background);
    // Where the generator waits instead of the target, seconds of the target say nothing.
    let share_interval = waited.and_then(|_| interval(facts, behind, |slice| slice.total_ns));
    let share_interval = share_interval.filter(|_| !by_use);
    let of_others = waited.and_then(|_| interval(facts, behind, behind_somebody));
    let mut evidence_against = perhaps_the_client(facts, &who.name);
    evidence_against.extend(stolen(facts));
    let counted = counted_wait(facts, WAIT.value());
    let mut confidence = confidence(counted, WAIT.value(), &evidence_against).min(confidence(
        of_others,
        HELD_BY_OTHERS.value(),
        &[],
    ));
    if !culprit.is_by_delay || by_use {
        // Others had the CPUs; that it was this one is a guess from who was busy.
        confidence = confidence.min(Confidence::Consistent);
    }
    Finding {
        share: Some(match by_use {
            true => holders.held() * others_doing(facts, holders),
            false => holders.background,
        }),
        share_interval,
        evidence: evidence_of_measured(facts, target, culprit, &holders),
        evidence_against,
        ..of_neighbour(case, culprit, confidence, sentence)
    }
}

fn evidence_of_measured(
    facts: &Facts<'_>,
    target: &Subject,
    culprit: &Culprit,
    holders: &Holders,
) -> Vec<Evidence> {
    let (wait, _) = cpu_wait(facts, WAIT.value());
    let by_use = is_by_use(holders);
    let least = if by_use {
        GIVES_WAY.value()
    } else {
        HELD_BY_OTHERS.value()
    };
    let used = by_use.then(|| used_by_others(facts));
    let mut evidence = vec![
        share(
            facts,
            "of the waits for a CPU, behind others",
            "thread_time.queued_rest_ns",
            &target.entity,
            holders.others_part(),
            least,
        )
        .by(cpu_formulas::queued(
            facts,
            WAIT.value(),
            &[Holder::Background],
            &SOMEBODY,
        )),
        neighbours_part(facts, culprit),
        waiting(facts, target, wait, "thread_time.queued_rest_ns"),
    ];
    evidence.extend(used);
    evidence
}

fn used_by_others(facts: &Facts<'_>) -> Evidence {
    share(
        facts,
        "CPU time used by others",
        "process",
        &machine(facts),
        facts.cpu.part(facts.cpu.rest_ns),
        HELD_BY_OTHERS.value(),
    )
    .by(cpu_formulas::others_used(facts))
}

/// What of these was behind the neighbour: by who had the CPUs, else by who used them.
fn neighbours_part(facts: &Facts<'_>, culprit: &Culprit) -> Evidence {
    let under = Whose::Under { id: culprit.id };
    let (what, column, formula) = if culprit.is_by_delay {
        let delay = |whose| formula::growth("process_time", &["delay_caused_ns"], whose);
        let queued = cpu_formulas::behind(formula::role(Role::Target), &[Holder::Background]);
        let all = formula::most([delay(formula::role(Role::Background)), queued]);
        (
            "of these, behind this neighbour",
            "process_time.delay_caused_ns",
            formula::part(delay(under), all),
        )
    } else {
        let used = formula::growth("process", &["user_ns", "system_ns"], under);
        (
            "of the CPU time that others used, by this neighbour",
            "process.user_ns + system_ns",
            formula::part(used, cpu_formulas::used_by_others(facts)),
        )
    };
    let who = &culprit.entity;
    share(facts, what, column, who, culprit.part, CULPRIT.value()).by(formula)
}

/// Waits for CPUs that somebody had.
fn behind_somebody(slice: &Slice) -> f64 {
    SOMEBODY
        .map(|holder| slice.ledger.queued_behind(holder))
        .iter()
        .sum()
}

/// By who used the CPUs.
fn likely(case: &Case<'_>, target: &Subject, culprit: &Culprit) -> Finding {
    let facts = case.facts;
    let (wait, interval) = cpu_wait(facts, WAIT.value());
    let others = facts.cpu.part(facts.cpu.rest_ns);
    let held = facts.cpu.part(culprit.cpu_ns);
    let under = Whose::Under { id: culprit.id };
    let who = &culprit.entity;
    let sentence = format!(
        "A neighbour holds the CPU: {} used {} of the CPU time, and {}.",
        called(who),
        percent(held),
        who_waited(facts, target)
    );
    Finding {
        share: Some(wait * others),
        // Of the wait, the part that the others' use of the CPU stands for.
        share_interval: interval.map(|interval| Interval {
            low: interval.low * others,
            high: interval.high * others,
        }),
        evidence: vec![
            used_by_others(facts),
            share(
                facts,
                "CPU time used by this neighbour",
                "process.user_ns + system_ns",
                who,
                held,
                HELD_BY_OTHERS.value() * CULPRIT.value(),
            )
            .by(formula::part(
                formula::growth("process", &["user_ns", "system_ns"], under),
                cpu_formulas::all_used(facts),
            )),
            waiting(facts, target, wait, "thread.wait_ns"),
        ],
        evidence_against: perhaps_the_client(facts, &who.name),
        ..of_neighbour(case, culprit, Confidence::Consistent, sentence)
    }
}

fn waiting(facts: &Facts<'_>, target: &Subject, wait: f64, column: &str) -> Evidence {
    let (what, who) = ("waiting for a CPU", &target.entity);
    share(facts, what, column, who, wait, WAIT.value()).by(cpu_wait_formula(facts, WAIT.value()))
}

/// What is said of a neighbour however it was told.
fn of_neighbour(
    case: &Case<'_>,
    culprit: &Culprit,
    confidence: Confidence,
    sentence: String,
) -> Finding {
    let who = &culprit.entity;
    let change = format!("{} elsewhere, or with less weight", who.name);
    Finding {
        would_help: vec![bounds::without_neighbour(case.facts, culprit, change)],
        to_confirm: format!(
            "stop {} for 10 s: if throughput stays the same, this is wrong",
            who.name
        ),
        ..case.finding(who, confidence, sentence)
    }
}

/// Without a known generator the culprit may be the one that asks for the work.
fn perhaps_the_client(facts: &Facts<'_>, who: &str) -> Vec<String> {
    let unknown = facts.generator.is_none();
    let doubt =
        || format!("if {who} is the target's own client, say so: --target generator=name:{who}");
    unknown.then(doubt).into_iter().collect()
}
