//! The one connection to a console.

use std::collections::BTreeMap;

use postgres::{NoTls, SimpleQueryMessage, SimpleQueryRow};

use super::report::{self, Record};
use crate::postgres::{Address, causes};
use crate::{Connection, Poll, Process, Server, Trouble, TroubleKind};

/// Settings that are kept; paths, addresses and queries are not.
const SETTINGS: [&str; 7] = [
    "default_pool_size",
    "max_client_conn",
    "max_db_connections",
    "min_pool_size",
    "pool_mode",
    "query_wait_timeout",
    "reserve_pool_size",
];

/// An open connection.
pub(super) struct Client {
    client: postgres::Client,
    address: Address,
    clients_limit: Option<i64>,
}

impl Client {
    /// Connects and asks who answers.
    pub(super) fn connect(address: &Address) -> Result<(Self, Server), Trouble> {
        let client = address.config().connect(NoTls);
        let mut client = Self {
            client: client.map_err(|error| failed(&error, address))?,
            address: address.clone(),
            clients_limit: None,
        };
        let config = client.show("SHOW CONFIG")?;
        let setting = |row: &Record| Some((row.get("key")?.clone(), row.get("value")?.clone()));
        let settings: BTreeMap<String, String> = config.iter().filter_map(setting).collect();
        client.clients_limit = settings
            .get("max_client_conn")
            .and_then(|limit| limit.parse().ok());
        let mut facts = settings;
        facts.retain(|name, _| SETTINGS.contains(&name.as_str()));
        let version = client.show("SHOW VERSION")?;
        let version = version.first().and_then(|row| row.get("version"));
        facts.extend(version.map(|version| ("version".to_owned(), version.clone())));
        let server = Server {
            process: Some(Process::Listening {
                at: address.endpoint(),
                names: &["pgbouncer"],
            }),
            facts,
            hidden: Vec::new(),
        };
        Ok((client, server))
    }

    /// The rows of one command: the console takes one at a time.
    fn show(&mut self, command: &str) -> Result<Vec<Record>, Trouble> {
        let answer = self.client.simple_query(command);
        let messages = answer.map_err(|error| failed(&error, &self.address))?;
        let rows = messages.iter().filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(record(row)),
            _ => None,
        });
        Ok(rows.collect())
    }
}

impl Connection for Client {
    fn poll(&mut self) -> Result<Poll, Trouble> {
        let (pools, stats, lists) = (
            self.show("SHOW POOLS")?,
            self.show("SHOW STATS")?,
            self.show("SHOW LISTS")?,
        );
        let row = report::row(&pools, &stats, &lists, self.clients_limit);
        Ok(Poll {
            server: row.into_iter().map(|(_, value)| value).collect(),
            ..Poll::default()
        })
    }

    fn is_closed(&self) -> bool {
        self.client.is_closed()
    }
}

/// By the names of columns: each version has others.
fn record(row: &SimpleQueryRow) -> Record {
    let cells = row.columns().iter().enumerate();
    cells
        .filter_map(|(index, column)| Some((column.name().to_owned(), row.get(index)?.to_owned())))
        .collect()
}

fn failed(error: &postgres::Error, address: &Address) -> Trouble {
    let said = match error.as_db_error() {
        Some(error) => error.message().to_owned(),
        None => causes(error),
    };
    let (kind, advice) = match () {
        () if said == "not allowed" => (
            TroubleKind::Denied,
            "only users of its console may ask: add the role to stats_users in pgbouncer.ini, then RELOAD",
        ),
        () if said.contains("password")
            || said.contains("authentication")
            || said.contains("SASL") =>
        {
            (
                TroubleKind::Denied,
                "put the password into PGPASSWORD or ~/.pgpass, and the role into stats_users and auth_file: --pgbouncer 'user=ROLE'",
            )
        }
        () if error.as_db_error().is_some() => (
            TroubleKind::Away,
            "name its console: --pgbouncer 'port=6432 dbname=pgbouncer'",
        ),
        () => (
            TroubleKind::Away,
            "is it there? Name it: --pgbouncer 'host=/var/run/postgresql port=6432'; asked again until the end of the run",
        ),
    };
    Trouble {
        kind,
        sentence: format!("PgBouncer ({address}) was not read: {said}; {advice}"),
    }
}
