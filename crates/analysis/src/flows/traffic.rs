//! What one flow transferred over a window.

use model::{EntityId, EntityKind, EntityRecord, Role, Timeline, Window};
use sensors::flow::{FLOW, FlowName, OPEN, Protocol, WIDTH};

use crate::coverage;

/// What is counted call by call of UDP and unix sockets, and of TCP all the time.
const BY_CALL: [&str; 4] = ["sent_bytes", "received_bytes", "sends", "receives"];

/// One flow over a window.
pub(super) struct Traffic {
    /// Its number in the recording.
    pub(super) id: EntityId,
    pub(super) name: FlowName,
    /// Its process's.
    pub(super) role: Role,
    /// Mean connections open.
    pub(super) open: f64,
    /// By column, the growth of counters.
    grown: [f64; WIDTH],
}

impl Traffic {
    pub(super) fn of(&self, column: &str) -> f64 {
        let place = FLOW.position(column);
        place.map_or(0.0, |place| self.grown[place])
    }

    pub(super) fn bytes(&self) -> f64 {
        self.of("sent_bytes") + self.of("received_bytes")
    }

    /// Whether anything happened.
    fn is_any(&self) -> bool {
        self.grown[OPEN + 1..].iter().any(|it| *it >= 0.5)
    }
}

/// Those with anything to say in the window; of connections that are only open nothing is said.
pub(super) fn flows(timeline: &Timeline, window: Window) -> Vec<Traffic> {
    let all = timeline.entities.of_kind(EntityKind::Flow);
    let part_of_calls = coverage::part_of_calls(timeline, window);
    let all = all.filter_map(|record| flow(timeline, record, window, part_of_calls));
    all.filter(Traffic::is_any).collect()
}

fn flow(
    timeline: &Timeline,
    record: &EntityRecord,
    window: Window,
    part_of_calls: Option<f64>,
) -> Option<Traffic> {
    let name = FlowName::parse(&record.entity.name)?;
    // Of what was counted in a part of the time as much is taken for all of it.
    let part = part_of_calls.filter(|part| name.protocol != Protocol::Tcp && *part > 0.0);
    let series = |column: &str| timeline.series(&FLOW.name, record.id, column);
    let open = series("open")?;
    let covered = open.covered(window)?;
    let process = record.parent.and_then(|it| timeline.entities.get(it));
    let mut grown = [0.0; WIDTH];
    for (value, column) in grown.iter_mut().zip(FLOW.columns.iter()).skip(OPEN + 1) {
        let own = series(&column.name).and_then(|it| it.growth(window));
        let is_by_call = BY_CALL.contains(&&*column.name);
        *value = own.unwrap_or(0.0) / part.filter(|_| is_by_call).unwrap_or(1.0);
    }
    Some(Traffic {
        id: record.id,
        name,
        role: process.map_or(Role::Background, |it| it.role),
        open: open.mean(window)? * covered.seconds() / window.seconds().max(1e-9),
        grown,
    })
}
