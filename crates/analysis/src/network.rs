//! What the network did: round trips, lost segments, full queues.

use std::collections::BTreeSet;

use model::{Entity, EntityId, EntityKind, Role, Timeline, Window};

use crate::measure::Of;
use crate::stats::ratio;

/// The network over the window; rates are per second.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Network {
    /// Connections between generator and target, or of the target where no generator is known.
    pub path: Option<Path>,
    /// Part of all TCP segments sent that were sent again.
    pub retransmitted: Option<f64>,
    /// Such segments per second.
    pub sent_again: Option<f64>,
    /// TCP segments sent by anybody.
    pub sent: Option<f64>,
    /// Connections that came and found the listener's queue full.
    pub overflows: Option<f64>,
    /// Packets that CPUs dropped because their queue of arrivals was full.
    pub softnet_drops: Option<Drops>,
    /// The interface that dropped most, and how many.
    pub interface_drops: Option<(EntityId, Entity, Drops)>,
}

/// Packets that were dropped.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Drops {
    /// How many.
    pub per_second: f64,
    /// Their part of all packets; `None` where those were not recorded.
    pub part: Option<f64>,
}

/// The way between generator and target.
#[derive(Clone, PartialEq, Debug)]
pub struct Path {
    /// Whose connections they are.
    pub role: Role,
    /// The connection with the longest round trip.
    pub entity: Entity,
    /// How many there are.
    pub connections: u32,
    /// Mean over connections of the least round trip that each saw, ns, by the segments that each
    /// sent: free of delayed acknowledgements, which lengthen the mean one, and of who is only connected.
    pub rtt_ns: f64,
    /// Part of the segments sent that were sent again.
    pub retransmitted: Option<f64>,
}

pub(crate) fn network(timeline: &Timeline, window: Window) -> Network {
    let Some(machine) = timeline.entities.machine() else {
        return Network::default();
    };
    let tcp = Of::new(timeline, "tcp", machine.id, window);
    let retransmitted = tcp
        .rate("retransmitted_segments")
        .zip(tcp.rate("out_segments"))
        .and_then(|(again, sent)| ratio(again, sent));
    let overflows = [
        tcp.rate("listen_overflows"),
        tcp.rate("backlog_drops"),
        tcp.rate("request_queue_drops"),
    ];
    Network {
        path: path(timeline, window),
        retransmitted,
        sent_again: tcp.rate("retransmitted_segments"),
        sent: tcp.rate("out_segments"),
        overflows: overflows.into_iter().flatten().reduce(|a, b| a + b),
        softnet_drops: softnet_drops(timeline, window),
        interface_drops: interface_drops(timeline, window),
    }
}

/// Both ends tell the same of a connection on this machine: the serving one is enough, unless others are connected to it
/// too, who may be nearer or farther.
fn path(timeline: &Timeline, window: Window) -> Option<Path> {
    let generators: BTreeSet<String> = other_ends(timeline).collect();
    let is_generators = |id: EntityId| {
        let record = timeline.entities.get(id);
        record.is_some_and(|it| generators.contains(&it.entity.name))
    };
    let mut of_target = connections(timeline, Role::Target).into_iter();
    let own = of_target.clone().filter(|it| is_generators(*it)).count();
    let first = match own > 0 && of_target.any(|it| !is_generators(it)) {
        true => [Role::Generator, Role::Target],
        false => [Role::Target, Role::Generator],
    };
    let ends = first.map(|role| path_of(timeline, role, window));
    // Of connections that hardly live the one end may know more than the other.
    let mut known = ends.into_iter().flatten();
    let first = known.next();
    let is_whole = |it: &Path| it.retransmitted.is_some();
    match first.as_ref().is_some_and(is_whole) {
        true => first,
        false => known.find(is_whole).or(first),
    }
}

/// The round trip of the generator's own connections, ns: the target may have others to its peers. `None` where it has
/// none over TCP.
pub(crate) fn generators_round_trip(timeline: &Timeline, window: Window) -> Option<f64> {
    Some(path_of(timeline, Role::Generator, window)?.rtt_ns)
}

/// What the generator's connections over TCP are called at the other end.
pub(crate) fn other_ends(timeline: &Timeline) -> impl Iterator<Item = String> {
    let all = connections(timeline, Role::Generator).into_iter();
    all.filter_map(|it| {
        let (here, there) = both_ends(&timeline.entities.get(it)?.entity.name)?;
        Some(format!("{there}-{here}"))
    })
}

