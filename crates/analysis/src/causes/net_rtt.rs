//! The way between generator and target is long.

use model::{Confidence, Finding};

use super::evidence::{finding, share};
use super::net_loss::not_over_tcp;
use super::{Cause, Judgement, Kind, explained_by, seen};
use crate::bounds;
use crate::facts::Facts;
use crate::number_format::{duration, percent};
use crate::thresholds::Thresholds;

pub(super) const CAUSE: Cause = Cause {
    name: "net.rtt",
    help: "The way between generator and target is long: each request waits for the network.",
    about: "the connection with the longest round trip",
    kind: Kind::Limit,
    told_by: "The least round trip that the kernel saw on each TCP connection of the target (`tcp_info`, by sock_diag), held against the response time. The least one is taken since delayed acknowledgements lengthen the mean. Where no connection was seen and much of the response time is outside the target, it cannot be told.",
    judge,
};

fn judge(facts: &Facts<'_>, thresholds: &Thresholds, found: &[Finding]) -> Judgement {
    if let Some(judgement) = explained_by(found, &["net.loss"]) {
        return judgement;
    }
    let target = match seen(facts) {
        Ok(target) => target,
        Err(judgement) => return judgement,
    };
    // At the target's own sockets no round trip is part of the response time.
    let outside = facts.outside().unwrap_or(0.0);
    let least = thresholds.net_rtt.part;
    let Some(path) = &facts.network.path else {
        let unseen = format!("no TCP connection of {} was seen", target.name);
        // Over a unix socket there is none; a way that was not seen may be long.
        return match not_over_tcp(facts, &target.name) {
            Some(judgement) => judgement,
            None if outside < least => Judgement::Absent(unseen),
            None => Judgement::CannotTell(unseen),
        };
    };
    let Some(response_ns) = facts.signal.and_then(|signal| signal.latency_ns) else {
        return Judgement::CannotTell(
            "no response time is known to hold the round trip against".to_owned(),
        );
    };
    let part = (path.rtt_ns / response_ns.max(1.0)).min(outside);
    if part < least {
        return Judgement::Absent(format!(
            "a round trip took {}, {} of {}",
            duration(path.rtt_ns),
            percent(part),
            facts.whole()
        ));
    }
    let sentence = format!(
        "The network is the bottleneck: a round trip to {} takes {}, {} of {}.",
        target.name,
        duration(path.rtt_ns),
        percent(part),
        facts.whole()
    );
    Judgement::Present(Box::new(Finding {
        share: Some(part),
        evidence: vec![share(facts, "round trip", "connection.rtt_min_ns", &path.entity, part, least)],
        would_help: vec![
            bounds::without_wait(facts, part, "generator and target next to each other".to_owned()),
            bounds::more_clients(facts, "more clients: they wait for the way at the same time".to_owned()),
        ],
        would_not_help: bounds::useless(facts, &["a faster server"]),
        to_confirm: "run the generator on the server's own machine: if throughput stays the same, this is wrong".to_owned(),
        ..finding(CAUSE.name, &path.entity, Confidence::Consistent, sentence)
    }))
}
