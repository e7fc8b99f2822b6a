//! What PostgreSQL says of its sessions: who holds up whom, and how full it is.

use std::collections::BTreeMap;

use model::{Entity, EntityId, EntityKind, Timeline, Window};

use crate::measure::Of;

/// Sessions over the window; everything is empty without `--postgres`.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Sessions {
    /// Who blocked others for most of the time, with its part of all blocked time.
    pub(crate) blocker: Option<(Entity, f64)>,
    /// Sessions on average, and how many it allows.
    pub(crate) used: Option<(f64, f64)>,
}

pub(crate) fn sessions(timeline: &Timeline, window: Window) -> Sessions {
    Sessions {
        blocker: blocker(timeline, window),
        used: used(timeline, window),
    }
}

fn blocker(timeline: &Timeline, window: Window) -> Option<(Entity, f64)> {
    let mut seen: BTreeMap<EntityId, f64> = BTreeMap::new();
    for session in timeline.entities.of_kind(EntityKind::Process) {
        let Some(series) = timeline.series("session", session.id, "blocked_by") else {
            continue;
        };
        // A row per look: those of a session that nobody blocks have no value.
        for (_, by) in series.values_in(window) {
            if let Ok(by) = u32::try_from(by) {
                *seen.entry(EntityId(by)).or_default() += 1.0;
            }
        }
    }
    let all: f64 = seen.values().sum();
    let (id, times) = seen.into_iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some((timeline.entities.get(id)?.entity.clone(), times / all))
}

fn used(timeline: &Timeline, window: Window) -> Option<(f64, f64)> {
    let servers = timeline.entities.of_kind(EntityKind::Process);
    let all = servers.filter_map(|server| {
        let of = Of::new(timeline, "database", server.id, window);
        let limit = of.last("sessions_limit").filter(|limit| *limit > 0.0)?;
        Some((of.mean("sessions")?, limit))
    });
    all.max_by(|a, b| (a.0 / a.1).total_cmp(&(b.0 / b.1)))
}
