//! Connections or packets are refused because a queue is full.

use model::{Confidence, Entity, Finding};

use super::evidence::{finding, machine, number};
use super::{Cause, Judgement, Kind};
use crate::facts::Facts;
use crate::thresholds::Thresholds;
use crate::words::rate;

pub(super) const CAUSE: Cause = Cause {
    name: "net.backlog",
    help: "Connections or packets are refused because a queue is full.",
    about: "the machine, or the interface that drops",
    kind: Kind::Failure,
    told_by: "Connections that found the listener's queue full (ListenOverflows, TCPBacklogDrop of /proc/net/netstat), packets that a CPU (softnet) or an interface dropped. Each costs a client a retry of a second or more, so a few per second matter. Machines also drop packets that nobody wants: dropped packets count only where a part of the response time is not explained.",
    judge,
};

fn judge(facts: &Facts<'_>, thresholds: &Thresholds, _found: &[Finding]) -> Judgement {
    if facts.target.is_none() {
        return super::no_target(facts);
    }
    let network = &facts.network;
    // A machine drops packets that nobody wants, too: they count where time is missing.
    let missed = 1.0 - super::healthy::explained(facts) >= thresholds.floors.share;
    let hurts =
        |drops: &f64| missed || facts.signal.is_none() || *drops < thresholds.net_backlog.refused;
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
            network.overflows,
        ),
        (
            "packets dropped by CPUs",
            "softnet.dropped",
            &here,
            network.softnet_drops.filter(hurts),
        ),
        (
            &by_interface,
            "network.rx_drops",
            dropping.map_or(&here, |(interface, _)| interface),
            dropping.map(|(_, drops)| *drops).filter(hurts),
        ),
    ];
    let worst = places
        .into_iter()
        .filter_map(|(what, column, entity, refused)| Some((what, column, entity, refused?)))
        .max_by(|a, b| a.3.total_cmp(&b.3));
    match worst {
        Some((what, column, entity, refused)) if refused >= least => {
            let sentence = format!(
                "A queue of the network is full: {what}, {} per second.",
                rate(refused)
            );
            Judgement::Present(Box::new(Finding {
                evidence: vec![number(facts, (what, "per_second"), column, entity, refused, least)],
                would_not_help: Vec::new(),
                prove_wrong: "see which: nstat -az TcpExtListenOverflows TcpExtTCPBacklogDrop; ss -ltn shows the queues".to_owned(),
                ..finding(CAUSE.name, entity, Confidence::Consistent, sentence)
            }))
        }
        _ if network.overflows.is_none() || network.softnet_drops.is_none() => {
            Judgement::CannotTell("queues of the network were not recorded".to_owned())
        }
        _ => Judgement::Absent("no queue of the network was full".to_owned()),
    }
}
