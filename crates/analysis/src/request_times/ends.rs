//! Which end of the connections request times are taken at, and what both ends say together.

use std::collections::BTreeSet;

use model::{EntityId, EntityKind, Role, Timeline, Window};
use sensors::request::unix_socket_of;

use super::{CALLED, LEAST_TIMED, RequestTimes, SERVED, are_told, connections};
use crate::network;
use crate::number_format::duration;

/// Requests of both ends are the same if no more of them are seen at one end only.
const APART: f64 = 0.01;
/// Of the time of all requests at the target's sockets those of others than the generator may be so much at most: what its
/// threads did for those cannot be told from what they did for the load.
const OTHERS: f64 = 0.25;
/// Of the generator's requests so many at least must be known by their connection at the target's end.
const KNOWN: f64 = 0.5;

/// One end of the connections between target and generator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// The target's sockets: from a request's arrival to the last byte of its reply.
    Target,
    /// The generator's: network, and lines at both ends, are part of it.
    Generator,
    /// The same of a target that others ask too: only the generator's requests are the load's.
    GeneratorAmongOthers,
}

impl End {
    pub(super) fn of(self) -> (&'static str, Role) {
        match self {
            Self::Target => (SERVED, Role::Target),
            Self::Generator | Self::GeneratorAmongOthers => (CALLED, Role::Generator),
        }
    }

    /// The connections whose requests are what was completed, in their table.
    pub(super) fn counted(self, timeline: &Timeline) -> (&'static str, Vec<EntityId>) {
        let (table, role) = match self {
            // Those that are answered only count at the target's end when they are, and not with the next one.
            Self::Target | Self::Generator => (SERVED, Role::Target),
            Self::GeneratorAmongOthers => (CALLED, Role::Generator),
        };
        (table, connections(timeline, table, role))
    }

    /// Whose sockets those are.
    pub(crate) fn role(self) -> Role {
        self.of().1
    }

    /// What was counted at this end.
    pub(crate) fn over(self, timeline: &Timeline, window: Window) -> Option<RequestTimes> {
        let (table, role) = self.of();
        RequestTimes::over(timeline, table, role, window)
    }
}

/// The end whose times stand for what the load's user waits: the generator's, where it made all of the target's
/// requests and some were timed there; `None` where requests were not counted one by one.
pub(crate) fn nearest_end(timeline: &Timeline) -> Option<End> {
    if !are_told(timeline) {
        return None;
    }
    let window = with_generator(timeline);
    let [served, called] = [End::Target, End::Generator].map(|end| end.over(timeline, window));
    let Some((served, called)) = served.zip(called).filter(|it| it.1.timed >= LEAST_TIMED) else {
        return Some(End::Target);
    };
    if are_the_same(&served, &called, window) {
        return Some(End::Generator);
    }
    Some(match served_to_generator(timeline, &called, window) {
        Some(_) => End::GeneratorAmongOthers,
        None => End::Target,
    })
}

/// Whether what was counted at both ends is the same requests. One counts with its reply at the one end and with the next
/// request at the other: as many as are in progress may differ at the window's edges.
fn are_the_same(served: &RequestTimes, called: &RequestTimes, window: Window) -> bool {
    let mean_ns = called.mean_ns().unwrap_or(0.0);
    let in_progress = called.requests * mean_ns / window.len_ns().max(1) as f64;
    let apart = (served.requests - called.requests).abs();
    apart <= APART * called.requests + in_progress
}

/// What the generator's connections are called at the target's end.
fn at_the_target(timeline: &Timeline) -> BTreeSet<String> {
    let processes = timeline.entities.of_kind(EntityKind::Process);
    let pids = processes
        .filter(|it| it.role == Role::Generator)
        .filter_map(|it| it.entity.pid());
    let over_tcp = network::other_ends(timeline);
    over_tcp.chain(pids.map(unix_socket_of)).collect()
}

