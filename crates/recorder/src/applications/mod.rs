//! What applications report beside the kernel: `--postgres`, `--redis` and the like.
//!
//! A thread for each asks (`watch`); here its polls are joined with the processes of this recording
//! and become rows. A poll is held back until the sampler has reported every process that was there
//! then. Trouble never ends a run: it becomes a gap, and is said once.

mod held;
mod listener;
mod processes;
mod scraped;
mod sessions;
#[cfg(test)]
mod tests;
mod texts;
mod watch;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use model::{
    EntityEvent, EntityId, Gap, GapReason, Rows, Sentence, Table, Timestamp, Window, sentence,
};
use sources::{
    AppSource, MOST_SERIES, MOST_TEXTS, Poll, Process, Server, Tables, Trouble, TroubleKind,
};

use self::held::Held;
use self::processes::Processes;
use self::scraped::Scraped;
use self::texts::Texts;
pub use self::watch::Here;
pub(super) use self::watch::Message;
use super::error::{Error, Result};
use super::gaps::keep;

/// The sampler looks for processes every 0.2 s to 2 s, and hands on once a second.
const HOLD_NS: i64 = 3_500_000_000;
/// The process that serves us began to when it was forked: ticks and clocks allow for no more.
const START_TOLERANCE_NS: i64 = 2_000_000_000;
/// A server that has not said anything for so long answers no more.
const SILENCE_NS: i64 = 8_000_000_000;
/// Characters that are kept of a fact about a server.
const LONGEST_FACT: usize = 200;

