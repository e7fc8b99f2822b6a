//! What connection poolers say of clients that wait for a server connection.

use model::{Amount, Entity, EntityId, EntityKind, EntityRecord, Reading, Timeline, Window};
use sensors::pgbouncer::PGBOUNCER;

use crate::formula;
use crate::measure::Of;

/// A pooler over the window, all of its pools together.
#[derive(Clone, PartialEq, Debug)]
pub struct Pooler {
    /// Its process's number in the recording.
    pub id: EntityId,
    /// Its process.
    pub entity: Entity,
    /// For how long clients waited for a server connection, added up over them, ns.
    pub waited_ns: f64,
    /// How many clients waited at a time, on average.
    pub waiting: f64,
    /// Server connections in use on average, and those that were free.
    pub active: f64,
    /// The latter.
    pub idle: f64,
}

/// The pooler on this machine behind which clients waited longest, of those that `is_own` wants; `None` without one
/// that said so.
pub(crate) fn fullest(
    timeline: &Timeline,
    window: Window,
    is_own: impl Fn(&EntityRecord) -> bool,
) -> Option<Pooler> {
    let processes = timeline.entities.of_kind(EntityKind::Process);
    let all = processes.filter(|it| is_own(it)).filter_map(|it| {
        let of = Of::new(timeline, &PGBOUNCER.name, it.id, window);
        Some(Pooler {
            id: it.id,
            entity: it.entity.clone(),
            waited_ns: of.growth("wait_time_ns")?.max(0.0),
            waiting: of.mean("clients_waiting")?,
            active: of.mean("servers_active")?,
            idle: of.mean("servers_idle")?,
        })
    });
    all.max_by(|a, b| a.waited_ns.total_cmp(&b.waited_ns))
}

impl Pooler {
    /// The part of its server connections that were in use; 1 where it has none.
    pub(crate) fn occupied(&self) -> f64 {
        match self.active + self.idle {
            all if all > 0.0 => self.active / all,
            _ => 1.0,
        }
    }

    /// For how long clients waited in a part of the window, ns; a wait counts as it ends.
    pub(crate) fn waited_ns_in(&self, timeline: &Timeline, part: Window) -> f64 {
        let of = Of::new(timeline, &PGBOUNCER.name, self.id, part);
        of.growth("wait_time_ns").unwrap_or(0.0).max(0.0)
    }

    /// How that time is worked out.
    pub(crate) fn waited(&self) -> Amount {
        formula::growth(&PGBOUNCER.name, &["wait_time_ns"], formula::one(self.id))
    }

    /// How the mean of a gauge is worked out.
    pub(crate) fn mean(&self, columns: &[&str]) -> Amount {
        let whose = formula::one(self.id);
        formula::recorded(Reading::Mean, &PGBOUNCER.name, columns, whose)
    }
}
