//! What databases report about their sessions: who holds up whom, and how full they are; and poolers about their clients.
//!
//! A session is a process in PostgreSQL and a thread in MySQL and MariaDB; the columns are the same.

use std::collections::BTreeMap;

use model::{Entity, EntityId, EntityKind, EntityRecord, Table, Timeline, Window};
use sensors::{mysql, postgres};

use crate::blocked::{Blocked, blocked, is_own};
use crate::flows::TurnedAway;
use crate::measure::Of;
use crate::open_files::OpenFiles;
use crate::poolers::{self, Pooler};
use crate::scene::Scene;
use crate::statements::Texts;

/// Tables with the number of sessions and how many are allowed.
const SERVERS: [&Table; 2] = [&postgres::DATABASE, &mysql::MYSQL];

/// Sessions over the window; all but open files is empty without `--postgres`, `--mysql` and `--pgbouncer`.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Sessions {
    /// Who blocked others for most of the time.
    pub blocker: Option<Blocker>,
    /// Sessions on average, and how many it allows.
    pub used: Option<Used>,
    /// The pooler behind which clients waited longest.
    pub pooler: Option<Pooler>,
    /// The target's process that has the fewest files left to open, connections among them; `None` where nobody counted.
    pub files: Option<OpenFiles>,
    /// Connections of the load that the target reset instead of an answer; `None` where none was.
    pub turned_away: Option<TurnedAway>,
}

/// A session that blocked others.
#[derive(Clone, PartialEq, Debug)]
pub struct Blocker {
    /// The process or thread that serves it.
    pub entity: Entity,
    /// Its part of all blocked time.
    pub part: f64,
    /// The part of that in which it ran nothing: its transaction was open.
    pub idle: f64,
    /// The statement that it ran, or had run last, for most of that, without values.
    pub statement: Option<String>,
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
    let is_own = |it: &EntityRecord| is_own(timeline, meta, it);
    Sessions {
        blocker: blocker(timeline, *window, is_own),
        used: used(timeline, *window, is_own),
        pooler: poolers::fullest(timeline, *window, is_own),
        files: OpenFiles::of(scene),
        turned_away: TurnedAway::of(timeline, *window),
    }
}

fn blocker(
    timeline: &Timeline,
    window: Window,
    is_own: impl Fn(&EntityRecord) -> bool,
) -> Option<Blocker> {
    let mut seen: BTreeMap<EntityId, Vec<Blocked>> = BTreeMap::new();
    for it in blocked(timeline, window, is_own) {
        seen.entry(it.holder).or_default().push(it);
    }
    let all: usize = seen.values().map(Vec::len).sum();
    let (id, behind) = seen.into_iter().max_by_key(|(_, behind)| behind.len())?;
    let idle = behind.iter().filter(|it| it.is_holder_idle(timeline));
    let table = behind.first()?.table;
    Some(Blocker {
        entity: timeline.entities.get(id)?.entity.clone(),
        part: behind.len() as f64 / all as f64,
        idle: idle.count() as f64 / behind.len() as f64,
        statement: most_held(&behind, timeline),
        table,
    })
}

/// The statement that a session ran, or had run last, at more than half of these looks.
fn most_held(behind: &[Blocked], timeline: &Timeline) -> Option<String> {
    let mut held: BTreeMap<i64, usize> = BTreeMap::new();
    for id in behind.iter().filter_map(|it| it.holds(timeline)) {
        *held.entry(id).or_default() += 1;
    }
    let (id, looks) = held.into_iter().max_by_key(|(_, looks)| *looks)?;
    (2 * looks > behind.len()).then(|| Texts::new(timeline).of(id))
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
