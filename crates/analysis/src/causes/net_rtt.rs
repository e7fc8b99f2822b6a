//! The way between generator and target is long.

use model::{Amount, Confidence, Evidence, Finding, Formula, Role, Whose};

use super::cause::{Case, Cause, Judgement, Kind, Upstream, absent, cannot_tell};
use super::evidence::share;
use super::family::Family;
use super::formulas;
use super::net_loss::over_tcp;
use crate::bounds;
use crate::facts::Facts;
use crate::formula;
use crate::network::Path;
use crate::number_format::{duration, integer, percent};
use crate::thresholds::{Threshold, WAKE_UP};

const PART: Threshold = Threshold::share(
    "part",
    0.30,
    "Least round trip between generator and target, of the response time",
);

/// From so many requests of an operation on they are several in words.
const SEVERAL: f64 = 1.5;
/// What spares all trips of an operation but one.
const ONE_TRIP: &str =
    "one round trip for all of it: a batch, a procedure in the server, or a pipeline";

pub(super) const CAUSE: Cause = Cause {
    name: "net.rtt",
    help: "The way between generator and target is long: each request waits for the network.",
    about: "the connection with the longest round trip",
    kind: Kind::Limit,
    family: Family::Outside,
    told_by: "The least round trip that the kernel saw on each TCP connection of the target (`tcp_info`, by sock_diag), held against the response time. Where both ends count more requests than the load does operations, as a transaction of several statements, each of them is a trip. The least one is taken since delayed acknowledgements lengthen the mean. A way no longer than a wake-up takes is none. Where no connection was seen and much of the response time is outside the target, it cannot be told.",
    thresholds: &[PART, WAKE_UP],
    upstream: &[Upstream::All("net.loss")],
    wait: None,
    would_help: &["generator and target next to each other"],
    would_not_help: Some(&["a faster server"]),
    to_confirm: "run the generator on the server's own machine: if throughput stays the same, this is wrong",
    judge,
};

fn judge(case: &Case<'_>) -> Judgement {
    let facts = case.facts;
    let target = case.seen()?;
    // At the target's own sockets no round trip is part of the response time.
    let outside = facts.outside().unwrap_or(0.0);
    // Idle threads that are taken for busy ones leave no room for the way; what both ends' sockets say does not ask them.
    let between = facts
        .between_ends()
        .filter(|it| facts.is_partly_idle() && *it > outside);
    let outside = between.unwrap_or(outside);
    let Some(path) = &facts.network.path else {
        let unseen = format!("no TCP connection of {} was seen", target.name);
        // Over a unix socket there is none; a way that was not seen may be long.
        over_tcp(facts, &target.name)?;
        return match outside - facts.thought() < PART.value() {
            true => absent(unseen),
            false => cannot_tell(unseen),
        };
    };
    let Some(response_ns) = facts.signal.and_then(|signal| signal.latency_ns) else {
        return cannot_tell("no response time is known to hold the round trip against");
    };
    let trips = facts.requests_of_one() / facts.requests_at_once();
    let way = trips * path.rtt_ns / response_ns.max(1.0);
    let part = way.min(outside);
    let cost = way_in_words(facts, path, part);
    if part < PART.value() {
        return absent(format!("a round trip took {cost}"));
    }
    if let Some(ns) = facts.within_wake_up_ns(part) {
        return absent(format!(
            "round trips took {} of each request, about as long as a wake-up takes",
            duration(ns)
        ));
    }
    let sentence = format!(
        "The network is the bottleneck: a round trip to {} takes {cost}.",
        target.name
    );
    // What the sockets of both ends leave for the way may be less than a trip takes that TCP itself timed.
    let mut would_help = case.would_help(way);
    if trips >= SEVERAL {
        let spared = part * (1.0 - 1.0 / trips);
        would_help.push(bounds::without_wait(facts, spared, ONE_TRIP.to_owned()));
    }
    would_help.push(bounds::more_clients(
        facts,
        "more clients: they wait for the way at the same time".to_owned(),
    ));
    let (what, column) = ("round trip", "connection.rtt_min_ns");
    let evidence = Evidence {
        formula: formulas::outside(facts)
            .filter(|_| between.is_none())
            .map(|outside| of_response(facts, path, outside)),
        ..share(facts, what, column, &path.entity, part, PART.value())
    };
    Ok(Finding {
        share: Some(part),
        evidence: vec![evidence],
        would_help,
        ..case.finding(&path.entity, Confidence::Consistent, sentence)
    })
}

/// How long a trip takes, and what part of the response time that is, with the others of the same operation.
fn way_in_words(facts: &Facts<'_>, path: &Path, part: f64) -> String {
    let (trip, cost) = (duration(path.rtt_ns), percent(part));
    match facts.requests_of_one() {
        several if several >= SEVERAL => format!(
            "{trip}, and each operation of the load makes {} of them: {cost} of its time",
            integer(several.round())
        ),
        _ => format!("{trip}, {cost} of {}", facts.whole()),
    }
}

/// How the part of the response time is worked out that round trips take: at most what is outside.
fn of_response(facts: &Facts<'_>, path: &Path, outside: Formula) -> Formula {
    let trip = Amount::Weighed {
        table: "connection".to_owned(),
        column: "rtt_min_ns".to_owned(),
        by: "segments_out".to_owned(),
        whose: Whose::Serving { role: path.role },
    };
    let trips = match facts.requests_of_one() {
        1.0 => trip,
        _ => {
            let requests = formula::growth("calls", &["requests"], formula::role(Role::Generator));
            formula::product([trip, formula::ratio(requests, Amount::Completed)])
        }
    };
    let trips = match facts.requests_at_once() {
        1.0 => trips,
        at_once => formula::ratio(trips, formula::number(at_once)),
    };
    let latency = formula::ratio(Amount::Requests, Amount::Completed);
    let outside = formula::ratio(outside.of, outside.per);
    formula::alone(formula::least([formula::ratio(trips, latency), outside]))
}
