//! Connections or packets are refused because a queue is full.

use model::{Confidence, Entity, Finding, Formula, Whose};

use super::cause::{Case, Cause, Judgement, Kind, absent, cannot_tell};
use super::evidence::{machine, number};
use super::family::Family;
use crate::facts::Facts;
use crate::formula;
use crate::network::Drops;
use crate::number_format::{count, percent, rate};
use crate::thresholds::{RETRANSMITTED, Threshold};

const REFUSED: Threshold = Threshold::new(
    "refused",
    1.0,
    "per second",
    "Connections or packets refused because a queue was full",
);

pub(super) const CAUSE: Cause = Cause {
    name: "net.backlog",
    help: "Connections or packets are refused because a queue is full.",
    about: "the machine, or the interface that drops",
    kind: Kind::Limit,
    family: Family::Outside,
    told_by: "Connections that found the listener's queue full (ListenOverflows, TCPBacklogDrop of /proc/net/netstat), packets that a CPU (softnet) or an interface dropped. Each costs a client a retry of a second or more, so a few per second matter. They are counted for the whole machine, and other services have queues too: they count only where a part of the response time, or of the clients, is not accounted for, and that part is the most that they can have cost. Of packets at least as large a part must be dropped as counts as loss (`net_loss.retransmitted`): machines drop packets that nobody wants.",
    thresholds: &[REFUSED],
    upstream: &[],
    wait: None,
    would_help: &[],
    would_not_help: None,
    to_confirm: "make that queue longer (listeners: the server's backlog, net.core.somaxconn; ss -ltn shows them): if throughput stays the same, this is wrong",
    judge,
};

/// A queue that refused something.
struct FullQueue {
    what: String,
    column: &'static str,
    entity: Entity,
    /// Refused connections or packets per second.
    refused: f64,
    formula: Formula,
}

fn judge(case: &Case<'_>) -> Judgement {
    let facts = case.facts;
    case.target()?;
    let queues = full_queues(facts).into_iter();
    let worst = queues.max_by(|a, b| a.refused.total_cmp(&b.refused));
    if let Some(queue) = worst.filter(|queue| queue.refused >= REFUSED.value()) {
        return Ok(present(case, &queue));
    }
    let network = &facts.network;
    let (Some(overflows), Some(_)) = (network.overflows, network.softnet_drops) else {
        return cannot_tell("queues of the network were not recorded");
    };
    absent(if overflows >= REFUSED.value() {
        format!(
            "{} connections per second found a full queue on this machine, and no part of the requests is missing",
            rate(overflows)
        )
    } else {
        "no queue of the network was full".to_owned()
    })
}

/// The queues that refused what may have cost the target something.
fn full_queues(facts: &Facts<'_>) -> Vec<FullQueue> {
    let network = &facts.network;
    let hurts = |per_second: &f64| *per_second < REFUSED.value() || is_something_missing(facts);
    // One packet in a thousand is lost on any busy line, and sent again.
    let matters = |drops: &Drops| {
        drops.part.is_none_or(|part| part >= RETRANSMITTED.value()) && hurts(&drops.per_second)
    };
    let listening = network.overflows.filter(hurts).map(|refused| FullQueue {
        what: "connections refused by a full listen queue".to_owned(),
        column: "tcp.listen_overflows",
        entity: machine(facts),
        refused,
        formula: per_second(
            "tcp",
            &["listen_overflows", "backlog_drops", "request_queue_drops"],
            Whose::All,
        ),
    });
    let cpus = network.softnet_drops.filter(matters);
    let cpus = cpus.map(|drops| FullQueue {
        what: "packets dropped by CPUs".to_owned(),
        column: "softnet.dropped",
        entity: machine(facts),
        refused: drops.per_second,
        formula: per_second("softnet", &["dropped"], Whose::All),
    });
    let interface = network.interface_drops.as_ref();
    let interface = interface.filter(|(.., drops)| matters(drops));
    let interface = interface.map(|(id, interface, drops)| FullQueue {
        what: format!("packets dropped by {}", interface.name),
        column: "network.rx_drops",
        entity: interface.clone(),
        refused: drops.per_second,
        formula: per_second("network", &["rx_drops", "tx_drops"], formula::one(*id)),
    });
    [listening, cpus, interface].into_iter().flatten().collect()
}

fn per_second(table: &str, columns: &[&str], whose: Whose) -> Formula {
    formula::alone(formula::rate(table, columns, whose))
}

fn present(case: &Case<'_>, queue: &FullQueue) -> Finding {
    let facts = case.facts;
    let what = queue.what.as_str();
    let sentence = format!(
        "A queue of the network is full: {what}, {} per second{}.",
        rate(queue.refused),
        at_most(facts)
    );
    let refused = number(
        facts,
        (what, "per_second"),
        queue.column,
        &queue.entity,
        queue.refused,
        REFUSED.value(),
    );
    Finding {
        // At most: what nobody else accounts for.
        share: facts.signal.map(|_| facts.unexplained()),
        evidence: vec![refused.by(queue.formula.clone())],
        ..case.finding(&queue.entity, Confidence::Consistent, sentence)
    }
}

/// What it can have cost, in brackets.
fn at_most(facts: &Facts<'_>) -> String {
    let unexplained = facts.unexplained();
    if unexplained >= facts.floor {
        let (cost, whole) = (percent(unexplained), facts.whole());
        return format!(" (nothing else accounts for {cost} of {whole})");
    }
    away(facts).map_or(String::new(), |(in_flight, clients)| {
        let clients = count(clients, "client");
        let at_a_time = rate(in_flight);
        format!(" (of {clients} only {at_a_time} waited for an answer at a time)")
    })
}

/// Requests in progress and clients of a closed loop, where not all of these have one.
fn away(facts: &Facts<'_>) -> Option<(f64, u32)> {
    let all = facts.in_flight().zip(facts.closed_loop());
    let floor = facts.floor;
    all.filter(|(in_flight, clients)| *in_flight < f64::from(*clients) * (1.0 - floor))
}

/// Whether time of requests, or clients, are missing from what is accounted for.
fn is_something_missing(facts: &Facts<'_>) -> bool {
    facts.signal.is_none() || facts.unexplained() >= facts.floor || away(facts).is_some()
}
