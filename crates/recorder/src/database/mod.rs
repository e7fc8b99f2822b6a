//! PostgreSQL's own word beside the kernel's: `--postgres`.
//!
//! A thread of its own asks (`watch`); here its looks are joined with the processes of this recording
//! and become rows. A look is held back until the sampler has reported every process that was there
//! then. Trouble never ends a run: it becomes a gap, and is said once.

mod processes;
mod rows;
mod watch;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};

use model::{EntityEvent, EntityId, Gap, GapReason, Rows, Table, Timestamp, Window};
use sensors::postgres::{DATABASE, SESSION};
use sources::postgres::{Address, Look, Server, Trouble, TroubleKind};

use self::processes::Processes;
use self::rows::Held;
pub(super) use self::watch::Message;
use super::error::{Error, Result};
use super::gaps::keep;

/// The sampler looks for processes every 0.2 s to 2 s, and hands on once a second.
const HOLD_NS: i64 = 3_500_000_000;
/// The process that serves us began to when it was forked: ticks and clocks allow for no more.
const START_TOLERANCE_NS: i64 = 2_000_000_000;
/// A server that has not said anything for so long answers no more.
const SILENCE_NS: i64 = 8_000_000_000;

/// The server that was typed, if one; what is not typed comes from the environment, as in psql.
pub(super) fn address(typed: Option<&str>) -> Result<Option<Address>> {
    let address = typed.map(|typed| Address::parse(typed, &watch::Here));
    address.transpose().map_err(Error::Options)
}

/// Facts about an address that are no secret.
pub(super) fn facts(address: &Address) -> Vec<(String, String)> {
    [
        ("host", address.host.clone()),
        ("port", address.port.to_string()),
        ("database", address.database.clone()),
        ("user", address.user.clone()),
    ]
    .map(|(name, value)| (format!("postgres.{name}"), value))
    .to_vec()
}

/// What is to be written down.
#[derive(Default)]
pub(super) struct News {
    /// Rows by table, in the order of time.
    pub(super) rows: Vec<(&'static Table, Rows)>,
    /// Facts about the server by name.
    pub(super) facts: Vec<(String, String)>,
    /// What is to be said to the user.
    pub(super) sentences: Vec<String>,
    /// The process that serves us: it is part of the recorder.
    pub(super) own: Option<u32>,
}

/// What is left at the end.
pub(super) struct LastNews {
    pub(super) news: News,
    pub(super) gaps: Vec<Gap>,
    /// Counters that ran backwards: how often, by table and column.
    pub(super) corrections: Vec<(String, u64)>,
}

/// A server that is asked while a recording is made.
pub(super) struct Database {
    place: String,
    /// Where its processes are looked at.
    proc: PathBuf,
    processes: Processes,
    held: Held,
    /// The entity that `held` counts for.
    counted: Option<EntityId>,
    waiting: VecDeque<(Timestamp, Look, Backend)>,
    backend: Option<Backend>,
    /// Where rows go that belong to no process of this machine.
    fallback: EntityId,
    /// When it last said something.
    heard: Timestamp,
    /// Gaps that go on, and those that are closed.
    gaps: Vec<Gap>,
    lost: Option<Timestamp>,
    /// The process that was told to be the recorder's.
    introduced: Option<u32>,
    /// The thread ends when this is dropped.
    _stop: Sender<()>,
}

/// The process that serves our connection.
#[derive(Clone, Copy)]
struct Backend {
    pid: u32,
    started: Timestamp,
    /// The server's first process, above it.
    root: Option<u32>,
    sessions_limit: Option<i64>,
}

impl Database {
    /// Starts to ask, and hands the answers to `send`; `fallback` gets the rows of a server that runs
    /// elsewhere.
    pub(super) fn ask(
        address: Address,
        proc: PathBuf,
        fallback: EntityId,
        send: impl Fn(Message) + Send + 'static,
    ) -> Self {
        let (stop, stopped) = channel();
        let place = address.to_string();
        // Without a thread nothing is heard, and `finish` says so.
        drop(
            std::thread::Builder::new()
                .name("postgres".to_owned())
                .spawn(move || {
                    kernel::give_up_all_but(kernel::Duty::Handed);
                    watch::watch(&address, &send, &stopped);
                }),
        );
        Self {
            place,
            proc,
            processes: Processes::new(),
            held: Held::new(),
            counted: None,
            waiting: VecDeque::new(),
            backend: None,
            fallback,
            heard: kernel::boottime(),
            gaps: Vec::new(),
            lost: None,
            introduced: None,
            _stop: stop,
        }
    }

