//! One CPU is full while another that the target may use is empty.

use model::{Confidence, Evidence, Interval, LedgerClass};

use super::cause::{Case, Cause, Judgement, Kind, Upstream, Wait, absent, cannot_tell};
use super::cpu_formulas;
use super::evidence::{Held, share, waited};
use super::family::Family;
use crate::bounds;
use crate::cpus::Core;
use crate::facts::Facts;
use crate::formula;
use crate::measure::Of;
use crate::number_format::percent;
use crate::stats::ratio;
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

const THERE: Threshold = Threshold::share(
    "there",
    0.50,
    "Part of the target's wait for a CPU that threads on the full CPU had",
);

pub(super) const CAUSE: Cause = Cause {
    name: "cpu.imbalance",
    help: "One CPU is full while another that the target may use is empty, and the target waits.",
    about: "the full CPU",
    kind: Kind::Limit,
    family: Family::Cpu,
    told_by: "Over the whole window one CPU had hardly an idle moment and another was idle for most of it, while threads of the target waited for a CPU: threads, interrupts or queues are pinned. Most of that wait must be of threads that were last on the full CPU. A target that may use only some of the CPUs is judged by those, and by those too that only its affinity (its own settings, or `taskset`) keeps it off, where no cpuset does.",
    thresholds: &[FULL, EMPTY, WAIT, THERE],
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
    let Some((full, empty)) = uneven(facts) else {
        return match extremes(facts) {
            None => cannot_tell("CPU times were not recorded"),
            _ if !facts.are_usable_known() => {
                cannot_tell("the target may use some of the CPUs only, and which is not recorded")
            }
            Some((full, empty)) => absent(format!(
                "the fullest CPU was {} busy, the emptiest {}",
                percent(full.busy),
                percent(empty.busy)
            )),
        };
    };
    case.cpu_wait_known()?;
    let (target, held) = case.waited()?;
    let there = waited_on(facts, full);
    if there.is_some_and(|there| there < THERE.value()) {
        return absent(format!(
            "those who waited for a CPU were on others than {}: {} of the wait was there",
            full.entity.name,
            percent(there.unwrap_or(0.0))
        ));
    }
    let (full_at, empty_at) = (percent(full.busy), percent(empty.busy));
    let evidence = evidence_of(case, (full, empty), &held);
    let (full, empty) = (&full.entity, &empty.entity);
    let sentence = format!(
        "The CPUs are used unevenly: {} was {full_at} busy while {} was {empty_at} busy, and {} of {} was {} waiting for a CPU.",
        full.name,
        empty.name,
        percent(held.share),
        facts.whole(),
        target.name
    );
    // Requests in line for a thread wait for the same CPU.
    let crowded = Interval {
        low: held.share,
        high: held.share + facts.in_line(),
    };
    let change = match off_by_affinity(facts) {
        Some(_) => format!(
            "{} allowed on {} too, which its affinity keeps it off",
            target.name, empty.name
        ),
        None => format!(
            "threads and interrupts of {} spread over all CPUs",
            full.name
        ),
    };
    Ok(model::Finding {
        evidence,
        would_help: vec![bounds::on_more_cpus(
            facts,
            crowded,
            facts.left_out.len(),
            change,
        )],
        ..case.finding_of_wait(&held, full, Confidence::Consistent, sentence)
    })
}

/// The part of the target's wait for a CPU that its threads had while they were on one; `None` where it was not recorded
/// on which they were. A thread's wait is shared out over the CPUs that it was seen on.
fn waited_on(facts: &Facts<'_>, core: &Core) -> Option<f64> {
    let number = core.number()?;
    let (mut there, mut all) = (0.0, 0.0);
    for (thread, _) in &facts.scene.roles.target.threads {
        let of = Of::new(facts.timeline, "thread", *thread, facts.window);
        let (Some(wait), Some(part)) = (of.growth("wait_ns"), of.part_at("cpu", i64::from(number)))
        else {
            continue;
        };
        all += wait.max(0.0);
        there += wait.max(0.0) * part;
    }
    ratio(there, all)
}

fn evidence_of(case: &Case<'_>, (full, empty): (&Core, &Core), held: &Held) -> Vec<Evidence> {
    let facts = case.facts;
    let busy = |what, core: &Core, threshold: Threshold| {
        let whose = formula::one(core.id);
        let evidence = share(
            facts,
            what,
            "cpu",
            &core.entity,
            core.busy,
            threshold.value(),
        );
        evidence.by(formula::part(
            cpu_formulas::busy_time(whose),
            cpu_formulas::any_state(whose),
        ))
    };
    vec![
        busy("fullest CPU busy", full, FULL),
        Evidence {
            passed: true,
            ..busy("emptiest CPU busy", empty, EMPTY)
        },
        waited(facts, "waiting for a CPU", "thread.wait_ns", held),
    ]
}

/// The fullest of the CPUs that the target may use, and the emptiest of these and of those that its affinity alone keeps it
/// off.
fn extremes<'a>(facts: &'a Facts<'_>) -> Option<(&'a Core, &'a Core)> {
    let by_busy = |a: &&Core, b: &&Core| a.busy.total_cmp(&b.busy);
    let full = facts.usable.iter().max_by(by_busy)?;
    let all = facts.usable.iter().chain(&facts.left_out);
    Some((full, all.min_by(by_busy)?))
}

/// The empty CPU beside a full one, where the target's affinity alone keeps it off that one.
pub(super) fn off_by_affinity<'a>(facts: &'a Facts<'_>) -> Option<&'a Core> {
    let (_, empty) = uneven(facts)?;
    facts.left_out.iter().find(|core| core.id == empty.id)
}

/// The same where they are far enough apart.
pub(super) fn uneven<'a>(facts: &'a Facts<'_>) -> Option<(&'a Core, &'a Core)> {
    let is_uneven =
        |full: &Core, empty: &Core| full.busy >= FULL.value() && empty.busy <= EMPTY.value();
    let extremes = extremes(facts).filter(|_| facts.are_usable_known());
    extremes.filter(|(full, empty)| is_uneven(full, empty))
}
