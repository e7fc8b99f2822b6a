//! Who talks to whom, as a person reads it: by the service's port or path, with how many processes ask there.
//!
//! Where both ends are on this machine, each has its flow, and the servers' are counted. Nothing here decides a cause.

mod traffic;
mod turned_away;

use std::collections::{BTreeMap, BTreeSet};

use model::{Party, PortReport, Report, Role, Timeline, Window};
use sensors::flow::{Peer, Protocol, Side};

use traffic::{Traffic, flows};
pub use turned_away::{ToldBy, TurnedAway};

/// Ports in a report, at most, and names and addresses of each.
const MOST_PORTS: usize = 20;
const MOST_NAMES: usize = 10;
/// Names that a sentence has.
const NAMED: usize = 2;

/// The report with whom processes talked to over its window, where that was recorded.
pub(crate) fn with_connections(mut report: Report, timeline: &Timeline) -> Report {
    report.connections = ports(timeline, report.window);
    report
}

/// A service's port or path.
type Place = (Protocol, u16, Option<String>);

/// Those of a measured process first, then those with most bytes.
fn ports(timeline: &Timeline, window: Window) -> Vec<PortReport> {
    let mut by_place: BTreeMap<Place, Vec<Traffic>> = BTreeMap::new();
    let own = flows(timeline, window)
        .into_iter()
        // Stallscope's own are accounted for as its cost.
        .filter(|it| it.role != Role::Recorder && it.name.side != Side::Neither);
    for flow in own {
        let path = match &flow.name.peer {
            Peer::Path(path) => Some(path.clone()),
            _ => None,
        };
        let place = (flow.name.protocol, flow.name.port, path);
        by_place.entry(place).or_default().push(flow);
    }
    let mut ports: Vec<PortReport> = by_place
        .into_iter()
        .flat_map(|(place, flows)| reports(&place, &flows, window))
        .collect();
    let is_measured = |it: &PortReport| {
        let mut parties = it.servers.iter().chain(&it.clients);
        parties.any(|it| it.role != Role::Background)
    };
    let bytes = |it: &PortReport| it.asked_bytes_per_second + it.answered_bytes_per_second;
    ports.sort_by(|a, b| {
        let order = is_measured(b).cmp(&is_measured(a));
        order
            .then(bytes(b).total_cmp(&bytes(a)))
            .then_with(|| (&a.protocol, a.port, &a.path).cmp(&(&b.protocol, b.port, &b.path)))
    });
    ports.truncate(MOST_PORTS);
    ports
}

/// What is served at a place, and what is called there of others: a port may be served here and on other machines too.
fn reports(place: &Place, flows: &[Traffic], window: Window) -> Vec<PortReport> {
    let side = |side| flows.iter().filter(move |it| it.name.side == side);
    let serves: Vec<&Traffic> = side(Side::Server).collect();
    let ends: BTreeSet<&Peer> = serves.iter().map(|it| &it.name.peer).collect();
    // Whoever connects to an address of its own host does so from the same address.
    let is_here = |it: &&Traffic| {
        !serves.is_empty() && (is_near(&it.name.peer) || ends.contains(&it.name.peer))
    };
    let (near, far): (Vec<&Traffic>, Vec<&Traffic>) = side(Side::Client).partition(is_here);
    let served = (!serves.is_empty()).then(|| report(place, &serves, &near, window));
    let called = (!far.is_empty()).then(|| report(place, &[], &far, window));
    served.into_iter().chain(called).collect()
}

fn is_near(peer: &Peer) -> bool {
    match peer {
        Peer::Address(address) => address.starts_with("127.") || address == "::1",
        Peer::Path(_) => true,
        Peer::Any | Peer::Others | Peer::Pair => false,
    }
}