    /// Takes changes of the entity list.
    pub(super) fn note(&mut self, events: &[EntityEvent]) {
        self.processes.note(events);
    }

    /// Takes a message of the thread.
    pub(super) fn receive(&mut self, message: Message) -> News {
        let now = kernel::boottime();
        let mut news = News::default();
        match message {
            Message::Connected(at, server) => self.connected(at, &server, &mut news),
            Message::Look(time, look) => {
                self.answered(now);
                if let Some(backend) = self.backend {
                    self.waiting.push_back((time, *look, backend));
                }
                self.settle(now - HOLD_NS, &mut news);
            }
            Message::Trouble(trouble) => self.troubled(trouble, &mut news),
        }
        if self.lost.is_none() {
            self.heard = now;
        }
        news
    }

    /// Whatever is still held back, and the gaps.
    pub(super) fn finish(&mut self, end: Timestamp) -> LastNews {
        let mut news = News::default();
        if self.lost.is_none() && end.ns_since(self.heard) > SILENCE_NS {
            let sentence = format!(
                "PostgreSQL's own word ({}) was not heard any more: it does not answer",
                self.place
            );
            self.open_gap(GapReason::Unsupported(sentence));
        }
        self.answered(end);
        self.settle(end, &mut news);
        let columns = DATABASE.columns.iter().zip(&self.held.corrections);
        let corrections = columns
            .filter(|(_, count)| **count > 0)
            .map(|(column, count)| (format!("{}.{}", DATABASE.name, column.name), *count))
            .collect();
        LastNews {
            news,
            gaps: std::mem::take(&mut self.gaps),
            corrections,
        }
    }

    /// The gaps so far.
    pub(super) fn gaps(&self) -> &[Gap] {
        &self.gaps
    }

    fn connected(&mut self, at: Timestamp, server: &Server, news: &mut News) {
        self.backend = Some(Backend {
            pid: server.pid,
            started: at - server.age_ns,
            root: targets::program_root(&self.proc, server.pid),
            sessions_limit: server.sessions_limit(),
        });
        let named = server.settings.iter();
        news.facts = named
            .map(|(name, value)| (format!("postgres.{name}"), value.clone()))
            .collect();
        if !server.sees_all {
            let way_out = if server.version >= 100_000 {
                "GRANT pg_monitor to this role"
            } else {
                "name a superuser, as this version has no pg_monitor"
            };
            let sentence = format!(
                "what sessions of other roles do is hidden by PostgreSQL ({}): {way_out}",
                self.place
            );
            self.note_gap(SESSION.name.as_ref(), GapReason::Denied(sentence), news);
        }
    }

    /// Ends the gap that goes on, if one does.
    fn answered(&mut self, now: Timestamp) {
        let Some(since) = self.lost.take() else {
            return;
        };
        for table in [&SESSION, &DATABASE] {
            let mut newest = self.gaps.iter_mut().rev();
            let going_on = newest.find_map(|gap| {
                let window = gap.window.as_mut()?;
                (gap.table == table.name && window.end == since).then_some(window)
            });
            if let Some(window) = going_on {
                *window = Window::new(window.start, now);
            }
        }
    }

    fn troubled(&mut self, trouble: Trouble, news: &mut News) {
        // Attempts to come back fail alike: the first reason is the one that counts.
        if self.lost.is_some() {
            return;
        }
        let sentence = trouble.sentence;
        let reason = match trouble.kind {
            TroubleKind::Denied => GapReason::Denied(sentence.clone()),
            TroubleKind::Away => GapReason::Unsupported(sentence.clone()),
        };
        // A server that is too busy now and then would say the same every few seconds.
        if !self.gaps.iter().any(|gap| gap.reason == reason) {
            news.sentences.push(sentence);
        }
        self.open_gap(reason);
    }

    /// A gap of both tables since the last answer; `answered` gives it its end.
    fn open_gap(&mut self, reason: GapReason) {
        let since = self.heard;
        self.lost = Some(since);
        for table in [&SESSION, &DATABASE] {
            let gap = Gap {
                table: table.name.to_string(),
                what: String::new(),
                window: Some(Window::new(since, since)),
                reason: reason.clone(),
            };
            keep(&mut self.gaps, gap);
        }
    }

    /// A gap of the whole recording, noted and said once.
    fn note_gap(&mut self, table: &str, reason: GapReason, news: &mut News) {
        let gap = Gap {
            table: table.to_owned(),
            what: String::new(),
            window: None,
            reason,
        };
        if self.gaps.contains(&gap) {
            return;
        }
        if let GapReason::Denied(sentence) | GapReason::Unsupported(sentence) = &gap.reason {
            news.sentences.push(sentence.clone());
        }
        self.gaps.push(gap);
    }

