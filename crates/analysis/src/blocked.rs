//! Sessions of a database that wait for a lock which another session holds, look by look, as the server told it.

use model::{EntityId, EntityKind, EntityRecord, Meta, Role, Table, Timeline, Timestamp, Window};
use sensors::{mysql, postgres};

/// Tables of sessions, each about a process or a thread that serves one.
pub(crate) const SESSIONS: [&Table; 2] = [&postgres::SESSION, &mysql::SESSION];
/// Codes of `state`: idle in transaction, whether aborted or not.
const IDLE_IN_TRANSACTION: [i64; 2] = [3, 4];

/// One session that waited at one look.
#[derive(Clone, Copy)]
pub(crate) struct Blocked {
    at: Timestamp,
    /// Who waits.
    pub(crate) waiter: EntityId,
    /// Who holds the lock: the root of those who wait for each other.
    pub(crate) holder: EntityId,
    /// The table that tells it.
    pub(crate) table: &'static Table,
}

impl Blocked {
    /// Whether the holder ran nothing then: its transaction was open.
    pub(crate) fn is_holder_idle(&self, timeline: &Timeline) -> bool {
        let state = self.said_of(self.holder, "state", timeline);
        state.is_some_and(|it| IDLE_IN_TRANSACTION.contains(&it))
    }

    /// The id of the statement that the holder ran then, or had run last.
    pub(crate) fn holds(&self, timeline: &Timeline) -> Option<i64> {
        self.said_of(self.holder, "query_id", timeline)
    }

    /// The id of the statement that waited.
    pub(crate) fn waits(&self, timeline: &Timeline) -> Option<i64> {
        self.said_of(self.waiter, "query_id", timeline)
    }

    fn said_of(&self, session: EntityId, column: &str, timeline: &Timeline) -> Option<i64> {
        let series = timeline.series(&self.table.name, session, column)?;
        // All sessions of a look have its time: what an earlier one found may be over.
        let mut own = series.values_in(Window::new(self.at, self.at + 1));
        own.find(|(at, _)| *at == self.at).map(|(_, value)| value)
    }
}

/// Each session that waited at each look of the window.
pub(crate) fn blocked<'a>(
    timeline: &'a Timeline,
    window: Window,
    is_own: impl Fn(&EntityRecord) -> bool + 'a,
) -> impl Iterator<Item = Blocked> + 'a {
    let sessions = SESSIONS.into_iter().flat_map(|table| {
        let all = timeline.entities.of_kind(table.entity);
        all.map(move |session| (table, session))
    });
    let own = sessions.filter(move |(_, session)| is_own(session));
    own.flat_map(move |(table, session)| {
        let series = timeline.series(&table.name, session.id, "blocked_by");
        // A row per look: those of a session that nobody blocks have no value.
        let values = series.into_iter().flat_map(move |it| it.values_in(window));
        values.filter_map(move |(at, by)| {
            Some(Blocked {
                at,
                waiter: session.id,
                holder: EntityId(u32::try_from(by).ok()?),
                table,
            })
        })
    })
}

/// Whether a session is of the server that is judged. Of the whole machine everybody is judged alone: what another
/// server reports is not about this one. Else whatever server was asked is the one that is meant.
pub(crate) fn is_own(timeline: &Timeline, meta: &Meta, record: &EntityRecord) -> bool {
    !meta.is_of_machine() || is_of_target(timeline, record)
}

/// Whether a process is of the target, or the process of a thread is.
fn is_of_target(timeline: &Timeline, record: &EntityRecord) -> bool {
    let process = match record.entity.kind {
        EntityKind::Thread => record.parent.and_then(|it| timeline.entities.get(it)),
        _ => Some(record),
    };
    process.is_some_and(|it| it.role == Role::Target)
}
