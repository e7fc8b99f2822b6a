//! What applications report beside the kernel: `--postgres` and the like.
//!
//! A thread for each asks (`watch`); here its polls are joined with the processes of this recording
//! and become rows. A poll is held back until the sampler has reported every process that was there
//! then. Trouble never ends a run: it becomes a gap, and is said once.

mod held;
mod processes;
mod watch;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use model::{EntityEvent, EntityId, Gap, GapReason, MISSING, Rows, Table, Timestamp, Window};
use sources::{
    AppSource, MOST_SESSIONS, Poll, Server, SessionRow, Tables, Trouble, TroubleKind, Value,
};

use self::held::Held;
use self::processes::Processes;
pub(super) use self::watch::Message;
use super::error::{Error, Result};
use super::gaps::keep;

/// The sampler looks for processes every 0.2 s to 2 s, and hands on once a second.
const HOLD_NS: i64 = 3_500_000_000;
/// The process that serves us began to when it was forked: ticks and clocks allow for no more.
const START_TOLERANCE_NS: i64 = 2_000_000_000;
/// A server that has not said anything for so long answers no more.
const SILENCE_NS: i64 = 8_000_000_000;

/// The applications whose addresses were typed; what is not typed comes from the environment, as in their
/// own tools.
pub(super) fn sources(typed: &[(sources::Application, String)]) -> Result<Vec<Arc<dyn AppSource>>> {
    let source = |(application, address): &(sources::Application, String)| {
        application.source(address, &watch::Here)
    };
    let sources: std::result::Result<_, String> = typed.iter().map(source).collect();
    sources.map_err(Error::Options)
}

