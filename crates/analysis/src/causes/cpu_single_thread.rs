//! One thread of the target does all the work, and other CPUs have none.

use model::{Confidence, Finding, LedgerClass};

use super::evidence::{finding, number, share};
use super::{Cause, Judgement, Kind, explained_by, seen};
use crate::bounds;
use crate::facts::Facts;
use crate::number_format::{percent, rate};
use crate::thresholds::Thresholds;

pub(super) const CAUSE: Cause = Cause {
    name: "cpu.single_thread",
    help: "One thread of the target does all the work, and other CPUs have room.",
    about: "the thread",
    kind: Kind::Limit,
    told_by: "One thread has hardly a moment off its CPU, no other of the target comes near it, the machine's CPUs are not full, and several requests are in progress: they wait for that thread. A busy thread that serves no requests is not meant, unless the target's other threads wait for it: where programs in the kernel are allowed, that is known of a thread that goes by a name of its own, and said; threads at rest wait for work and do not count. With one request at a time no second thread could help, and it is not said.",
    judge,
};

fn judge(facts: &Facts<'_>, thresholds: &Thresholds, found: &[Finding]) -> Judgement {
    if let Some(judgement) = explained_by(
        found,
        &[
            "cpu.quota",
            "cpu.neighbour",
            "cpu.saturated",
            "cpu.imbalance",
        ],
    ) {
        return judgement;
    }
    let target = match seen(facts) {
        Ok(target) => target,
        Err(judgement) => return judgement,
    };
    let limits = &thresholds.cpu_single_thread;
    // Never at rest: what it does not run it waits for a CPU.
    if target.busiest_works < limits.thread || target.busiest < limits.on_cpu {
        return Judgement::Absent(format!(
            "the busiest thread of {} was on a CPU for {} of the time",
            target.name,
            percent(target.busiest)
        ));
    }
    let behind = facts.behind_busiest.filter(|it| *it >= limits.behind);
    if !target.busiest_serves && behind.is_none() {
        return Judgement::Absent(format!(
            "the busiest thread of {} serves no requests",
            target.name
        ));
    }
    if target.hot_threads > 1 {
        return Judgement::Absent(format!(
            "{} threads of {} were about as busy",
            target.hot_threads, target.name
        ));
    }
    if facts.effective_cpus < 2 {
        return Judgement::Absent(format!("{} may use one CPU only", target.name));
    }
    let in_flight = facts.in_flight();
    if in_flight.is_some_and(|requests| requests < limits.in_flight) {
        return Judgement::Absent(format!(
            "{} requests were in progress on average: one at a time needs one thread",
            rate(in_flight.unwrap_or(0.0))
        ));
    }
    let Some(thread) = target
        .busiest_thread
        .and_then(|id| facts.timeline.entities.get(id))
    else {
        return Judgement::CannotTell("the thread is not in the recording's list".to_owned());
    };
    let busy = facts.effective_busy.map_or(String::new(), |busy| {
        format!(", while the CPUs were {} busy", percent(busy))
    });
    let waiting = behind.map_or(String::new(), |threads| {
        format!(
            ", and {} other threads at a time waited for it",
            rate(threads)
        )
    });
    let sentence = format!(
        "One thread is the bottleneck: {} of {} was on a CPU for {} of the time{busy}{waiting}.",
        thread.entity.name,
        target.name,
        percent(target.busiest)
    );
    // What is outside the target waits in its sockets, but for what the generator did meanwhile.
    let inside = facts.share_of(&[LedgerClass::OnCpu, LedgerClass::Futex]);
    let cost = (inside + facts.in_line()).min(1.0);
    let mut evidence = vec![share(
        facts,
        "busiest thread on a CPU, or waiting for one",
        "thread.run_ns + wait_ns",
        &thread.entity,
        target.busiest_works,
        limits.thread,
    )];
    evidence.extend(in_flight.map(|requests| {
        number(
            facts,
            ("requests in progress", "count"),
            "signal.latency_mean_ns",
            &target.entity,
            requests,
            limits.in_flight,
        )
    }));
    evidence.extend(behind.map(|threads| {
        number(
            facts,
            (
                "other threads of the target that waited for it, at a time",
                "count",
            ),
            "wakeup.wait_ns",
            &thread.entity,
            threads,
            limits.behind,
        )
    }));
    // That something is behind it is known either way.
    let sure = facts.window.seconds() >= thresholds.gates.steady_seconds
        && (in_flight.is_some() || behind.is_some())
        && facts.effective_busy.is_some();
    Judgement::Present(Box::new(Finding {
        share: Some(cost),
        evidence,
        would_help: vec![bounds::more_threads(
            facts,
            format!(
                "the work of {} spread over {} CPUs",
                thread.entity.name, facts.effective_cpus
            ),
        )],
        would_not_help: bounds::useless(facts, &["more clients", "a machine with more CPUs"]),
        to_confirm: "run with twice the clients: if throughput grows, this is wrong".to_owned(),
        ..finding(
            CAUSE.name,
            &thread.entity,
            if sure {
                Confidence::Measured
            } else {
                Confidence::Consistent
            },
            sentence,
        )
    }))
}
