//! What all applications that are asked have in common. Nothing here knows any of them.

use std::collections::BTreeMap;

use model::Table;
use sensors::scrape::SeriesType;

use crate::url::Endpoint;

/// Rows of sessions per poll; what a person could not read is not worth its cost.
pub const MOST_SESSIONS: usize = 2_000;

/// Series of an application that are recorded: each is an entity.
pub const MOST_SERIES: usize = 5_000;

/// Statements of an application's sessions whose text is recorded: each is an entity.
pub const MOST_TEXTS: usize = 500;

/// An application that can be asked about itself. It is part of a plan: nothing is open yet.
pub trait AppSource: Send + Sync {
    /// What people call the application: `PostgreSQL`.
    fn name(&self) -> &'static str;
    /// What the names of its facts begin with: `postgres`.
    fn prefix(&self) -> &'static str;
    /// Server and role as they stand in sentences; never a password.
    fn place(&self) -> String;
    /// Where its rows go.
    fn tables(&self) -> Tables;
    /// What is known of the address before anything is asked, by name; never a password.
    fn facts(&self) -> Vec<(&'static str, String)>;
    /// Connects and asks who answers.
    ///
    /// # Errors
    /// What went wrong, and what to do.
    fn connect(&self) -> Result<(Box<dyn Connection>, Server), Trouble>;
}

/// An open connection to an application.
pub trait Connection {
    /// Asks once.
    ///
    /// # Errors
    /// What went wrong. A connection that is over says so by `is_closed`.
    fn poll(&mut self) -> Result<Poll, Trouble>;
    /// Whether the connection is over.
    fn is_closed(&self) -> bool;
}

/// The tables of an application.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tables {
    /// A row per poll about the server's first process, or about what stands for a server elsewhere.
    pub server: &'static Table,
    /// A row per session and poll, about the process or thread that serves it, whichever the table is about.
    pub sessions: Option<&'static Table>,
    /// A row per series and poll, where the application names what it reports itself.
    pub series: Option<&'static Table>,
}

impl Tables {
    /// All of them.
    pub fn all(self) -> impl Iterator<Item = &'static Table> {
        let others = self.sessions.into_iter().chain(self.series);
        others.chain([self.server])
    }
}

/// What is known of the server for as long as the connection stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Server {
    /// The process that answers; `None` where the server does not say.
    pub process: Option<Process>,
    /// Settings and versions by name; no secret.
    pub facts: BTreeMap<String, String>,
    /// What the server keeps from this role.
    pub hidden: Vec<Hidden>,
}

/// The process that answers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Process {
    /// As the server numbers it: it is a process of this machine only where one with this number began when
    /// the server says.
    Numbered {
        /// Its number.
        pid: u32,
        /// How long it has run, ns, when it answered.
        age_ns: i64,
        /// Whether it serves this connection and nothing else: then it is part of the recorder's cost.
        is_ours: bool,
    },
    /// The server does not say: the process that listens there.
    Listening {
        /// Where we connected.
        at: Endpoint,
        /// What the server's program is called, by any of its versions; none where it may be any program.
        names: &'static [&'static str],
    },
}

/// What a server keeps from a role.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hidden {
    /// The table that lacks it.
    pub table: &'static Table,
    /// What is not there, and the way out.
    pub sentence: String,
}

/// What one poll found.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Poll {
    /// The row of the server's table.
    pub server: Vec<i64>,
    /// Rows of sessions, at most `MOST_SESSIONS`.
    pub sessions: Vec<SessionRow>,
    /// At most `MOST_SERIES`, each once.
    pub series: Vec<Sample>,
    /// Statements of sessions that wait for a lock or hold one, by id, without their values; each once a connection, and
    /// at most `MOST_TEXTS` of it.
    pub texts: Vec<(i64, String)>,
    /// Sessions or series beyond these.
    pub left_out: usize,
}

/// The value of a series at a poll.
#[derive(Clone, PartialEq, Debug)]
pub struct Sample {
    /// What tells it from others: `http_requests_total{code="200"}`.
    pub series: String,
    /// What the application calls it.
    pub kind: SeriesType,
    /// In the unit of its name; it may be no number, and infinite.
    pub value: f64,
}

/// A row about a session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SessionRow {
    /// The process or thread that serves it, as the operating system numbers it to the server.
    pub task: u32,
    /// In the order of the table's columns.
    pub values: Vec<Value>,
}

/// A value in a row about a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Value {
    /// A number, or `MISSING`.
    Number(i64),
    /// A process or thread of the server by its number, of the kind that the table is about; recorded as
    /// the number of its entity.
    Task(u32),
}

/// Why a server gave no answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TroubleKind {
    /// It may not be asked.
    Denied,
    /// It is not there, or does not answer.
    Away,
}

/// A connection that failed, or ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trouble {
    /// Of which kind.
    pub kind: TroubleKind,
    /// What happened, where, and what to do. It names server and role, never more.
    pub sentence: String,
}
