//! The CPUs that the target may use are busy, with its own and the generator's work, and it waits for
//! them.

use model::Finding;

use super::evidence::{confidence, finding, machine, share};
use super::{Cause, Judgement, Kind, no_long_wait, no_target};
use crate::bounds;
use crate::facts::Facts;
use crate::holders::Holders;
use crate::number_format::{cpus_were, percent};
use crate::subject::Subject;
use crate::thresholds::Thresholds;

pub(super) const CAUSE: Cause = Cause {
    name: "cpu.saturated",
    help: "The CPUs that the target may use are busy with its own work, and it waits for them.",
    about: "the target",
    kind: Kind::Limit,
    told_by: "Busy are the CPUs that the target may use: of the machine, or as many as its cpuset or affinity allow. Part of being the target's own doing is that target and generator together used most of that time; else it is cpu.neighbour. Where programs in the kernel are allowed, each wait is told with who had the CPU meanwhile, and the own part is that of the waits. Run-queue delay is kept by the scheduler at every switch, so the wait is exact either way.",
    judge,
};

fn judge(facts: &Facts<'_>, thresholds: &Thresholds, found: &[Finding]) -> Judgement {
    let Some(target) = &facts.target else {
        return no_target(facts);
    };
    let Some(busy) = facts.effective_busy else {
        return Judgement::CannotTell("CPU times were not recorded".to_owned());
    };
    if facts.account.is_none() {
        return Judgement::CannotTell(format!(
            "the threads of {} were not seen in this window",
            target.name
        ));
    }
    let limits = &thresholds.cpu_saturated;
    let (own, _) = own(facts, thresholds);
    if let Some(quota) = found.iter().find(|finding| finding.cause == "cpu.quota") {
        return Judgement::Absent(format!(
            "the CPU is withheld by the quota of {}, not used up",
            quota.entity.name
        ));
    }
    if busy < limits.busy {
        return Judgement::Absent(format!(
            "the CPUs were {} busy, under {}",
            percent(busy),
            percent(limits.busy)
        ));
    }
    if let Some(judgement) = no_long_wait(facts, thresholds, &target.name, limits.wait) {
        return judgement;
    }
    let unseen = facts
        .generator
        .as_ref()
        .filter(|it| it.ledger.wall_ns <= 0.0 && !facts.is_pinned())
        .filter(|_| holders(facts, thresholds).is_none());
    if let Some(generator) = unseen.filter(|_| own < limits.own) {
        return Judgement::CannotTell(format!(
            "the threads of {} were not seen in this window, and may have used the CPUs",
            generator.name
        ));
    }
    if own < limits.own {
        return Judgement::Absent(match holders(facts, thresholds) {
            Some(_) => format!(
                "for only {} of the time that CPUs were waited for, target and generator had them",
                percent(own)
            ),
            None => format!(
                "target and generator used only {} of the busy time",
                percent(own)
            ),
        });
    }
    Judgement::Present(Box::new(present(facts, thresholds, target, busy)))
}

/// What says who had the CPUs while they were waited for.
const COUNTED: &str = "thread_time.queued_target_ns + queued_generator_ns";

/// Who had the CPUs, from the same waits as cpu.neighbour judges: no load falls between the two.
fn holders(facts: &Facts<'_>, thresholds: &Thresholds) -> Option<Holders> {
    facts.holders(thresholds.cpu_neighbour.wait)
}

/// The part of the CPUs that target and generator had: while they were waited for, where that was told,
/// else of all time that they were busy. And the columns that say so.
fn own(facts: &Facts<'_>, thresholds: &Thresholds) -> (f64, &'static str) {
    match holders(facts, thresholds) {
        Some(holders) => (1.0 - holders.others_part(), COUNTED),
        None => (facts.own_part(), "thread.run_ns + process.children_ns"),
    }
}

fn present(facts: &Facts<'_>, thresholds: &Thresholds, target: &Subject, busy: f64) -> Finding {
    let limits = &thresholds.cpu_saturated;
    let (wait, interval) = super::cpu_wait(facts, limits.wait);
    let (own, own_column) = own(facts, thresholds);
    let sentence = format!(
        "CPU is the bottleneck: {} {} busy, and {}.",
        cpus_were(facts.effective_cpus),
        percent(busy),
        super::who_waited(facts, target)
    );
    let evidence_against: Vec<String> = super::stolen(facts, thresholds).into_iter().collect();
    let confidence = confidence(interval, limits.wait, &evidence_against);
    Finding {
        share: Some(wait),
        share_interval: interval,
        evidence: vec![
            share(
                facts,
                "CPUs busy",
                "cpu",
                &machine(facts),
                busy,
                limits.busy,
            ),
            share(
                facts,
                if own_column == COUNTED {
                    "waits for a CPU behind target and generator"
                } else {
                    "busy with target and generator"
                },
                own_column,
                &target.entity,
                own,
                limits.own,
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
        would_help: [
            bounds::one_more_cpu(facts),
            bounds::generator_elsewhere(facts),
            bounds::others_elsewhere(facts),
        ]
        .into_iter()
        .flatten()
        .collect(),
        would_not_help: bounds::useless(
            facts,
            if facts.asked_rate().is_none() {
                &["more clients"]
            } else {
                &[]
            },
        ),
        evidence_against,
        to_confirm: to_confirm(facts),
        ..finding(CAUSE.name, &target.entity, confidence, sentence)
    }
}

fn to_confirm(facts: &Facts<'_>) -> String {
    let load = facts.meta.workload.as_ref().map(|workload| &workload.load);
    let clients = load.and_then(|load| {
        Some((
            load.clients.filter(|clients| *clients > 1)?,
            load.clients_option.as_ref()?,
        ))
    });
    match clients {
        Some((clients, option)) => {
            format!(
                "run with {option} {}: if throughput falls as much as clients do, this is wrong",
                clients / 2
            )
        }
        None => "halve the load: if throughput falls as much, this is wrong".to_owned(),
    }
}
