//! The load generator itself is the limit: its thread has no time left, and the target waits for work.

use std::collections::BTreeSet;

use model::{Confidence, EntityId, Evidence, Finding, LedgerClass};

use super::cause::{Case, Cause, Judgement, Kind, absent, cannot_tell};
use super::evidence::{number, outside_target, share};
use super::family::Family;
use crate::bounds;
use crate::facts::Facts;
use crate::formula;
use crate::number_format::{bound, count, percent, rate};
use crate::quota::{self, Quota};
use crate::subject::Subject;
use crate::thresholds::Threshold;
use crate::wakers::{Edge, edges, pool_of};

const THREAD: Threshold = Threshold::share(
    "thread",
    0.95,
    "Time that the generator's busiest thread was on a CPU or waited for one: it never rested",
);
const ON_CPU: Threshold = Threshold::share(
    "on_cpu",
    0.70,
    "Time of it on a CPU: with less, others take the CPU from it",
);
const OUTSIDE: Threshold = Threshold::share(
    "outside",
    0.50,
    "Part of the response time outside the target",
);

const IN_TURN: Threshold = Threshold::new(
    "in_turn",
    0.2,
    "threads",
    "Threads of a generator that wait for an answer at a time, at most, where they wait for each other",
);

const PERIODS: Threshold = Threshold::share(
    "throttled_periods",
    0.50,
    "Periods of a CPU quota of the generator's own group in which it ran out",
);

pub(super) const CAUSE: Cause = Cause {
    name: "load.client",
    help: "The load generator is the limit: its threads have no time left, and the target waits for work.",
    about: "the generator",
    kind: Kind::Limit,
    family: Family::Outside,
    told_by: "A thread of the generator that never rests (on a CPU, or waiting for one) cannot ask for more, and the target waits for work meanwhile. What stands outside the target is then the generator's own time. Threads that work one after the other, as those of one interpreter do (CPython, Ruby), have none left either: some work all the time, others wait for these in futex, and hardly one of them waits for an answer. Or a CPU quota of the generator's group, which does not hold the target, runs out in most of its periods while it asks for less than it was to.",
    thresholds: &[THREAD, ON_CPU, OUTSIDE, IN_TURN, PERIODS],
    upstream: &[],
    wait: None,
    would_help: &[],
    would_not_help: Some(&["more clients"]),
    to_confirm: "",
    judge,
};

fn judge(case: &Case<'_>) -> Judgement {
    let facts = case.facts;
    let target = case.target()?;
    let generator = facts.generator.as_ref();
    let Some(generator) = generator.filter(|generator| generator.active_threads > 0) else {
        return cannot_tell("no load generator was measured");
    };
    let name = &generator.name;
    if facts.signal.is_none() {
        return cannot_tell(format!("{name} gave no response times to compare with"));
    }
    case.seen()?;
    if let Some(quota) = held_back(facts) {
        return Ok(limited(case, target, generator, &quota));
    }
    let never_rests = never_rests(generator);
    let in_turn = work_in_turn(facts, generator).filter(|_| never_rests.is_none());
    if never_rests.is_none() && in_turn.is_none() {
        let busiest = percent(generator.busiest);
        return absent(format!(
            "the busiest thread of {name} was on a CPU for {busiest} of the time"
        ));
    }
    let Some(outside) = facts.outside() else {
        return cannot_tell(format!(
            "response times were taken at {}'s own sockets, and not at those of {name}",
            target.name
        ));
    };
    if outside < OUTSIDE.value() {
        return absent(format!(
            "only {} of {} was outside {}",
            percent(outside),
            facts.whole(),
            target.name
        ));
    }
    Ok(match in_turn {
        Some(in_turn) => one_after_the_other(case, target, generator, outside, &in_turn),
        None => present(case, target, generator, outside),
    })
}

/// Threads of the generator that wait for each other: so many at a time, on average.
struct InTurn {
    /// At work, or waiting for a CPU.
    work: f64,
    /// In futex, until another of them has let go.
    wait: f64,
}