    /// Makes rows of the looks up to a time.
    fn settle(&mut self, until: Timestamp, news: &mut News) {
        while self
            .waiting
            .front()
            .is_some_and(|(time, ..)| *time <= until)
        {
            if let Some((time, look, backend)) = self.waiting.pop_front() {
                self.write(time, &look, backend, news);
            }
        }
    }

    fn write(&mut self, time: Timestamp, look: &Look, backend: Backend, news: &mut News) {
        let root = self.local_root(time, backend);
        if root.is_some() && self.introduced.replace(backend.pid) != Some(backend.pid) {
            news.own = Some(backend.pid);
        }
        let owner = root.unwrap_or(self.fallback);
        if self.counted.replace(owner) != Some(owner) {
            let corrections = std::mem::take(&mut self.held.corrections);
            self.held = Held::new();
            self.held.corrections = corrections;
        }
        let mut row = Rows::with_capacity(DATABASE.columns.len(), 1);
        row.push(time, owner, &self.held.row(look, backend.sessions_limit));
        news.rows.push((&DATABASE, row));
        if root.is_none() {
            let sentence = format!(
                "PostgreSQL's sessions ({}) have no processes here: it runs on another machine or in another PID namespace, /proc hides it, or too few files may be open for all that is here (ulimit -n); its counters are kept. Record there as well, or as root",
                self.place
            );
            self.note_gap(
                SESSION.name.as_ref(),
                GapReason::Unsupported(sentence),
                news,
            );
            return;
        }
        let (rows, dropped) = rows::sessions(time, look, &self.processes);
        news.rows.push((&SESSION, rows));
        if dropped > 0 {
            self.drop_sessions(time, dropped as u64);
        }
    }

    /// The server's first process, when the server runs on this machine: the process that serves us
    /// is here, and began when the server says that it did. Then the numbers of its other sessions are
    /// numbers of this machine as well; a server elsewhere has the same numbers and other processes.
    fn local_root(&self, time: Timestamp, backend: Backend) -> Option<EntityId> {
        let own = self.processes.at(backend.pid, time)?;
        let apart = own.started.ns_since(backend.started).abs();
        let root = self.processes.at(backend.root?, time)?;
        (apart <= START_TOLERANCE_NS).then_some(root.entity)
    }

    /// Adds to the one gap of sessions that there was no room for.
    fn drop_sessions(&mut self, time: Timestamp, count: u64) {
        let known = self.gaps.iter_mut().find_map(|gap| match &mut gap.reason {
            GapReason::Dropped(sum) => Some((sum, &mut gap.window)),
            _ => None,
        });
        if let Some((sum, window)) = known {
            *sum += count;
            *window = window.map(|window| Window::new(window.start, time));
            return;
        }
        self.gaps.push(Gap {
            table: SESSION.name.to_string(),
            what: format!("sessions beyond {} a look", rows::MOST_SESSIONS),
            window: Some(Window::new(time, time)),
            reason: GapReason::Dropped(count),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trouble_that_comes_again_is_a_gap_each_time_and_said_once() {
        let nowhere = Address::parse("host=/nowhere user=u", &watch::Here);
        let nowhere = nowhere.unwrap_or_else(|sentence| panic!("{sentence}"));
        let mut database = Database::ask(nowhere, "/proc".into(), EntityId(0), drop);
        let mut said = Vec::new();
        let mut flap = |database: &mut Database, looks: usize| {
            let trouble = Trouble {
                kind: TroubleKind::Away,
                sentence: "it was too busy".to_owned(),
            };
            said.extend(database.receive(Message::Trouble(trouble)).sentences);
            for _ in 0..looks {
                let look = Box::new(Look::default());
                database.receive(Message::Look(kernel::boottime(), look));
            }
        };
        (0..3).for_each(|_| flap(&mut database, 2));
        assert_eq!(database.gaps().len(), 3 * 2);
        // With one look between two losses nothing lies between them.
        (0..10).for_each(|_| flap(&mut database, 1));
        assert_eq!(database.gaps().len(), 4 * 2);
        (0..500).for_each(|_| flap(&mut database, 2));
        assert!(database.gaps().len() <= 200);
        let heard = database.heard;
        let ends = database.gaps().iter().filter_map(|gap| gap.window);
        let latest = ends.map(|window| window.end).max();
        assert!(latest.is_some_and(|end| end <= heard && heard.ns_since(end) < 1_000_000_000));
        assert_eq!(said, ["it was too busy"]);
    }
}
