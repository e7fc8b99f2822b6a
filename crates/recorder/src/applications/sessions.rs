//! Sessions of an application: rows about the processes or threads that serve them.

use model::{EntityId, EntityKind, GapReason, MISSING, Rows, Table, Timestamp, sentence};
use sources::{MOST_SESSIONS, Poll, SessionRow, Value};

use super::{Application, News};

impl Application {
    /// The sessions of a poll, where the application has some.
    pub(super) fn write_sessions(
        &mut self,
        time: Timestamp,
        root: Option<EntityId>,
        poll: &Poll,
        news: &mut News,
    ) {
        let Some(sessions) = self.tables.sessions else {
            return;
        };
        let Some(root) = root else {
            let Self { name, place, .. } = self;
            let sentence = sentence!(
                "{}'s sessions ({}) have no processes here: it runs on another machine or in another PID namespace, /proc hides it, or too few files may be open for all that is here (ulimit -n); its counters are kept. Record there as well, or as root",
                *name,
                place.clone()
            );
            self.note_gap(sessions, GapReason::Unsupported(sentence), news);
            return;
        };
        let rows = self.sessions(time, root, sessions, &poll.sessions);
        let is_about_threads = sessions.entity == EntityKind::Thread;
        if is_about_threads && !poll.sessions.is_empty() && !self.processes.has_threads(root) {
            let Self { name, place, .. } = self;
            let sentence = sentence!(
                "{}'s sessions ({}) are served by nothing that is recorded: its threads are only where it is the target. Name it: --target port:N",
                *name,
                place.clone()
            );
            self.note_gap(sessions, GapReason::Unsupported(sentence), news);
        }
        news.rows.push((sessions, rows));
        let beyond = sentence!("sessions beyond {} a look", MOST_SESSIONS);
        self.drop_rows(time, sessions, beyond, poll.left_out);
    }

    /// The rows of the sessions of a server on this machine, whose first process is `server`.
    fn sessions(
        &self,
        time: Timestamp,
        server: EntityId,
        table: &Table,
        sessions: &[SessionRow],
    ) -> Rows {
        let entity = |task| match table.entity {
            EntityKind::Thread => self.processes.thread(server, task, time),
            _ => self.processes.at(task, time).map(|it| it.entity),
        };
        let mut rows = Rows::with_capacity(table.columns.len(), sessions.len());
        for session in sessions {
            let Some(served_by) = entity(session.task) else {
                continue;
            };
            let value = |value: &Value| match *value {
                Value::Number(number) => number,
                Value::Task(task) => entity(task).map_or(MISSING, |it| i64::from(it.0)),
            };
            let values: Vec<i64> = session.values.iter().map(value).collect();
            rows.push(time, served_by, &values);
        }
        rows
    }
}
