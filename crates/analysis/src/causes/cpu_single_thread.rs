//! One thread of the target does all the work, and other CPUs have none.

use model::{Confidence, Entity, EntityRecord, Evidence, Finding, LedgerClass};

use super::cause::{Case, Cause, Judgement, Kind, NoFinding, Upstream, absent, cannot_tell};
use super::evidence::{number, share};
use super::family::Family;
use crate::bounds;
use crate::facts::Facts;
use crate::formula;
use crate::number_format::{percent, rate};
use crate::serving::Answering;
use crate::subject::Subject;
use crate::thresholds::Threshold;

const THREAD: Threshold = Threshold::share(
    "thread",
    0.90,
    "Time that the busiest thread was on a CPU or waited for one: it never rested",
);
const MAY_REST: Threshold = Threshold::share(
    "may_rest",
    0.20,
    "How much more it may rest where all of the response time is in line for threads on a CPU; half as much where half is",
);
const ON_CPU: Threshold = Threshold::share("on_cpu", 0.75, "Time of it on a CPU");
const IN_FLIGHT: Threshold = Threshold::new(
    "in_flight",
    1.5,
    "requests",
    "Requests in progress on average: with one at a time no second thread could help",
);
const BEHIND: Threshold = Threshold::new(
    "behind",
    1.0,
    "threads",
    "Other threads of the target that waited for what it then ended, on average",
);

pub(super) const CAUSE: Cause = Cause {
    name: "cpu.single_thread",
    help: "One thread of the target does all the work, and other CPUs have room.",
    about: "the thread",
    kind: Kind::Limit,
    family: Family::Cpu,
    told_by: "One thread has hardly a moment off its CPU (it may have some where requests were seen in line while it was on one, the more the longer the line), no other of the target comes near it, the machine's CPUs are not full, and several requests are in progress: they wait for that thread. A busy thread that serves no requests is not meant, unless the target's other threads wait for it: where programs in the kernel are allowed, that is known of a thread that goes by a name of its own, and said; threads at rest wait for work and do not count. Requests that wait for a lock inside of threads that answer them themselves wait for the lock. With one request at a time no second thread could help, and it is not said.",
    thresholds: &[THREAD, MAY_REST, ON_CPU, IN_FLIGHT, BEHIND],
    upstream: &[
        Upstream::All("cpu.quota"),
        Upstream::All("cpu.neighbour"),
        Upstream::All("cpu.saturated"),
        Upstream::All("cpu.imbalance"),
        // A thread of a runtime that stands still is off its CPU: the busy one is the runtime's own.
        Upstream::All("lock.runtime"),
        Upstream::Unless("lock.futex", is_waited_for),
    ],
    wait: None,
    would_help: &[],
    would_not_help: Some(&["more clients", "a machine with more CPUs"]),
    to_confirm: "run with twice the clients: if throughput grows, this is wrong",
    judge,
};

fn judge(case: &Case<'_>) -> Judgement {
    let facts = case.facts;
    let target = case.seen()?;
    never_rests_alone(facts, target)?;
    several_at_a_time(facts, target)?;
    let thread = target.busiest_thread;
    let Some(record) = thread.and_then(|id| facts.timeline.entities.get(id)) else {
        return cannot_tell("the thread is not in the recording's list");
    };
    let thread = &record.entity;
    // What is outside the target waits in its sockets, but for what the generator did meanwhile.
    let inside = facts.share_of(&[LedgerClass::OnCpu, LedgerClass::Futex]);
    let change = format!(
        "the work of {} spread over {} CPUs",
        thread.name, facts.effective_cpus
    );
    Ok(Finding {
        share: Some((inside + facts.in_line()).min(1.0)),
        evidence: evidence_of(facts, target, record),
        would_help: vec![bounds::more_threads(facts, change)],
        ..case.finding(
            thread,
            confidence(facts, target),
            sentence(facts, target, thread),
        )
    })
}

/// Whether requests wait for that thread, and not inside of others for a lock, which it may have or not: threads that answer
/// what they read are in line for nobody's work.
fn is_waited_for(facts: &Facts<'_>) -> bool {
    facts.scene.answering != Answering::Itself || behind(facts).is_some()
}

