//! Connections or packets are refused because a queue is full.

use model::{Confidence, Entity, Finding};

use super::evidence::{finding, machine, number};
use super::{Cause, Judgement, Kind};
use crate::facts::Facts;
use crate::network::Drops;
use crate::number_format::{count, percent, rate};
use crate::thresholds::Thresholds;

pub(super) const CAUSE: Cause = Cause {
    name: "net.backlog",
    help: "Connections or packets are refused because a queue is full.",
    about: "the machine, or the interface that drops",
    kind: Kind::Limit,
    told_by: "Connections that found the listener's queue full (ListenOverflows, TCPBacklogDrop of /proc/net/netstat), packets that a CPU (softnet) or an interface dropped. Each costs a client a retry of a second or more, so a few per second matter. They are counted for the whole machine, and other services have queues too: they count only where a part of the response time, or of the clients, is not accounted for, and that part is the most that they can have cost. Of packets at least as large a part must be dropped as counts as loss (`net_loss.retransmitted`): machines drop packets that nobody wants.",
    judge,
};

fn judge(facts: &Facts<'_>, thresholds: &Thresholds, _found: &[Finding]) -> Judgement {
    if facts.target.is_none() {
        return super::no_target(facts);
    }
    let network = &facts.network;
    let hurts = |per_second: &f64| {
        *per_second < thresholds.net_backlog.refused || is_something_missing(facts, thresholds)
    };
    // One packet in a thousand is lost on any busy line, and sent again.
    let matters = |drops: &Drops| {
        let least = thresholds.net_loss.retransmitted;
        drops.part.is_none_or(|part| part >= least) && hurts(&drops.per_second)
    };
    let least = thresholds.net_backlog.refused;
    let here = machine(facts);
    let dropping = network.interface_drops.as_ref();
    let by_interface = dropping.map_or(String::new(), |(interface, _)| {
        format!("packets dropped by {}", interface.name)
    });
    let places: [(&str, &str, &Entity, Option<f64>); 3] = [
        (
            "connections refused by a full listen queue",
            "tcp.listen_overflows",
            &here,
            network.overflows.filter(hurts),
        ),
        (
            "packets dropped by CPUs",
            "softnet.dropped",
            &here,
            network
                .softnet_drops
                .filter(matters)
                .map(|drops| drops.per_second),
        ),
        (
            &by_interface,
            "network.rx_drops",
            dropping.map_or(&here, |(interface, _)| interface),
            dropping
                .map(|(_, drops)| *drops)
                .filter(matters)
                .map(|drops| drops.per_second),
        ),
    ];
    let worst = places
        .into_iter()
        .filter_map(|(what, column, entity, refused)| Some((what, column, entity, refused?)))
        .max_by(|a, b| a.3.total_cmp(&b.3));
    match worst {
        Some((what, column, entity, refused)) if refused >= least => {
            // At most: what nobody else accounts for.
            let cost = facts.signal.map(|_| facts.unexplained());
            let at_most = at_most(facts, thresholds);
            let sentence = format!(
                "A queue of the network is full: {what}, {} per second{at_most}.",
                rate(refused)
            );
            Judgement::Present(Box::new(Finding {
                share: cost,
                evidence: vec![number(facts, (what, "per_second"), column, entity, refused, least)],
                would_not_help: Vec::new(),
                to_confirm: "make that queue longer (listeners: the server's backlog, net.core.somaxconn; ss -ltn shows them): if throughput stays the same, this is wrong".to_owned(),
                ..finding(CAUSE.name, entity, Confidence::Consistent, sentence)
            }))
        }
        _ if network.overflows.is_none() || network.softnet_drops.is_none() => {
            Judgement::CannotTell("queues of the network were not recorded".to_owned())
        }
        _ => Judgement::Absent(
            match network.overflows.filter(|refused| *refused >= least) {
                Some(refused) => format!(
                    "{} connections per second found a full queue on this machine, and no part of the requests is missing",
                    rate(refused)
                ),
                None => "no queue of the network was full".to_owned(),
            },
        ),
    }
}

/// What it can have cost, in brackets.
fn at_most(facts: &Facts<'_>, thresholds: &Thresholds) -> String {
    let unexplained = facts.unexplained();
    if unexplained >= thresholds.floors.share {
        let (cost, whole) = (percent(unexplained), facts.whole());
        return format!(" (nothing else accounts for {cost} of {whole})");
    }
    away(facts, thresholds).map_or(String::new(), |(in_flight, clients)| {
        let clients = count(clients, "client");
        let at_a_time = rate(in_flight);
        format!(" (of {clients} only {at_a_time} waited for an answer at a time)")
    })
}

/// Requests in progress and clients of a closed loop, where not all of these have one.
fn away(facts: &Facts<'_>, thresholds: &Thresholds) -> Option<(f64, u32)> {
    let all = facts.in_flight().zip(facts.closed_loop());
    let floor = thresholds.floors.share;
    all.filter(|(in_flight, clients)| *in_flight < f64::from(*clients) * (1.0 - floor))
}

/// Whether time of requests, or clients, are missing from what is accounted for.
fn is_something_missing(facts: &Facts<'_>, thresholds: &Thresholds) -> bool {
    facts.signal.is_none()
        || facts.unexplained() >= thresholds.floors.share
        || away(facts, thresholds).is_some()
}