/// Threads of the generator that work one after the other, as those of one interpreter do: some of them work all the time,
/// others wait for these, and hardly one waits for an answer. `None` where it is not so.
fn work_in_turn(facts: &Facts<'_>, generator: &Subject) -> Option<InTurn> {
    let threads = f64::from(generator.active_threads);
    let (on_cpu, cpu_wait) = generator.active;
    let work = threads * (on_cpu + cpu_wait);
    let for_answers = threads * generator.active_input?;
    let scene = facts.scene;
    let own: BTreeSet<EntityId> = scene
        .roles
        .generator
        .threads
        .iter()
        .filter_map(|(thread, _)| pool_of(facts.timeline, *thread))
        .collect();
    let is_own = |edge: &Edge| {
        edge.class == LedgerClass::Futex
            && own.contains(&edge.woken)
            && edge.waker.is_some_and(|it| own.contains(&it))
    };
    let edges = edges(facts.timeline, facts.window).filter(is_own);
    let wait = edges.map(|it| it.ns).sum::<f64>() / facts.window.len_ns().max(1) as f64;
    // A pool beside these that has nothing to do waits too.
    let wait = wait.min(threads - work - for_answers);
    let is_so = work >= THREAD.value() && for_answers <= IN_TURN.value() && wait >= work;
    is_so.then_some(InTurn { work, wait })
}

fn one_after_the_other(
    case: &Case<'_>,
    target: &Subject,
    generator: &Subject,
    outside: f64,
    in_turn: &InTurn,
) -> Finding {
    let facts = case.facts;
    let name = &generator.name;
    let sentence = format!(
        "The load generator is the bottleneck: {} of {name} wait for each other, {} at a time, while {} work, and {} of {} was outside {}.",
        count(generator.active_threads, "thread"),
        rate(in_turn.wait),
        rate(in_turn.work),
        percent(outside),
        facts.whole(),
        target.name
    );
    let at_a_time = |what, column, number_of, least| {
        number(
            facts,
            (what, "count"),
            column,
            &generator.entity,
            number_of,
            least,
        )
    };
    let faster_target = format!("a faster {}", target.name);
    Finding {
        share: Some(outside),
        evidence: vec![
            at_a_time(
                "its threads that wait for each other in futex, at a time",
                "wakeup.wait_ns",
                in_turn.wait,
                in_turn.work,
            ),
            at_a_time(
                "its threads at work, or waiting for a CPU, at a time",
                "thread.run_ns + wait_ns",
                in_turn.work,
                THREAD.value(),
            ),
            outside_target(facts, &target.entity, outside, OUTSIDE.value()),
        ],
        would_help: vec![
            bounds::not_known(
                format!("several processes of {name} instead of threads"),
                "",
            ),
            bounds::not_known(format!("less work per request in {name}"), ""),
        ],
        would_not_help: bounds::useless(facts, &["more clients", &faster_target]),
        to_confirm: format!(
            "run {name} twice at a time, each with half of the clients: if throughput stays the same, this is wrong"
        ),
        ..case.finding(&generator.entity, Confidence::Consistent, sentence)
    }
}

/// The quota that keeps the generator from asking for more.
fn held_back(facts: &Facts<'_>) -> Option<Quota> {
    /// A rate that is reached but for so much is reached.
    const REACHED: f64 = 1.02;
    let quota = quota::generators_quota(facts.scene)?;
    let asks_less = facts.asked_times() > REACHED;
    (asks_less && quota.throttled_periods >= PERIODS.value()).then_some(quota)
}

