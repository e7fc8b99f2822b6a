//! Segments are lost on the way and must be sent again.

use model::{Confidence, Finding, Whose};

use super::cause::{Case, Cause, Judgement, Kind, NoFinding, absent, cannot_tell};
use super::evidence::{machine, outside_target, share};
use super::family::Family;
use crate::facts::Facts;
use crate::formula;
use crate::in_line::WORTH_SHOWING;
use crate::number_format::{percent, rate};
use crate::stats::ratio;
use crate::thresholds::{RETRANSMITTED, Threshold};

const OUTSIDE: Threshold = Threshold::share(
    "outside",
    0.20,
    "Part of the response time outside the target, or sent to it and not taken",
);

pub(super) const CAUSE: Cause = Cause {
    name: "net.loss",
    help: "Segments are lost on the way between generator and target, and must be sent again.",
    about: "the connection that suffers, else the machine",
    kind: Kind::Limit,
    family: Family::Outside,
    told_by: "Retransmitted segments of the target's own connections (sock_diag), or of the machine (/proc/net/snmp), while a good part of the response time is outside the target, or sent to it while no thread of it was busy: a request that is lost on its way.",
    thresholds: &[RETRANSMITTED, OUTSIDE],
    upstream: &[],
    wait: None,
    would_help: &["a way that loses nothing"],
    would_not_help: Some(&["a faster server"]),
    to_confirm: "run the generator on the server's own machine: if throughput stays the same, this is wrong",
    judge,
};

fn judge(case: &Case<'_>) -> Judgement {
    let facts = case.facts;
    let target = case.seen()?;
    let own = facts.network.path.as_ref();
    if own.is_none() {
        over_tcp(facts, &target.name)?;
    }
    let of_own = own.and_then(|path| path.retransmitted);
    let Some(lost) = of_own.or(facts.network.retransmitted) else {
        return cannot_tell("what was sent again was not recorded");
    };
    let again = format!("{} of the segments were sent again", percent(lost));
    if lost < RETRANSMITTED.value() {
        return absent(again);
    }
    let on_the_way = on_the_way(facts);
    let outside = facts.outside().unwrap_or(0.0) + on_the_way;
    let (cost, whole) = (percent(outside), facts.whole());
    let beside = match on_the_way >= WORTH_SHOWING {
        true => format!("outside {}, or sent and not taken by it", target.name),
        false => format!("outside {}", target.name),
    };
    if outside < OUTSIDE.value() {
        return absent(format!("{again}, but only {cost} of {whole} was {beside}"));
    }
    let sent_again = match own.filter(|path| path.retransmitted.is_some()) {
        Some(path) => {
            let whose = Whose::Serving { role: path.role };
            let of_path = |column| formula::growth("connection", &[column], whose);
            formula::part(of_path("retransmitted_segments"), of_path("segments_out"))
        }
        None => {
            let of_all = |column| formula::rate("tcp", &[column], Whose::All);
            formula::part(of_all("retransmitted_segments"), of_all("out_segments"))
        }
    };
    let entity = own.map_or_else(|| machine(facts), |path| path.entity.clone());
    let sentence = format!("The network loses data: {again}, and {cost} of {whole} was {beside}.");
    Ok(Finding {
        share: Some(outside),
        evidence: vec![
            share(
                facts,
                "segments sent again",
                "connection.retransmitted_segments",
                &entity,
                lost,
                RETRANSMITTED.value(),
            )
            .by(sent_again),
            outside_target(facts, &target.entity, outside, OUTSIDE.value()),
        ],
        would_help: case.would_help(outside),
        ..case.finding(&entity, Confidence::Consistent, sentence)
    })
}

/// The part of the response time in which requests were lost on their way to a target on this machine, at most: there they
/// are timed from their sending, and no thread is busy with one that has not come.
fn on_the_way(facts: &Facts<'_>) -> f64 {
    /// What is lost is sent again after so long, s: the least timeout (TCP_RTO_MIN, include/net/tcp.h).
    const TIMEOUT: f64 = 0.2;
    let again = facts.network.sent_again.zip(facts.in_flight());
    let most = again.and_then(|(per_second, requests)| ratio(per_second * TIMEOUT, requests));
    facts.line.left().min(most.unwrap_or(0.0))
}

/// Requests did not go over TCP where the whole machine sent fewer segments than requests were answered.
pub(super) fn over_tcp(facts: &Facts<'_>, target: &str) -> Result<(), NoFinding> {
    match facts.network.sent.zip(facts.signal) {
        Some((sent, signal)) if sent < signal.throughput => absent(format!(
            "the machine sent {} segments per second, fewer than {target} answered requests: they did not go over TCP",
            rate(sent)
        )),
        _ => Ok(()),
    }
}