/// What the generator's requests took at the target's sockets, where others ask it too: of the connections that are known to
/// be the generator's; `None` where those are too few, or the others' take too much of the time.
fn served_to_generator(
    timeline: &Timeline,
    called: &RequestTimes,
    window: Window,
) -> Option<RequestTimes> {
    let own = at_the_target(timeline);
    let (known, others): (Vec<EntityId>, Vec<EntityId>) =
        connections(timeline, SERVED, Role::Target)
            .into_iter()
            .filter(|it| timeline.series(SERVED, *it, "requests").is_some())
            .partition(|it| {
                let record = timeline.entities.get(*it);
                record.is_some_and(|it| own.contains(&it.entity.name))
            });
    let known = RequestTimes::over_these(timeline, SERVED, &known, window)?;
    let others = RequestTimes::over_these(timeline, SERVED, &others, window).unwrap_or_default();
    let time_ns = |it: &RequestTimes| it.requests * it.mean_ns().unwrap_or(0.0);
    // Requests on connections that are not told apart are the generator's, but for what is too many for it.
    let of_others = (others.requests - (called.requests - known.requests).max(0.0)).max(0.0);
    let others_ns = of_others * others.mean_ns().unwrap_or(0.0);
    let is_known = known.timed >= LEAST_TIMED && known.requests >= KNOWN * called.requests;
    (is_known && others_ns <= OTHERS * (others_ns + time_ns(&known))).then_some(known)
}

/// The recording from where the generator's requests are counted: that of a running load is found while it is recorded.
fn with_generator(timeline: &Timeline) -> Window {
    let connections = connections(timeline, CALLED, Role::Generator);
    let first = |id| {
        let series = timeline.series(CALLED, id, "requests")?;
        series.values().next().map(|(time, _)| time)
    };
    let since = connections.into_iter().filter_map(first).min();
    let whole = timeline.window;
    Window {
        start: since.map_or(whole.start, |since| since.max(whole.start)),
        ..whole
    }
}

/// The same requests at both ends: what each took, and how long the generator waited for a CPU for each,
/// ns.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct BothEnds {
    served_ns: f64,
    called_ns: f64,
    waited_ns: f64,
    requests: f64,
}

impl BothEnds {
    /// `generator_wait_ns` is how long the generator waited for a CPU. Of a client on this machine a request is timed at the
    /// target's sockets from its sending, so a way that is made long there is in both times: the least round trip of the
    /// generator's connections is no time at the target's.
    ///
    /// `None` where they were not seen at both, or others at one of them: of several generators, of other
    /// clients, or of other servers.
    pub(crate) fn over(
        timeline: &Timeline,
        generator_wait_ns: f64,
        window: Window,
    ) -> Option<Self> {
        let served = RequestTimes::over(timeline, SERVED, Role::Target, window)?;
        let called = RequestTimes::over(timeline, CALLED, Role::Generator, window)?;
        let served = match are_the_same(&served, &called, window) {
            true => served,
            false => served_to_generator(timeline, &called, window)?,
        };
        let means = served.mean_ns().zip(called.mean_ns())?;
        let way_ns = network::generators_round_trip(timeline, window).unwrap_or(0.0);
        Some(Self {
            served_ns: means.0.min((means.1 - way_ns).max(0.0)),
            called_ns: means.1,
            waited_ns: generator_wait_ns / called.requests,
            requests: called.requests,
        })
    }

    /// Part of what requests took at the generator's sockets that they did not take at the target's.
    pub(crate) fn outside(self) -> f64 {
        (1.0 - self.served_ns / self.called_ns.max(1.0)).max(0.0)
    }

    /// How long the generator waited for a CPU, as part of what requests took at its sockets.
    pub(crate) fn waited(self) -> f64 {
        (self.waited_ns / self.called_ns.max(1.0)).min(1.0)
    }

    /// What all of them took at the target's sockets, of `total_ns` of response times, ns. Times are sampled: what all took
    /// at the generator's may come out longer than the whole, and then both are so many times too long.
    pub(crate) fn all_served_ns(self, total_ns: f64) -> f64 {
        let called_ns = self.requests * self.called_ns;
        self.requests * self.served_ns * (total_ns / called_ns.max(1.0)).min(1.0)
    }

    /// Requests that the generator was answered.
    pub(crate) fn requests(self) -> f64 {
        self.requests
    }

    /// What each took at the generator's sockets, ns.
    pub(crate) fn called_ns(self) -> f64 {
        self.called_ns
    }

    /// What all of them took between both ends' sockets, ns: on the network, and in lines at the generator's.
    pub(crate) fn network_ns(self) -> f64 {
        self.requests * (self.called_ns - self.served_ns).max(0.0)
    }

    pub(crate) fn in_words(self, target: &str, generator: &str) -> String {
        let [served, called, waited] =
            [self.served_ns, self.called_ns, self.waited_ns].map(duration);
        format!(
            "a request takes {served} at {target}'s sockets, {called} at {generator}'s; {generator} waits {waited} for a CPU per request"
        )
    }
}

#[cfg(test)]
mod tests;