/// Facts about an address that are no secret.
pub(super) fn facts(source: &dyn AppSource) -> Vec<(String, String)> {
    let named = source.facts().into_iter();
    named
        .map(|(name, value)| (format!("{}.{name}", source.prefix()), value))
        .collect()
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

/// An application that is asked while a recording is made.
pub(super) struct Application {
    name: &'static str,
    prefix: &'static str,
    place: String,
    tables: Tables,
    /// Where its processes are looked at.
    proc: PathBuf,
    processes: Processes,
    held: Held,
    /// The entity that `held` counts for.
    counted: Option<EntityId>,
    waiting: VecDeque<(Timestamp, Poll, Answerer)>,
    answerer: Option<Answerer>,
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

/// The process that answers us.
#[derive(Clone, Copy)]
struct Answerer {
    pid: u32,
    started: Timestamp,
    is_ours: bool,
    /// The server's first process, above it.
    root: Option<u32>,
}

impl Application {
    /// Starts to ask, and hands the answers to `send`; `fallback` gets the rows of a server that runs
    /// elsewhere.
    pub(super) fn ask(
        source: Arc<dyn AppSource>,
        proc: PathBuf,
        fallback: EntityId,
        send: impl Fn(Message) + Send + 'static,
    ) -> Self {
        let (stop, stopped) = channel();
        let (name, prefix) = (source.name(), source.prefix());
        let (place, tables) = (source.place(), source.tables());
        // Without a thread nothing is heard, and `finish` says so.
        drop(
            std::thread::Builder::new()
                .name(prefix.to_owned())
                .spawn(move || {
                    kernel::give_up_all_but(kernel::Duty::Handed);
                    watch::watch(&*source, &send, &stopped);
                }),
        );
        Self {
            name,
            prefix,
            place,
            tables,
            proc,
            processes: Processes::new(),
            held: Held::new(tables.server),
            counted: None,
            waiting: VecDeque::new(),
            answerer: None,
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
            Message::Connected(at, server) => self.connected(at, *server, &mut news),
            Message::Poll(time, poll) => {
                self.answered(now);
                if let Some(answerer) = self.answerer {
                    self.waiting.push_back((time, *poll, answerer));
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
            let Self { name, place, .. } = self;
            let sentence =
                format!("{name}'s own word ({place}) was not heard any more: it does not answer");
            self.open_gap(GapReason::Unsupported(sentence));
        }
        self.answered(end);
        self.settle(end, &mut news);
        LastNews {
            news,
            gaps: std::mem::take(&mut self.gaps),
            corrections: self.held.corrections(),
        }
    }

    /// The gaps so far.
    pub(super) fn gaps(&self) -> &[Gap] {
        &self.gaps
    }

    fn connected(&mut self, at: Timestamp, server: Server, news: &mut News) {
        let process = server.process;
        self.answerer = Some(Answerer {
            pid: process.pid,
            started: at - process.age_ns,
            is_ours: process.is_ours,
            root: targets::program_root(&self.proc, process.pid),
        });
        let named = server.facts.into_iter();
        news.facts = named
            .map(|(name, value)| (format!("{}.{name}", self.prefix), value))
            .collect();
        if let Some(sentence) = server.hidden {
            self.note_gap(GapReason::Denied(sentence), news);
        }
    }

    /// Ends the gap that goes on, if one does.
    fn answered(&mut self, now: Timestamp) {
        let Some(since) = self.lost.take() else {
            return;
        };
        for table in self.tables.all() {
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

    /// A gap of all tables since the last answer; `answered` gives it its end.
    fn open_gap(&mut self, reason: GapReason) {
        let since = self.heard;
        self.lost = Some(since);
        for table in self.tables.all() {
            let gap = Gap {
                table: table.name.to_string(),
                what: String::new(),
                window: Some(Window::new(since, since)),
                reason: reason.clone(),
            };
            keep(&mut self.gaps, gap);
        }
    }

    /// A gap of sessions in the whole recording, noted and said once.
    fn note_gap(&mut self, reason: GapReason, news: &mut News) {
        let gap = Gap {
            table: self.tables.sessions.name.to_string(),
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

    /// Makes rows of the polls up to a time.
    fn settle(&mut self, until: Timestamp, news: &mut News) {
        while self
            .waiting
            .front()
            .is_some_and(|(time, ..)| *time <= until)
        {
            if let Some((time, poll, answerer)) = self.waiting.pop_front() {
                self.write(time, poll, answerer, news);
            }
        }
    }

    fn write(&mut self, time: Timestamp, poll: Poll, answerer: Answerer, news: &mut News) {
        let root = self.local_root(time, answerer);
        if root.is_some() && answerer.is_ours {
            let known = self.introduced.replace(answerer.pid);
            news.own = Some(answerer.pid).filter(|pid| known != Some(*pid));
        }
        let owner = root.unwrap_or(self.fallback);
        if self.counted.replace(owner) != Some(owner) {
            self.held.restart();
        }
        let Tables { server, sessions } = self.tables;
        let mut row = Rows::with_capacity(server.columns.len(), 1);
        row.push(time, owner, &self.held.row(poll.server));
        news.rows.push((server, row));
        if root.is_none() {
            let Self { name, place, .. } = self;
            let sentence = format!(
                "{name}'s sessions ({place}) have no processes here: it runs on another machine or in another PID namespace, /proc hides it, or too few files may be open for all that is here (ulimit -n); its counters are kept. Record there as well, or as root"
            );
            self.note_gap(GapReason::Unsupported(sentence), news);
            return;
        }
        let rows = self.sessions(time, sessions, &poll.sessions);
        news.rows.push((sessions, rows));
        if poll.left_out > 0 {
            self.drop_sessions(time, poll.left_out as u64);
        }
    }

    /// The rows of the sessions of a server on this machine.
    fn sessions(&self, time: Timestamp, table: &Table, sessions: &[SessionRow]) -> Rows {
        let entity = |pid| {
            let process = self.processes.at(pid, time);
            process.map(|process| process.entity)
        };
        let mut rows = Rows::with_capacity(table.columns.len(), sessions.len());
        for session in sessions {
            let Some(served_by) = entity(session.pid) else {
                continue;
            };
            let value = |value: &Value| match *value {
                Value::Number(number) => number,
                Value::Process(pid) => entity(pid).map_or(MISSING, |it| i64::from(it.0)),
            };
            let values: Vec<i64> = session.values.iter().map(value).collect();
            rows.push(time, served_by, &values);
        }
        rows
    }

    /// The server's first process, when the server runs on this machine: the process that answers
    /// us is here, and began when the server says that it did. Then the numbers of its sessions are
    /// numbers of this machine as well; a server elsewhere has the same numbers and other processes.
    fn local_root(&self, time: Timestamp, answerer: Answerer) -> Option<EntityId> {
        let own = self.processes.at(answerer.pid, time)?;
        let apart = own.started.ns_since(answerer.started).abs();
        let root = self.processes.at(answerer.root?, time)?;
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
            table: self.tables.sessions.name.to_string(),
            what: format!("sessions beyond {MOST_SESSIONS} a look"),
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
        let nowhere = [(
            sources::Application::Postgres,
            "host=/nowhere user=u".to_owned(),
        )];
        let mut nowhere = sources(&nowhere).unwrap_or_else(|error| panic!("{error}"));
        let mut application =
            Application::ask(nowhere.remove(0), "/proc".into(), EntityId(0), drop);
        let mut said = Vec::new();
        let mut flap = |application: &mut Application, polls: usize| {
            let trouble = Trouble {
                kind: TroubleKind::Away,
                sentence: "it was too busy".to_owned(),
            };
            said.extend(application.receive(Message::Trouble(trouble)).sentences);
            for _ in 0..polls {
                let poll = Box::new(Poll::default());
                application.receive(Message::Poll(kernel::boottime(), poll));
            }
        };
        (0..3).for_each(|_| flap(&mut application, 2));
        assert_eq!(application.gaps().len(), 3 * 2);
        // With one poll between two losses nothing lies between them.
        (0..10).for_each(|_| flap(&mut application, 1));
        assert_eq!(application.gaps().len(), 4 * 2);
        (0..500).for_each(|_| flap(&mut application, 2));
        assert!(application.gaps().len() <= 200);
        let heard = application.heard;
        let ends = application.gaps().iter().filter_map(|gap| gap.window);
        let latest = ends.map(|window| window.end).max();
        assert!(latest.is_some_and(|end| end <= heard && heard.ns_since(end) < 1_000_000_000));
        assert_eq!(said, ["it was too busy"]);
    }
}
