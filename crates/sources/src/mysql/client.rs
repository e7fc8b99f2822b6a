//! The one connection to a server.

use std::collections::BTreeMap;
use std::time::Duration;

use mysql::prelude::Queryable;
use mysql::{Conn, OptsBuilder};
use sensors::mysql::{MYSQL, SESSION};

use super::address::Address;
use super::questions::{self, Answers, Flavour, Row};
use super::{rows, trouble};
use crate::url::Endpoint;
use crate::{Connection, Hidden, Poll, Process, Server, Trouble};

/// A server that does not take a connection within this time is as good as away.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// One that does not answer within this time is too busy; it ends a statement itself after 2 s.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(3);
/// Bytes of one packet, which holds a row.
const MOST_BYTES: usize = 1 << 20;
/// Rows of one answer: a server that has more sessions is not asked for all of them.
const MOST_ROWS: usize = 20_000;

/// An open connection.
pub(super) struct Client {
    connection: Conn,
    address: Address,
    flavour: Flavour,
    /// What is asked for counters.
    status: String,
    sessions_limit: Option<i64>,
    /// Whether sessions and locks may be seen.
    sees_sessions: bool,
    is_closed: bool,
}

impl Client {
    /// Connects and asks who answers.
    pub(super) fn connect(address: &Address) -> Result<(Self, Server), Trouble> {
        let connection = Conn::new(options(address));
        let mut client = Self {
            connection: connection.map_err(|error| trouble::failed(&error, address))?,
            address: address.clone(),
            flavour: Flavour::MariaDb,
            status: status_question(),
            sessions_limit: None,
            sees_sessions: true,
            is_closed: false,
        };
        let settings = client.asked(questions::SETTINGS)?;
        let setting = |row: &Row| Some((row.first()?.clone()?, row.get(1)?.clone()?));
        let facts: BTreeMap<String, String> = settings.iter().filter_map(setting).collect();
        client.flavour = Flavour::of(facts.get("version").map_or("", String::as_str));
        let limit = facts.get("max_connections");
        client.sessions_limit = limit.and_then(|limit| limit.parse().ok());
        for limit in [client.flavour.limits(), questions::READ_ONLY] {
            client.asked(limit)?;
        }
        let hidden = client.hidden(&facts);
        client.sees_sessions = hidden.is_none();
        let server = Server {
            process: Some(Process::Listening {
                at: address.endpoint.clone(),
                names: &["mariadbd", "mysqld"],
            }),
            facts,
            hidden: hidden.into_iter().collect(),
        };
        Ok((client, server))
    }

    /// What this user may not see; asked once, as each refusal is counted by the server.
    fn hidden(&mut self, facts: &BTreeMap<String, String>) -> Option<Hidden> {
        let is_off = facts
            .get("performance_schema")
            .is_some_and(|it| it == "OFF");
        let (flavour, address) = (self.flavour, &self.address);
        if flavour != Flavour::MariaDb && is_off {
            return Some(Hidden {
                table: &SESSION,
                sentence: format!(
                    "sessions of MySQL ({address}) are not known: start it with performance_schema=ON"
                ),
            });
        }
        let questions = [
            questions::TRANSACTIONS,
            flavour.lock_waits(),
            flavour.sessions(),
        ];
        let refused = questions.into_iter().find_map(|question| {
            let refused = rows_of(&mut self.connection, question).err()?;
            trouble::is_refusal(&refused).then_some(refused)
        })?;
        Some(Hidden {
            table: &SESSION,
            sentence: trouble::hidden(&refused, &self.address, flavour.rights()),
        })
    }

    /// The rows of an answer.
    fn asked(&mut self, question: &str) -> Result<Vec<Row>, Trouble> {
        rows_of(&mut self.connection, question).map_err(|error| {
            // After anything but the server's own message the replies are out of step.
            self.is_closed = !matches!(error, mysql::Error::MySqlError(_));
            trouble::failed(&error, &self.address)
        })
    }
}

impl Connection for Client {
    fn poll(&mut self) -> Result<Poll, Trouble> {
        let status = self.status.clone();
        let mut answers = Answers {
            status: self.asked(&status)?,
            ..Answers::default()
        };
        if self.sees_sessions {
            answers.sessions = self.asked(self.flavour.sessions())?;
            let waiting = questions::status(&answers.status);
            let waiting = waiting.get("innodb_row_lock_current_waits");
            if waiting.is_some_and(|waiting| *waiting > 0) {
                answers.transactions = self.asked(questions::TRANSACTIONS)?;
                answers.lock_waits = self.asked(self.flavour.lock_waits())?;
            }
        }
        Ok(rows::poll(&questions::read(&answers), self.sessions_limit))
    }

    fn is_closed(&self) -> bool {
        self.is_closed
    }
}

/// How to connect: without TLS, and never by another way than the one that was named.
fn options(address: &Address) -> OptsBuilder {
    let options = match &address.endpoint {
        Endpoint::Tcp(host, port) => OptsBuilder::new()
            .ip_or_hostname(Some(host))
            .tcp_port(*port),
        Endpoint::Socket(path) => OptsBuilder::new().socket(Some(path)),
    };
    options
        .prefer_socket(false)
        .user(Some(&address.user))
        .pass(address.password.as_ref())
        .tcp_connect_timeout(Some(CONNECT_TIMEOUT))
        .read_timeout(Some(ANSWER_TIMEOUT))
        .write_timeout(Some(ANSWER_TIMEOUT))
        .max_allowed_packet(Some(MOST_BYTES))
        .stmt_cache_size(0)
}

/// The variables that columns name first in their source.
fn status_question() -> String {
    let columns = MYSQL.columns.iter();
    let names = columns.filter_map(|column| column.source.split(' ').next());
    let names: Vec<String> = names.map(|name| format!("'{name}'")).collect();
    format!(
        "SHOW GLOBAL STATUS WHERE variable_name IN ({})",
        names.join(", ")
    )
}

/// The rows of an answer as text, by the text protocol: nothing is prepared, so nothing is left behind.
fn rows_of(connection: &mut Conn, question: &str) -> mysql::Result<Vec<Row>> {
    let answer = connection.query_iter(question)?;
    let mut rows = Vec::new();
    for row in answer.take(MOST_ROWS) {
        let row = row?;
        let cells = (0..row.len()).map(|at| text(row.as_ref(at)?));
        rows.push(cells.collect());
    }
    Ok(rows)
}

fn text(value: &mysql::Value) -> Option<String> {
    match value {
        mysql::Value::Bytes(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        _ => None,
    }
}
