//! What all applications that are asked have in common. Nothing here knows any of them.

use std::collections::BTreeMap;

use model::Table;

/// Rows of sessions per poll; what a person could not read is not worth its cost.
pub const MOST_SESSIONS: usize = 2_000;

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
    /// A row per session and poll, about the process that serves it.
    pub sessions: &'static Table,
}

impl Tables {
    /// All of them.
    pub fn all(self) -> impl Iterator<Item = &'static Table> {
        [self.sessions, self.server].into_iter()
    }
}

/// What is known of the server for as long as the connection stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Server {
    /// The process that answers.
    pub process: Process,
    /// Settings and versions by name; no secret.
    pub facts: BTreeMap<String, String>,
    /// That the server keeps sessions from this role, as a sentence with the way out.
    pub hidden: Option<String>,
}

/// The process that answers, as the server numbers it: it is a process of this machine only where one with
/// this number began when the server says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// How long it has run, ns, when it answered.
    pub age_ns: i64,
    /// Whether it serves this connection and nothing else: then it is part of the recorder's cost.
    pub is_ours: bool,
}

/// What one poll found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Poll {
    /// The row of the server's table.
    pub server: Vec<i64>,
    /// Rows of sessions, at most `MOST_SESSIONS`.
    pub sessions: Vec<SessionRow>,
    /// Sessions beyond these.
    pub left_out: usize,
}

/// A row about a session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SessionRow {
    /// The process that serves it, as the server numbers it.
    pub pid: u32,
    /// In the order of the table's columns.
    pub values: Vec<Value>,
}

/// A value in a row about a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Value {
    /// A number, or `MISSING`.
    Number(i64),
    /// A process of the server by its number; recorded as the number of its entity.
    Process(u32),
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