/// The two ends of `10.1.2.3:40000-10.1.2.4:5432`, and of what a bundle calls it: `ip-1:40000-ip-2:5432`.
fn both_ends(name: &str) -> Option<(&str, &str)> {
    let is_port = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    let is_end = |text: &str| text.rsplit_once(':').is_some_and(|it| is_port(it.1));
    let mut places = name.match_indices('-').map(|(at, _)| at);
    let middle = places.find(|at| is_end(&name[..*at]))?;
    Some((&name[..middle], &name[middle + 1..]))
}

/// The connections of one end.
fn connections(timeline: &Timeline, role: Role) -> Vec<EntityId> {
    // Requests are reported connections too, of unix sockets among them.
    let Some(tcp) = timeline.table("connection") else {
        return Vec::new();
    };
    let held: Vec<(EntityId, bool)> = tcp
        .entities()
        .filter_map(|connection| {
            let record = timeline.entities.get(connection)?;
            let holder = timeline.entities.get(record.parent?)?;
            // In a damaged recording somebody else may have rows there.
            let is_one = record.entity.kind == EntityKind::Connection;
            (is_one && holder.role == role).then_some((connection, holder.serving))
        })
        .collect();
    // A replica's way is not the clients'.
    let any_serving = held.iter().any(|(_, serving)| *serving);
    let held = held.into_iter();
    held.filter(|(_, serving)| *serving || !any_serving)
        .map(|(id, _)| id)
        .collect()
}

fn path_of(timeline: &Timeline, role: Role, window: Window) -> Option<Path> {
    let mut trips: Vec<(EntityId, f64, f64)> = Vec::new();
    let (mut again, mut sent) = (0.0, 0.0);
    for id in connections(timeline, role) {
        let of = Of::new(timeline, "connection", id, window);
        let segments = of.growth("segments_out");
        let trip = of.last("rtt_min_ns");
        trips.extend(trip.map(|ns| (id, ns, segments.unwrap_or(0.0).max(0.0))));
        if let Some((more, segments)) = of.growth("retransmitted_segments").zip(segments) {
            again += more;
            sent += segments;
        }
    }
    let all: f64 = trips.iter().map(|(_, _, segments)| segments).sum();
    if all > 0.0 {
        trips.retain(|(_, _, segments)| *segments > 0.0);
    } else {
        trips.iter_mut().for_each(|trip| trip.2 = 1.0);
    }
    let longest = trips.iter().max_by(|a, b| a.1.total_cmp(&b.1))?.0;
    let segments: f64 = trips.iter().map(|(_, _, segments)| segments).sum();
    let weighed: f64 = trips.iter().map(|(_, ns, segments)| ns * segments).sum();
    Some(Path {
        role,
        entity: timeline.entities.get(longest)?.entity.clone(),
        connections: trips.len() as u32,
        rtt_ns: ratio(weighed, segments)?,
        retransmitted: ratio(again, sent),
    })
}

fn drops(per_second: f64, taken: Option<f64>) -> Drops {
    let part = taken.and_then(|taken| ratio(per_second, taken + per_second));
    Drops { per_second, part }
}

fn softnet_drops(timeline: &Timeline, window: Window) -> Option<Drops> {
    let sum = |column| {
        let cpus = timeline.entities.of_kind(EntityKind::Cpu);
        let all = cpus.filter_map(|cpu| Of::new(timeline, "softnet", cpu.id, window).rate(column));
        all.reduce(|a, b| a + b)
    };
    Some(drops(sum("dropped")?, sum("processed")))
}

fn interface_drops(timeline: &Timeline, window: Window) -> Option<(EntityId, Entity, Drops)> {
    let interfaces = timeline.entities.of_kind(EntityKind::Interface);
    let all = interfaces.filter_map(|interface| {
        let of = Of::new(timeline, "network", interface.id, window);
        let dropped = of.rate("rx_drops")? + of.rate("tx_drops")?;
        let packets = of.rate("rx_packets").zip(of.rate("tx_packets"));
        let taken = packets.map(|(received, sent)| received + sent);
        let drops = drops(dropped, taken);
        Some((interface.id, interface.entity.clone(), drops))
    });
    all.max_by(|a, b| a.2.per_second.total_cmp(&b.2.per_second))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_a_connection_are_told_whatever_hosts_are_called() {
        for (name, ends) in [
            (
                "10.1.2.3:40-[fd00::7]:5432",
                ("10.1.2.3:40", "[fd00::7]:5432"),
            ),
            ("ip-1:40-[ip-2]:5432", ("ip-1:40", "[ip-2]:5432")),
            ("[fd00::7]:9-ip-2:7", ("[fd00::7]:9", "ip-2:7")),
        ] {
            assert_eq!(both_ends(name), Some(ends));
        }
        assert_eq!(both_ends("postgres"), None);
        assert_eq!(both_ends("a-b"), None);
    }
}
