//! The one connection to a server.

use std::collections::BTreeMap;

use postgres::{NoTls, SimpleQueryMessage};

use super::queries::{self, Look, Row};
use super::{Address, Trouble};

/// An open connection.
pub struct Client {
    client: postgres::Client,
    /// What is asked at each look.
    question: String,
}

/// What is known of the server for as long as the connection stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Server {
    /// The process that serves us.
    pub pid: u32,
    /// How long that process has served this connection, ns, when it answered.
    pub age_ns: i64,
    /// Whether our role sees what the sessions of other roles do.
    pub sees_all: bool,
    /// The version's number: 150018.
    pub version: u32,
    /// Settings as `SHOW` shows them, by name; `server_version` among them.
    pub settings: BTreeMap<String, String>,
}

impl Server {
    /// How many sessions ordinary roles may have: `max_connections` without what is reserved.
    pub fn sessions_limit(&self) -> Option<i64> {
        let setting = |name: &str| self.settings.get(name)?.parse::<i64>().ok();
        let reserved = ["superuser_reserved_connections", "reserved_connections"];
        let reserved: i64 = reserved.into_iter().filter_map(setting).sum();
        Some(setting("max_connections")? - reserved)
    }
}

impl Client {
    /// Connects and asks who answers.
    ///
    /// # Errors
    /// What went wrong, and what to do.
    pub fn connect(address: &Address) -> Result<(Self, Server), Trouble> {
        let trouble = |error| Trouble::new(&error, address);
        let mut client = address.config.connect(NoTls).map_err(trouble)?;
        // By the simple protocol: without prepared statements nothing is left behind on the server.
        let answers = client
            .simple_query("SHOW server_version_num")
            .map_err(trouble)?;
        let version = answers_of(&answers);
        let version = cell(&version, 0, 0).and_then(|text| text.parse().ok());
        let version: u32 = version.ok_or_else(|| Trouble::odd(address, "it has no version"))?;
        if version < queries::OLDEST {
            let what =
                format!("its version number is {version}, and 9.6 is the oldest that can be asked");
            return Err(Trouble::odd(address, &what));
        }
        let both = format!("{}; {}", queries::who(version), queries::SETTINGS);
        let answers = answers_of(&client.simple_query(&both).map_err(trouble)?);
        let server = server(&answers, version)
            .ok_or_else(|| Trouble::odd(address, "it does not say which process answers"))?;
        let question = queries::look(version);
        Ok((Self { client, question }, server))
    }

    /// Looks once.
    ///
    /// # Errors
    /// What went wrong. A connection that is over says so by `is_closed`.
    pub fn look(&mut self, address: &Address) -> Result<Look, Trouble> {
        let answers = self
            .client
            .simple_query(&self.question)
            .map_err(|error| Trouble::new(&error, address))?;
        let answers = answers_of(&answers);
        let [sessions, counters] = answers.as_slice() else {
            return Err(Trouble::odd(address, "a look has two answers"));
        };
        queries::read_look(sessions, counters)
            .ok_or_else(|| Trouble::odd(address, "pg_stat_activity has other columns"))
    }

    /// Whether the connection is over.
    pub fn is_closed(&self) -> bool {
        self.client.is_closed()
    }
}

fn server(answers: &[Vec<Row>], version: u32) -> Option<Server> {
    let setting = |row: &Row| Some((row.first()?.clone()?, row.get(1)?.clone()?));
    let age_us: i64 = cell(answers, 0, 1)?.parse().ok()?;
    Some(Server {
        pid: cell(answers, 0, 0)?.parse().ok()?,
        age_ns: age_us.saturating_mul(1_000),
        sees_all: cell(answers, 0, 2)? == "t",
        version,
        settings: answers.get(1)?.iter().filter_map(setting).collect(),
    })
}

/// A cell of an answer's first row.
fn cell(answers: &[Vec<Row>], answer: usize, column: usize) -> Option<&str> {
    answers.get(answer)?.first()?.get(column)?.as_deref()
}

/// The rows of each statement.
fn answers_of(messages: &[SimpleQueryMessage]) -> Vec<Vec<Row>> {
    let mut answers = Vec::new();
    let mut rows = Vec::new();
    for message in messages {
        match message {
            SimpleQueryMessage::Row(row) => {
                let cell = |column| row.get(column).map(str::to_owned);
                rows.push((0..row.len()).map(cell).collect());
            }
            SimpleQueryMessage::CommandComplete(_) => answers.push(std::mem::take(&mut rows)),
            _ => {}
        }
    }
    answers
}