fn limited(case: &Case<'_>, target: &Subject, generator: &Subject, quota: &Quota) -> Finding {
    let facts = case.facts;
    let (name, group) = (&generator.name, &quota.group.name);
    let cpus = quota
        .cpus
        .map_or_else(String::new, |cpus| format!(" ({} CPUs)", bound(cpus)));
    let sentence = format!(
        "The load generator is the bottleneck: the CPU quota of its group {group}{cpus} ran out in {} of its periods.",
        percent(quota.throttled_periods)
    );
    let whose = formula::one(quota.id);
    let of_group = |column| formula::growth("cgroup_cpu", &[column], whose);
    let ran_out = share(
        facts,
        "quota periods in which the generator ran out",
        "cgroup_cpu.throttled_periods",
        &quota.group,
        quota.throttled_periods,
        PERIODS.value(),
    );
    let faster_target = format!("a faster {}", target.name);
    Finding {
        share: Some(quota.throttled_periods.min(1.0)),
        evidence: vec![ran_out.by(formula::part(
            of_group("throttled_periods"),
            of_group("periods"),
        ))],
        would_help: vec![bounds::not_known(
            format!("a higher CPU quota for {group}, or {name} outside of it"),
            "",
        )],
        would_not_help: bounds::useless(facts, &["more clients", &faster_target]),
        to_confirm: "raise that quota: if throughput stays the same, this is wrong".to_owned(),
        ..case.finding(&generator.entity, Confidence::Measured, sentence)
    }
}

/// How much the generator's busiest thread worked, where it never rested.
pub(super) fn never_rests(generator: &Subject) -> Option<f64> {
    (generator.busiest_works >= THREAD.value() && generator.busiest >= ON_CPU.value())
        .then_some(generator.busiest_works)
}

fn present(case: &Case<'_>, target: &Subject, generator: &Subject, outside: f64) -> Finding {
    let facts = case.facts;
    let threads = match generator.active_threads {
        1 => "one thread was".to_owned(),
        n => format!("busiest of {} was", count(n, "thread")),
    };
    let name = &generator.name;
    let sentence = format!(
        "The load generator is the bottleneck: {name}'s {threads} on a CPU {} of the time, and {} of {} was outside {}.",
        percent(generator.busiest),
        percent(outside),
        facts.whole(),
        target.name
    );
    // On-CPU time is exact, and there is no second by second share to put an interval around.
    let sure = facts.window.seconds() >= facts.thresholds.gates.steady_seconds;
    let confidence = match sure {
        true => Confidence::Measured,
        false => Confidence::Consistent,
    };
    let change = format!("more threads for {name}");
    let faster_target = format!("a faster {}", target.name);
    Finding {
        share: Some(outside),
        evidence: evidence_of(facts, target, generator, outside),
        would_help: vec![
            bounds::faster_generator(facts, change),
            bounds::not_known(format!("less work per request in {name}"), ""),
        ],
        would_not_help: bounds::useless(facts, &["more clients", &faster_target]),
        to_confirm: format!(
            "give {name} twice the threads: if throughput stays the same, this is wrong"
        ),
        ..case.finding(&generator.entity, confidence, sentence)
    }
}

fn evidence_of(
    facts: &Facts<'_>,
    target: &Subject,
    generator: &Subject,
    outside: f64,
) -> Vec<Evidence> {
    let of_busiest = |classes: &[LedgerClass], evidence| Evidence {
        formula: generator
            .busiest_thread
            .map(|thread| formula::of_life(thread, classes)),
        ..evidence
    };
    let works = share(
        facts,
        "busiest thread on a CPU, or waiting for one",
        "thread.run_ns + wait_ns",
        &generator.entity,
        generator.busiest_works,
        THREAD.value(),
    );
    let on_cpu = share(
        facts,
        "busiest thread on a CPU",
        "thread.run_ns",
        &generator.entity,
        generator.busiest,
        ON_CPU.value(),
    );
    vec![
        of_busiest(&[LedgerClass::OnCpu, LedgerClass::CpuWait], works),
        of_busiest(&[LedgerClass::OnCpu], on_cpu),
        outside_target(facts, &target.entity, outside, OUTSIDE.value()),
    ]
}
