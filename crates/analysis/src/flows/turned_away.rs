//! Connections of the load that the target closed without a word.

use model::{EntityId, Formula, Role, Timeline, Window};
use sensors::flow::{FLOW, Peer, Side};

use super::traffic::{Traffic, flows};
use crate::formula;

/// Connections on which the load asked something of the target.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TurnedAway {
    /// The flow of the load's process that was turned away most.
    pub flow: EntityId,
    /// How many connections it opened.
    pub opened: f64,
    /// How many of these were reset.
    pub reset: f64,
}

impl TurnedAway {
    /// The load's process that was turned away most often; `None` where no connections of it were counted, and where it
    /// asks nothing on them, or is answered on each: then it may be who closes them.
    pub(crate) fn of(timeline: &Timeline, window: Window) -> Option<Self> {
        let all = flows(timeline, window);
        let served: Vec<(u16, &Peer)> = all
            .iter()
            .filter(|it| it.role == Role::Target && it.name.side == Side::Server)
            .map(|it| (it.name.port, &it.name.peer))
            .collect();
        let to_target = all.iter().filter(|it| {
            let is_client = it.role == Role::Generator && it.name.side == Side::Client;
            is_client && served.iter().any(|(port, _)| *port == it.name.port)
        });
        let each = to_target.filter_map(one);
        each.max_by(|a, b| a.reset.total_cmp(&b.reset))
    }

    /// The part of its connections.
    pub(crate) fn part(&self) -> f64 {
        self.reset / self.opened
    }

    /// That, from what was recorded.
    pub(crate) fn formula(&self) -> Formula {
        let growth = |column| formula::growth(&FLOW.name, &[column], formula::one(self.flow));
        formula::part(growth("reset"), growth("opened"))
    }
}

/// One flow of the load, where a connection is one question and some were not answered.
fn one(flow: &Traffic) -> Option<TurnedAway> {
    let [opened, asked, answered, reset] =
        ["opened", "sends", "receives", "reset"].map(|column| flow.of(column));
    // What is asked later on the same connection makes more of both than connections.
    let unanswered = opened - answered;
    let is_asked = opened >= 1.0 && asked >= 0.9 * opened;
    (is_asked && reset > 0.0 && unanswered >= 0.5 * reset).then_some(TurnedAway {
        flow: flow.id,
        opened,
        reset,
    })
}