/// The applications whose addresses were typed; what is not typed comes from the environment, as in their
/// own tools.
pub(super) fn sources(typed: &[(sources::Application, String)]) -> Result<Vec<Arc<dyn AppSource>>> {
    let source = |(application, address): &(sources::Application, String)| {
        application.source(address, &Here)
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

/// Entity numbers that what an application names may take.
pub(super) fn named(tables: Tables) -> u32 {
    series(tables) + tables.sessions.map_or(0, |_| MOST_TEXTS as u32)
}

/// Those of its series.
fn series(tables: Tables) -> u32 {
    tables.series.map_or(0, |_| MOST_SERIES as u32)
}

/// What is to be written down.
#[derive(Default)]
pub(super) struct News {
    /// Entities that the application names, before their rows.
    pub(super) entities: Vec<EntityEvent>,
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
    /// The series that it names itself, where it does.
    scraped: Option<Scraped>,
    /// The statements of its sessions, where it has some.
    texts: Option<Texts>,
    /// The entity that `held` counts for.
    counted: Option<EntityId>,
    waiting: VecDeque<(Timestamp, Poll, Option<Answerer>)>,
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

/// Entities that are there before an application answers.
#[derive(Clone, Copy)]
pub(super) struct Owners {
    /// Gets the rows of a server that runs elsewhere.
    pub(super) fallback: EntityId,
    /// The first of the numbers for what the application names: `MOST_SERIES` for series where it has some, then
    /// `MOST_TEXTS` for statements where it has sessions.
    pub(super) named: EntityId,
}

/// The process that answers us.
#[derive(Clone, Copy)]
struct Answerer {
    pid: u32,
    /// When it began, as the server says; `None` where the kernel says that it answers.
    started: Option<Timestamp>,
    is_ours: bool,
    /// The server's first process, above it.
    root: Option<u32>,
}

impl Application {
    /// Starts to ask, and hands the answers to `send`.
    pub(super) fn ask(
        source: Arc<dyn AppSource>,
        proc: PathBuf,
        owners: Owners,
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
            scraped: tables.series.map(|table| Scraped::new(table, owners.named)),
            texts: tables
                .sessions
                .map(|_| Texts::new(EntityId(owners.named.0 + series(tables)))),
            counted: None,
            waiting: VecDeque::new(),
            answerer: None,
            fallback: owners.fallback,
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
                news.own = self.introduce(time);
                self.waiting.push_back((time, *poll, self.answerer));
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
            let sentence = sentence!(
                "{}'s own word ({}) was not heard any more: it does not answer",
                *name,
                place.clone()
            );
            self.open_gap(GapReason::Unsupported(sentence));
        }
        self.answered(end);
        self.settle(end, &mut news);
        let mut corrections = self.held.corrections();
        if let Some((table, scraped)) = self.tables.series.zip(self.scraped.as_mut()) {
            news.rows.push((table, scraped.finish()));
            corrections.extend(scraped.corrections());
        }
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

    fn connected(&mut self, at: Timestamp, server: Server, news: &mut News) {
        self.answerer = server
            .process
            .and_then(|process| self.answerer(at, &process));
        let named = server.facts.into_iter().map(|(name, value)| {
            let value = value.chars().take(LONGEST_FACT).collect();
            (format!("{}.{name}", self.prefix), value)
        });
        news.facts = named.collect();
        for hidden in server.hidden {
            self.note_gap(
                hidden.table,
                GapReason::Denied(hidden.sentence.into()),
                news,
            );
        }
    }

    fn answerer(&self, at: Timestamp, process: &Process) -> Option<Answerer> {
        match process {
            Process::Numbered {
                pid,
                age_ns,
                is_ours,
            } => Some(Answerer {
                pid: *pid,
                started: Some(at - *age_ns),
                is_ours: *is_ours,
                root: targets::program_root(&self.proc, *pid),
            }),
            Process::Listening { at, names } => {
                let pid = listener::listening(&self.proc, at, names)?;
                Some(Answerer {
                    pid,
                    started: None,
                    is_ours: false,
                    root: Some(pid),
                })
            }
        }
    }

    /// The process of this machine that answers us alone, once: as soon as it is in the entity list, because
    /// a short run is over before its rows are written.
    fn introduce(&mut self, time: Timestamp) -> Option<u32> {
        let answerer = self.answerer.filter(|it| it.is_ours)?;
        let is_new = self.introduced != Some(answerer.pid);
        (is_new && self.local_root(time, answerer).is_some())
            .then(|| *self.introduced.insert(answerer.pid))
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
            TroubleKind::Denied => GapReason::Denied(sentence.clone().into()),
            TroubleKind::Away => GapReason::Unsupported(sentence.clone().into()),
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
                what: Sentence::default(),
                window: Some(Window::new(since, since)),
                reason: reason.clone(),
            };
            keep(&mut self.gaps, gap);
        }
    }

    /// A gap of the whole recording, noted and said once.
    fn note_gap(&mut self, table: &Table, reason: GapReason, news: &mut News) {
        let gap = Gap {
            table: table.name.to_string(),
            what: Sentence::default(),
            window: None,
            reason,
        };
        if self.gaps.contains(&gap) {
            return;
        }
        if let GapReason::Denied(sentence) | GapReason::Unsupported(sentence) = &gap.reason {
            news.sentences.push(sentence.to_string());
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

    fn write(
        &mut self,
        time: Timestamp,
        mut poll: Poll,
        answerer: Option<Answerer>,
        news: &mut News,
    ) {
        let root = answerer.and_then(|answerer| self.local_root(time, answerer));
        let owner = root.unwrap_or(self.fallback);
        if self.counted.replace(owner) != Some(owner) {
            self.held.restart();
        }
        let server = self.tables.server;
        let mut row = Rows::with_capacity(server.columns.len(), 1);
        let values = std::mem::take(&mut poll.server);
        row.push(time, owner, &self.held.row(values));
        news.rows.push((server, row));
        if let Some((root, texts)) = root.zip(self.texts.as_mut()) {
            news.entities.extend(texts.take(time, root, &poll.texts));
        }
        self.write_sessions(time, root, &poll, news);
        self.write_series(time, root, &poll, news);
    }

    /// The series of a poll, where the application names some.
    fn write_series(
        &mut self,
        time: Timestamp,
        root: Option<EntityId>,
        poll: &Poll,
        news: &mut News,
    ) {
        let Some((table, scraped)) = self.tables.series.zip(self.scraped.as_mut()) else {
            return;
        };
        let changes = scraped.take(time, root, &poll.series);
        news.entities.extend(changes.entities);
        news.rows.push((table, changes.rows));
        let left_out = poll.left_out + changes.left_out;
        let beyond = sentence!("series beyond {}, or with a name too long", MOST_SERIES);
        if self.drop_rows(time, table, beyond, left_out) == Dropped::First {
            let Self { name, place, .. } = self;
            news.sentences.push(format!(
                "{name} ({place}) serves {left_out} series that are not recorded: {MOST_SERIES} are, with names of up to 1,000 bytes. Have it serve less, as with ?collect[]=cpu of a node exporter"
            ));
        }
        let too_large = Sentence::from("values beyond 9.2e12, or infinite");
        self.drop_rows(time, table, too_large, changes.too_large);
    }

    /// The server's first process, when the server runs on this machine: the process that answers
    /// us is here, and began when the server says that it did. Then the numbers of its sessions are
    /// numbers of this machine as well; a server elsewhere has the same numbers and other processes.
    fn local_root(&self, time: Timestamp, answerer: Answerer) -> Option<EntityId> {
        let own = self.processes.at(answerer.pid, time)?;
        let root = self.processes.at(answerer.root?, time)?;
        let is_it = |started| own.started.ns_since(started).abs() <= START_TOLERANCE_NS;
        answerer.started.is_none_or(is_it).then_some(root.entity)
    }

    /// Adds to the one gap of what there was no room for.
    fn drop_rows(
        &mut self,
        time: Timestamp,
        table: &Table,
        what: Sentence,
        count: usize,
    ) -> Dropped {
        if count == 0 {
            return Dropped::Nothing;
        }
        let count = count as u64;
        let known = self.gaps.iter_mut().find_map(|gap| match &mut gap.reason {
            GapReason::Dropped(sum) if gap.what == what => Some((sum, &mut gap.window)),
            _ => None,
        });
        if let Some((sum, window)) = known {
            *sum += count;
            *window = window.map(|window| Window::new(window.start, time));
            return Dropped::Again;
        }
        self.gaps.push(Gap {
            table: table.name.to_string(),
            what,
            window: Some(Window::new(time, time)),
            reason: GapReason::Dropped(count),
        });
        Dropped::First
    }
}

/// Whether there was no room for something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Dropped {
    Nothing,
    First,
    Again,
}
