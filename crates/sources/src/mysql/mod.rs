//! MySQL and MariaDB, asked by SQL: what their sessions do, whom they wait for, what they count.
//!
//! Two short statements a poll, and three more only while somebody waits for a row lock: InnoDB stops its
//! lock system for a moment to list who does. The session is read-only and gives up after 2 s. No text
//! of a statement, no name of a user, host or database is asked for.
//!
//! The crate `mysql` speaks the protocol: with four ways to log in and two servers that differ, a client
//! of our own would be as long and less tried.

mod address;
mod client;
mod option_file;
pub(crate) mod questions;
pub(crate) mod rows;
mod trouble;

use sensors::mysql::{MYSQL, SESSION};

use self::address::Address;
use crate::{AppSource, Connection, Server, Surroundings, Tables, Trouble};

/// A MySQL or MariaDB server.
pub(crate) struct MySql(Address);

impl MySql {
    /// The server at an address.
    pub(crate) fn at(address: &str, around: &dyn Surroundings) -> Result<Self, String> {
        Address::parse(address, around).map(Self)
    }
}

impl AppSource for MySql {
    fn name(&self) -> &'static str {
        "MySQL"
    }

    fn prefix(&self) -> &'static str {
        "mysql"
    }

    fn place(&self) -> String {
        self.0.to_string()
    }

    fn tables(&self) -> Tables {
        Tables {
            server: &MYSQL,
            sessions: Some(&SESSION),
            series: None,
        }
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts = self.0.endpoint.facts();
        facts.push(("user", self.0.user.clone()));
        facts
    }

    fn connect(&self) -> Result<(Box<dyn Connection>, Server), Trouble> {
        let (client, server) = client::Client::connect(&self.0)?;
        Ok((Box::new(client), server))
    }
}
