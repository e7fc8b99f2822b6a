//! The one connection to a server.

use std::collections::{BTreeMap, HashSet};

use postgres::{NoTls, SimpleQueryMessage};
use sensors::postgres::SESSION;

use super::queries::{self, Row};
use super::{Address, rows, trouble};
use crate::{Connection, Hidden, MOST_TEXTS, Poll, Process, Server, Trouble};

/// An open connection.
pub(super) struct Client {
    client: postgres::Client,
    address: Address,
    /// What is asked at each poll.
    question: String,
    sessions_limit: Option<i64>,
    /// Statements whose text was told.
    told: HashSet<i64>,
}

impl Client {
    /// Connects and asks who answers.
    pub(super) fn connect(address: &Address) -> Result<(Self, Server), Trouble> {
        let failed = |error| trouble::failed(&error, address);
        let mut client = address.config.connect(NoTls).map_err(failed)?;
        // By the simple protocol: without prepared statements nothing is left behind on the server.
        let answers = client
            .simple_query("SHOW server_version_num")
            .map_err(failed)?;
        let version = answers_of(&answers);
        let version = cell(&version, 0, 0).and_then(|text| text.parse().ok());
        let version: u32 = version.ok_or_else(|| trouble::odd(address, "it has no version"))?;
        if version < queries::OLDEST {
            let what =
                format!("its version number is {version}, and 9.6 is the oldest that can be asked");
            return Err(trouble::odd(address, &what));
        }
        let both = format!("{}; {}", queries::who(version), queries::SETTINGS);
        let answers = answers_of(&client.simple_query(&both).map_err(failed)?);
        let server = server(&answers, version, address)
            .ok_or_else(|| trouble::odd(address, "it does not say which process answers"))?;
        let client = Self {
            client,
            address: address.clone(),
            question: queries::look(version),
            sessions_limit: sessions_limit(&server.facts),
            told: HashSet::new(),
        };
        Ok((client, server))
    }

    /// Texts that were not told yet of sessions that wait behind others, and of those others.
    fn texts(&mut self, look: &queries::Look) -> Result<Vec<(i64, String)>, Trouble> {
        let pids = match self.told.len() < MOST_TEXTS {
            true => look.unknown(&self.told),
            false => Vec::new(),
        };
        if pids.is_empty() {
            return Ok(Vec::new());
        }
        let answers = self
            .client
            .simple_query(&queries::texts(&pids))
            .map_err(|error| trouble::failed(&error, &self.address))?;
        let mut texts = answers_of(&answers)
            .first()
            .map_or(Vec::new(), |rows| queries::read_texts(rows));
        let told = &mut self.told;
        texts.retain(|(id, _)| told.len() < MOST_TEXTS && told.insert(*id));
        Ok(texts)
    }
}

impl Connection for Client {
    fn poll(&mut self) -> Result<Poll, Trouble> {
        let answers = self
            .client
            .simple_query(&self.question)
            .map_err(|error| trouble::failed(&error, &self.address))?;
        let answers = answers_of(&answers);
        let [sessions, counters] = answers.as_slice() else {
            return Err(trouble::odd(&self.address, "a look has two answers"));
        };
        let look = queries::read_look(sessions, counters)
            .ok_or_else(|| trouble::odd(&self.address, "pg_stat_activity has other columns"))?;
        // A text that is not told now is asked for again; what the look found is not lost by it.
        let texts = self.texts(&look).unwrap_or_default();
        let poll = rows::poll(&look, self.sessions_limit);
        Ok(Poll { texts, ..poll })
    }

    fn is_closed(&self) -> bool {
        self.client.is_closed()
    }
}

fn server(answers: &[Vec<Row>], version: u32, address: &Address) -> Option<Server> {
    let setting = |row: &Row| Some((row.first()?.clone()?, row.get(1)?.clone()?));
    let age_us: i64 = cell(answers, 0, 1)?.parse().ok()?;
    let sees_all = cell(answers, 0, 2)? == "t";
    Some(Server {
        process: Some(Process::Numbered {
            pid: cell(answers, 0, 0)?.parse().ok()?,
            age_ns: age_us.saturating_mul(1_000),
            is_ours: true,
        }),
        facts: answers.get(1)?.iter().filter_map(setting).collect(),
        hidden: (!sees_all)
            .then(|| hidden(version, address))
            .into_iter()
            .collect(),
    })
}

/// What to do where the role sees no sessions of others.
fn hidden(version: u32, address: &Address) -> Hidden {
    let way_out = if version >= queries::BACKEND_TYPES {
        "GRANT pg_monitor to this role"
    } else {
        "name a superuser, as this version has no pg_monitor"
    };
    Hidden {
        table: &SESSION,
        sentence: format!(
            "what sessions of other roles do is hidden by PostgreSQL ({address}): {way_out}"
        ),
    }
}

/// How many sessions ordinary roles may have: `max_connections` without what is reserved.
fn sessions_limit(settings: &BTreeMap<String, String>) -> Option<i64> {
    let setting = |name: &str| settings.get(name)?.parse::<i64>().ok();
    let reserved = ["superuser_reserved_connections", "reserved_connections"];
    let reserved: i64 = reserved.into_iter().filter_map(setting).sum();
    Some(setting("max_connections")? - reserved)
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
