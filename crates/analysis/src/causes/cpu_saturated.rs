//! The CPUs that the target may use are busy, with its own and the generator's work, and it waits for
//! them.

use model::Finding;

use super::evidence::{confidence, finding, machine, share};
use super::{Cause, Judgement, Kind, no_long_wait, no_target};
use crate::bounds;
use crate::facts::Facts;
use crate::subject::Subject;
use crate::thresholds::Thresholds;
use crate::words::{cpus_were, percent};

pub(super) const CAUSE: Cause = Cause {
    name: "cpu.saturated",
    help: "The CPUs that the target may use are busy with its own work, and it waits for them.",
    about: "the target",
    kind: Kind::Limit,
    told_by: "Busy are the CPUs that the target may use: of the machine, or as many as its cpuset or affinity allow. Part of being the target's own doing is that target and generator together used most of that time; else it is cpu.neighbour. Run-queue delay is kept by the scheduler at every switch, so the wait is exact.",
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
    let own = facts.own_part();
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
        .filter(|it| it.ledger.wall_ns <= 0.0 && !facts.is_pinned());
    if let Some(generator) = unseen.filter(|_| own < limits.own) {
        return Judgement::CannotTell(format!(
            "the threads of {} were not seen in this window, and may have used the CPUs",
            generator.name
        ));
    }
    if own < limits.own {
        return Judgement::Absent(format!(
            "target and generator used only {} of the busy time",
            percent(own)
        ));
    }
    Judgement::Present(Box::new(present(facts, thresholds, target, busy)))
}

fn present(facts: &Facts<'_>, thresholds: &Thresholds, target: &Subject, busy: f64) -> Finding {
    let limits = &thresholds.cpu_saturated;
    let (wait, interval) = super::cpu_wait(facts, limits.wait);
    let own = facts.own_part();
    let sentence = format!(
        "CPU is the bottleneck: {} {} busy, and {}.",
        cpus_were(facts.effective_cpus),
        percent(busy),
        super::who_waited(facts, target)
    );
    let contradictions = contradictions(facts, thresholds);
    let confidence = confidence(interval, limits.wait, &contradictions);
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
                "busy with target and generator",
                "thread.run_ns + process.children_ns",
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
        contradictions,
        prove_wrong: prove_wrong(facts),
        ..finding(CAUSE.name, &target.entity, confidence, sentence)
    }
}

fn contradictions(facts: &Facts<'_>, thresholds: &Thresholds) -> Vec<String> {
    let steal = facts.machine.map_or(0.0, |machine| machine.steal);
    let stolen = (steal >= thresholds.innocent.steal).then(|| {
        format!(
            "the hypervisor took {} of the CPUs away: part of the wait is its doing",
            percent(steal)
        )
    });
    stolen.into_iter().collect()
}

fn prove_wrong(facts: &Facts<'_>) -> String {
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
