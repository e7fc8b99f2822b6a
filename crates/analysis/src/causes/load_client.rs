//! The load generator itself is the limit: its thread has no time left, and the target waits for work.

use model::{Confidence, Finding};

use super::evidence::{finding, share};
use super::{Cause, Judgement, Kind, no_target};
use crate::bounds;
use crate::facts::Facts;
use crate::number_format::{count, percent};
use crate::subject::Subject;
use crate::thresholds::Thresholds;

pub(super) const CAUSE: Cause = Cause {
    name: "load.client",
    help: "The load generator is the limit: its threads have no time left, and the target waits for work.",
    about: "the generator",
    kind: Kind::Limit,
    told_by: "A thread of the generator that never rests (on a CPU, or waiting for one) cannot ask for more, and the target waits for work meanwhile. What stands outside the target is then the generator's own time.",
    judge,
};

fn judge(facts: &Facts<'_>, thresholds: &Thresholds, _found: &[Finding]) -> Judgement {
    let Some(target) = &facts.target else {
        return no_target(facts);
    };
    let Some(generator) = facts
        .generator
        .as_ref()
        .filter(|generator| generator.active_threads > 0)
    else {
        return Judgement::CannotTell("no load generator was measured".to_owned());
    };
    if facts.signal.is_none() {
        return Judgement::CannotTell(format!(
            "{} gave no response times to compare with",
            generator.name
        ));
    }
    if facts.account.is_none() {
        return Judgement::CannotTell(format!(
            "the threads of {} were not seen in this window",
            target.name
        ));
    }
    let limits = &thresholds.load_client;
    if never_rests(generator, thresholds).is_none() {
        let busiest = percent(generator.busiest);
        return Judgement::Absent(format!(
            "the busiest thread of {} was on a CPU for {busiest} of the time",
            generator.name
        ));
    }
    let Some(outside) = facts.outside() else {
        return Judgement::CannotTell(format!(
            "response times were taken at {}'s own sockets, and not at those of {}",
            target.name, generator.name
        ));
    };
    if outside < limits.outside {
        return Judgement::Absent(format!(
            "only {} of {} was outside {}",
            percent(outside),
            facts.whole(),
            target.name
        ));
    }
    Judgement::Present(Box::new(present(
        facts, thresholds, target, generator, outside,
    )))
}

/// How much the generator's busiest thread worked, where it never rested.
pub(super) fn never_rests(generator: &Subject, thresholds: &Thresholds) -> Option<f64> {
    let limits = &thresholds.load_client;
    (generator.busiest_works >= limits.thread && generator.busiest >= limits.on_cpu)
        .then_some(generator.busiest_works)
}

fn present(
    facts: &Facts<'_>,
    thresholds: &Thresholds,
    target: &Subject,
    generator: &Subject,
    outside: f64,
) -> Finding {
    let limits = &thresholds.load_client;
    let threads = match generator.active_threads {
        1 => "one thread was".to_owned(),
        n => format!("busiest of {} was", count(n, "thread")),
    };
    let sentence = format!(
        "The load generator is the bottleneck: {}'s {threads} on a CPU {} of the time, and {} of {} was outside {}.",
        generator.name,
        percent(generator.busiest),
        percent(outside),
        facts.whole(),
        target.name
    );
    // On-CPU time is exact, and there is no second by second share to put an interval around.
    let sure = facts.window.seconds() >= thresholds.gates.steady_seconds;
    Finding {
        share: Some(outside),
        evidence: vec![
            share(
                facts,
                "busiest thread on a CPU, or waiting for one",
                "thread.run_ns + wait_ns",
                &generator.entity,
                generator.busiest_works,
                limits.thread,
            ),
            share(
                facts,
                "busiest thread on a CPU",
                "thread.run_ns",
                &generator.entity,
                generator.busiest,
                limits.on_cpu,
            ),
            share(
                facts,
                "outside the target",
                "signal.latency_mean_ns",
                &target.entity,
                outside,
                limits.outside,
            ),
        ],
        would_help: vec![bounds::faster_generator(
            facts,
            format!(
                "more threads for {}, or less work per request in it",
                generator.name
            ),
        )],
        would_not_help: bounds::useless(
            facts,
            &["more clients", &format!("a faster {}", target.name)],
        ),
        to_confirm: format!(
            "give {} twice the threads: if throughput stays the same, this is wrong",
            generator.name
        ),
        ..finding(
            CAUSE.name,
            &generator.entity,
            if sure {
                Confidence::Measured
            } else {
                Confidence::Consistent
            },
            sentence,
        )
    }
}
