//! What the network did: round trips, lost segments, full queues.

use model::{Entity, EntityId, EntityKind, Role, Timeline, Window};

use crate::measure::{Of, mean, ratio};

/// The network over the window; rates are per second.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Network {
    /// Connections between generator and target, or of the target where no generator is known.
    pub(crate) path: Option<Path>,
    /// Part of all TCP segments sent that were sent again.
    pub(crate) retransmitted: Option<f64>,
    /// Connections that came and found the listener's queue full.
    pub(crate) overflows: Option<f64>,
    /// Packets that CPUs dropped because their queue of arrivals was full.
    pub(crate) softnet_drops: Option<f64>,
    /// The interface that dropped most, and how many.
    pub(crate) interface_drops: Option<(Entity, f64)>,
}

/// The way between generator and target.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Path {
    /// The connection with the longest round trip.
    pub(crate) entity: Entity,
    pub(crate) connections: u32,
    /// Mean over connections of the least round trip that each saw, ns: free of delayed
    /// acknowledgements, which lengthen the mean one.
    pub(crate) rtt_ns: f64,
    /// Part of the segments sent that were sent again.
    pub(crate) retransmitted: Option<f64>,
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
        overflows: overflows.into_iter().flatten().reduce(|a, b| a + b),
        softnet_drops: softnet_drops(timeline, window),
        interface_drops: interface_drops(timeline, window),
    }
}

fn path(timeline: &Timeline, window: Window) -> Option<Path> {
    let of_role = |role: Role| -> Vec<EntityId> {
        let connections = timeline.entities.of_kind(EntityKind::Connection);
        let held = connections.filter(|connection| {
            let holder = connection.parent.and_then(|id| timeline.entities.get(id));
            holder.is_some_and(|holder| holder.role == role)
        });
        held.map(|connection| connection.id).collect()
    };
    // Both ends tell the same of a connection on this machine: the serving one is enough.
    let of_target = of_role(Role::Target);
    let connections = if of_target.is_empty() {
        of_role(Role::Generator)
    } else {
        of_target
    };
    let mut trips: Vec<(EntityId, f64)> = Vec::new();
    let (mut again, mut sent) = (0.0, 0.0);
    for id in connections {
        let of = Of::new(timeline, "connection", id, window);
        trips.extend(of.last("rtt_min_ns").map(|ns| (id, ns)));
        again += of.growth("retransmitted_segments").unwrap_or(0.0);
        sent += of.growth("segments_out").unwrap_or(0.0);
    }
    let longest = trips.iter().max_by(|a, b| a.1.total_cmp(&b.1))?.0;
    let all: Vec<f64> = trips.iter().map(|(_, ns)| *ns).collect();
    Some(Path {
        entity: timeline.entities.get(longest)?.entity.clone(),
        connections: trips.len() as u32,
        rtt_ns: mean(&all)?,
        retransmitted: ratio(again, sent),
    })
}

fn softnet_drops(timeline: &Timeline, window: Window) -> Option<f64> {
    let cpus = timeline.entities.of_kind(EntityKind::Cpu);
    let drops = cpus.filter_map(|cpu| Of::new(timeline, "softnet", cpu.id, window).rate("dropped"));
    drops.reduce(|a, b| a + b)
}

fn interface_drops(timeline: &Timeline, window: Window) -> Option<(Entity, f64)> {
    let interfaces = timeline.entities.of_kind(EntityKind::Interface);
    let drops = interfaces.filter_map(|interface| {
        let of = Of::new(timeline, "network", interface.id, window);
        let drops = of.rate("rx_drops")? + of.rate("tx_drops")?;
        Some((interface.entity.clone(), drops))
    });
    drops.max_by(|a, b| a.1.total_cmp(&b.1))
}