/// Other threads of the target that waited for the busiest, where enough did.
fn behind(facts: &Facts<'_>) -> Option<f64> {
    facts.behind_busiest.filter(|it| *it >= BEHIND.value())
}

/// The part of the time in which the thread has work at least. Who waits in line for it is the proof that it has no time
/// left; without that only a thread that never rests has none.
fn least_works(facts: &Facts<'_>) -> f64 {
    THREAD.value() - MAY_REST.value() * facts.line.behind(LedgerClass::OnCpu)
}

/// Why there is no thread alone that never rests, where there is none.
fn never_rests_alone(facts: &Facts<'_>, target: &Subject) -> Result<(), NoFinding> {
    // Never at rest: what it does not run it waits for a CPU.
    if target.busiest_works < least_works(facts) || target.busiest < ON_CPU.value() {
        return absent(format!(
            "the busiest thread of {} was on a CPU for {} of the time",
            target.name,
            percent(target.busiest)
        ));
    }
    if !target.busiest_serves && behind(facts).is_none() {
        return absent(format!(
            "the busiest thread of {} serves no requests",
            target.name
        ));
    }
    if target.hot_threads > 1 {
        return absent(format!(
            "{} threads of {} were about as busy",
            target.hot_threads, target.name
        ));
    }
    Ok(())
}

/// Why a second thread could not help, where it could not.
fn several_at_a_time(facts: &Facts<'_>, target: &Subject) -> Result<(), NoFinding> {
    if facts.effective_cpus < 2 {
        return absent(format!("{} may use one CPU only", target.name));
    }
    match facts.in_flight() {
        Some(requests) if requests < IN_FLIGHT.value() => absent(format!(
            "{} requests were in progress on average: one at a time needs one thread",
            rate(requests)
        )),
        _ => Ok(()),
    }
}

fn sentence(facts: &Facts<'_>, target: &Subject, thread: &Entity) -> String {
    let busy = facts.effective_busy.map_or(String::new(), |busy| {
        format!(", while the CPUs were {} busy", percent(busy))
    });
    let waiting = behind(facts).map_or(String::new(), |threads| {
        format!(
            ", and {} other threads at a time waited for it",
            rate(threads)
        )
    });
    format!(
        "One thread is the bottleneck: {} of {} was on a CPU for {} of the time{busy}{waiting}.",
        thread.name,
        target.name,
        percent(target.busiest)
    )
}

fn evidence_of(facts: &Facts<'_>, target: &Subject, thread: &EntityRecord) -> Vec<Evidence> {
    let works = [LedgerClass::OnCpu, LedgerClass::CpuWait];
    let of_life = formula::of_life(thread.id, &works);
    let thread = &thread.entity;
    let mut evidence = vec![
        share(
            facts,
            "busiest thread on a CPU, or waiting for one",
            "thread.run_ns + wait_ns",
            thread,
            target.busiest_works,
            least_works(facts),
        )
        .by(of_life),
    ];
    evidence.extend(facts.in_flight().map(|requests| {
        let what = ("requests in progress", "count");
        let column = "signal.latency_mean_ns";
        number(
            facts,
            what,
            column,
            &target.entity,
            requests,
            IN_FLIGHT.value(),
        )
        .by(formula::in_progress(1.0))
    }));
    evidence.extend(behind(facts).map(|threads| {
        let what = "other threads of the target that waited for it, at a time";
        number(
            facts,
            (what, "count"),
            "wakeup.wait_ns",
            thread,
            threads,
            BEHIND.value(),
        )
    }));
    evidence
}

/// *Measured* where the thread never rests, and it is known that something is behind it, either way.
fn confidence(facts: &Facts<'_>, target: &Subject) -> Confidence {
    let never_rests = target.busiest_works >= THREAD.value();
    let sure = never_rests
        && facts.window.seconds() >= facts.thresholds.gates.steady_seconds
        && (facts.in_flight().is_some() || behind(facts).is_some())
        && facts.effective_busy.is_some();
    match sure {
        true => Confidence::Measured,
        false => Confidence::Consistent,
    }
}
