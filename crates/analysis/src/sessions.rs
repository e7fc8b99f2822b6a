//! What databases report about their sessions: who holds up whom, and how full they are; and poolers about their clients.
//!
//! A session is a process in PostgreSQL and a thread in MySQL and MariaDB; the columns are the same.

use std::collections::BTreeMap;

use model::{Entity, EntityId, EntityKind, EntityRecord, Role, Table, Timeline, Window};
use sensors::{mysql, postgres};

use crate::measure::Of;
use crate::poolers::{self, Pooler};
use crate::scene::Scene;

/// Tables of sessions, each about a process or a thread that serves one.
pub(crate) const SESSIONS: [&Table; 2] = [&postgres::SESSION, &mysql::SESSION];
/// Tables with the number of sessions and how many are allowed.
const SERVERS: [&Table; 2] = [&postgres::DATABASE, &mysql::MYSQL];

/// Sessions over the window; everything is empty without `--postgres`, `--mysql` and `--pgbouncer`.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Sessions {
    /// Who blocked others for most of the time.
    pub blocker: Option<Blocker>,
    /// Sessions on average, and how many it allows.
    pub used: Option<Used>,
    /// The pooler behind which clients waited longest.
    pub pooler: Option<Pooler>,
}

/// A session that blocked others.
#[derive(Clone, PartialEq, Debug)]
pub struct Blocker {
    /// The process or thread that serves it.
    pub entity: Entity,
    /// Its part of all blocked time.
    pub part: f64,
    /// The table that tells it.
    pub table: &'static Table,
}

/// How full a server is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Used {
    /// Its number in the recording.
    pub server: EntityId,
    /// The table that tells it.
    pub table: &'static Table,
    /// Sessions on average.
    pub sessions: f64,
    /// How many it allows; more than 0.
    pub allowed: f64,
}

impl Used {
    /// The part of those that it allows; not a number where none is allowed.
    pub fn part(&self) -> f64 {
        self.sessions / self.allowed
    }
}

pub(crate) fn sessions(scene: &Scene<'_>) -> Sessions {
    let Scene {
        timeline,
        meta,
        window,
        ..
    } = scene;
    // Of the whole machine everybody is judged alone: what another server reports is not about this one.
    let is_own = |it: &EntityRecord| !meta.is_of_machine() || is_of_target(timeline, it);
    Sessions {
        blocker: blocker(timeline, *window, is_own),
        used: used(timeline, *window, is_own),
        pooler: poolers::fullest(timeline, *window, is_own),
    }
}

/// Whether a process is of the target, or the process of a thread is.
fn is_of_target(timeline: &Timeline, record: &EntityRecord) -> bool {
    let process = match record.entity.kind {
        EntityKind::Thread => record.parent.and_then(|it| timeline.entities.get(it)),
        _ => Some(record),
    };
    process.is_some_and(|it| it.role == Role::Target)
}

fn blocker(
    timeline: &Timeline,
    window: Window,
    is_own: impl Fn(&EntityRecord) -> bool,
) -> Option<Blocker> {
    let mut seen: BTreeMap<EntityId, (f64, &'static Table)> = BTreeMap::new();
    for table in SESSIONS {
        let sessions = timeline.entities.of_kind(table.entity);
        for session in sessions.filter(|it| is_own(it)) {
            let Some(series) = timeline.series(&table.name, session.id, "blocked_by") else {
                continue;
            };
            // A row per look: those of a session that nobody blocks have no value.
            for (_, by) in series.values_in(window) {
                if let Ok(by) = u32::try_from(by) {
                    seen.entry(EntityId(by)).or_insert((0.0, table)).0 += 1.0;
                }
            }
        }
    }
    let all: f64 = seen.values().map(|(times, _)| times).sum();
    let most = seen.into_iter().max_by(|a, b| a.1.0.total_cmp(&b.1.0));
    let (id, (times, table)) = most?;
    Some(Blocker {
        entity: timeline.entities.get(id)?.entity.clone(),
        part: times / all,
        table,
    })
}

fn used(
    timeline: &Timeline,
    window: Window,
    is_own: impl Fn(&EntityRecord) -> bool,
) -> Option<Used> {
    let servers = SERVERS.into_iter().flat_map(|table| {
        let processes = timeline.entities.of_kind(EntityKind::Process);
        let own = processes.filter(|it| is_own(it));
        own.map(move |server| (table, server.id))
            .collect::<Vec<_>>()
    });
    let all = servers.filter_map(|(table, server)| {
        let of = Of::new(timeline, &table.name, server, window);
        Some(Used {
            server,
            table,
            allowed: of.last("sessions_limit").filter(|limit| *limit > 0.0)?,
            sessions: of.mean("sessions")?,
        })
    });
    all.max_by(|a, b| a.part().total_cmp(&b.part()))
}