fn report(place: &Place, serves: &[&Traffic], asks: &[&Traffic], window: Window) -> PortReport {
    let is_served = !serves.is_empty();
    let counted = if is_served { serves } else { asks };
    let sum = |column: &str| counted.iter().map(|it| it.of(column)).sum::<f64>();
    // Attempts to connect are known to whoever makes them.
    let tried = |column: &str| asks.iter().map(|it| it.of(column)).sum::<f64>();
    let mean = |own: &[&Traffic], total: &str, count: &str| {
        let [total, count] =
            [total, count].map(|it| own.iter().map(|flow| flow.of(it)).sum::<f64>());
        (count > 0.5).then(|| total / count)
    };
    let seconds = window.seconds().max(1e-9);
    let (sent, received) = (sum("sent_bytes") / seconds, sum("received_bytes") / seconds);
    let (protocol, port, path) = place;
    let (requests, segments) = (sum("requests"), sum("sends"));
    let peers = by_bytes(counted.iter().filter_map(|it| match &it.name.peer {
        Peer::Address(address) => Some((address.clone(), it.bytes())),
        _ => None,
    }));
    let mut report = PortReport {
        sentence: String::new(),
        is_served,
        protocol: protocol.word().to_owned(),
        port: *port,
        path: path.clone(),
        servers: parties(serves),
        clients: parties(asks),
        client_processes: processes(asks),
        peer_count: peers.len() as u32,
        peers: peers.into_iter().take(MOST_NAMES).collect(),
        open: counted.iter().map(|it| it.open).sum(),
        opened: sum("opened").round() as u64,
        opened_per_second: sum("opened") / seconds,
        short_lived: sum("short_lived").round() as u64,
        refused: tried("refused").round() as u64,
        reset: sum("reset").round() as u64,
        timed_out: sum("timed_out").max(tried("timed_out")).round() as u64,
        failed: tried("failed").round() as u64,
        asked_bytes_per_second: if is_served { received } else { sent },
        answered_bytes_per_second: if is_served { sent } else { received },
        requests_per_second: (requests > 0.5).then(|| requests / seconds),
        rtt_ns: mean(counted, "rtt_ns", "rtts"),
        connect_ns: mean(asks, "connect_ns", "connects"),
        answer_ns: mean(asks, "answer_ns", "answers"),
        retransmitted: (*protocol == Protocol::Tcp && segments > 0.5)
            .then(|| (sum("retransmitted") / segments).clamp(0.0, 1.0)),
    };
    report.sentence = sentence(&report);
    report
}

fn processes(flows: &[&Traffic]) -> u32 {
    let pids: BTreeSet<u32> = flows.iter().map(|it| it.name.pid).collect();
    pids.len() as u32
}

/// Processes by name, those with most bytes first.
fn parties(flows: &[&Traffic]) -> Vec<Party> {
    let names = by_bytes(flows.iter().map(|it| (it.name.process.clone(), it.bytes())));
    let party = |name: String| {
        let own: Vec<&Traffic> = flows
            .iter()
            .filter(|it| it.name.process == name)
            .copied()
            .collect();
        let mut roles = own.iter().map(|it| it.role);
        Party {
            processes: processes(&own),
            role: roles.find(|it| *it != Role::Background).unwrap_or_default(),
            name,
        }
    };
    names.into_iter().take(MOST_NAMES).map(party).collect()
}

/// Each once, those with most first.
fn by_bytes(all: impl Iterator<Item = (String, f64)>) -> Vec<String> {
    let mut sums: BTreeMap<String, f64> = BTreeMap::new();
    for (name, bytes) in all {
        *sums.entry(name).or_default() += bytes;
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    sums.into_iter().map(|(name, _)| name).collect()
}

/// `26 postgres processes -> port 7100 of 10.0.0.3`, `pgbench and 3 addresses -> port 5432 (postgres)`.
fn sentence(report: &PortReport) -> String {
    let mut who: Vec<String> = named(&report.clients);
    let far = report
        .peers
        .iter()
        .filter(|it| !is_near(&Peer::Address((*it).clone())));
    if report.is_served && far.count() > 0 {
        who.push(match report.peer_count {
            1 => report.peers[0].clone(),
            count => format!("{count} addresses"),
        });
    }
    let who = match who.is_empty() {
        true => "clients that are not known".to_owned(),
        false => who.join(" and "),
    };
    let place = match (&report.path, &*report.protocol, report.port) {
        (Some(path), ..) => path.clone(),
        (None, "unix", _) => "unix sockets".to_owned(),
        (None, "udp", 0) => "a UDP port that is not known".to_owned(),
        (None, "udp", port) => format!("UDP port {port}"),
        (None, _, port) => format!("port {port}"),
    };
    let whose = match (report.is_served, report.peer_count) {
        (true, _) => format!(" ({})", named(&report.servers).join(", ")),
        (false, 0) => String::new(),
        (false, 1) => format!(" of {}", report.peers[0]),
        (false, count) => format!(" of {count} addresses"),
    };
    format!("{who} -> {place}{whose}")
}

/// `26 postgres processes`, `pgbench`; the rest is a number.
fn named(parties: &[Party]) -> Vec<String> {
    let mut all: Vec<String> = parties
        .iter()
        .take(NAMED)
        .map(|it| match it.processes {
            1 => it.name.clone(),
            count => format!("{count} {} processes", it.name),
        })
        .collect();
    let more: u32 = parties.iter().skip(NAMED).map(|it| it.processes).sum();
    if more > 0 {
        all.push(format!("{more} more"));
    }
    all
}

#[cfg(test)]
mod tests;
